"""Absent keys: enclosures against mpmath, the law by enumeration, refusals, and the work of a huge domain."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate, product
from math import isqrt

import mpmath
import numpy as np
import pytest
from tests.statistical.test_absent_law import CUT, MANY, SMALL, law

from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.checks.exact import EnumeratingNoise
from hubbub.errors import OurBug, ParameterError
from hubbub.noise import NoiseSource, SecureNoise, SeededNoise, absent, scalar
from hubbub.noise.absent import Exits, Rounds, candidate_bounds, direct, exits, normaliser_bounds, thinned, walk
from hubbub.noise.bits import SeededBits, SystemBits
from hubbub.noise.intervals import pi_bounds
from hubbub.noise.subset import shuffled

BITS = SystemBits()
TRILLION = Rounds((1, 2, 3, 4), 766561980300, (6440205, 11154762, 15775217, 20365712), (203657, 2443885, 8553599))
"""Variance of a real run, thresholds that one absent key of 10^12 reaches."""
HUGE = 10**12


def z(variance: int) -> mpmath.mpf:
    """Σ_x exp(-x²/(2S)), term by term where that is possible."""
    if variance < 5000:
        reach = isqrt(2 * variance * mpmath.mp.prec) + 1
        return 1 + 2 * mpmath.fsum(mpmath.exp(-mpmath.mpf(x * x) / (2 * variance)) for x in range(1, reach))
    return mpmath.sqrt(2 * mpmath.pi * variance)  # nearer than 10^-40000


def q(rounds: Rounds, r: int) -> mpmath.mpf:
    """The chance of a candidate, written down a second time."""
    s, theta = mpmath.mpf(rounds.totals[r] * rounds.variance), rounds.thresholds[r]
    chance = mpmath.exp(-theta * theta / (2 * s)) / (1 - mpmath.exp(-theta / s))
    for j, m in enumerate(rounds.multiples[: r + 1]):
        chance /= z(m * rounds.variance)
        if j:
            chance /= k(rounds.bridge(j))
    return chance


def k(variance: Fraction) -> mpmath.mpf:
    v, t = mpmath.mpf(variance.numerator) / variance.denominator, mpmath.floor(mpmath.sqrt(int(variance))) + 1
    return (1 - mpmath.exp(-1 / t)) * mpmath.exp(-v / (2 * t * t)) / 2


@pytest.mark.parametrize("precision", [1, 8, 64, 192, 3000])
def test_pi_is_enclosed(precision: int) -> None:
    lo, hi = pi_bounds(precision)
    with mpmath.workprec(precision + 100):
        assert lo <= mpmath.ldexp(mpmath.pi, precision) <= hi
    assert hi - lo <= 2


@pytest.mark.parametrize("variance", [1, 2, 3, 40, 4000, 10**6, 1 << 45])
@pytest.mark.parametrize("precision", [64, 256])
def test_the_normaliser_is_enclosed(variance: int, precision: int) -> None:
    """At variance 1 the second term of the series is 2e-9: without it the enclosure would miss."""
    lo, hi = normaliser_bounds(variance, precision)
    with mpmath.workprec(precision + 100):
        scaled = mpmath.ldexp(z(variance), precision)
        assert mpmath.mpf(int(lo * 2**precision)) <= scaled <= mpmath.mpf(int(hi * 2**precision) + 1)
    assert hi - lo <= lo * Fraction(100, 1 << precision)


@pytest.mark.parametrize("variance", [Fraction(3, 7), Fraction(1), Fraction(80, 3), Fraction(10**12 + 1, 3)], ids=str)
def test_the_constant_of_an_attempt_is_enclosed(variance: Fraction) -> None:
    lo, hi = scalar.attempt_bounds(variance, 192)
    with mpmath.workprec(400):
        exact = mpmath.ldexp(k(variance), 384)
        assert lo * 2**384 <= int(exact) + 1
        assert int(exact) <= hi * 2**384
    assert hi - lo < lo * Fraction(1, 1 << 160)


@pytest.mark.parametrize("rounds", [SMALL, CUT, MANY, TRILLION, Rounds((1, 1), 1, (1, 1), ())], ids=range(5))
def test_candidates_are_enclosed_and_more_than_those_who_pass(rounds: Rounds) -> None:
    totals = list(accumulate(rounds.multiples))
    for precision in (64, 192, 448):
        bounds = candidate_bounds(rounds, precision)
        for r, (lo, hi) in enumerate(bounds):
            with mpmath.workprec(600):
                assert lo <= mpmath.ldexp(q(rounds, r), precision) <= hi
            assert hi - lo <= 2
    for r, total in enumerate(totals):
        s = total * rounds.variance
        tail = mpmath.erfc((rounds.thresholds[r] - mpmath.mpf(1) / 2) / mpmath.sqrt(2 * s)) / 2
        if s < 5000:
            free = Rounds((*rounds.multiples[:r], rounds.multiples[r]), rounds.variance, (10**4,) * r + (1,), ())
            tail = law(free)[r, rounds.thresholds[r] :].sum()
        assert bounds[r][0] >= mpmath.ldexp(tail, 448) * (1 - mpmath.mpf(10) ** -9)


@pytest.mark.parametrize(
    "rounds",
    [Rounds((1, 2), 1, (2, 3), (0,)), Rounds((2, 1, 3), 1, (3, 3, 5), (-1, 1)), Rounds((1, 1, 1), 2, (3, 3, 3), ())],
    ids=["growing", "unordered", "equal"],
)
def test_candidate_times_acceptance_is_the_probability_of_the_path(rounds: Rounds) -> None:
    """Enumerated for variances so small that sums of weights are not those of the continuous Gaussian."""
    exact, last, totals = law(rounds), len(rounds.multiples) - 1, rounds.totals
    for r, excess in product(range(last + 1), range(6)):
        theta, s = rounds.thresholds[r], totals[r] * rounds.variance
        mass = {theta + excess: np.exp(-excess * theta / s) * (1 - np.exp(-theta / s)) * np.exp(-(excess**2) / (2 * s))}
        for j in range(r, 0, -1):
            v, before = float(rounds.bridge(j)), dict[int, float]()
            for a, weight in mass.items():
                for b in range(-40, 41):
                    if rounds.goes_on(j - 1, b):
                        centre = a * totals[j - 1] / totals[j]
                        step = float(k(rounds.bridge(j))) * np.exp(-((b - centre) ** 2) / (2 * v))
                        before[b] = before.get(b, 0.0) + weight * step
            mass = before
        assert float(q(rounds, r)) * sum(mass.values()) == pytest.approx(exact[r, theta + excess], rel=1e-11)


def test_a_trillion_absent_keys_take_a_few_thousand_random_bytes() -> None:
    class Counted(SeededBits):
        taken = 0

        def take(self, size: int) -> bytes:
            self.taken += size
            return super().take(size)

    bits, found = Counted(1, "trillion"), []
    for _ in range(20):
        found.append(exits(bits, HUGE, TRILLION))
    ranks = np.concatenate([e.ranks for e in found])
    assert 5 <= ranks.size <= 45  # mean 20, Poisson: outside with probability 1e-5, and the seed is fixed
    assert 10**10 < ranks.max() < HUGE
    assert all((e.accumulators >= np.array(TRILLION.thresholds)[e.rounds]).all() for e in found)
    assert bits.taken < 20 * 20_000


@pytest.mark.parametrize("form", [exits, direct, thinned])
@pytest.mark.parametrize("size", [0, 1, 3000])
def test_ranks_are_sorted_distinct_and_inside(form: Callable[..., Exits], size: int) -> None:
    ranks, rounds, accumulators = form(BITS, size, SMALL)
    assert ranks.dtype == rounds.dtype == accumulators.dtype == np.int64
    assert ranks.size == rounds.size == accumulators.size <= size
    assert (np.diff(ranks) > 0).all()
    assert ((ranks >= 0) & (ranks < size)).all()
    assert (accumulators >= np.array(SMALL.thresholds)[rounds]).all()


def test_a_key_walks_its_rounds() -> None:
    """By hand: at the threshold a key passes, at the drop it stays, below it is gone; without a drop it stays."""
    script = iter([[5, 4, 1, 0, 3, -9], [2, -1, -7], [6, 20]])  # 0 and -9 are gone after the first
    out = walk(
        np.array([10, 11, 12, 13, 14, 15]),
        Rounds((1, 3, 2), 7, (5, 6, 6), (1,)),
        lambda variance, size: np.array(next(script)),
    )
    assert out.ranks.tolist() == [10, 11, 12, 14]
    assert out.rounds.tolist() == [0, 1, 2, 2]
    assert out.accumulators.tolist() == [5, 6, 6, 16]


def test_walking_asks_for_the_variance_of_each_round_and_the_keys_that_are_left() -> None:
    asked: list[tuple[int, int]] = []

    def draw(variance: int, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        asked.append((variance, size))
        return np.arange(size)

    walk(np.arange(10), Rounds((1, 3, 2), 7, (8, 100, 100), (4, -5)), draw)
    assert asked == [(7, 10), (21, 4), (14, 4)]


def test_the_form_follows_size_and_rarity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(absent, "direct", lambda *_: "direct")
    monkeypatch.setattr(absent, "thinned", lambda *_: "thinned")
    chosen = []
    for rounds, size in ((TRILLION, 1 << 22), (TRILLION, (1 << 22) + 1), (SMALL, HUGE), (TRILLION, HUGE)):
        chosen += [exits(BITS, size, rounds)]
    assert [str(form) for form in chosen] == ["direct", "thinned", "direct", "thinned"]


@pytest.mark.parametrize(
    ("multiples", "variance", "thresholds", "drops"),
    [
        ((1, 2), 40, (5, 0), ()),
        ((1, 2), 40, (-5, 5), ()),
        ((1, 0), 40, (5, 5), ()),
        ((1, -1), 40, (5, 5), ()),
        ((1, 2), 0, (5, 5), ()),
        ((1, 2), 40, (5,), ()),
        ((1, 2), 40, (5, 5), (1, 2, 3)),
    ],
)
def test_rounds_that_are_refused(
    multiples: tuple[int, ...], variance: int, thresholds: tuple[int, ...], drops: tuple[int, ...]
) -> None:
    with pytest.raises(OurBug):
        Rounds(multiples, variance, thresholds, drops)


def test_what_cannot_be_thinned_is_not() -> None:
    with pytest.raises(OurBug, match="too often"):
        thinned(BITS, 10, Rounds((1,), 40, (1,), ()))
    with pytest.raises(OurBug):
        exits(BITS, -1, Rounds((1,), 40, (9,), ()))
    with pytest.raises(ParameterError):
        SecureNoise().absent("a", -1, Rounds((1,), 40, (9,), ()))


def ask(noise: NoiseSource, count: int = 3000) -> list[list[int]]:
    drawn = noise.absent("absent", count, SMALL)
    return [column.tolist() for column in drawn]


def test_sources() -> None:
    assert ask(SeededNoise(3)) == ask(SeededNoise(3)) != ask(SeededNoise(4))
    assert ask(SecureNoise()) != ask(SecureNoise())
    assert ask(NoNoise()) == [[], [], []]


def test_the_enumerating_source_walks_every_outcome_of_one_absent_key() -> None:
    rounds, noise, seen = Rounds((1, 2), 2, (3, 4), (0,)), EnumeratingNoise(14), np.zeros((2, 40))
    for _ in noise.runs():
        out = noise.absent("absent", 1, rounds)
        if out.ranks.size:
            seen[out.rounds[0], out.accumulators[0]] += noise.mass
    assert seen[:, :12] == pytest.approx(law(rounds)[:, :12], rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("size", [0, 1, 2, 500])
def test_a_shuffle_keeps_every_number(size: int) -> None:
    order = shuffled(BITS, size)
    assert sorted(order.tolist()) == list(range(size))
    assert size < 500 or order.tolist() != list(range(size))
