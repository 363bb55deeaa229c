"""A review in the studio: drawn rows with flags, decisions that stay, two reviewers at once, never the raw log."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.drafted import make_draft
from tests.unit.studio.asking import Client, ended, get, post

from hubbub.card.check import check, load, public_folder
from hubbub.card.owner import Owner
from hubbub.cli.options import NewLogOptions, OwnerOptions
from hubbub.files import lock
from hubbub.release.opened import Release
from hubbub.release.review import FlaggedRow
from hubbub.studio import reviewing
from hubbub.studio.reviewing import ReviewDesk, Wanted, texts_of
from hubbub.studio.state import Studio

STRIKE, APPROVE = "/api/releases/draft/strike", "/api/releases/draft/approve"


@pytest.fixture(scope="module")
def drafted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drafted")
    make_draft(folder)
    return folder


@pytest.fixture
def place(drafted_once: Path, tmp_path: Path) -> Path:
    for name in ("draft", "ledger.sqlite"):
        copy = shutil.copytree if (drafted_once / name).is_dir() else shutil.copy
        copy(drafted_once / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def studio(place: Path) -> Studio:
    """A studio for a reviewer: no log is open."""
    made = Studio(place, Owner(), NewLogOptions(ledger=str(place / "ledger.sqlite")), OwnerOptions())
    desk = made.desks[(place / "draft").resolve()] = ReviewDesk((place / "draft").resolve())
    desk.open()
    assert desk.ready, desk.problem
    return made


@pytest.fixture
def client(studio: Studio) -> Client:
    return Client(studio)


def rows(client: Client, **wanted: str) -> list[dict[str, Any]]:
    asked = "&".join(f"{name}={value}" for name, value in {"count": "100", **wanted}.items())
    return list(get(client, f"/api/releases/draft/rows?{asked}").json()["rows"])


def strike(client: Client, query: str, reason: str, was: str = "") -> dict[str, Any]:
    return post(client, STRIKE, {"table": "queries", "key": query, "second": "", "reason": reason, "was": was})


def test_rows_have_flags_and_can_be_filtered(client: Client) -> None:
    found = get(client, "/api/releases/draft/review").json()
    assert found["ready"] and found["tables"]["queries"]["rows"] == 5 and found["tables"]["queries"]["flagged"] == 4
    assert found["flags"]["rule telephone"] >= 1 and found["version"] == "none" and found["approved"] == ""
    flags = {row["key"]: row["flags"] for row in rows(client, table="queries")}
    assert flags["call 212-555-0123"] == ["rule telephone"] and flags["weather"] == []
    assert {row["key"] for row in rows(client, table="queries", flag="near")} == {"jane doe", "janedoe"}
    assert {row["table"] for row in rows(client, text="WEATHER.ex")} == {"clicks"}
    assert "weather" not in {row["key"] for row in rows(client, table="queries", only="flagged")}
    second = get(client, "/api/releases/draft/rows?from=2&count=1&table=queries").json()
    assert second["found"] == 5 and len(second["rows"]) == 1 and second["from"] == 2
    assert "no such choice" in get(client, "/api/releases/draft/rows?only=raw").json()["refused"]


def test_a_struck_query_goes_from_every_table_and_stays_struck(client: Client, place: Path) -> None:
    found = strike(client, "jane doe", "a person")
    struck = {table: of["struck"] for table, of in found["tables"].items()}
    assert struck["queries"] == 1 and struck["clicks"] >= 1 and struck["transitions"] >= 1
    own = next(row for row in rows(client, table="queries", only="struck"))
    assert own["key"] == "jane doe" and own["reason"] == "a person"
    assert {row["with"] for row in rows(client, table="clicks", only="struck")} == {"struck with “jane doe”"}
    again = ReviewDesk(place / "draft")  # another studio, or the same one later
    again.open()
    assert again.decided() == {("queries", "jane doe", ""): "a person"}
    strike(client, "jane doe", "", was="a person")
    assert rows(client, only="struck") == [] and again.decided() == {}


def test_tables_and_all_that_is_shown_can_be_struck(client: Client) -> None:
    post(client, STRIKE, {"table": "clicks", "key": "", "reason": "no clicks", "was": ""})
    assert all(row["with"] == "the table clicks is struck" for row in rows(client, table="clicks"))
    found = post(client, STRIKE, {"shown": {"table": "queries", "flag": "near", "only": "all"}, "reason": "persons"})
    assert found["struck"] == 2 and found["tables"]["clicks"]["whole"] == "no clicks"
    assert found["reasons"] == ["no clicks", "persons"]
    assert post(client, STRIKE, {"shown": {"only": "struck"}, "reason": "again"})["struck"] == 0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"table": "queries", "key": "nobody asked", "reason": "x"}, "No such row was drawn"),
        ({"table": "secrets", "key": "", "reason": "x"}, "No such row was drawn"),
        ({"table": "queries", "key": "weather", "reason": "x" * 501}, "too long"),
        ({"shown": {"only": "all"}, "reason": " "}, "A reason is missing"),
    ],
)
def test_a_wrong_strike_is_refused(client: Client, place: Path, body: dict[str, object], said: str) -> None:
    assert said in post(client, STRIKE, body)["refused"]
    assert not (place / "draft" / "owner-only" / "review.tsv").exists()


def test_two_reviewers_get_a_clear_word(client: Client, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = get(client, "/api/releases/draft/review").json()["version"]
    strike(client, "weather", "no news")
    refused = strike(client, "weather", "my own reason")["refused"]
    assert "Somebody else decided on this row meanwhile" in refused and "no news" in refused
    assert "meanwhile" in strike(client, "janedoe", "", was="a person")["refused"]
    late = post(client, APPROVE, {"by": "Second", "name": "out", "seen": seen})["refused"]
    assert "Somebody else changed what is struck since you looked" in late
    monkeypatch.setattr(reviewing, "PATIENCE", 0.0)
    held = lock(public_folder(place / "draft"))
    assert "Somebody else is approving" in strike(client, "jane doe", "a person")["refused"]
    os.close(held)
    assert "refused" not in strike(client, "jane doe", "a person")


@pytest.mark.slow
def test_approve_writes_it_anew_and_only_once(client: Client, studio: Studio, place: Path) -> None:
    version = strike(client, "jane doe", "a person")["version"]
    assert "Who approves it" in post(client, APPROVE, {"by": " ", "name": "out", "seen": version})["refused"]
    outside = post(client, APPROVE, {"by": "A", "name": "../out", "seen": version})
    assert "without slashes" in outside["refused"]
    started = post(client, APPROVE, {"by": "The officer", "name": "out", "seen": version})
    assert started["job"]["kind"] == "review" and "--strike" in studio.job.words  # type: ignore[union-attr]
    assert "half-way" in post(client, "/api/cancel", {}).get("refused", "half-way")
    done = ended(studio)
    assert done["state"] == "done" and done["release"] == "out" and "no budget" in done["told"], done
    assert [finding for finding in check(place / "out") if not finding.holds] == []
    assert load(place / "out")["release"]["review"]["by"] == "The officer"  # type: ignore[index]
    assert "jane doe" not in Release(place / "out").queries.to_arrow().column("query").to_pylist()
    assert get(client, "/api/releases/draft/review").json()["approved"] == "out"
    assert "approved already" in strike(client, "weather", "late")["refused"]
    post(client, APPROVE, {"by": "Second", "name": "out-2", "seen": version})
    failed = ended(studio)
    assert failed["state"] == "failed" and any("approved already" in line for line in failed["lines"])
    listed = get(client, "/releases").text
    assert "approved" in listed and not (place / "out-2").exists()


def test_a_review_file_of_another_release_is_told(studio: Studio, place: Path) -> None:
    (place / "draft" / "owner-only" / "review.tsv").write_text(
        "# hubbub review of another, card 00\n", encoding="utf-8"
    )
    desk = ReviewDesk(place / "draft")
    desk.open()
    assert not desk.ready and "of another release" in desk.problem
    shutil.rmtree(place / "draft" / "owner-only")
    desk = ReviewDesk(place / "draft")
    desk.open()
    assert "no owner-only" in desk.problem


def test_a_page_of_a_review_is_never_a_page_of_the_log(client: Client, place: Path) -> None:
    page = get(client, "/releases/draft/review").text
    assert "never" not in page and "not from the log" in page
    assert "There is no such page" in get(client, "/releases/draft/page").json()["refused"]
    assert "draft" in get(client, "/api/releases/draft/search?q=").json()["refused"]


def test_what_is_wanted_is_read_as_it_is_typed() -> None:
    assert Wanted.read({"text": " Jane ", "only": "flagged"}) == Wanted("", "", "jane", "flagged")


def test_a_group_is_no_text_that_a_strike_takes() -> None:
    assert texts_of(FlaggedRow("queries_by_weekday", "monday", "rain", 3, ())) == {"rain"}
    assert texts_of(FlaggedRow("clicks", "rain", "rain.example", 3, ())) == {"rain", "rain.example"}
