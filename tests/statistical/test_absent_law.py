"""Absent keys, direct and thinned, against the exact law of (round, accumulator); wrong samplers must be condemned.

Seeds are fixed, so these tests pass or fail for good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from tests.statistical.test_noise_oracles import chi_square, gaussian_law, signed

from hubbub.noise import absent, scalar
from hubbub.noise.absent import Exits, Rounds, direct, thinned
from hubbub.noise.bits import Bits, SeededBits
from hubbub.noise.subset import shuffled

LEVEL, CONDEMNED = 1e-4, 1e-9
SMALL = Rounds((1, 2, 3, 4), 40, (14, 25, 35, 45), (0, 7, 18))
CUT = Rounds((2, 1, 5), 3, (5, 6, 10), (-1,))
MANY = Rounds((1, 1, 1, 1, 1), 400, (60, 70, 70, 80, 80), (-30, 0, 0, 30, 0))
LOW = Rounds((1,), 40, (6,), ())
SETTINGS = {"four growing": SMALL, "unordered, one drop": CUT, "five equal": MANY, "one, low": LOW}
REACH = 600


def law(rounds: Rounds, *, alive: bool = True) -> npt.NDArray[np.float64]:
    """P(round, accumulator), by convolution; accumulators 0 to REACH. Without `alive`, no key is ever out or gone."""
    at = np.arange(-REACH, REACH + 1)
    mass = (at == 0).astype(float)
    out = []
    for r, m in enumerate(rounds.multiples):
        wide = np.convolve(mass, signed(gaussian_law(Fraction(m * rounds.variance))))
        cut = (wide.size - at.size) // 2
        mass = wide[cut : wide.size - cut]
        passes = at >= rounds.thresholds[r]
        out.append(np.where(passes, mass, 0.0)[REACH:])
        if alive:
            dropped = at < rounds.drops[r] if r < len(rounds.drops) else np.zeros(at.size, np.bool_)
            mass = np.where(passes | dropped, 0.0, mass)
    return np.array(out)


def p_value(out: Exits, keys: int, expected: npt.NDArray[np.float64]) -> float:
    """All keys: those that pass by round and accumulator, and those that do not."""
    cells = np.bincount(out.rounds * (REACH + 1) + out.accumulators, minlength=expected.size)
    counts, chances = np.append(cells, keys - out.ranks.size), np.append(expected.ravel(), 1 - expected.sum())
    return chi_square(counts, chances, 15)


def drawn(form: Callable[[Bits, int, Rounds], Exits], rounds: Rounds, keys: int) -> Exits:
    return form(SeededBits(20, f"{form.__name__} {rounds} {keys}"), keys, rounds)


@pytest.mark.parametrize("rounds", SETTINGS.values(), ids=list(SETTINGS))
def test_direct_has_its_law(rounds: Rounds) -> None:
    out = drawn(direct, rounds, 1_500_000)  # more than one chunk
    assert out.ranks.size > 10_000
    assert p_value(out, 1_500_000, law(rounds)) > LEVEL


@pytest.mark.parametrize("rounds", SETTINGS.values(), ids=list(SETTINGS))
def test_thinned_has_its_law(rounds: Rounds) -> None:
    keys = 60_000 if rounds is SMALL else 20_000
    out = drawn(thinned, rounds, keys)
    assert out.ranks.size > 1000
    assert p_value(out, keys, law(rounds)) > LEVEL


def test_both_forms_have_one_law_and_anybody_may_pass() -> None:
    """Two samples by round and accumulator; then ranks, alone and against rounds."""
    keys = 100_000
    one, two = drawn(direct, SMALL, keys), drawn(thinned, SMALL, keys)
    cells = [np.bincount(20 * e.rounds + np.minimum((e.accumulators - 14) // 3, 19), minlength=80) for e in (one, two)]
    table = np.array(cells)[:, np.add(*cells) >= 20]
    assert table.shape[1] > 20
    assert stats.chi2_contingency(table).pvalue > LEVEL
    for out in (one, two):
        assert chi_square(np.bincount(out.ranks * 20 // keys, minlength=20), np.ones(20)) > LEVEL
        assert ranks_against_rounds(out, keys) > LEVEL


def ranks_against_rounds(out: Exits, keys: int) -> float:
    return float(stats.chi2_contingency(np.histogram2d(out.ranks * 4 // keys, out.rounds, (4, 4))[0]).pvalue)


def test_keys_in_the_order_of_rounds_are_condemned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(absent, "shuffled", lambda bits, size: np.arange(size))
    assert ranks_against_rounds(drawn(thinned, SMALL, 20_000), 20_000) < CONDEMNED


def test_laws_of_slips_are_condemned() -> None:
    """Nobody out or gone, noise of V in every round, no drops: none of these is taken for the law."""
    keys, alike, kept = 60_000, replace(SMALL, multiples=(1, 1, 1, 1)), replace(SMALL, drops=())
    out = drawn(thinned, SMALL, keys)
    for wrong in (law(SMALL, alive=False), law(alike), law(kept)):
        assert p_value(out, keys, wrong) < CONDEMNED
    for rounds in (alike, kept):
        assert p_value(drawn(direct, rounds, keys), keys, law(SMALL)) < CONDEMNED


def until_it_succeeds(bits: Bits, centre: Fraction, variance: Fraction) -> int:
    while (x := ATTEMPT(bits, centre, variance)) is None:
        pass
    return x


def one_multiple(self: Rounds, r: int) -> Fraction:
    return Fraction(self.variance * self.totals[r - 1], self.totals[r])


ATTEMPT = scalar.attempt
NO_COIN = SimpleNamespace(**(vars(scalar) | {"exp_neg": lambda bits, x: True}))
SLIPS = {
    "candidates need not be alive": (SMALL, Rounds, "goes_on", lambda self, r, accumulator: True),
    "the attempt is repeated until it succeeds": (SMALL, scalar, "attempt", until_it_succeeds),
    "the bridge forgets the multiple": (SMALL, Rounds, "bridge", one_multiple),
    "every excess is accepted": (LOW, absent, "scalar", NO_COIN),
}


@pytest.mark.parametrize(("rounds", "where", "name", "wrong"), SLIPS.values(), ids=list(SLIPS))
def test_wrong_samplers_are_condemned(
    rounds: Rounds, where: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent.candidate_bounds.cache_clear()
    monkeypatch.setattr(where, name, wrong)
    try:
        assert p_value(drawn(thinned, rounds, 30_000), 30_000, law(rounds)) < CONDEMNED
    finally:
        absent.candidate_bounds.cache_clear()


@pytest.mark.parametrize("rate", [Fraction(3, 7), Fraction(5, 2), Fraction(1, 30)], ids=str)
def test_geometric_has_its_law(rate: Fraction) -> None:
    bits = SeededBits(20, f"geometric {rate}")
    counts = np.bincount([scalar.geometric(bits, rate) for _ in range(10_000)], minlength=1200)
    assert chi_square(counts[:1200], np.exp(-np.arange(1200) * float(rate))) > LEVEL


@pytest.mark.parametrize(
    ("centre", "variance"),
    [(Fraction(1, 3), Fraction(3, 7)), (Fraction(-7, 2), Fraction(80, 3)), (Fraction(4), Fraction(5))],
    ids=str,
)
def test_an_attempt_has_its_law_and_its_chance_of_failing(centre: Fraction, variance: Fraction) -> None:
    bits, at = SeededBits(20, f"attempt {centre} {variance}"), np.arange(-60, 61)
    got = [scalar.attempt(bits, centre, variance) for _ in range(10_000)]
    kept = np.bincount(np.array([x for x in got if x is not None]) + 60, minlength=121)
    constant = float(scalar.attempt_bounds(variance, 64)[0])
    chances = constant * np.exp(-((at - float(centre)) ** 2) / (2 * float(variance)))
    assert chi_square(np.append(kept, got.count(None)), np.append(chances, 1 - chances.sum())) > LEVEL


def test_every_order_is_equally_likely() -> None:
    bits, orders = SeededBits(20, "orders"), dict.fromkeys(permutations(range(4)), 0)
    for _ in range(5000):
        orders[tuple(shuffled(bits, 4).tolist())] += 1
    counts = np.array(list(orders.values()))
    assert chi_square(counts, np.ones(24)) > LEVEL
    assert chi_square(counts, np.linspace(0.7, 1.3, 24)) < LEVEL
