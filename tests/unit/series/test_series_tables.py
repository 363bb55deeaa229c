"""Clicks, transitions and keywords of a series: what comes out, what each user may bring, kills and erasures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.series_made_up import ALL, PERIODS, seeded, series, visited, visits_of

from hubbub.card.check import check, load
from hubbub.errors import ParameterError
from hubbub.mechanisms.series.tables import TABLES
from hubbub.privacy.ledger import Ledger
from hubbub.series import add, erase, fix, published
from hubbub.series.arrays import read_purses
from hubbub.series.kept import prefix
from hubbub.series.state import StateFolder

pytestmark = pytest.mark.slow
COMMITS = 18
"""Of a run: what it reads, five rounds of three tables, the pools of two of them, what it publishes."""
SETTINGS: dict[str, Any] = {"tables": ALL, "epsilon": 30, "delta": "0.1"}


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "book.sqlite") as opened:
        yield opened


def run(folder: Path, book: Ledger) -> Path:
    with visits_of(folder.parent, visited()) as log:
        return add(folder, log, book).folder


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / "public" / f"{table}.parquet").to_pylist()
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All periods of a series, as nobody has killed it."""
    place = tmp_path_factory.mktemp("whole")
    with Ledger(place / "book.sqlite") as book:
        fix(seeded(**SETTINGS), place / "s", book, new_population=True)
        for _ in range(PERIODS):
            run(place / "s", book)
    return place / "s"


def test_one_open_log_serves_several_periods(tmp_path: Path, book: Ledger, whole: Path) -> None:
    fix(seeded(**SETTINGS), tmp_path / "s", book, new_population=True)
    with visits_of(tmp_path, visited()) as log:
        for _ in range(2):
            made = add(tmp_path / "s", log, book).folder
    for table in ALL:
        assert rows(made, table) == rows(whole / made.name, table)


TRUE: dict[str, dict[tuple[str, ...], int]] = {
    "queries": {("weather today",): 80, ("news",): 60},
    "clicks": {("weather today", "sky.example"): 80, ("news", "paper.example"): 50},
    "transitions": {("weather today", "news"): 60},
    "keywords": {("weather",): 80, ("today",): 80, ("news",): 60},
}


@pytest.mark.parametrize("table", ALL)
def test_what_comes_out_of_a_table(whole: Path, table: str) -> None:
    """What many hold, with numbers near the truth; nothing that one user alone holds."""
    true, columns = TRUE[table], TABLES[table].keys.columns
    out = {tuple(row[column] for column in columns): row for row in rows(whole / "2020-03", table)}
    assert out.keys() == true.keys()
    for key, users in true.items():
        assert abs(out[key]["users"] - users) < 6 * out[key]["noise_sd"]
        assert out[key]["users_in_period"] <= users + 6 * out[key]["noise_sd_in_period"]
        assert out[key]["period"] in published(whole)


def test_cards_hold_and_state_every_table(whole: Path) -> None:
    for label in published(whole):
        assert [f for f in check(whole / label) if not f.holds] == []
    card = load(whole / "2020-03")
    told = json.dumps(card["bounding"])
    assert "a user's weights in all rounds of clicks" in told and "(keywords, user) pairs" in told
    assert {f"{table}.parquet" for table in ALL} <= set(json.dumps(card).split('"'))


def test_nobody_passes_her_budgets_in_any_table(whole: Path) -> None:
    state, settled = whole / "owner-only" / "state", seeded(**SETTINGS).mechanism
    for table in ALL:
        (path,) = state.glob(f"{prefix(table)}purses-*")
        purses = read_purses(path)
        for purse in (purses.selection, purses.to_date, purses.in_period):
            assert purse.size == 80 and purse.min() >= 0
        constants, counts = settled.table_constants.get(table), settled.table_counts[table]
        assert constants is None or purses.selection.min() < constants.budget
        assert purses.to_date.min() < counts.budget and purses.in_period.min() < counts.entries
        if constants is not None:
            pool = pa.concat_tables([pq.read_table(p) for p in state.glob(f"{prefix(table)}pool-*")])
            entered = pool.group_by(["person", "run"]).aggregate([("kid", "count")])
            assert pc.max(entered.column("kid_count")).as_py() <= constants.limit


def test_only_pairs_of_released_queries_take_part(whole: Path) -> None:
    state = whole / "owner-only" / "state"
    out = {row["query"] for row in rows(whole / "2020-03", "queries")}
    for table in ("clicks", "transitions"):
        known = pa.concat_tables([pq.read_table(path) for path in state.glob(f"{table}.keys-*")]).to_pylist()
        assert known and all(row[column] in out for row in known for column in TABLES[table].made_of)
        held = pa.concat_tables([pq.read_table(path) for path in state.glob(f"{table}.held-*")])
        assert held.num_rows > len(known)


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("at", [7, 8, 12, 17, 18])
def test_a_killed_run_goes_on_where_it_was(
    whole: Path, tmp_path: Path, book: Ledger, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Where pools of clicks open, in rounds of clicks and of transitions, and where all is published."""
    folder = tmp_path / "s"
    fix(seeded(**SETTINGS), folder, book, new_population=True)
    commit, seen = StateFolder.commit, [0]

    def killing(self: StateFolder, *told: Any, **how: Any) -> None:
        seen[0] += 1
        if seen[0] == at:
            raise Killed
        commit(self, *told, **how)

    monkeypatch.setattr(StateFolder, "commit", killing)
    with pytest.raises(Killed):
        run(folder, book)
    made = add(folder, None, book)  # without the log: what the run needs of it is kept
    assert seen[0] == 1 + COMMITS
    for table in ALL:
        assert rows(made.folder, table) == rows(whole / "2020-01", table)


def test_an_erased_user_is_gone_from_every_table(tmp_path: Path, book: Ledger) -> None:
    folder = tmp_path / "s"
    fix(seeded(**SETTINGS), folder, book, new_population=True)
    run(folder, book)
    state = folder / "owner-only" / "state"
    sums = {p.name: p.read_bytes() for kind in ("past", "sums", "keys") for p in state.glob(f"clicks.{kind}-*")}
    erase(folder, book, "user 7")
    assert {p.name: p.read_bytes() for kind in ("past", "sums", "keys") for p in state.glob(f"clicks.{kind}-*")} == sums
    for kind, users in (("clicks.held", 79), ("clicks.pool", 79), ("transitions.held", 79), ("transitions.pool", 59)):
        (path,) = state.glob(f"{kind}-*")
        assert len(pc.unique(pq.read_table(path).column("person"))) == users
    for table in ALL:
        (path,) = state.glob(f"{prefix(table)}purses-*")
        purses = read_purses(path)
        assert not purses.selection.min() and not purses.to_date.min() and not purses.in_period.min()
    made = run(folder, book)
    clicked = pa.concat_tables([pq.read_table(path) for path in state.glob("clicks.held-*")])
    assert "own-7-1.example" not in clicked.column("url").to_pylist()  # her later records are left out
    assert [f for f in check(made) if not f.holds] == []


def test_tables_that_cannot_stand_are_refused() -> None:
    for wrong, said in (
        ({"tables": ["clicks"]}, "rests on its queries"),
        ({"tables": ["queries", "keywords"], "counts": 0}, "nothing but numbers"),
        ({"tables": ["queries"], "D_c": 3}, "Nothing that is released depends on"),
        ({"tables": ["queries", "sessions"]}, "does not release this table"),
    ):
        with pytest.raises(ParameterError, match=said):
            series(**wrong)
