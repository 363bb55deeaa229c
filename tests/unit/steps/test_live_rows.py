"""Rounds after the first on arrays: exact roots, and the same sums as SQL and as Python's integers have them."""

from math import isqrt

import numpy as np
import pyarrow as pa
import pytest

from hubbub.steps.live_rows import LiveRows, PriorSays, roots


def test_roots_are_those_of_whole_numbers() -> None:
    near = [s * s + off for s in (1, 2, 3, 65_535, 94_906_265, 94_906_267, 2**31 - 1) for off in (-1, 0, 1)]
    numbers = np.array([0, 1, 2**62 - 1, *near], np.int64)
    assert roots(numbers).tolist() == [isqrt(int(x)) for x in numbers]


ROWS = pa.table({"uid": ["a", "a", "a", "b", "b", "c"], "kid": pa.array([0, 1, 4, 1, 3, 3], pa.int64())})


def test_a_user_shares_her_unit_among_what_is_live() -> None:
    rows = LiveRows(ROWS, 5, 16, None)
    halves, thirds, whole = isqrt(2**32 // 2), isqrt(2**32 // 3), 2**16
    assert rows.weights(np.array([0, 1, 3, 4])).tolist() == [thirds, thirds + halves, halves + whole, thirds]
    assert rows.weights(np.array([1, 3])).tolist() == [whole + halves, halves + whole]


def test_a_prior_is_about_a_user_or_not() -> None:
    """Of a and b the prior says 100 and 4; it is not about c, whose only key does not fit: hers counts as any other."""
    told = pa.table({"kid": [0, 1, 3, 4], "g": [4, 100, 100, 1], "fits": [1, 1, -1, 0]})
    rows = LiveRows(ROWS, 5, 16, PriorSays.of(told, 5))
    a, b = ([isqrt((g << 32) // total) for g in (4, 100, 1)] for total in (105, 200))
    assert rows.weights(np.array([0, 1, 3, 4])).tolist() == [a[0], a[1] + b[1], b[1] + 2**16, a[2]]


@pytest.mark.slow
def test_names_of_users_may_be_longer_together_than_one_array_holds() -> None:
    """By then noise was drawn: nothing in the log may stop the rounds."""
    long = pa.array(["x" * (1 << 26)])
    uids = pa.chunked_array([*[long] * 33, pa.array(["short"])])
    rows = LiveRows(pa.table({"uid": uids, "kid": np.arange(34)}), 34, 16, None)
    assert rows.people == 2 and rows.weights(np.array([0, 33])).tolist() == [2**16, 2**16]
