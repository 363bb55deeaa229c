"""Broken chains: each wrong in one stage after the first. On a mechanism of one stage they change nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub.audit.checks.chain import is_chain
from hubbub.audit.mutants import Make, Mutant, _Noise, _with_noise
from hubbub.audit.protocols import Subject
from hubbub.noise import Exits, NoiseSource
from hubbub.noise.absent import Rounds
from hubbub.noise.source import Integers

Change = Callable[[int, Rounds], tuple[int, Rounds]]


class _NoAbsent(_Noise):
    """Keys of nobody never pass."""

    def absent(self, *_: Any) -> Exits:
        none = np.zeros(0, np.int64)
        return Exits(none, none, none)


class _Changed(_Noise):
    """Keys of nobody are asked for in another way."""

    def __init__(self, source: NoiseSource, change: Change) -> None:
        super().__init__(source)
        self.change = change

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        return self.source.absent(step, *self.change(count, rounds))


def _asking(change: Change) -> Make:
    """A chain whose count, multiples, variance, thresholds or drops of keys of nobody are others."""
    return _noise(lambda source: _Changed(source, change))


class _FirstOnes(_Noise):
    """As many pass as should, and it is always the first of the domain."""

    def absent(self, *asked: Any) -> Exits:
        found = self.source.absent(*asked)
        return found._replace(ranks=np.arange(found.ranks.size))


class _SureTotal(_Noise):
    """The kept total of a later table is exact."""

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        if step == "clicks kept total":
            return np.zeros(size, np.int64)
        return self.source.gaussian(step, variance, size)


class _FreeRound(_Noise):
    """A later selection looks once more than it pays for."""

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        if step == "transitions round 1":
            self.source.gaussian(step, variance, size)
        return self.source.gaussian(step, variance, size)


def _noise(wrap: Callable[[NoiseSource], NoiseSource]) -> Make:
    return lambda mechanism: (_with_noise(wrap) if is_chain(mechanism) else Subject.of)(mechanism)


TABLE = "transitions"
"""What only a chain has."""
CHAIN = (
    Mutant("a closed domain skips keys of nobody", _noise(_NoAbsent), TABLE),
    Mutant("a key of nobody has no noise", _asking(lambda n, r: (max(0, n - 1), r)), TABLE),
    Mutant(
        "keys of nobody tested at another level",
        _asking(lambda n, r: (n, replace(r, thresholds=tuple(t + 1 for t in r.thresholds)))),
        TABLE,
    ),
    Mutant(
        "keys of nobody noised in the last round only",
        _asking(lambda n, r: (n, Rounds((sum(r.multiples),), r.variance, r.thresholds[-1:], ()))),
        TABLE,
    ),
    Mutant(
        "keys of nobody leave after round 1",
        _asking(lambda n, r: (n, replace(r, drops=(r.thresholds[0], *r.drops[1:])))),
        TABLE,
    ),
    Mutant("noise for keys outside the domain", _asking(lambda n, r: (n + 2, r)), TABLE),
    Mutant("the first keys of nobody pass", _noise(_FirstOnes), TABLE),
    Mutant("the kept total of clicks is exact", _noise(_SureTotal), TABLE),
    Mutant("a round of transitions without budget", _noise(_FreeRound), TABLE),
)
