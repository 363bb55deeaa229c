"""How one run counts: an immutable value that `measure` is given, and hands to whatever counts.

Noise that repeats itself has to be drawn in one place, in the order of the keys' text, or a seed would not give the
same release on every engine. Noise that nobody can repeat may be drawn where the rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.noise import NoiseSource


class Where(Enum):
    """Where exact counts live."""

    LOCAL = "arrays of this process"
    ENGINE = "tables of the engine"


Say = Callable[[str], None]
"""Where a long computation tells the owner how far it is."""


def quiet(_: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class RunMode:
    """The secret of the hash that bounds users, whether the run must repeat itself, and where its counts live."""

    secret: bytes = field(repr=False)
    repeatable: bool = True
    where: Where = Where.LOCAL
    say: Say = field(default=quiet, repr=False, compare=False)

    def order(self, columns: Sequence[str]) -> Sequence[str]:
        """The order in which keys are numbered: by their text, or any."""
        return columns if self.repeatable else ()


def run_mode(engine: Engine, noise: NoiseSource, secret: bytes, say: Say = quiet) -> RunMode:
    """The mode of a run that draws this noise over the tables of this engine."""
    apart = engine.distributed and noise.private
    return RunMode(secret, not noise.private, Where.ENGINE if apart else Where.LOCAL, say)
