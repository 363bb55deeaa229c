"""The studio keeps what is typed, keeps its answers in view, and asks for what the card states."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from hubbub.synth.run import synthesise
from tests.browser.conftest import OpenPage, axe, overflow, studio, tab_stops

WAIT = 90_000
TELEPHONE = 390


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    synthesise(300, folder / "log.parquet")
    return folder


@pytest.fixture(scope="module")
def address(place: Path) -> Iterator[str]:
    words = [str(place / "log.parquet"), "--folder", str(place), "--ledger", str(place / "ledger.sqlite")]
    with studio(*words, "--population", "readers", "--threads", "1", "--licence", "CC0-1.0") as said:
        yield said


def opened(page: Page, address: str) -> None:
    """The page of the log, with crowd and all its tables: what another test typed is kept."""
    page.goto(address)
    expect(page.locator("#summary, #refused")).not_to_have_text(["", ""], timeout=WAIT)
    page.locator("#mechanism").select_option("crowd")
    page.locator("#epsilon").fill("1")
    page.locator("#users-public").fill("")
    page.locator("#t-keywords").check()
    page.locator("#name").fill("another")
    expect(page.locator("#summary")).to_contain_text("would be released", timeout=WAIT)


def says(page: Page, text: str) -> None:
    expect(page.locator("#command")).to_contain_text(text, timeout=WAIT)


def in_view(element: Locator) -> bool:
    """Whether somebody sees its beginning without scrolling."""
    box = "e => { const b = e.getBoundingClientRect(); return b.top >= 0 && b.top + 20 < innerHeight && b.height > 0; }"
    return bool(element.evaluate(box))


def test_nothing_typed_is_lost_by_a_switch_a_reload_or_a_mistake(open_page: OpenPage, address: str) -> None:
    page = open_page(local=True)
    opened(page, address)
    page.locator("#epsilon").fill("3")
    page.locator("#t-keywords").uncheck()
    page.locator("#p-D").fill("7")
    page.locator("#f-title").fill("Ours = yours")
    page.locator("#users-public").fill("12,000")
    page.locator("#as-draft").check()
    page.locator("#name").fill("autumn")
    says(page, "--set D=7")

    page.locator("#mechanism").select_option("korolova")
    page.locator("#p-d").fill("5")
    says(page, "--set d=5")
    page.locator("#mechanism").select_option("crowd")
    assert page.locator("#p-D").input_value() == "7" and not page.locator("#t-keywords").is_checked()
    page.locator("#mechanism").select_option("korolova")
    assert page.locator("#p-d").input_value() == "5"
    page.locator("#mechanism").select_option("crowd")
    page.locator("#epsilon").fill("a mistake")
    expect(page.locator("#refused")).to_contain_text("Parameter epsilon", timeout=WAIT)

    def unchanged(tab: Page) -> None:
        wanted = {"epsilon": "a mistake", "p-D": "7", "f-title": "Ours = yours", "users-public": "12,000"}
        wanted |= {"name": "autumn", "f-licence": "CC0-1.0", "mechanism": "crowd"}
        for name, value in wanted.items():
            expect(tab.locator(f"#{name}")).to_have_value(value)
        assert tab.locator("#as-draft").is_checked() and not tab.locator("#t-keywords").is_checked()
        assert not tab.locator("#agreed").is_checked()

    page.reload()
    unchanged(page)
    page.get_by_role("link", name="Ledger").click()
    page.get_by_role("link", name="Choose").click()
    unchanged(page)
    with page.expect_response(lambda answer: answer.url.endswith("/api/kept")):
        page.locator("#f-contact").fill("me@library.example")
    other = open_page(local=True)  # another window, which this one's storage does not reach
    other.goto(address)
    unchanged(other)
    expect(other.locator("#f-contact")).to_have_value("me@library.example")


def test_what_the_card_states_is_on_the_command_and_on_the_card(open_page: OpenPage, address: str, place: Path) -> None:
    page = open_page(local=True)
    opened(page, address)
    page.locator("#epsilon").fill("8")
    page.locator("#delta").fill("1e-4")
    page.locator("#mechanism").select_option("korolova")
    for name, text in {"title": "It's “ours”", "curator": "A; B", "contact": "me@library.example"}.items():
        page.locator(f"#f-{name}").fill(text)
    page.locator("#users-public").fill("300")
    page.locator("#as-draft").check()
    page.locator("#name").fill("stated")
    says(page, "--users-public 300")
    says(page, "--review")
    says(page, "'curator=A; B'")
    page.locator("#agreed").check()
    page.locator("#name").press("Enter")
    expect(page.locator("#job-title")).to_have_text("The release is done", timeout=WAIT)
    expect(page.locator("#job-told")).to_contain_text("as a draft")
    card = json.loads((place / "stated" / "draft" / "card.json").read_text(encoding="utf-8"))
    assert card["release"]["title"] == "It's “ours”" and card["release"]["curator"] == ["A", "B"]
    assert card["release"]["licence"] == "CC0-1.0" and card["release"]["contact"] == "me@library.example"
    expect(page.get_by_role("link", name="Review its rows")).to_be_visible()
    expect(page.get_by_role("link", name="Evaluate")).to_have_count(0)

    page.get_by_role("link", name="Releases").click()
    line = page.locator("#shelf tbody tr").first
    for text in ("stated", "It's “ours”", "draft", "readers", "8", "not yet"):
        expect(line).to_contain_text(text)
    page.get_by_role("link", name="stated", exact=True).click()
    expect(page.locator("main")).to_contain_text("nothing of it may be published")
    assert page.locator("#evaluate").count() == 0


def test_days_and_screening_are_counted_anew(open_page: OpenPage, address: str) -> None:
    page = open_page(local=True)
    opened(page, address)
    rows = page.locator("#profile dt").nth(1).inner_text()
    page.locator(".counted summary").click()
    page.locator("#first").fill("2006-03-01")
    page.locator("#last").fill("2006-03-02")
    page.locator("#r-email").check()
    expect(page.locator("#unread")).to_be_visible()
    expect(page.locator("#start")).to_be_disabled()
    page.locator("#read-again").click()
    expect(page.locator(".counted summary")).to_contain_text(
        "2006-03-01 to 2006-03-02; screened by email", timeout=WAIT
    )
    expect(page.locator("#summary")).to_contain_text("would be released", timeout=WAIT)
    expect(page.locator("#profile dt").nth(1)).not_to_have_text(rows)
    says(page, "--screen email")
    says(page, "--period 2006-03-01..2006-03-02")
    expect(page.locator("#claim")).to_contain_text("between 2006-03-01 and 2006-03-02")

    page.locator(".counted summary").click()
    page.locator("#last").fill("2006-02-01")
    page.locator("#read-again").click()
    expect(page.locator("#unreadable")).to_contain_text("ends before it starts")
    page.locator("#first").fill("")
    page.locator("#last").fill("")
    page.locator("#r-email").uncheck()
    page.locator("#read-again").click()
    expect(page.locator(".counted summary")).to_contain_text("all days; nothing is screened", timeout=WAIT)


def test_answers_stay_in_view(open_page: OpenPage, address: str) -> None:
    page = open_page(local=True)
    opened(page, address)
    page.locator(".desk").evaluate("e => e.scrollIntoView()")
    page.locator("#p-keywords_weight").evaluate("e => e.scrollIntoView({block: 'nearest'})")
    assert in_view(page.locator("#p-keywords_weight")) and in_view(page.locator("#summary"))
    page.locator("#start").scroll_into_view_if_needed()
    assert in_view(page.locator("#glance"))


def test_a_telephone_and_the_keyboard_do(open_page: OpenPage, address: str) -> None:
    page = open_page(local=True, width=TELEPHONE, scheme="dark")
    opened(page, address)
    page.locator(".counted summary").click()
    for control in ("#delta-slider", "#f-title", "#start"):
        page.locator(control).scroll_into_view_if_needed()
        assert in_view(page.locator("#glance")), control
        assert overflow(page) == 0
    axe(page)
    expect(page.locator("#start")).to_be_enabled(timeout=WAIT)
    stops = tab_stops(page)
    wanted = ["input#first", "input#r-email", "button#read-again", "input#epsilon", "select#mechanism", "input#f-title"]
    wanted += ["input#users-public", "input#name", "input#as-draft", "input#agreed", "button#start"]
    assert [stop for stop in stops if stop in wanted] == wanted
    for path in ("releases", "again", "ledger"):
        page.goto(address + path)
        assert overflow(page) == 0, path
