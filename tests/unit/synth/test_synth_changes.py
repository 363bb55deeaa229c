"""What changes in a made-up log: needs follow their shares, users come and go, and the truth tables say so exactly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.conftest import Hubbub, document
from tests.made_up import World, generate, synthesise

from hubbub.errors import ParameterError
from hubbub.synth import PRESETS, Changes, lasting
from hubbub.synth.changes import Periods
from hubbub.synth.presets import Preset

USERS = 3_000
SHAPE = replace(
    lasting(PRESETS["gotz"], "2025-01-06", 56),
    changes=Changes("week", 12, 12, 12, 12, ranks=(5, 500), arriving=0.3, leaving=0.4),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    folder = tmp_path_factory.mktemp("changes")
    told = synthesise(USERS, folder / "log.parquet", preset=SHAPE, truth=folder / "truth")
    engine = duckdb.connect()
    for name, path in ({"log": told.out} | told.truth).items():
        engine.execute(f"CREATE TABLE {name} AS FROM '{path}'")
    return engine


def rows(engine: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return list(engine.execute(query).fetchall())


def test_users_by_period_are_exact(made: duckdb.DuckDBPyConnection) -> None:
    """Counted again from the rows of the log, for every text that the table must have."""
    week = "strftime(to_timestamp(least(time, epoch(TIMESTAMP '2025-03-02'))) AT TIME ZONE 'UTC', '%G-W%V')"
    again = f"""SELECT {week} AS period, query, count(DISTINCT "user") AS users FROM log
                SEMI JOIN (FROM periods) AS told ON log.query = told.query GROUP BY ALL"""
    assert rows(made, f"({again}) EXCEPT FROM periods") == rows(made, f"FROM periods EXCEPT ({again})") == []
    often = 'SELECT query FROM log GROUP BY query HAVING count(DISTINCT "user") >= 5'
    assert rows(made, f"{often} EXCEPT SELECT query FROM periods") == []
    assert rows(made, "SELECT DISTINCT period FROM periods ORDER BY 1") == [(f"2025-W{n:02}",) for n in range(2, 10)]


def test_users_follow_the_shares(made: duckdb.DuckDBPyConnection) -> None:
    """In all periods in which a kind is asked least, and in all in which it is asked most: about as 0.1 to 1."""
    found = rows(
        made,
        """SELECT kind, avg(coalesce(users, 0)) FILTER (share > 0.9), avg(coalesce(users, 0)) FILTER (share < 0.2)
           FROM changes LEFT JOIN periods USING (query, period) GROUP BY kind ORDER BY kind""",
    )
    assert [kind for kind, _, _ in found] == ["bursting", "falling", "rising", "seasonal"]
    for _, most, least in found:
        assert most > 4 * least > 0


def test_other_queries_stay_as_they_are(made: duckdb.DuckDBPyConnection) -> None:
    """Users of each query that does not change, added up, by users of that week: about the same in every week."""
    asked = dict(rows(made, "SELECT period, sum(users)::INT FROM periods ANTI JOIN changes USING (query) GROUP BY 1"))
    week = "strftime(to_timestamp(time) AT TIME ZONE 'UTC', '%G-W%V')"
    there = dict(rows(made, f'SELECT {week}, count(DISTINCT "user") FROM log GROUP BY 1'))
    level = np.array([asked[period] / there[period] for period in asked])
    assert len(level) == 8 and np.abs(level / level.mean() - 1).max() < 0.18  # 5 sd of some 900 askings


def test_shares_are_of_their_kind() -> None:
    needs = World(0, SHAPE).changing
    assert needs is not None and needs.share.shape == (48, 8)
    assert (np.diff(needs.intent) > 0).all()
    for kind, share in zip(needs.kind, needs.share, strict=True):
        assert share.min() >= 0.1 - 1e-12 and share.max() <= 1 + 1e-12
        steps = np.diff(share)
        if kind in ("rising", "falling"):
            assert (steps > 0).all() if kind == "rising" else (steps < 0).all()
        elif kind == "bursting":
            assert sorted(share)[:-1] == [0.1] * 7 and max(share) == 1
        else:
            assert np.allclose(share[:4], share[4:]) and np.ptp(share) > 0.8


def test_users_search_while_they_stay(made: duckdb.DuckDBPyConnection) -> None:
    outside = """SELECT count(*) FROM log JOIN stays USING ("user")
                 WHERE time < arrives OR time > leaves + 3600 + 60 * 1750 + 12 * 3600"""
    assert rows(made, outside) == [(0,)]
    ((users, late, early),) = rows(
        made,
        """SELECT count(*), avg((arrives > epoch(TIMESTAMP '2025-01-06'))::INT),
                  avg((leaves < epoch(TIMESTAMP '2025-03-02 23:00:00'))::INT) FROM stays""",
    )
    assert users == USERS == rows(made, 'SELECT count(DISTINCT "user") FROM log')[0][0]
    assert abs(float(late) - 0.3) < 0.05 and abs(float(early) - 0.4) < 0.05  # 5 sd


def log(users: int, shape: Preset, chunk_users: int = 4096) -> pa.Table:
    return pa.Table.from_batches(list(generate(users, 5, shape, truth=True, chunk_users=chunk_users))).combine_chunks()


def test_chunks_change_nothing() -> None:
    whole = log(200, SHAPE, chunk_users=200)
    assert log(200, SHAPE, chunk_users=33).equals(whole)
    assert log(80, SHAPE).equals(whole.slice(0, len(log(80, SHAPE))))


def test_without_changes_the_periods_change_nothing() -> None:
    assert log(100, replace(PRESETS["aol"], changes=Changes("day"))).equals(log(100, PRESETS["aol"]))
    assert lasting(PRESETS["aol"], None, None) == lasting(PRESETS["aol"], "2006-03-01", 92) == PRESETS["aol"]


def test_a_longer_log_has_as_many_rows_a_day() -> None:
    short, long = log(600, PRESETS["gotz"]), log(600, lasting(PRESETS["gotz"], None, 90))
    assert 2.4 < len(long) / len(short) < 3.6


@pytest.mark.parametrize(
    ("every", "start", "days", "names"),
    [
        ("month", "2024-12-30", 40, ["2024-12", "2025-01", "2025-02"]),
        ("week", "2024-12-28", 5, ["2024-W52", "2025-W01"]),
        ("day", "2024-02-28", 3, ["2024-02-28", "2024-02-29", "2024-03-01"]),
    ],
)
def test_periods_are_those_of_the_calendar(every: str, start: str, days: int, names: list[str]) -> None:
    periods = Periods(replace(lasting(PRESETS["aol"], start, days), changes=Changes(every)))
    assert periods.names == names
    first = int(np.datetime64(start, "s").astype(np.int64))
    assert periods.of(np.array([first, first + days * 86_400 - 1])).tolist() == [0, len(names) - 1]


@pytest.mark.parametrize(
    "options",
    [{"every": "year"}, {"arriving": -0.1}, {"leaving": 1.5}, {"quiet": 2}, {"rising": -1}, {"falling": 500}],
)
def test_impossible_changes_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        Changes(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("start", "days"), [("soon", 5), ("2025-01-01", 0), (None, 5000)])
def test_impossible_days_are_refused(start: str | None, days: int) -> None:
    with pytest.raises(ParameterError):
        lasting(PRESETS["aol"], start, days)


def test_the_command_makes_them(hubbub: Hubbub, tmp_path: Path) -> None:
    shape = ("--start", "2025-01-01", "--days", 62, "--changing", 3, "--arriving", 0.5, "--leaving", 0.1)
    options = ("--users", 300, "--out", tmp_path / "log.parquet", "--truth", tmp_path / "truth", "--json")
    told = document(hubbub("synth", *options, *shape))["truth"]
    assert {"changes", "periods", "stays"} < set(told)  # type: ignore[call-overload]
    engine = duckdb.connect()
    found = rows(engine, f"SELECT DISTINCT period FROM '{tmp_path}/truth/periods.parquet' ORDER BY 1")
    assert found == [("2025-01",), ("2025-02",), ("2025-03",)]
    refused = hubbub("synth", "--users", 5, "--out", tmp_path / "other.tsv", "--arriving", 3, code=2)
    assert "0 to 1" in refused.output
