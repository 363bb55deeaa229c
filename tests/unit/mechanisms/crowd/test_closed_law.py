"""A closed domain: one draw per key, held or not. The enumerated law of the selection is the product of the keys' laws.

Noise takes three values here, so that every run can be walked through; nothing in the argument needs more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from hubbub.audit.checks.exact import EnumeratingNoise, gaussian_law
from hubbub.audit.checks.pooled import Staged
from hubbub.mechanisms.pairs import drawn
from hubbub.mechanisms.rounds import Known, Selection, select

PLAN = Selection(0, (1, 2), (2, 4), 1, (1, 3), (0,))
REACH = 1
Integers = npt.NDArray[np.int64]
Key = tuple[int, int, int]
Law = dict[tuple[Key, ...], float]


def one_key(weight: int) -> Iterator[tuple[tuple[int, int] | None, float]]:
    """By hand: (round, accumulator) with which a key leaves, or None, and its probability."""
    first, second = (gaussian_law(v, REACH) for v in map(Fraction, PLAN.variances))
    for (x, p), (y, q) in product(enumerate(first, -REACH), enumerate(second, -REACH)):
        one, two = weight + x, weight + x + 2 * weight + y
        leaves = (0, one) if one >= 1 else (1, two) if one >= 0 and two >= 3 else None
        yield leaves, p * q


def independent(size: int, held: dict[int, int]) -> Law:
    """One draw per key, held (code → weight) or not."""
    law: Law = defaultdict(float)
    for outcome in product(*(list(one_key(held.get(code, 0))) for code in range(size))):
        left = tuple((code, *leaves) for code, (leaves, _) in enumerate(outcome) if leaves is not None)
        law[left] += float(np.prod([p for _, p in outcome]))
    return law


def selected(size: int, held: dict[int, int], *, forgetful: bool = False) -> Law:
    """What `select` releases; pools number their keys in an order of their own."""
    codes = np.array(list(held), np.int64)
    none = np.zeros(0, np.int64)

    def is_held(asked: Integers) -> npt.NDArray[np.bool_]:
        return np.isin(asked, none if forgetful else codes)

    law: Law = defaultdict(float)
    noise = EnumeratingNoise(REACH)
    for _ in noise.runs():
        pools = Staged(np.array(list(held.values()), np.int64))
        found = drawn(select(pools, PLAN, "s", Known(PLAN, size, is_held)), noise)
        of = np.concatenate([codes[found.ids[found.ids < codes.size]], *found.absent])
        left = zip(of.tolist(), found.rounds.tolist(), found.accumulators.tolist(), strict=True)
        law[tuple(sorted(left))] += noise.mass
    return law


DOMAINS: dict[str, tuple[int, dict[int, int]]] = {
    "nothing": (0, {}),
    "one key of nobody": (1, {}),
    "one key of somebody": (1, {0: 1}),
    "three of nobody": (3, {}),
    "one of two held": (2, {1: 1}),
    "two of three held, in another order": (3, {2: 0, 0: 1}),
    "all held": (2, {1: 1, 0: 2}),
}


@pytest.mark.parametrize(("size", "held"), DOMAINS.values(), ids=list(DOMAINS))
def test_the_law_is_one_draw_a_key(size: int, held: dict[int, int]) -> None:
    law, right = selected(size, held), independent(size, held)
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    for outcome in law.keys() | right.keys():
        assert law.get(outcome, 0.0) == pytest.approx(right.get(outcome, 0.0), abs=1e-12)
        assert max(Counter(code for code, *_ in outcome).values(), default=1) == 1, "a key left twice"


@pytest.mark.parametrize("name", [name for name, (_, held) in DOMAINS.items() if held])
def test_without_the_discard_it_is_not(name: str) -> None:
    size, held = DOMAINS[name]
    law, right = selected(size, held, forgetful=True), independent(size, held)
    assert sum(abs(law.get(o, 0.0) - right.get(o, 0.0)) for o in law.keys() | right.keys()) > 0.1
    assert any(max(Counter(code for code, *_ in outcome).values(), default=0) == 2 for outcome in law)
