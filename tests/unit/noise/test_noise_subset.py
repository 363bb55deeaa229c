"""Uniform subsets: shape here, uniformity in the statistical tests."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.noise.noise_scripted import Scripted

from hubbub.noise.bits import SystemBits
from hubbub.noise.subset import below, choose


@pytest.mark.parametrize(
    ("population", "size"), [(1, 1), (10, 0), (10, 3), (10, 9), (10, 10), (1000, 501), (1 << 61, 5)]
)
def test_a_subset_is_sorted_distinct_and_inside(population: int, size: int) -> None:
    drawn = choose(SystemBits(), population, size)
    assert drawn.dtype == np.int64
    assert drawn.size == size
    assert (np.diff(drawn) > 0).all()
    assert size == 0 or (drawn[0] >= 0 and drawn[-1] < population)


def test_words_of_the_last_partial_round_are_thrown_away() -> None:
    top = ((1 << 64) - 1).to_bytes(8, "little")  # 2^64 - 1 = 0 mod 3, but rounds of 3 end one word earlier
    assert below(Scripted(top + (5).to_bytes(8, "little")), 3, 1).tolist() == [2]
    assert below(Scripted(top), 1 << 62, 1).tolist() == [(1 << 62) - 1]


def test_repeated_values_are_passed_over() -> None:
    values = [7, 7, 7, 4, 4, 9] + [0] * 13
    script = Scripted(b"".join(v.to_bytes(8, "little") for v in values))
    assert choose(script, 20, 3).tolist() == [4, 7, 9]
