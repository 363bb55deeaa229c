"""The engine contract on every engine there is, and the engine's own limits."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.engines.duckdb import DuckDB
from hubbub.errors import InputError, OurBug, ParameterError
from hubbub.steps import bound
from hubbub.steps.keys import QUERIES
from hubbub.testing import check_engine


def test_duckdb_passes_the_contract() -> None:
    check_engine(lambda work: DuckDB(work, threads=2))


def test_memory_and_threads_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ParameterError):
        DuckDB(tmp_path, memory="plenty")
    with pytest.raises(ParameterError):
        DuckDB(tmp_path, threads=0)


def test_work_spills_within_a_small_limit(tmp_path: Path) -> None:
    engine = DuckDB(tmp_path, memory="60MB", threads=1)
    engine.save("numbers", "SELECT hash(range) AS h, 'padding ' || range AS t FROM range(1000000)")
    engine.number("ordered", "SELECT h, t FROM numbers", ["t"], "id")
    assert engine.fetch("SELECT count(*) AS n, max(id) AS m FROM ordered").to_pylist() == [
        {"n": 1_000_000, "m": 999_999}
    ]
    engine.drop("ordered")
    engine.close()


def test_out_of_memory_and_missing_files_are_said_plainly(tmp_path: Path) -> None:
    engine = DuckDB(tmp_path, memory="10MB", threads=1)
    with pytest.raises(ParameterError, match="memory"):
        engine.fetch("SELECT list(range) AS everything FROM range(10000000)")
    with pytest.raises(InputError):
        engine.scan("gone", tmp_path / "gone.parquet")
    engine.register("two", pa.table({"a": [1, 2]}))
    assert engine.fetch("SELECT sum(a) AS s FROM two").to_pylist() == [{"s": 3}]
    engine.close()


def test_a_bound_that_bounds_nothing_is_our_bug() -> None:
    with pytest.raises(OurBug):
        bound.first_keys(QUERIES, 0)
    with pytest.raises(OurBug):
        bound.random_keys(QUERIES, 1, b"short")
