"""The histograms behind a synthetic log on Spark: the same integers as on DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hubbub.engines import Engine
from hubbub.log import read_log
from hubbub.mechanisms.crowd.histograms import GRID_BITS
from hubbub.steps.profile import SHAPES, profile
from tests.spark.test_sessions_spark import lines

Make = Callable[[Path], Engine]


def test_histograms_are_those_of_duckdb(make_engine: Make, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text(lines(), encoding="utf-8")
    seen = []
    engines: list[str | Make] = ["duckdb", make_engine]
    for engine in engines:
        with read_log(tmp_path / "log.tsv", format="aol", engine=engine) as log:
            sums = profile(log, dict.fromkeys(SHAPES, GRID_BITS))
            seen.append({name: counted.tolist() for name, counted in sums.items()})
    assert seen[0] == seen[1]
    assert all(any(counted) for counted in seen[0].values())
