"""An unknown file in the studio: shown masked, read as its owner says, refused in place."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.unit.studio.asking import CANARY, ORIGIN, TOKEN, Client, get, post

from hubbub.cli.card_options import CardOptions
from hubbub.cli.options import NewLogOptions, OwnerOptions
from hubbub.cli.studio import _studio
from hubbub.cli.terminal import Terminal
from hubbub.privacy.ledger import Ledger
from hubbub.studio.state import Studio

ROWS = [f"{CANARY}-{n % 9};2026-01-0{1 + n % 9} 10:00:00;{CANARY} wörter {n % 3};7" for n in range(60)]
CHOSEN = {"user": "visitor id", "query": "typed", "time": "when", "url": ""}


@pytest.fixture
def unknown(tmp_path: Path, own_ledger: Path) -> Studio:
    """A studio that was started with a file in no known format."""
    log = tmp_path / "export.csv"
    log.write_bytes("\r\n".join(["visitor id;when;typed;branch, floor", *ROWS, ""]).encode("latin-1"))
    given = NewLogOptions(ledger=str(own_ledger))
    return _studio([str(log)], given, OwnerOptions(), CardOptions(), str(tmp_path), Terminal(quiet=True))


def settled(studio: Studio) -> None:
    """Wait until the log is read, or is not readable."""
    assert studio.opened is not None
    while not studio.opened.ready and not studio.opened.problem:
        time.sleep(0.02)


def test_the_page_shows_what_the_file_looks_like_and_chooses_no_user(unknown: Studio) -> None:
    page = get(Client(unknown), "/").text
    for shown in ("export.csv", "<code>;</code>", "<code>latin-1</code>", "visitor id", "aaaaaaaaa-0", "0000-00-00"):
        assert shown in page, shown
    assert CANARY not in page
    boxes = {role: page.split(f'id="c-{role}"')[1].split("</select>")[0] for role in ("user", "query", "time")}
    assert "selected" not in boxes["user"]
    assert '<option value="when" selected>' in boxes["time"]
    assert page.count("<td>") == 3 * 4


def test_what_was_chosen_is_read_and_becomes_the_command(unknown: Studio) -> None:
    client = Client(unknown)
    assert post(client, "/api/columns", {"columns": CHOSEN}) == {"reading": True}
    settled(unknown)
    assert unknown.opened is not None and unknown.opened.ready, unknown.opened
    assert unknown.opened.profile is not None and unknown.opened.profile.users == 9
    assert (unknown.log.columns, unknown.log.format) == ("user=visitor id,query=typed,time=when", "table")
    assert (unknown.log.separator, unknown.log.encoding) == (";", "iso8859-1")
    assert "What it would keep" in get(client, "/").text
    assert "no columns to choose" in post(client, "/api/columns", {"columns": CHOSEN})["refused"]
    with Ledger(unknown.ledger) as book:
        assert [look.command for look in book.looks(unknown.population, unknown.dataset)] == ["studio"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (None, "Nobody is protected"),
        ({"query": "typed"}, "Nobody is protected"),
        ({"user": "visitor id"}, "Nothing can be counted"),
        (CHOSEN | {"url": "/etc/passwd"}, "no such column"),
        (CHOSEN | {"url": "when"}, "cannot be two things"),
        (CHOSEN | {"url": "branch, floor"}, "holds a comma"),
    ],
)
def test_a_choice_that_cannot_be_is_refused_and_nothing_is_read(unknown: Studio, given: object, why: str) -> None:
    client = Client(unknown)
    assert why in post(client, "/api/columns", {"columns": given})["refused"]
    assert unknown.opened is not None and unknown.opened.asks and unknown.log.columns is None
    with Ledger(unknown.ledger) as book:
        assert not book.looks(unknown.population, unknown.dataset)


def test_a_choice_that_reads_nothing_is_shown_again_with_the_reason(unknown: Studio) -> None:
    client = Client(unknown)
    post(client, "/api/columns", {"columns": CHOSEN | {"time": "typed", "query": "when"}})
    settled(unknown)
    page = get(client, "/").text
    assert "No record of the log can be used" in page
    assert '<option value="typed" selected>' in page.split('id="c-time"')[1].split("</select>")[0]
    post(client, "/api/columns", {"columns": CHOSEN})
    settled(unknown)
    assert unknown.opened is not None and unknown.opened.ready


def test_only_the_page_itself_may_choose(unknown: Studio) -> None:
    client, body = Client(unknown), {"columns": CHOSEN}
    for headers in ({}, ORIGIN | {"origin": "http://elsewhere.example"}, {"origin": ORIGIN["origin"]}):
        assert client.request("POST", f"/{TOKEN}/api/columns", body, **headers).status_code == 403
    assert unknown.opened is not None and unknown.opened.asks
