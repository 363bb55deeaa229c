"""A log is what the stated period leaves of it, on an engine that exists, and gone from disk when it is closed."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from hubbub.errors import ParameterError
from hubbub.log import WORK, Period, read_log


def test_a_period_has_whole_days() -> None:
    start, after = Period(date(2006, 3, 1), date(2006, 3, 1)).seconds
    assert start == 1141171200 and after - start == 24 * 60 * 60
    with pytest.raises(ParameterError, match="ends before it starts") as raised:
        Period(date(2006, 3, 2), date(2006, 3, 1))
    assert "2006-03-02 to 2006-03-01" in str(raised.value)


def test_rows_outside_the_period_are_dropped(log_file: Path) -> None:
    with read_log(log_file, format="aol") as log:
        assert (log.rows(), log.users()) == (300 * 3 + 150, 300)
    with read_log(log_file, format="aol", period=Period(date(2006, 3, 1), date(2006, 3, 2))) as log:
        first_two_days = [user for user in range(300) if user % 28 < 2]
        assert log.users() == len(first_two_days)
        assert log.rows() == 3 * len(first_two_days) + sum(user % 2 for user in first_two_days)


@pytest.mark.parametrize(
    ("engine", "says"),
    [({"engine": "sqlite"}, "no such engine"), ({"engine": "duckdb", "master": "local"}, "DuckDB has no master")],
)
def test_an_engine_that_cannot_be_leaves_nothing(
    log_file: Path, tmp_path: Path, engine: dict[str, Any], says: str
) -> None:
    with pytest.raises(ParameterError, match=says):
        read_log(log_file, format="aol", work=tmp_path / "work", **engine)
    assert list((tmp_path / "work").iterdir()) == []


def test_the_cleaned_copy_is_gone_when_the_log_is_closed(log_file: Path, tmp_path: Path) -> None:
    with read_log(log_file, format="aol", work=tmp_path / "work") as log:
        assert [path.name.startswith(WORK) for path in (tmp_path / "work").iterdir()] == [True]
        assert log.work.is_dir()
    assert list((tmp_path / "work").iterdir()) == []
