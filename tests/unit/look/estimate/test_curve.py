"""The curve that rises: as scipy has it, and of a table without a key."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from hubbub.look.estimate.curve import by_keys, isotonic, points


@pytest.mark.parametrize("seed", range(5))
def test_pooling_neighbours_gives_what_scipy_gives(seed: int) -> None:
    draw = np.random.default_rng(seed)
    values, weights = draw.random(200).round(1), draw.integers(1, 50, 200).astype(float)
    found = isotonic(values, weights)
    assert np.allclose(found, isotonic_regression(values, weights=weights).x, rtol=0, atol=1e-12)
    assert (np.diff(found) >= 0).all()


def test_of_a_table_that_nobody_holds_a_key_of_nothing_is_released() -> None:
    nobody = np.zeros(0, np.int64)
    assert not by_keys(points(3), nobody, nobody.astype(float)).chance.any()
