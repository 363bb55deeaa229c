"""The NoiseSource contract: what is private, what repeats, what is refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub.errors import ParameterError
from hubbub.noise import NoiseSource, SecureNoise, SeededNoise

SOURCES: list[NoiseSource] = [SecureNoise(), SeededNoise(7)]


@pytest.mark.parametrize("noise", SOURCES, ids=["secure", "seeded"])
def test_every_source_answers_every_question(noise: NoiseSource) -> None:
    for drawn in (
        noise.laplace("a", Fraction(7, 2), 1000),
        noise.gaussian("b", 40, 1000),
        noise.gaussian("c", 10**9, 3),
    ):
        assert drawn.dtype == np.int64
        assert drawn.flags.writeable
    assert noise.laplace("a", Fraction(2), 0).size == 0
    assert 0 <= noise.binomial_tail("d", Fraction(2), 3, 100) <= 100
    assert noise.choose("e", 50, 20).size == 20
    assert len(noise.secret("f")) == 16


def test_only_the_secure_source_is_private() -> None:
    assert SecureNoise().private is True
    assert SeededNoise(1).private is False
    with pytest.raises(AttributeError):
        SeededNoise(1).private = True  # type: ignore[misc]


def test_secure_draws_differ() -> None:
    noise = SecureNoise()
    assert noise.gaussian("a", 10**6, 40).tolist() != noise.gaussian("a", 10**6, 40).tolist()
    assert noise.laplace("a", Fraction(10**6), 40).tolist() != SecureNoise().laplace("a", Fraction(10**6), 40).tolist()
    assert noise.secret("a") != noise.secret("a")


def everything(noise: SeededNoise, step: str) -> list[Any]:
    return [
        noise.laplace(step, Fraction(900), 30).tolist(),
        noise.gaussian(step, Fraction(89, 4), 30).tolist(),
        noise.binomial_tail(step, Fraction(3), 2, 10**7),
        noise.choose(step, 10**6, 9).tolist(),
        noise.secret(step),
    ]


def test_seeded_noise_repeats_and_streams_do_not_depend_on_order() -> None:
    one, two = SeededNoise(5), SeededNoise(5)
    first = everything(one, "queries"), everything(one, "clicks")
    second = everything(two, "clicks"), everything(two, "queries")
    assert first == second[::-1]
    assert first[0] != first[1]
    assert everything(SeededNoise(6), "queries") != first[0]


def test_a_step_named_twice_continues_its_stream() -> None:
    noise = SeededNoise(5)
    assert everything(noise, "queries") != everything(noise, "queries")
    assert noise.gaussian("a", 10**6, 50).tolist() != noise.gaussian("a", 10**6, 50).tolist()


def test_seeded_noise_is_the_same_on_every_machine() -> None:
    noise = SeededNoise(2006)
    assert noise.laplace("a", Fraction(5), 8).tolist() == [-16, 5, 6, -3, -4, -3, 0, -1]
    assert noise.gaussian("b", 10**6, 5).tolist() == [513, -202, -1015, -257, -2148]


def test_blocks_do_not_leave_gaps() -> None:
    noise = SecureNoise()
    for drawn in (noise.laplace("a", Fraction(100), 300_001), noise.gaussian("a", 16, 300_001)):
        assert drawn.size == 300_001
        thirds = [part.std() for part in np.array_split(drawn, 3)]
        assert max(thirds) < 1.1 * min(thirds)  # unwritten memory would show


@pytest.mark.parametrize(
    "scale", [Fraction(0), Fraction(-1), Fraction(1 << 36), Fraction((1 << 46) + 1, 3), 2.5, Decimal("2.5"), "5"]
)
def test_scales_that_are_refused(scale: Any) -> None:
    with pytest.raises(ParameterError) as refused:
        SecureNoise().laplace("a", scale, 1)
    assert refused.value.allowed
    assert refused.value.given is not None


@pytest.mark.parametrize("variance", [0, -4, Fraction(-1, 2), 1 << 45, Fraction((1 << 45) + 1, 2), 2.5])
def test_variances_that_are_refused(variance: Any) -> None:
    with pytest.raises(ParameterError) as refused:
        SecureNoise().gaussian("a", variance, 1)
    assert refused.value.allowed


@pytest.mark.parametrize(
    "scale", [Fraction(1, 10**6), Fraction(1, 50), Fraction(10**40 + 1, 10**39), Fraction((1 << 40) + 1, 10**6 + 3)]
)
def test_odd_scales_that_are_served(scale: Fraction) -> None:
    assert SecureNoise().laplace("a", scale, 100).size == 100


@pytest.mark.parametrize(
    "variance", [Fraction(1, 10**6), np.int64(25), Fraction(10**40 + 1, 10**37), Fraction(10**9, 7), (1 << 45) - 1]
)
def test_odd_variances_that_are_served(variance: Fraction) -> None:
    assert SecureNoise().gaussian("a", variance, 100).size == 100


def test_tiny_scales_give_zero_noise_and_say_so_in_the_tail() -> None:
    noise = SecureNoise()
    assert not noise.laplace("a", Fraction(1, 200), 10_000).any()
    assert noise.binomial_tail("a", Fraction(1, 200), 1, 10**9) == 0
    assert noise.binomial_tail("a", Fraction(1, 200), 0, 10**9) == 10**9


def test_sizes_that_are_refused() -> None:
    noise = SecureNoise()
    for ask in (
        lambda: noise.laplace("a", Fraction(1), -1),
        lambda: noise.gaussian("a", 1, -1),
        lambda: noise.choose("a", 3, 4),
        lambda: noise.choose("a", -1, 0),
        lambda: noise.binomial_tail("a", Fraction(1), 1, -1),
    ):
        with pytest.raises(ParameterError):
            ask()
