"""Tables: every boundary is enclosed, and a draw is the inversion of the real boundaries, not of rounded ones."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.unit.noise.noise_scripted import Scripted, uniform_script

from hubbub.noise import gaussian, intervals, laplace
from hubbub.noise.bits import SystemBits
from hubbub.noise.tables import Bounds, Table

WITNESS = 900  # bits of the independent computation


def laplace_cdf(scale: Fraction) -> list[mpmath.mpf]:
    """P(|x| <= h), summed term by term."""
    with mpmath.workprec(WITNESS):
        a = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
        mass = [a**h * (2 if h else 1) * (1 - a) / (1 + a) for h in range(40 + int(260 * scale))]
        return list(np.cumsum(mass))


def gaussian_cdf(variance: Fraction) -> list[mpmath.mpf]:
    with mpmath.workprec(WITNESS):
        c = mpmath.mpf(variance.denominator) / (2 * variance.numerator)
        weight = [mpmath.exp(-c * h * h) * (2 if h else 1) for h in range(12 + int(40 * float(variance) ** 0.5))]
        return list(np.cumsum(weight) / mpmath.fsum(weight))


LAWS = [
    ("laplace 1/50", laplace._boundaries(Fraction(50), True), laplace_cdf(Fraction(1, 50))),
    ("laplace 5", laplace._boundaries(Fraction(1, 5), True), laplace_cdf(Fraction(5))),
    ("laplace 17/3", laplace._boundaries(Fraction(3, 17), True), laplace_cdf(Fraction(17, 3))),
    ("gaussian 1/9", gaussian._boundaries(Fraction(9, 2), True), gaussian_cdf(Fraction(1, 9))),
    ("gaussian 89/4", gaussian._boundaries(Fraction(4, 178), True), gaussian_cdf(Fraction(89, 4))),
    ("gaussian 400", gaussian._boundaries(Fraction(1, 800), True), gaussian_cdf(Fraction(400))),
]
IDS = [name for name, _, _ in LAWS]


@pytest.mark.parametrize("precision", [192, 320])
@pytest.mark.parametrize(("name", "bounds", "cdf"), LAWS, ids=IDS)
def test_every_boundary_is_enclosed(name: str, bounds: Bounds, cdf: list[mpmath.mpf], precision: int) -> None:
    lo, hi = bounds(precision)
    assert lo == sorted(lo)
    assert hi == sorted(hi)
    assert 1 << precision >= hi[-1] > (1 << precision) - (1 << 32)
    with mpmath.workprec(WITNESS):
        for low, high, f in zip(lo, hi, cdf, strict=False):
            assert low <= mpmath.ldexp(f, precision) <= high
            assert high - low <= 2


@pytest.mark.parametrize(("name", "bounds", "cdf"), LAWS, ids=IDS)
def test_rounding_is_outwards_even_without_guard_bits(
    name: str, bounds: Bounds, cdf: list[mpmath.mpf], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "GUARD", 0)
    monkeypatch.setattr(laplace, "_GUARD", 6)
    monkeypatch.setattr(gaussian, "_GUARD", 6)
    for precision in range(16, 64):
        with mpmath.workprec(WITNESS):
            for low, high, f in zip(*bounds(precision), cdf, strict=False):
                assert low <= mpmath.ldexp(f, precision) <= high


@pytest.mark.parametrize(("name", "bounds", "cdf"), LAWS, ids=IDS)
def test_draws_next_to_a_boundary_are_decided_exactly(name: str, bounds: Bounds, cdf: list[mpmath.mpf]) -> None:
    table = Table(bounds)
    for h in (0, 1, 2):
        for distance in (20, 70, 150, 250, 500):  # the first word, the 192-bit table, and refinements of it
            with mpmath.workprec(WITNESS):
                if 1 - cdf[h] < mpmath.ldexp(1, 8 - distance):
                    continue
                below = int(mpmath.floor(mpmath.ldexp(cdf[h], 704) - mpmath.ldexp(1, 704 - distance)))
                above = int(mpmath.floor(mpmath.ldexp(cdf[h], 704) + mpmath.ldexp(1, 704 - distance)))
            for u in (below, above):
                with mpmath.workprec(WITNESS):
                    expected = sum(bool(f <= mpmath.ldexp(u, -704)) for f in cdf)
                assert table.draw(Scripted(uniform_script(u, 704)), 1)[0] == expected


def test_refinement_reads_only_the_bits_it_needs() -> None:
    bounds, cdf = LAWS[1][1], LAWS[1][2]
    with mpmath.workprec(WITNESS):
        u = int(mpmath.floor(mpmath.ldexp(cdf[3], 704) - mpmath.ldexp(1, 704 - 250)))
    script = Scripted(uniform_script(u, 704))
    Table(bounds).draw(script, 1)
    assert len(script.left) == (704 - 320) // 8


def test_a_draw_beyond_the_first_table_waits_for_a_longer_one() -> None:
    far = (1 << 704) - 1 - (1 << (704 - 230))
    h = Table(LAWS[1][1]).draw(Scripted(uniform_script(far, 704)), 1)[0]
    # 1 - F_h = 2 a^(h+1) / (1+a) first falls below 2^-230 here
    assert h == int(mpmath.floor(5 * mpmath.log(mpmath.ldexp(2, 230) / (1 + mpmath.exp(-0.2)))))
    assert h > len(LAWS[1][1](192)[0])


@pytest.mark.parametrize("ones", [0, 5, 15, 16, 63, 64, 191, 192, 500])
def test_a_table_that_starts_short_grows_when_a_draw_passes_its_end(ones: int) -> None:
    def halves(precision: int) -> tuple[list[int], list[int]]:
        """F_h = 1 - 2^-(h+1), but no more boundaries than precision / 100: draws are runs of leading ones."""
        f = [(1 << precision) - (1 << (precision - h - 1)) for h in range(precision // 100)]
        return f, f

    precision = 192 if ones == 0 else 100 * (ones + 2)
    u = ((1 << ones) - 1) << (precision - ones)
    script = uniform_script(u, precision) + bytes(precision)
    assert Table(halves).draw(Scripted(script), 1)[0] == ones


def test_word_width_changes_the_path_and_not_the_answer() -> None:
    script = bytes(SystemBits().take(64))
    for bounds in (LAWS[1][1], LAWS[5][1]):
        short, long = Table(bounds, word_bits=16), Table(bounds)
        prefix = np.frombuffer(script, "<u2")
        known = short._guide[prefix] >= 0
        assert (short._guide[prefix][known] == long._guide[prefix][known]).all()


def test_word_bits_out_of_range() -> None:
    for word_bits in (8, 65):
        with pytest.raises(ValueError, match="word_bits"):
            Table(LAWS[0][1], word_bits=word_bits)
