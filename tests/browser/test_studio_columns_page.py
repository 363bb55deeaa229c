"""The studio's first page of an unknown file, in a real browser: choose columns by keyboard, be refused, go on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NARROW, OpenPage, axe, overflow, studio, tab_stops

WAIT = 90_000
PEOPLE, SEARCHES = 60, 5


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The studio as the command starts it, with an export of somebody's own."""
    lines = ["visitor id;when;typed;clicked"]
    for n in range(PEOPLE * SEARCHES):
        lines.append(f"v-{n % PEOPLE};2026-03-{1 + n % 28:02} 10:11:12;weather {n % 7};http://a.example/{n % 7}")
    (tmp_path / "export.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = [str(tmp_path / "export.csv"), "--folder", str(tmp_path)]
    words += ["--ledger", str(tmp_path / "ledger.sqlite"), "--threads", "1"]
    with studio(*words) as said:
        yield said


def test_columns_are_chosen_by_keyboard_and_nothing_is_lost(open_page: OpenPage, address: str) -> None:
    page = open_page(local=True)
    page.goto(address)
    expect(page.locator("h1")).to_have_text("Which column is what in export.csv?")
    expect(page.locator("#samples tbody tr")).to_have_count(4)
    expect(page.locator("#samples")).to_contain_text("0000-00-00 00:00:00")
    assert [page.locator(f"#c-{role}").input_value() for role in ("user", "time", "url")] == ["", "when", "clicked"]
    stops = [stop for stop in tab_stops(page) if stop.startswith(("select", "button"))]
    assert stops == ["select#c-user", "select#c-query", "select#c-time", "select#c-url", "button#read"]

    page.locator("#c-query").select_option("typed")
    page.locator("#read").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#refused")).to_contain_text("Nobody is protected until you say which column is the user.")
    expect(page.locator("#c-user")).to_be_focused()
    assert page.locator("#c-query").input_value() == "typed"
    page.reload()
    assert page.locator("#c-query").input_value() == "typed"

    page.locator("#c-user").focus()
    page.keyboard.type("visitor")
    assert page.locator("#c-user").input_value() == "visitor id"
    page.locator("#read").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("would be released", timeout=WAIT)
    assert page.locator("#profile dt").first.inner_text() == str(PEOPLE)
    expect(page.locator("#command")).to_contain_text("user=visitor id,query=typed,time=when,url=clicked", timeout=WAIT)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_a_telephone(
    open_page: OpenPage, address: str, scheme: str
) -> None:
    page = open_page(scheme=scheme, local=True, width=NARROW)
    page.goto(address)
    page.locator("#read").click()
    expect(page.locator("#refused")).to_contain_text("Nobody is protected")
    axe(page)
    assert overflow(page) == 0
