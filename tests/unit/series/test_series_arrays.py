"""Arrays of a series' state: written in numbers of half the size where they fit, and never added up in those."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.mechanisms.series.constants import FOREVER
from hubbub.mechanisms.series.rounds import SeriesSums
from hubbub.series.arrays import read_arrays, read_past, write_arrays, write_past

MOST = 2**31 - 1


@pytest.mark.parametrize("largest", [0, MOST, MOST + 2, 2**60])
@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_written_is_read(tmp_path: Path, largest: int, sign: int) -> None:
    numbers = np.array([0, 7, sign * largest], np.int64)
    write_arrays(tmp_path / "a.parquet", {"a": numbers, "none": np.zeros(3, np.int64)})
    found = read_arrays(tmp_path / "a.parquet")
    assert found["a"].tolist() == numbers.tolist() and {each.dtype for each in found.values()} == {np.dtype(np.int64)}
    stored = pq.read_schema(tmp_path / "a.parquet")
    assert stored.field("none").type == pa.int32()
    assert stored.field("a").type == (pa.int32() if largest <= MOST else pa.int64())


def test_sums_over_windows_do_not_overflow(tmp_path: Path) -> None:
    """Each run fits in half the size, their sums do not; nor do they with new keys, or in the next run."""
    each = np.array([MOST, -MOST], np.int64)
    write_past(tmp_path / "past.parquet", SeriesSums(3 * each, (each, each, each), np.zeros(2, np.int64)))
    before, recent = read_past(tmp_path / "past.parquet")
    now = SeriesSums(before, recent, each)
    late = SeriesSums(np.zeros(1, np.int64), (np.zeros(1, np.int64),) * 3, np.zeros(1, np.int64))
    for gathered in (now, now.joined(late)):
        sums = {window: list(found[:2]) for window, found in gathered.each((1, 2, 4, FOREVER))}
        assert sums == {1: [MOST, -MOST], 2: [2 * MOST, -2 * MOST], 4: [4 * MOST, -4 * MOST], 0: [4 * MOST, -4 * MOST]}
        assert all(list(gathered.window(window)[:2]) == found for window, found in sums.items())
        assert list(gathered.next_run().window(4)[:2]) == [3 * MOST, -3 * MOST]
