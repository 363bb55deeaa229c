"""Robots that an owner leaves out: by each user's own records alone, on the card as a rule, and never as a number."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import hubbub
from hubbub.cli import app
from hubbub.engines.duckdb import DuckDB
from hubbub.errors import ParameterError
from hubbub.log import SearchLog
from hubbub.log.left_out import DAY, LeftOut, busy_users

Row = tuple[str, int | None, str]
NAMES = {"user": "user", "query": "query", "time": "time", "url": "url"}


def table(rows: Iterable[Row]) -> pa.Table:
    """Rows as a frame; each twice, as a search with two clicks has them."""
    columns = list(zip(*((*row, url) for row in rows for url in ("a", "b")), strict=True))
    return pa.table(dict(zip(("user", "time", "query", "url"), columns, strict=True)))


def kept(rows: Iterable[Row], most: int | None) -> list[str]:
    with hubbub.read_log(table(rows), columns=NAMES, max_searches_a_day=most) as log:
        return [
            str(uid) for uid in log.engine.fetch("SELECT DISTINCT uid FROM log ORDER BY uid").column("uid").to_pylist()
        ]


def searches(user: str, n: int, day: int = 13_000, apart: int = 1) -> list[Row]:
    return [(user, day * DAY + at * apart, f"q{at}") for at in range(n)]


def test_more_than_so_many_on_one_day_leaves_a_user_out() -> None:
    same = [("same", 5, "q")] * 9  # one search, seen nine times
    two_days = searches("two days", 3) + searches("two days", 3, day=13_001)
    timeless: list[Row] = [("timeless", None, f"q{n}") for n in range(4)]
    before_1970 = searches("early", 4, day=-3)
    rows = searches("three", 3) + searches("four", 4) + searches("whole", 4) + [("whole", 9, "q")]
    rows += same + two_days + timeless + before_1970
    assert kept(rows, None) == ["early", "four", "same", "three", "timeless", "two days", "whole"]
    assert kept(rows, 3) == ["same", "three", "two days"]
    assert kept(rows, 4) == kept(rows, None)


def test_a_day_begins_at_midnight_utc() -> None:
    midnight: list[Row] = [("u", 13_000 * DAY + at, f"q{at}") for at in (-2, -1, 0, 1)]
    assert kept(midnight, 2) == ["u"] and kept(midnight, 1) == []


def busy(engine: DuckDB, rows: list[Row], sql: str) -> set[str]:
    engine.register("made_up", pa.table(dict(zip(("uid", "time", "query"), zip(*rows, strict=True), strict=True))))
    return set(engine.fetch(sql).column("uid").to_pylist())


def alone(engine: DuckDB, rows: list[Row], sql: str) -> bool:
    """Whether who is left out of a log is who would be left out of a log of her records alone."""
    whole = busy(engine, rows, sql)
    users = {user for user, *_ in rows}
    return all((user in whole) == bool(busy(engine, [r for r in rows if r[0] == user], sql)) for user in users)


def test_nobody_decides_about_anybody_else(tmp_path: Path) -> None:
    """On made-up logs, exactly; a rule that counts everybody's searches of a day would be noticed."""
    draw = random.Random(3)  # noqa: S311
    everybodys = 'SELECT DISTINCT uid FROM made_up WHERE (SELECT count(*) FROM made_up) > 9 AND "time" IS NOT NULL'
    engine, noticed = DuckDB(tmp_path), 0
    try:
        for _ in range(12):
            size = draw.randint(1, 25)
            rows = [
                (f"u{draw.randint(0, 3)}", draw.choice([None, 1, 2, DAY, DAY + 1]), "ab"[draw.randint(0, 1)])
                for _ in range(size)
            ]
            rows.append(("u0", 7, "a"))
            for most in (1, 2, 4):
                assert alone(engine, rows, busy_users("made_up", most))
            noticed += not alone(engine, rows, everybodys)
    finally:
        engine.close()
    assert noticed


@pytest.mark.parametrize("given", [0, -1, True])
def test_a_rule_that_leaves_nobody_is_refused(given: int) -> None:
    with pytest.raises(ParameterError, match="whole number"):
        kept(searches("u", 1), given)


def test_rows_of_robots_are_not_outside_the_period(tmp_path: Path) -> None:
    from datetime import date

    period = hubbub.Period(date(2005, 8, 5), date(2005, 8, 5))  # day 13,000
    with hubbub.read_log(
        table(searches("four", 4) + searches("one", 1) + searches("late", 1, day=13_001)),
        columns=NAMES,
        period=period,
        max_searches_a_day=3,
    ) as log:
        assert (log.rows(), log.users(), log.busy()) == (10, 1, (1, 8))
        assert log.left_out == LeftOut(3)


def released(tmp_path: Path, log: Path, *more: str) -> Path:
    out = tmp_path / "out"
    command = ["release", str(log), "--mechanism", "korolova", "--epsilon", "1", "--delta", "1e-6", *more]
    command += ["--tables", "queries", "--out", str(out), "--ledger", str(tmp_path / "ledger.sqlite"), "--quiet"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    checked = CliRunner().invoke(app, ["card", str(out), "--check"])
    assert checked.exit_code == 0, checked.output
    return out


@pytest.mark.slow
def test_the_card_has_the_rule_and_not_how_many(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = searches("robot", 7771) + [row for n in range(40) for row in searches(f"u{n}", 2)]
    log.write_text("user,time,query\n" + "".join(f"{user},{when},{what}\n" for user, when, what in rows))
    columns = ["--format", "table", "--columns", "user=user,query=query,time=time"]
    out = released(tmp_path, log, *columns, "--max-searches-a-day", "50")
    card = json.loads((out / "public" / "card.json").read_text())
    assert card["release"]["left_out"] == {"max_searches_a_day": 50, "drop_agents": None, "version": 1}
    assert sum("more than 50 searches on one day" in said for said in card["claim"]["conditions"]) == 1
    assert "7771" not in (out / "public" / "card.json").read_text()
    assert tomllib.loads((out / "owner-only" / "run.toml").read_text())["max_searches_a_day"] == 50
    looked = CliRunner().invoke(
        app, ["inspect", str(log), *columns, "--max-searches-a-day", "50", "--ledger", str(tmp_path / "ledger.sqlite")]
    )
    assert "1 user with 7,771 rows, by --max-searches-a-day" in looked.output


@pytest.mark.slow
def test_without_a_rule_a_card_has_no_line_about_one(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    line = '192.0.2.{} - - [16/May/2024:12:34:56 +0000] "GET /?q=lilac HTTP/1.1" 200 5 "-" "{}"\n'
    log.write_text("".join(line.format(n, "Googlebot/2.1" if n % 2 else "Mozilla/5.0 (X11)") for n in range(9)))
    reading = ["--format", "weblog", "--columns", "user=address"]
    (tmp_path / "with").mkdir()
    plain = json.loads((released(tmp_path, log, *reading) / "public" / "card.json").read_text())
    without = json.loads(
        (released(tmp_path / "with", log, *reading, "--drop-agents", "robots-1") / "public" / "card.json").read_text()
    )
    assert "left_out" not in plain["release"]
    assert without["release"]["left_out"]["drop_agents"] == "robots-1"
    assert any("list robots-1" in said for said in without["claim"]["conditions"])


def test_a_log_keeps_its_rule_when_it_is_cut(tmp_path: Path) -> None:
    from dataclasses import replace

    with hubbub.read_log(table(searches("four", 4) + searches("one", 1)), columns=NAMES, max_searches_a_day=3) as log:
        cut: SearchLog = replace(log)
        assert cut.users() == 1
