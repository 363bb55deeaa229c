"""The engine contract on every engine there is, and the engine's own limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from hubbub.audit.tiny import tiny_log
from hubbub.engines.duckdb import DuckDB
from hubbub.errors import InputError, OurBug, ParameterError
from hubbub.steps import bound
from hubbub.steps.keys import QUERIES
from hubbub.testing import check_engine


def test_duckdb_passes_the_contract() -> None:
    check_engine(lambda work: DuckDB(work, threads=2))


class LosesNulls(DuckDB):
    def write(self, name: str, parquet: Path) -> None:
        self.save("filled", f"SELECT * REPLACE (coalesce(text, '') AS text) FROM {name}")
        super().write("filled", parquet)


class OtherTypes(DuckDB):
    def write(self, name: str, parquet: Path) -> None:
        self.save("doubles", f"SELECT * REPLACE (CAST(n AS DOUBLE) AS n) FROM {name}")
        super().write("doubles", parquet)


class DropsABatch(DuckDB):
    def map_batches(self, name: str, sql: str, function: Any, schema: pa.Schema) -> None:
        super().map_batches(name, f"SELECT * FROM ({sql}) AS rows WHERE id >= 100", function, schema)


class RunsATaskTwice(DuckDB):
    def map_batches(self, name: str, sql: str, function: Any, schema: pa.Schema) -> None:
        again = f"SELECT * FROM ({sql}) AS rows WHERE id < 100"
        super().map_batches(name, f"{sql} UNION ALL {again}", function, schema)


class DrawsAtEveryRead(DuckDB):
    """A plan with a draw in it, run whenever it is read."""

    def map_batches(self, name: str, sql: str, function: Any, schema: pa.Schema) -> None:
        self.plan = name, sql, function, schema

    def fetch(self, sql: str) -> pa.Table:
        super().map_batches(*self.plan) if hasattr(self, "plan") else None
        return super().fetch(sql)


class SharesNoise(DuckDB):
    """Every part has the same generator, copied."""

    def map_batches(self, name: str, sql: str, function: Any, schema: pa.Schema) -> None:
        def parts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            rows = pa.Table.from_batches(batches)
            [first] = (
                pa.Table.from_batches(function(iter(rows.slice(0, 500).to_batches()))).combine_chunks().to_batches()
            )
            for start in range(0, rows.num_rows, 500):
                yield pa.record_batch([rows["id"].slice(start, 500).combine_chunks(), first["noise"]], schema=schema)

        super().map_batches(name, sql, parts, schema)


class CopiesGenerators(DuckDB):
    """Says that functions run elsewhere, and takes whatever they carry."""

    distributed = True


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (LosesNulls, "changed"),
        (OtherTypes, "columns are"),
        (DropsABatch, "lost or repeated"),
        (RunsATaskTwice, "lost or repeated"),
        (DrawsAtEveryRead, "drawn twice"),
        (SharesNoise, "share their noise"),
        (CopiesGenerators, "carries a generator"),
    ],
)
def test_the_contract_finds_what_is_broken(broken: type[DuckDB], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_engine(lambda work: broken(work, threads=1))


def test_what_is_a_view_in_another_database_of_the_instance_is_dropped_as_what_it_is_here() -> None:
    with tiny_log([("u", 1, "a", None)]) as one, tiny_log([("u", 1, "a", None)]) as two:
        for log, order in ((one, ()), (two, ("query",)), (two, ())):  # a view, a table, and a view in its place
            log.engine.number("ids", "SELECT query FROM log", order, "kid")
        assert two.engine.fetch("SELECT kid, query FROM ids").to_pylist() == [{"kid": 0, "query": "a"}]


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


def test_too_little_memory_to_register_a_table_is_said_plainly(tmp_path: Path) -> None:
    class Full:
        """A connection that has no room left; a real one fails here once in a few hundred times."""

        def register(self, name: str, table: pa.Table) -> None:
            raise duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate data of size 4.0 KiB")

    engine = DuckDB(tmp_path)
    engine.close()
    engine.connection = Full()  # type: ignore[assignment]
    with pytest.raises(ParameterError, match="ran out of the memory"):
        engine.register("given", pa.table({"x": [1]}))


def test_a_bound_that_bounds_nothing_is_our_bug() -> None:
    with pytest.raises(OurBug):
        bound.first_keys(QUERIES, 0)
    with pytest.raises(OurBug):
        bound.random_keys(QUERIES, 1, b"short")
