"""Every mechanism that no other file here runs: the same seeded release on Spark as on DuckDB, so the same integers.

The log is skewed: half of the users ask one query, and one user has as many rows as all others together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hubbub.audit.tiny import MODE
from hubbub.engines import Engine
from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import build, mechanisms
from hubbub.mechanisms.base import Rows
from hubbub.mechanisms.optimal.published.problem import read
from hubbub.noise import SeededNoise
from hubbub.release.rows import named_rows, sort_rows
from tests.conftest import HEADER
from tests.spark.conftest import Shared

BUDGET: dict[str, object] = {"epsilon": 4, "delta": "1e-3"}
CASES: dict[str, tuple[dict[str, object], dict[str, Any]]] = {
    "gaussian": (BUDGET, {}),
    "geometric": (BUDGET | {"d": 2}, {}),
    "sips": (BUDGET | {"d": 3}, {}),
    "adaptive": (BUDGET | {"d": 3}, {}),
    "optimal": (BUDGET, {"variant": "strict"}),
    "ngrams": (BUDGET | {"l_max": 2, "n_max": 2}, {}),
    "zealous": (BUDGET | {"m": 3}, {"tables": ["itemsets"]}),
    "korolova": (BUDGET | {"d_t": 2}, {"tables": ["transitions"]}),
    "k-query": ({"k": 5}, {}),
    "k-session": ({"k": 5}, {}),
    "k-keyword": ({"k": 5}, {}),
    "k-click": ({"k": 5}, {}),
    "pseudonyms": ({}, {}),
    "token-hash": ({}, {}),
    "secret-sharing": ({"k": 5}, {}),
    "k-vocabulary": ({"k": 5}, {}),
    "k-core": ({"k": 5}, {}),
    "k-similar": ({"k": 5}, {}),
}
ELSEWHERE = {"korolova", "zealous", "safelog", "sessions", "crowd"}


def lines() -> list[str]:
    rows = []
    for user in range(40):
        asked = ["everybody's query"] * (user % 2) + [f"ж {user % 5}", "two words", f"own {user}"]
        for n, query in enumerate(asked):
            rows.append(f"{user}\t{query}\t2006-03-01 08:{n:02d}:00\t1\thttp://{n}.example")
    rows += [f"busy\tquery {n % 97}\t2006-03-02 {n // 60:02d}:{n % 60:02d}:00\t\t" for n in range(200)]
    return rows


@pytest.fixture(scope="module")
def logs(shared: Shared, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[SearchLog]]:
    """The log on both engines: two files, which Spark reads apart."""
    path = tmp_path_factory.mktemp("skewed")
    for n in range(2):
        (path / f"{n}.tsv").write_text("\n".join([HEADER, *lines()[n::2]]) + "\n", encoding="utf-8")
    engines: list[str | Callable[[Path], Engine]] = ["duckdb", shared.engine]
    with read_log(path, format="aol", engine=engines[0]) as one, read_log(path, format="aol", engine=engines[1]) as two:
        yield [one, two]


@pytest.mark.parametrize("name", CASES)
def test_the_same_seeded_release(logs: list[SearchLog], name: str) -> None:
    settings, options = CASES[name]
    mechanism, seen = build(name, dict(settings), **options), []
    for log in logs:
        counts = mechanism.measure(log, MODE)
        tables = mechanism.draw(counts, SeededNoise(5))
        rows = {}
        for table, released in tables.items():
            if isinstance(released, Rows):
                rows[table] = released.rows.to_pylist()
            else:
                rows[table] = sort_rows(named_rows(log, mechanism, table, counts, tables)).to_pylist()
        seen.append(rows)
    assert seen[0] == seen[1]
    assert any(seen[0].values())


def test_the_same_records_are_screened(shared: Shared, tmp_path: Path) -> None:
    """Two files, which Spark reads apart, each with rows that a rule or the owner's list takes out."""
    folder, deny = tmp_path / "log", tmp_path / "deny.txt"
    folder.mkdir()
    deny.write_text("two words\n", encoding="utf-8")
    for n in range(2):
        hit = [
            f"{n}\tme@home.example\t2006-03-01 08:00:00\t\t",
            f"{n}\tcart\t2006-03-01 08:01:00\t1\thttp://s.example/?sid=12ab56",
        ]
        (folder / f"{n}.tsv").write_text("\n".join([HEADER, *lines()[n::2], *hit]) + "\n", encoding="utf-8")
    seen = []
    for engine in ("duckdb", shared.engine):
        with read_log(folder, format="aol", engine=engine, screen="default", deny=deny) as log:
            rows = log.engine.fetch('SELECT uid, query, "time", "rank", url FROM log').to_pylist()
            seen.append((log.ingested.screened, sorted(map(str, rows))))
    assert seen[0] == seen[1] and seen[0][0] == 42
    assert not any("two words" in row or "sid=" in row for row in seen[0][1])


def test_none_is_forgotten() -> None:
    assert set(mechanisms()) == CASES.keys() | ELSEWHERE


def test_the_published_optimum_starts_from_the_same_problem(logs: list[SearchLog]) -> None:
    one, two = (read(log, MODE) for log in logs)
    assert one.shape == two.shape and one.shape[1] > 0
    assert one.counts.tolist() == two.counts.tolist() and one.totals.tolist() == two.totals.tolist()


def test_a_user_with_a_million_rows_is_cut_before_she_is_moved(shared: Shared, tmp_path: Path) -> None:
    """Each task keeps D of her rows before the shuffle: nobody sorts a million."""
    engine = shared.engine(tmp_path)
    try:
        held = "SELECT CASE WHEN id < 1000000 THEN 'busy' ELSE CAST(id AS STRING) END AS uid, id FROM range(1000100)"
        engine.smallest("kept", held, ["id"], engine.shuffle("uid, id"), 100)
        [row] = engine.fetch("SELECT count(*) AS n, count(DISTINCT uid) AS users FROM kept").to_pylist()
        assert row == {"n": 200, "users": 101}
        ordinal = "row_number() OVER (PARTITION BY uid ORDER BY id) AS ordinal"
        plan = engine.session.sql(f"SELECT uid FROM (SELECT uid, {ordinal} FROM ({held})) WHERE ordinal <= 100")
        assert plan._jdf.queryExecution().executedPlan().toString().count("WindowGroupLimit") == 2
        for setting in ("spark.sql.adaptive.enabled", "spark.sql.adaptive.skewJoin.enabled"):
            assert engine.session.conf.get(setting) == "true"
    finally:
        engine.close()
