"""Screening in a series: the plan fixes the rules, and every period keeps them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import HEADER, Hubbub
from tests.series_made_up import log_of, seeded, year

from hubbub.card.check import check, load
from hubbub.errors import Refused
from hubbub.log.left_out import LeftOut
from hubbub.mechanisms.series import Series
from hubbub.privacy.ledger import Ledger
from hubbub.release.opened import Release
from hubbub.series import SeriesPlan, add, fix
from hubbub.series.screened import fixed_screen


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["user", "user-period"])
def test_every_period_is_screened_as_planned(hubbub: Hubbub, tmp_path: Path, unit: str) -> None:
    deny, log, out = tmp_path / "deny.txt", tmp_path / "log.tsv", tmp_path / "year"
    deny.write_text("jane doe\n", encoding="utf-8")
    lines = [HEADER]
    for user in range(300):
        lines += [f"{user}\t{query}\t2020-01-05 08:00:00\t\t" for query in ("weather", "jane doe", "a@b.example")]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = ("--epsilon", 4, "--delta", "1e-5", "--first", "2020-01-01", "--periods", 2, "--unit", unit)
    hubbub("series", "plan", out, *plan, "--screen", "default", "--deny", deny, "--seed", 1, "--not-private")
    deny.write_text("somebody else\n", encoding="utf-8")
    said = hubbub("series", "add", out, log, "--format", "aol", code=2)
    assert "not screened as the plan" in said.stderr and not (out / "2020-01").exists()
    deny.write_text("jane doe\n", encoding="utf-8")
    hubbub("series", "add", out, log, "--format", "aol")
    assert {"jane doe", "a@b.example"}.isdisjoint(Release(out / "2020-01").queries.to_arrow()["query"].to_pylist())
    assert [finding for finding in check(out / "2020-01") if not finding.holds] == []
    assert load(out / "2020-01")["release"]["screening"]["deny_sha256"]  # type: ignore[index]


def test_a_log_that_was_read_otherwise_is_refused(tmp_path: Path) -> None:
    mechanism = Series(tables=["queries"], epsilon=4, delta="0.001", periods=2, first="2020-01-01", length="month")
    plan = SeriesPlan(mechanism, seed=1, not_private=True, screening=fixed_screen("email", None, None))
    with Ledger(tmp_path / "book.sqlite") as book:
        fix(plan, tmp_path / "s", book, new_population=True)
        with log_of(tmp_path, year()) as log, pytest.raises(Refused, match=r"no screening[\s\S]*version 1, email"):
            add(tmp_path / "s", log, book)


@pytest.mark.slow
def test_a_denied_word_of_a_released_query_is_not_released(hubbub: Hubbub, tmp_path: Path) -> None:
    deny, log, out = tmp_path / "deny.txt", tmp_path / "log.tsv", tmp_path / "year"
    deny.write_text("doe\n", encoding="utf-8")
    times = "2020-01-05 08:00:00"
    lines = [HEADER, *(f"{user}\t{query}\t{times}\t\t" for user in range(300) for query in ("doe", "john doe"))]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = ("--epsilon", 4, "--delta", "1e-5", "--first", "2020-01-01", "--periods", 2, "--tables", "queries,keywords")
    hubbub("series", "plan", out, *plan, "--deny", deny, "--seed", 1, "--not-private")
    hubbub("series", "add", out, log, "--format", "aol")
    released = Release(out / "2020-01")
    assert released.queries.to_arrow()["query"].to_pylist() == ["john doe"]
    assert released.keywords.to_arrow()["keyword"].to_pylist() == ["john"]
    assert [finding for finding in check(out / "2020-01") if not finding.holds] == []


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["user", "user-period"])
def test_the_plan_says_whom_every_period_leaves_out(hubbub: Hubbub, tmp_path: Path, unit: str) -> None:
    """Given at the plan, it holds for each period and stands on each card; a period cannot say otherwise."""
    log, out = tmp_path / "log.tsv", tmp_path / "year"
    lines = [HEADER, *(f"{user}\tweather\t2020-01-05 08:00:00\t\t" for user in range(300))]
    lines += [f"robot {n}\tbuy {k}\t2020-01-05 08:00:{k:02}\t\t" for n in range(300) for k in range(4)]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = ("--epsilon", 4, "--delta", "1e-5", "--first", "2020-01-01", "--periods", 2, "--unit", unit)
    hubbub("series", "plan", out, *plan, "--max-searches-a-day", 3, "--seed", 1, "--not-private")
    hubbub("series", "add", out, log, "--format", "aol", "--max-searches-a-day", 9, code=2)
    hubbub("series", "add", out, log, "--format", "aol")
    queries = Release(out / "2020-01").queries.to_arrow()["query"].to_pylist()  # crowd adds a known word of nobody
    assert "weather" in queries and not any(text.startswith("buy") for text in queries)
    assert set(LeftOut(3).sentences()) <= set(load(out / "2020-01")["claim"]["conditions"])  # type: ignore[index]
    assert [finding for finding in check(out / "2020-01") if not finding.holds] == []


def test_a_log_that_leaves_out_others_is_refused(tmp_path: Path) -> None:
    with Ledger(tmp_path / "book.sqlite") as book:
        fix(seeded(), tmp_path / "s", book, new_population=True)
        with log_of(tmp_path, year()) as log, pytest.raises(Refused, match=r"more than 100[\s\S]*nobody is left out"):
            add(tmp_path / "s", replace(log, max_searches_a_day=100), book)
        assert book.entries()[0].state == "reserved"
