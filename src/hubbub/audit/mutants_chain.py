"""Broken chains: each wrong in one stage after the first. On a mechanism of one stage they change nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub.audit.chain import is_chain
from hubbub.audit.mutants import Mutant, _Noise
from hubbub.audit.protocols import Subject
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Mechanism
from hubbub.noise import Exits, NoiseSource
from hubbub.noise.source import Integers
from hubbub.steps.keys import CLICKS


class _NoAbsent(_Noise):
    """Keys of nobody never pass."""

    def absent(self, *_: Any) -> Exits:
        none = np.zeros(0, np.int64)
        return Exits(none, none, none)


class _OneFewer(_Noise):
    """One key of the domain has no noise."""

    def absent(
        self,
        step: str,
        count: int,
        multiples: Sequence[int],
        variance: int,
        thresholds: Sequence[int],
        drops: Sequence[int],
    ) -> Exits:
        return self.source.absent(step, max(0, count - 1), multiples, variance, thresholds, drops)


class _OtherThreshold(_Noise):
    """Keys of nobody are held against another level than keys of somebody."""

    def absent(
        self,
        step: str,
        count: int,
        multiples: Sequence[int],
        variance: int,
        thresholds: Sequence[int],
        drops: Sequence[int],
    ) -> Exits:
        return self.source.absent(step, count, multiples, variance, [t + 1 for t in thresholds], drops)


class _Changed(_Noise):
    """Keys of nobody are asked for in another way; a subclass says how."""

    def absent(
        self,
        step: str,
        count: int,
        multiples: Sequence[int],
        variance: int,
        thresholds: Sequence[int],
        drops: Sequence[int],
    ) -> Exits:
        return self.source.absent(step, *self.changed(count, multiples, variance, thresholds, drops))

    def changed(self, count: int, m: Sequence[int], v: int, t: Sequence[int], d: Sequence[int]) -> Any:
        raise NotImplementedError


class _LastRound(_Changed):
    """They have no noise before the last round."""

    def changed(self, count: int, m: Sequence[int], v: int, t: Sequence[int], d: Sequence[int]) -> Any:
        return count, [sum(m)], v, t[-1:], []


class _Everybody(_Changed):
    """As many as the domain has, those of somebody included."""

    def changed(self, count: int, m: Sequence[int], v: int, t: Sequence[int], d: Sequence[int]) -> Any:
        return count + 2, m, v, t, d


class _OneChance(_Changed):
    """They leave after the first round."""

    def changed(self, count: int, m: Sequence[int], v: int, t: Sequence[int], d: Sequence[int]) -> Any:
        return count, m, v, t, [t[0], *d[1:]]


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


def _noise(wrap: Callable[[NoiseSource], NoiseSource]) -> Callable[[Mechanism], Subject]:
    def make(mechanism: Mechanism) -> Subject:
        subject = Subject.of(mechanism)
        if not is_chain(mechanism):
            return subject
        return replace(subject, perturb=lambda counts, noise: mechanism.perturb(counts, wrap(noise)))

    return make


def _all_clicks(mechanism: Mechanism) -> Subject:
    def measure(log: SearchLog, secret: bytes) -> dict[str, Any]:
        measured = mechanism.measure(log, secret)
        measured["chain"].click_keys = CLICKS
        return measured

    return replace(Subject.of(mechanism), measure=measure) if is_chain(mechanism) else Subject.of(mechanism)


TABLE = "transitions"
"""What only a chain has."""
CHAIN = (
    Mutant("a closed domain skips keys of nobody", _noise(_NoAbsent), TABLE),
    Mutant("a key of nobody has no noise", _noise(_OneFewer), TABLE),
    Mutant("keys of nobody tested at another level", _noise(_OtherThreshold), TABLE),
    Mutant("keys of nobody noised in the last round only", _noise(_LastRound), TABLE),
    Mutant("keys of nobody leave after round 1", _noise(_OneChance), TABLE),
    Mutant("noise for nobody at keys of somebody", _noise(_Everybody), TABLE),
    Mutant("the first keys of nobody pass", _noise(_FirstOnes), TABLE),
    Mutant("clicks of unreleased queries in later pools", _all_clicks, TABLE),
    Mutant("the kept total of clicks is exact", _noise(_SureTotal), TABLE),
    Mutant("a round of transitions without budget", _noise(_FreeRound), TABLE),
)
