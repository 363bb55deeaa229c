"""A series on Spark: the same bytes as on DuckDB in every table, and a series may change its engine between periods."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hubbub.engines.spark import Spark
from hubbub.privacy.ledger import Ledger
from hubbub.series import add, fix
from tests.series_made_up import Make, one_thread, seeded, visited, visits_of

TABLES = ("queries", "clicks", "keywords")
"""One whose pools are its own, one that hangs on them, one without a selection."""


def released(place: Path, engines: list[Make]) -> dict[str, bytes]:
    """Every byte of the tables of periods, one after the other, each on its engine."""
    place.mkdir()
    with Ledger(place / "book.sqlite") as book:
        fix(seeded(tables=TABLES, epsilon=30, delta="0.1"), place / "s", book, new_population=True)
        for make in engines:
            with visits_of(place, visited(), make) as log:
                add(place / "s", log, book)
    return {str(path.relative_to(place)): path.read_bytes() for path in place.glob("s/2*/public/*.parquet")}


def test_the_same_bytes_on_spark_and_then_on_duckdb(make_engine: Callable[[Path], Spark], tmp_path: Path) -> None:
    whole = released(tmp_path / "duckdb", [one_thread] * 2)
    assert len(whole) == 2 * len(TABLES)
    assert released(tmp_path / "spark", [make_engine, one_thread]) == whole
