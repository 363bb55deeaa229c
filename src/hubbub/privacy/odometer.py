"""What releases have cost so far when each was chosen after seeing the ones before: true whenever one stops.

Two numbers are valid at any moment: the sums of ε and of δ, and a grid of totals of μ², each with its own part of δ
(docs/proofs/composition.md, theorem 2). The smaller ε may be read at the sum of what both need of δ. Whether the grid
is used, and its δ, is fixed by the first release before its output: it is used if that release has Gaussian noise.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from hubbub.privacy.account import DiscreteLaplace, Gaussian, Loss
from hubbub.privacy.compose import Cost, basic_sums, checked, cost_of, float_down, float_up, gaussian_epsilon, written
from hubbub.privacy.envelope import priced

POINTS = 32
FIRST, RATIO = Fraction(1, 100), Fraction(5, 4)


def odometer(losses: Sequence[Loss]) -> tuple[float, float]:
    """(ε, δ) of these releases in the order they were made, whatever made the owner go on or stop."""
    losses = checked(losses)
    epsilon, delta = basic_sums(losses)
    if not losses or math.isinf(epsilon) or not _has_grid(losses[0]):
        return epsilon, min(delta, 1.0)
    own = written(losses[0].delta)
    total, added, thresholds = _on_the_grid(losses)
    found = grid_epsilon(total, own) + float_up(added)
    needed = written(delta) + own + thresholds
    return min(epsilon, found), min(float_up(needed), 1.0)


@lru_cache(maxsize=1024)
def grid_epsilon(total: Fraction, delta: Fraction) -> float:
    """ε of the first point s_j = .01 · 1.25^j at or above this total of μ², at δ/32; infinity beyond the last."""
    point = FIRST
    for _ in range(POINTS):
        if total <= point:
            return gaussian_epsilon(float_down(delta / POINTS), point)
        point *= RATIO
    return math.inf


def _has_grid(first: Loss) -> bool:
    return any(isinstance(atom, Gaussian) for atom in first.atoms) and first.delta > 0


def _on_the_grid(losses: Sequence[Loss]) -> tuple[Fraction, Fraction, Fraction]:
    """μ² in all (discrete Laplace at its price), the ε of steps that are added, and the δ of thresholds."""
    total, added, thresholds = Fraction(0), Fraction(0), Fraction(0)
    for loss in losses:
        cost = cost_of(loss)
        laplace = Counter[Fraction]()
        for atom in loss.atoms:
            if isinstance(atom, DiscreteLaplace):
                laplace[1 / atom.scale] += atom.keys
        rest = Counter(cost.responses) - laplace
        price = priced(Cost(cost.gaussian, laplace))
        if price is None:  # no safe price: its ε is added like that of a pure step
            price, rest = cost.gaussian, Counter(cost.responses)
        total += price
        added += sum((epsilon * count for epsilon, count in rest.items()), Fraction(0))
        thresholds += cost.threshold
    return total, added, thresholds
