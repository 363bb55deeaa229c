"""A series from plan to end: what it publishes, what it refuses, and that nothing is drawn twice."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.series_made_up import PERIODS, Row, asked, log_of, seeded, series, year

from hubbub.card.check import check, load
from hubbub.errors import InputError, OutputError, Refused
from hubbub.mechanisms import build
from hubbub.mechanisms.series import Series, constants, counts
from hubbub.privacy.existence import OWN_QUERY, STATED, Cause
from hubbub.privacy.ledger import Ledger
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from hubbub.series import SeriesPeriod, SeriesPlan, add, arrays, end, fix, published, show, story
from hubbub.series.state import alone

pytestmark = pytest.mark.slow


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "book.sqlite") as opened:
        yield opened


def begun(tmp_path: Path, book: Ledger, name: str = "s", **plan: Any) -> Path:
    fix(seeded(**plan), tmp_path / name, book, new_population=True)
    return tmp_path / name


def run(folder: Path, book: Ledger, tmp_path: Path, rows: list[Row] | None = None, **how: Any) -> SeriesPeriod:
    with log_of(tmp_path, year() if rows is None else rows) as log:
        return add(folder, log, book, **how)


def tables(folder: Path) -> dict[str, bytes]:
    """Every byte of every released table."""
    return {name: text for name, text in public(folder).items() if name.endswith(".parquet")}


def public(folder: Path) -> dict[str, bytes]:
    """Every public byte."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.glob("2*/public/*"))}


def whole_year(tmp_path: Path, book: Ledger, name: str) -> Path:
    folder = begun(tmp_path, book, name)
    for _ in range(PERIODS):
        run(folder, book, tmp_path)
    return folder


def test_a_series_from_plan_to_end(tmp_path: Path, book: Ledger) -> None:
    folder = whole_year(tmp_path, book, "s")
    assert published(folder) == ["2020-01", "2020-02", "2020-03"]
    for label in published(folder):
        assert [f for f in check(folder / label) if not f.holds] == []
    rows = pq.read_table(folder / "2020-03" / "public" / "queries.parquet").to_pylist()
    assert {row["query"]: row["period"] for row in rows}["weather"] == "2020-01"
    assert {row["period"] for row in rows} <= set(published(folder))
    for row in rows:
        assert (row["users"] is None) == (row["noise_sd"] is None)
        assert (row["users_in_period"] is None) == (row["noise_sd_in_period"] is None)
        assert row["users"] is None or row["users"] >= 3 * row["noise_sd"]
    weather = next(row for row in rows if row["query"] == "weather")
    assert abs(weather["users"] - 60) < 6 * weather["noise_sd"]
    assert abs(weather["users_in_period"] - 60) < 6 * weather["noise_sd_in_period"]
    assert not any(row["query"].startswith("rare") for row in rows)
    with pytest.raises(Refused, match="has ended"):
        run(folder, book, tmp_path)
    end(folder, book)
    assert show(folder, book).ended and book.entries()[0].state == "committed"


def test_one_entry_and_one_guarantee_for_all_periods(tmp_path: Path, book: Ledger) -> None:
    folder = whole_year(tmp_path, book, "s")
    (entry,) = book.entries()
    assert entry.mechanism == "series" and entry.loss.epsilon == 8
    cards = [load(folder / label) for label in published(folder)]
    assert len({json.dumps(card["steps"]) for card in cards}) == 1
    used = [" ".join(card["claim"]["conditions"]) for card in cards]  # type: ignore[index]
    assert "33.3 %" in used[0] and "66.7 %" in used[1] and "100 %" in used[2]


def test_nobody_but_the_owner_reads_the_state(tmp_path: Path, book: Ledger) -> None:
    folder = begun(tmp_path, book)
    run(folder, book, tmp_path)
    for path in [folder / "owner-only", *(folder / "owner-only").rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path
    assert (folder / "owner-only").stat().st_mode & 0o777 == 0o700


def test_a_repeat_gives_the_same_bytes_and_spends_nothing(tmp_path: Path, book: Ledger) -> None:
    folder = begun(tmp_path, book)
    run(folder, book, tmp_path)
    before, outputs = public(folder), book.outputs()
    assert run(folder, book, tmp_path, period="2020-01").repeated
    shutil.rmtree(folder / "2020-01")
    assert not add(folder, None, book, period="2020-01").repeated
    assert public(folder) == before and book.outputs() == outputs
    (folder / "2020-01" / "public" / "README.md").write_text("other words")
    with pytest.raises(Refused, match="not as it was written"):
        add(folder, None, book, period="2020-01")


def restored(folder: Path, kept: Path) -> None:
    shutil.rmtree(folder / "owner-only" / "state")
    shutil.copytree(kept, folder / "owner-only" / "state")


def test_an_older_state_is_refused(tmp_path: Path, book: Ledger) -> None:
    folder = begun(tmp_path, book)
    run(folder, book, tmp_path)
    shutil.copytree(folder / "owner-only" / "state", tmp_path / "backup")
    run(folder, book, tmp_path)
    newest = tmp_path / "newest"
    shutil.copytree(folder / "owner-only" / "state", newest)
    restored(folder, tmp_path / "backup")
    before = book.outputs()
    with pytest.raises(Refused, match="not the one that the ledger knows as the last"):
        run(folder, book, tmp_path)
    assert book.outputs() == before
    restored(folder, newest)
    run(folder, book, tmp_path)


def test_the_state_of_another_series_is_refused(tmp_path: Path, book: Ledger) -> None:
    one, other = begun(tmp_path, book, "one"), begun(tmp_path, book, "other")
    run(one, book, tmp_path)
    run(other, book, tmp_path)
    restored(one, other / "owner-only" / "state")
    with pytest.raises(Refused, match="not the one that the ledger knows"):
        run(one, book, tmp_path)


def test_a_damaged_file_of_the_state_is_refused(tmp_path: Path, book: Ledger) -> None:
    folder = begun(tmp_path, book)
    run(folder, book, tmp_path)
    path = next((folder / "owner-only" / "state").glob("pool-*.parquet"))
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(Refused, match="damaged or missing"):
        run(folder, book, tmp_path)


def edited(path: Path, change: Callable[[dict[str, Any]], None], *, sealed: bool) -> None:
    from hubbub.series.plan import _seal

    known = json.loads(path.read_text())
    change(known)
    if sealed:
        known["seal"] = _seal(known)
    path.write_text(json.dumps(known))


@pytest.mark.parametrize(
    ("sealed", "said"), [(False, "changed after it was fixed"), (True, "not the one that was booked")]
)
def test_a_plan_edited_by_hand_is_refused(tmp_path: Path, book: Ledger, sealed: bool, said: str) -> None:
    folder = begun(tmp_path, book)
    edited(folder / "owner-only" / "plan.json", lambda plan: plan["parameters"].update(epsilon="9"), sealed=sealed)
    with pytest.raises(Refused, match=said):
        run(folder, book, tmp_path)
    assert book.entries()[0].state == "reserved"


def test_another_ledger_knows_nothing_of_it(tmp_path: Path, book: Ledger) -> None:
    folder = begun(tmp_path, book)
    with Ledger(tmp_path / "other.sqlite") as other, pytest.raises(Refused, match="knows no such series"):
        run(folder, other, tmp_path)


def test_a_log_of_another_period_is_refused_before_anything_is_spent(tmp_path: Path, book: Ledger) -> None:
    folder = begun(tmp_path, book)
    with pytest.raises(InputError, match="No row of the log lies in the period 2020-01"):
        run(folder, book, tmp_path, asked(range(60), "weather", 2))
    assert book.entries()[0].state == "reserved" and show(folder, book).runs == 0


def test_ids_that_changed_are_refused_before_anything_is_spent(tmp_path: Path, book: Ledger) -> None:
    folder = begun(tmp_path, book)
    run(folder, book, tmp_path, asked(range(200), "weather", 0))
    strangers = [(f"other {u}", "weather", 1) for u in range(200)]
    before = book.outputs()
    with pytest.raises(Refused, match="has the way changed in which ids are made"):
        run(folder, book, tmp_path, strangers)
    assert book.outputs() == before
    assert run(folder, book, tmp_path, strangers, other_ids=True).label == "2020-02"


def test_a_skipped_period_leaves_its_records_to_the_next(tmp_path: Path, book: Ledger) -> None:
    folder = begun(tmp_path, book, counts=0)
    run(folder, book, tmp_path)
    made = run(folder, book, tmp_path, period="2020-03")
    assert made.label == "2020-03" and show(folder, book).runs == 2
    state = folder / "owner-only" / "state"
    texts = pq.read_table(state / "keys-001.parquet").column("query").to_pylist()
    assert "rare 0 1" in texts and "rare 0 2" in texts
    with pytest.raises(Refused, match="was skipped"):
        run(folder, book, tmp_path, period="2020-02")


def test_a_period_that_is_not_closed_is_refused(tmp_path: Path, book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    fix(SeriesPlan(series(), lag=10, seed=1, not_private=True), tmp_path / "s", book, new_population=True)
    monkeypatch.setattr(story, "today", lambda: date(2020, 2, 10))
    with pytest.raises(Refused, match="from 2020-02-11 on"):
        run(tmp_path / "s", book, tmp_path)
    monkeypatch.setattr(story, "today", lambda: date(2020, 2, 11))
    assert run(tmp_path / "s", book, tmp_path).label == "2020-01"


def test_two_processes_do_not_run_one_series(tmp_path: Path, book: Ledger) -> None:
    folder = begun(tmp_path, book)
    with alone(folder / "owner-only"), pytest.raises(OutputError, match="Another process"):
        run(folder, book, tmp_path)


def test_a_plan_is_refused_before_anything_is_reserved(tmp_path: Path, book: Ledger) -> None:
    with pytest.raises(Refused, match="would not be private"):
        fix(SeriesPlan(series(), seed=1), tmp_path / "s", book)
    with pytest.raises(Refused, match="δ is too large"):
        fix(SeriesPlan(series(), users_public=100), tmp_path / "s", book)
    book.cap("default", 4, 0.1)
    with pytest.raises(Refused, match="does not allow"):
        fix(SeriesPlan(series()), tmp_path / "s", book)
    assert book.entries() == [] and not (tmp_path / "s").exists()


def test_a_release_of_the_same_log_under_another_population_is_refused(tmp_path: Path, book: Ledger) -> None:
    """The entry of a series is made before any log is read: its runs are known by their looks."""
    folder = begun(tmp_path, book)
    run(folder, book, tmp_path)
    plan = Plan(build("korolova", {"epsilon": 1, "delta": "0.001"}), tmp_path / "out", population="other")
    with log_of(tmp_path, [row for row in year() if row[2] == 0]) as log, pytest.raises(Refused) as refused:
        run_release(log, replace(plan, new_population=True), book)
    assert refused.value.because is Cause.UNKNOWN and "under default" in str(refused.value)
    fix(replace(seeded(), population="third"), tmp_path / "again", book, new_population=True)
    with pytest.raises(Refused, match="Largely the same records"):
        run(tmp_path / "again", book, tmp_path)


@pytest.mark.parametrize(
    ("room", "name", "other"), [(constants, "OPENING", 5), (constants, "MOST_BITS", 13), (counts, "SCALE", 2048)]
)
def test_code_that_computes_other_constants_is_refused(
    tmp_path: Path, book: Ledger, monkeypatch: pytest.MonkeyPatch, room: ModuleType, name: str, other: int
) -> None:
    folder = begun(tmp_path, book)
    monkeypatch.setattr(room, name, other)
    with pytest.raises(Refused, match="computes other constants than those of the plan"):
        run(folder, book, tmp_path)
    monkeypatch.undo()
    assert run(folder, book, tmp_path).label == "2020-01"


def test_a_plan_that_costs_something_else_than_was_booked_is_refused(
    tmp_path: Path, book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = begun(tmp_path, book), series(epsilon=9).loss()
    monkeypatch.setattr(Series, "loss", lambda self: other)
    with pytest.raises(Refused, match="what the series costs differ"):
        show(folder, book)


def test_periods_skipped_at_the_start_leave_their_records_to_the_first_run(tmp_path: Path, book: Ledger) -> None:
    folder = begun(tmp_path, book)
    run(folder, book, tmp_path, period="2020-02")
    texts = pq.read_table(folder / "owner-only" / "state" / "keys-000.parquet").column("query").to_pylist()
    assert "rare 0 0" in texts and "rare 0 1" in texts and "rare 0 2" not in texts
    card = load(folder / "2020-02")
    both = "the periods 2020-01 to 2020-02, of which earlier ones were skipped"
    assert f"It exists only because at least one row of the log lies in {both}." in conditions(card)
    assert f"`users_in_period` those of {both};" in json.dumps(card, ensure_ascii=False)
    assert [f for f in check(folder / "2020-02") if not f.holds] == []


def conditions(card: Any) -> list[str]:
    said: list[str] = card["claim"]["conditions"]
    return said


INSIDE = "It exists only because at least one row of the log lies in the period {}."
IDS = f"It exists only because {Cause.IDS.value}."
UNKNOWN = f"It exists only because {Cause.UNKNOWN.value}."


def test_a_card_says_what_was_checked_and_what_was_stated(tmp_path: Path, book: Ledger) -> None:
    """In the first period nobody can be known; what was stated survives a run that is interrupted."""
    folder = begun(tmp_path, book)
    run(folder, book, tmp_path)
    first = conditions(load(folder / "2020-01"))
    assert INSIDE.format("2020-01") in first and UNKNOWN in first and IDS not in first
    run(folder, book, tmp_path)
    second = conditions(load(folder / "2020-02"))
    assert INSIDE.format("2020-02") in second and UNKNOWN in second and IDS in second
    assert STATED not in second and OWN_QUERY not in second

    def interrupted(step: str) -> None:
        if step == "drawing noise":
            raise KeyboardInterrupt

    with log_of(tmp_path, year()) as log, pytest.raises(KeyboardInterrupt):
        own = replace(log, ingested=replace(log.ingested, own_query=True))
        add(folder, own, book, other_ids=True, other_people=True, say=interrupted)
    add(folder, None, book)
    third = conditions(load(folder / "2020-03"))
    assert STATED in third and OWN_QUERY in third and UNKNOWN not in third and IDS not in third
    assert [f for f in check(folder / "2020-03") if not f.holds] == []


def test_sums_that_do_not_fit_in_memory_are_refused_before_anything_is_drawn(
    tmp_path: Path, book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = begun(tmp_path, book)
    with monkeypatch.context() as small:
        small.setattr(arrays, "memory_here", lambda: 1000)
        with pytest.raises(Refused, match="does not fit in the memory") as refused:
            run(folder, book, tmp_path)
    assert refused.value.because is Cause.ENDED
    assert show(folder, book).interrupted is None, "no round was begun"
    assert run(folder, book, tmp_path).label == "2020-01"
