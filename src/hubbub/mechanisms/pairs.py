"""A mechanism as a sequence of (measure, perturb) pairs, and the one loop that runs them.

A generator states the sequence, top to bottom: what stands between two `yield`s measures, and may ask the log; what a
`yield` hands over is the exact numbers of one pair and the function that adds noise to them. That function sees these
numbers, a noise source and what earlier pairs have said, and nothing else; what it says is sent back, and the next
pair may be measured with it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from hubbub.noise import NoiseSource

Said = TypeVar("Said")


class Draw(NamedTuple):
    """One pair, measured: its exact numbers, and what perturbs them."""

    counts: Any
    perturb: Callable[[Any, NoiseSource], Any]


def drawn(pairs: Generator[Draw, Any, Said], noise: NoiseSource) -> Said:
    """Every pair in turn: measured, perturbed, and what was said handed to the next one."""
    said = None
    while True:
        try:
            counts, perturb = pairs.send(said)
        except StopIteration as end:
            result: Said = end.value
            return result
        said = perturb(counts, noise)
