"""The tables that tasks look at are the same from Spark as from DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.engines import Engine
from hubbub.log import read_log
from hubbub.worth.tasks import Evidence
from tests.unit.worth.tasks.test_tasks_base import NAMES, made_up, write


@pytest.mark.parametrize("counts", ["users", "count"])
def test_the_same_tables(make_engine: Callable[[Path], Engine], tmp_path: Path, counts: str) -> None:
    path = write(tmp_path / "log.parquet", made_up(5))
    with read_log(path) as duckdb, read_log(path, engine=make_engine) as spark:
        for name in NAMES:
            ours, theirs = (Evidence.of_log(log, counts).table(name) for log in (duckdb, spark))
            assert ours is not None and theirs is not None and ours.equals(theirs), name
