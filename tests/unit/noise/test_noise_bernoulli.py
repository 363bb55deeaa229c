"""Coins, checked against the uniform real that they read."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.noise.noise_scripted import Scripted

from hubbub.noise import bernoulli
from hubbub.noise.bits import SystemBits


@given(st.data())
def test_ratio_is_heads_exactly_when_the_uniform_is_below(data: st.DataObject) -> None:
    denominator = data.draw(st.integers(1, bernoulli.DENOMINATOR_LIMIT - 1))
    numerator = data.draw(st.integers(0, denominator))
    near = (numerator << 96) // denominator  # the digits of n/d itself, so that ties happen
    u = data.draw(st.one_of(st.integers(0, (1 << 96) - 1), st.integers(max(0, near - 3), near + 3)))
    u = min(u, (1 << 96) - 1)
    digits = b"".join((u >> (80 - 16 * i) & 0xFFFF).to_bytes(2, "little") for i in range(6))
    try:
        heads = bernoulli.ratio(Scripted(digits), np.array([numerator], np.uint64), denominator)[0]
    except EOFError:
        assert u == near
    else:
        assert heads == (Fraction(u, 1 << 96) < Fraction(numerator, denominator))


def test_first_digit_of_every_coin_is_counted_exactly() -> None:
    every_digit = np.arange(1 << 16, dtype="<u2").tobytes()
    for n, d in ((1, 3), (5, 7), (0, 9), (9, 9), (1, 1 << 16), (12345, 1 << 16)):
        script = Scripted(every_digit + b"\xff\xff" * 4)  # a tie is settled as tails
        heads = bernoulli.ratio(script, np.full(1 << 16, n, np.uint64), d)
        assert heads.sum() == (n << 16) // d


def test_exp_neg_of_zero_always_accepts() -> None:
    assert bernoulli.exp_neg(SystemBits(), np.zeros(5000, np.uint64), 7).all()


def test_exp_neg_far_out_never_accepts() -> None:
    # exp(-200) over 50 coins: the probability of a single head is below 1e-84
    assert not bernoulli.exp_neg(SystemBits(), np.full(50, 1400, np.uint64), 7).any()
    assert bernoulli.exp_neg(SystemBits(), np.array([], np.uint64), 7).size == 0
