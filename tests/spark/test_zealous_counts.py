"""zealous on Spark: the same exact counts before the noise as on DuckDB, for every table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hubbub import Zealous
from hubbub.audit.tiny import MODE
from hubbub.engines import Engine
from hubbub.log import SearchLog, read_log
from tests.conftest import aol_lines

TABLES = ("keywords", "queries", "clicks", "transitions")


def counted(log: SearchLog, mechanism: Zealous) -> dict[str, dict[tuple[str, ...], int]]:
    """Counts by the text of the keys."""
    found = {}
    for table, counts in mechanism.measure(log, MODE).items():
        keys = mechanism.offers[table]
        rows = log.engine.fetch(f"SELECT kid, {keys.list()} FROM {counts.keys}").to_pylist()
        found[table] = {tuple(r[c] for c in keys.columns): int(counts.local().n[r["kid"]]) for r in rows}
    return found


def test_exact_counts_are_the_same(make_engine: Callable[[Path], Engine], tmp_path: Path) -> None:
    lines = aol_lines(60)
    for user in range(60):
        for n, text in enumerate(("weather berlin", "ä b", "news", "ｑ z", "news berlin")):
            clicked = f"\t1\thttp://{n % 3}.example" if n % 2 else "\t\t"
            lines.append(f"{user}\t{text}\t2006-03-02 0{n}:{(user * 7 + n * 11) % 60:02d}:00{clicked}")
    file = tmp_path / "log.tsv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    mechanism = Zealous(epsilon=1, delta="1e-3", m=2, keep="random", tables=TABLES)
    found = []
    engines: list[str | Callable[[Path], Engine]] = ["duckdb", make_engine]
    for engine in engines:
        with read_log(file, format="aol", engine=engine) as log:
            found.append(counted(log, mechanism))
    assert found[0] == found[1]
    assert all(found[0][table] for table in TABLES)
