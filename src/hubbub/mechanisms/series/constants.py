"""Every number of a series, fixed before its first record is read: docs/proofs/series.md, sections 1 and 2.

Runs and rounds count from 0 here. All arithmetic is in integers and fractions; floats appear in two places, the root of
the Gaussian hockey stick and the normal quantile, and both round towards privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate

from hubbub.errors import ParameterError
from hubbub.privacy.gaussian import DELTA_SLACK, mu_of, threshold_for

STEPS = (2, 3, 4, 5, 6)
"""Noise multiples of the rounds of one period."""
DROPS = (2, 4, 6, 8)
"""Levels, of LEVELS, that a key needs to stay in the running after each round but the last."""
LEVELS = 20
OPENING = 4
"""The least score of a key in the first round of a period."""
FOREVER = 0
"""The window that begins with the series."""
WINDOWS = (1, 2, 3, 4, 6, 8, FOREVER)
"""Over how many periods a sum is tested."""
DELTA_TESTS = Fraction(35, 100)
"""The part of δ for keys that nobody else holds."""
LIKELIEST = 0.1
"""No test passes more often by noise alone, however short a list is."""
MOST_BITS, FEWEST_BITS = 14, 6
WIDEST = 1 << 45
"""No variance may reach it: the sampler's own limit."""
ROOM = 1 << 62
"""No product of two private integers may reach it."""
FINE = 1 << 64
"""Parts of a budget are rounded up to a multiple of 1/FINE."""


@dataclass(frozen=True)
class SeriesConstants:
    """The selection of a series. `share` of μ² is its own, the rest is for counts."""

    epsilon: Fraction
    delta: Fraction
    weights: tuple[int, ...]
    """One for each planned period; a longer series repeats the last."""
    longest: int
    greed: Fraction
    limit: int
    share: Fraction
    bits: int
    tests: Fraction = Fraction(1)
    """Of what δ has for tests, the part of this selection."""
    of: str = ""
    """How its draws are called, before the run and the round: those of two tables are never the same."""
    listed: int = 0
    """How many of its keys stand on a public list: those with the first ids."""
    false: Fraction = Fraction(1)
    """Listed keys of nobody to expect at most, in all runs together."""

    @property
    def periods(self) -> int:
        """How many periods are planned (T): they set the pace."""
        return len(self.weights)

    def multiples(self, t: int) -> tuple[int, ...]:
        """The noise multiples of the rounds of run t."""
        weight = self.weights[min(t, self.periods - 1)]
        return tuple(weight * step for step in STEPS)

    @cached_property
    def mass(self) -> int:
        """M: all multiples of the planned periods; a longer series does not change it."""
        return self._before[self.periods]

    @cached_property
    def _before(self) -> tuple[int, ...]:
        """The multiples of all runs before each possible one, added up; the last is of all of them."""
        return tuple(accumulate((sum(self.multiples(t)) for t in range(self.longest)), initial=0))

    @cached_property
    def common(self) -> int:
        """L: a multiple of all multiples."""
        return math.lcm(*(m for t in range(self.periods) for m in self.multiples(t)))

    @property
    def budget(self) -> int:
        """B = L M 4^k: what one user may spend in the whole series, as Σ ‖a‖² L/m."""
        return self.common * self.mass * (1 << 2 * self.bits)

    @cached_property
    def mu2_all(self) -> Fraction:
        """μ² of the series, selection and counts: G(ε, μ) is what the tests leave of δ."""
        return Fraction(mu_of(float(self.epsilon), float((1 - DELTA_TESTS) * self.delta) * (1 - DELTA_SLACK))) ** 2

    @cached_property
    def variance(self) -> int:
        """V = ⌈M 4^k (1 + 2e-9)/μ²⌉ + 16: the noise of a round of multiple m has variance m V."""
        least = self.mass * (1 << 2 * self.bits) * (1 + Fraction(2, 10**9))
        return math.ceil(least / (self.share * self.mu2_all)) + 16

    @property
    def mu2(self) -> Fraction:
        """μ² of the selection as it runs: a draw of variance S hides as a continuous one of S − 4."""
        smallest = min(min(self.multiples(t)) for t in range(self.periods))
        return self.mass * (1 << 2 * self.bits) / (self.variance - Fraction(4, smallest))

    # -------------------------------------------------------------- spending

    def rest(self, t: int, j: int) -> int:
        """The multiples from round j of run t to the planned end; after that end, to the end of the run."""
        return sum(self.multiples(t)[j:]) + max(0, self.mass - self._before[t + 1])

    def spent(self, t: int) -> Fraction:
        """φ_t: the largest part of her budget that a user can have spent after run t, rounded up."""
        return Fraction(FINE - self._left[t], FINE) if t < self.periods else Fraction(1)

    @cached_property
    def _left(self) -> tuple[int, ...]:
        """The least that is left of FINE parts of a budget after each planned run: every division rounds down."""
        left, after = FINE, []
        for t in range(self.periods):
            for j, m in enumerate(self.multiples(t)):
                all_of_it = self.greed.denominator * self.rest(t, j)
                left = left * max(0, all_of_it - self.greed.numerator * m) // all_of_it
            after.append(left)
        return tuple(after)

    # -------------------------------------------------------------- tests

    def windows(self, t: int) -> tuple[int, ...]:
        """The windows that are tested after run t; those that would reach before the start are the one from it."""
        return tuple(w for w in WINDOWS if w == FOREVER or w <= t)

    def window_mass(self, t: int, window: int, rounds: int) -> int:
        """M_w: the multiples of a window that ends with so many rounds of run t."""
        start = 0 if window == FOREVER else t + 1 - window
        return self._before[t] - self._before[start] + sum(self.multiples(t)[:rounds])

    @cached_property
    def chance(self) -> float:
        """p: what each test of each key of a user's own may cost, so that all of them cost their part of δ."""
        entries = sum(t + 1 for t in range(self.longest) for _ in self.windows(t))
        return float(DELTA_TESTS * self.tests * self.delta / (self.limit * entries))

    @cache  # noqa: B019
    def mean(self, t: int, mass: int) -> int:
        """U √(φ_t M M_w), rounded up: the most that a sum over a window holds of one user."""
        return math.isqrt(math.ceil(self.spent(t) * self.mass * mass * (1 << 2 * self.bits))) + 1

    @cache  # noqa: B019
    def threshold(self, t: int, mass: int) -> int:
        """Θ for a sum over rounds whose multiples add up to this mass, after run t."""
        return threshold_for(self.mean(t, mass), mass * self.variance, self.chance)

    @cached_property
    def listed_chance(self) -> float:
        """What each test of each listed key may pass by noise alone, so that no more than `false` are expected."""
        tests = sum(len(self.windows(t)) for t in range(self.longest))
        return min(LIKELIEST, float(self.false / (max(1, self.listed) * tests)))

    @cache  # noqa: B019
    def listed_threshold(self, t: int, mass: int) -> int:
        """Θ of a listed key: everybody knows the key, so nobody needs to be hidden in its sum, and noise has mean 0."""
        return threshold_for(0, mass * self.variance, self.listed_chance)

    def everything(self) -> dict[str, object]:
        """Every number that the selection runs with, those written into the code included: what a plan fixes."""
        runs = range(self.longest)
        tests = [[self.window_mass(t, w, len(self.multiples(t))) for w in self.windows(t)] for t in runs]
        told: dict[str, object] = {
            "bits": self.bits,
            "variance": self.variance,
            "budget": self.budget,
            "limit": self.limit,
            "greed": str(self.greed),
            "multiples": [self.multiples(t) for t in runs],
            "levels": (DROPS, LEVELS, OPENING),
            "windows": WINDOWS,
            "spent": [str(self.spent(t)) for t in runs],
            "thresholds": [[self.threshold(t, mass) for mass in masses] for t, masses in enumerate(tests)],
        }
        if self.listed:
            told["list"] = self.listed
            told["listed"] = [[self.listed_threshold(t, mass) for mass in masses] for t, masses in enumerate(tests)]
        return told


def selection_constants(
    epsilon: Fraction,
    delta: Fraction,
    weights: tuple[int, ...],
    longest: int,
    greed: Fraction,
    limit: int,
    share: Fraction,
    tests: Fraction = Fraction(1),
    of: str = "",
    listed: int = 0,
    false: Fraction = Fraction(1),
) -> SeriesConstants:
    """The finest grid whose noise can be drawn and whose products fit in 62 bits."""
    for bits in range(MOST_BITS, FEWEST_BITS - 1, -1):
        found = SeriesConstants(epsilon, delta, weights, longest, greed, limit, share, bits, tests, of, listed, false)
        widest = max(m for t in range(found.periods) for m in found.multiples(t))
        if widest * found.variance < WIDEST and found.budget * widest * greed.numerator < ROOM:
            return found
    raise ParameterError(
        "This budget needs more noise than the sampler serves.",
        given=f"ε = {float(epsilon):g}, δ = {float(delta):g}, {len(weights)} periods, weights up to {max(weights)}",
        next="raise epsilon or delta, plan fewer periods, or give weights nearer to each other",
    )
