"""A review in the studio, in a real browser: flags, filters, strikes by keyboard, two reviewers, a long list."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, axe, overflow, studio
from tests.browser.made_up import publish
from tests.drafted import make_draft
from tests.unit.release.test_review import texts_in

WAIT = 90_000
TELEPHONE = 390
MANY = 5000
LETTERS = str.maketrans("0123456789", "ghijklmnop")
TEXTS = [sha256(str(n).encode()).hexdigest()[:16].translate(LETTERS) for n in range(MANY)]
"""Texts of which no two are nearly the same."""


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drafted")
    make_draft(folder)
    publish(folder / "long" / "public", {"queries": [(text, MANY - n, 1.5) for n, text in enumerate(TEXTS)]})
    (folder / "long" / "owner-only").mkdir()
    return folder


@pytest.fixture(scope="module")
def address(drafted: Path) -> Iterator[str]:
    """A studio for the reviewer: no log is open."""
    shutil.copytree(drafted / "draft", drafted / "other")
    with studio("--folder", str(drafted), "--ledger", str(drafted / "ledger.sqlite")) as said:
        yield said


def review(page: Page, address: str, name: str) -> None:
    page.goto(f"{address}releases/{name}/review")
    expect(page.locator("#rows li button").first).to_be_visible(timeout=WAIT)


def row(page: Page, text: str) -> str:
    return page.locator("#rows li", has_text=text).first.inner_text()


def test_two_reviewers_at_once(open_page: OpenPage, address: str) -> None:
    first, second = open_page(local=True), open_page(local=True)
    for page in (first, second):
        review(page, address, "other")
        page.locator("#table").select_option("queries")
        expect(page.locator("#hits")).to_have_text("4 rows")
    second.get_by_role("button", name="strike janedoe").click()
    first.get_by_role("button", name="strike janedoe").click()
    first.locator("#reason").fill("the first reason")
    first.keyboard.press("Enter")
    expect(first.locator("#deciding")).to_be_hidden()
    second.locator("#reason").fill("the second reason")
    second.locator("#do-strike").click()
    expect(second.locator("#undecided")).to_contain_text("Somebody else decided on this row meanwhile")
    second.keyboard.press("Escape")
    expect(second.get_by_role("button", name="change or take back the strike of janedoe")).to_be_visible()
    expect(second.locator("#rows")).to_contain_text("the first reason")
    second.get_by_role("button", name="strike jane doe").click()
    second.locator("#reason").fill("a person")
    second.keyboard.press("Enter")
    expect(first.locator("#news")).to_contain_text("Somebody else changed what is struck", timeout=WAIT)
    expect(first.locator("#would")).to_contain_text("2 of 5 queries")


def test_strike_by_keyboard_and_approve(open_page: OpenPage, address: str, drafted: Path) -> None:
    page = open_page(local=True)
    page.goto(address + "releases")
    expect(page.locator("#shelf")).to_contain_text("draft")
    page.get_by_role("link", name="draft", exact=True).click()
    page.get_by_role("link", name="Review its rows").click()
    expect(page.locator("#hits")).to_contain_text("rows", timeout=WAIT)
    assert "rule telephone" in row(page, "call 212-555-0123")
    page.locator("#table").select_option("queries")
    expect(page.locator("#hits")).to_have_text("4 rows")
    page.locator("#only").select_option("all")
    expect(page.locator("#hits")).to_have_text("5 rows")

    page.locator("#rows li button").first.focus()
    while "jane doe" not in (page.evaluate("document.activeElement.closest('li').textContent")):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#deciding-text")).to_have_text("jane doe")
    page.keyboard.press("Enter")
    expect(page.locator("#undecided")).to_contain_text("Say why")
    axe(page)
    page.keyboard.press("Escape")
    expect(page.locator("#deciding")).to_be_hidden()
    assert "struck" not in row(page, "jane doe")
    page.keyboard.press("Enter")
    page.keyboard.type("a person")
    page.keyboard.press("Enter")
    expect(page.locator("#deciding")).to_be_hidden()
    expect(page.locator("#would")).to_contain_text("1 of 5 queries")
    expect(page.get_by_role("button", name="change or take back the strike of jane doe")).to_be_focused()

    page.locator("#flag").select_option("rule telephone")
    expect(page.locator("#hits")).to_have_text("1 row")
    page.locator("#strike-shown").click()
    expect(page.locator("#reason")).to_have_value("a person")
    page.locator("#reason").fill("a number")
    page.keyboard.press("Enter")
    expect(page.locator("#would")).to_contain_text("2 of 5 queries")
    page.get_by_role("button", name="Strike transitions …").click()
    page.locator("#reason").fill("not wanted")
    page.locator("#do-strike").click()
    page.reload()
    expect(page.locator("#would")).to_contain_text("queries", timeout=WAIT)
    assert (
        page.locator("#flag").input_value() == "rule telephone" and "not wanted" in page.locator("#sizes").inner_text()
    )

    page.locator("#out").fill("approved-here")
    page.locator("#by").press("Enter")
    expect(page.locator("#not-approved")).to_contain_text("Who approves it?")
    page.locator("#by").fill("The officer")
    page.locator("#by").press("Enter")
    expect(page.locator("#job-title")).to_have_text("The approval is done", timeout=WAIT)
    expect(page.locator("#job-told")).to_contain_text("no budget")
    texts = texts_in(drafted / "approved-here")
    assert "jane doe" not in texts and "212-555-0123" not in texts and "weather" in texts and "The officer" in texts
    assert not (drafted / "approved-here" / "public" / "transitions.parquet").exists()
    page.get_by_role("link", name="Open the release that was approved").click()
    expect(page.locator("h1")).to_contain_text("approved-here")
    page.get_by_role("link", name="Releases").click()
    expect(page.locator("#shelf")).to_contain_text("as approved-here")


def test_a_long_list_is_walked_and_only_what_is_seen_is_in_the_page(open_page: OpenPage, address: str) -> None:
    page = open_page(local=True, width=TELEPHONE, scheme="dark")
    page.goto(f"{address}releases/long/review")
    expect(page.locator("#hits")).to_have_text("No row is like that.", timeout=WAIT)
    page.locator("#only").select_option("all")
    expect(page.locator("#hits")).to_have_text("5,000 rows")
    page.locator("#rows li button").first.focus()
    page.keyboard.press("End")
    expect(page.locator("#rows li").last).to_contain_text(TEXTS[-1], timeout=WAIT)
    expect(page.locator("#rows li button").last).to_be_focused()
    assert page.locator("#rows li").count() < 40
    page.locator("#text").fill(TEXTS[2500].upper())
    expect(page.locator("#hits")).to_have_text("1 row")
    expect(page.locator("#rows li")).to_contain_text(TEXTS[2500])
    assert overflow(page) == 0
    axe(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page: OpenPage, address: str, scheme: str) -> None:
    page = open_page(local=True, scheme=scheme)
    review(page, address, "other")
    axe(page)
    for path in ("releases", "releases/other", "releases/long"):
        page.goto(address + path)
        axe(page)
