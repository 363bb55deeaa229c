"""The vocabularies of a made-up log: how its numbers become texts. Everything else of a log is the same in each."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol

from hubbub.errors import ParameterError
from hubbub.public.words import ENGLISH
from hubbub.synth.made_up import MadeUp
from hubbub.synth.readable import readable
from hubbub.synth.readable.languages import BETWEEN

if TYPE_CHECKING:
    import pyarrow as pa

    from hubbub.synth.hashing import Ints, Mask
    from hubbub.synth.world import World

SYLLABIC = "made-up"
VOCABULARIES = (ENGLISH, SYLLABIC, *BETWEEN)


class LogWording(Protocol):
    """Puts a world into words."""

    def queries(self, world: World, intents: Ints, variants: Ints) -> pa.Array:
        """The text of each query."""

    def urls(self, world: World, sites: Ints, present: Mask | None = None) -> pa.Array:
        """The addresses of sites; with `present`, a column in which the others are NULL."""

    def keywords(self, world: World) -> pa.Table:
        """Keywords that are not rare, with a frequency rank."""


@cache
def wording(vocabulary: str) -> LogWording:
    """The wording of this name, made once."""
    if vocabulary not in VOCABULARIES:
        raise ParameterError("There is no such vocabulary.", given=vocabulary, allowed=", ".join(VOCABULARIES))
    return MadeUp() if vocabulary == SYLLABIC else readable(vocabulary)
