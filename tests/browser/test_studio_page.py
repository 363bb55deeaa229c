"""The studio in a real browser: open a log, tune, release, browse; by keyboard, narrow, in light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, WIDE, OpenPage, axe, overflow, studio, tab_stops
from tests.browser.made_up import publish, some_tables
from tests.made_up import synthesise

WAIT = 90_000


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small log, an earlier release, and room for new ones."""
    folder = tmp_path_factory.mktemp("studio")
    synthesise(1000, folder / "log.parquet")
    publish(folder / "earlier" / "public", some_tables())
    return folder


@pytest.fixture(scope="module")
def address(place: Path) -> Iterator[str]:
    """The studio as the command starts it."""
    words = [str(place / "log.parquet"), str(place / "earlier"), "--folder", str(place)]
    words += ["--ledger", str(place / "ledger.sqlite"), "--population", "readers", "--threads", "1"]
    with studio(*words) as said:
        yield said


def tuned(page: Page, address: str) -> None:
    """Open the page and wait until it has answered everything."""
    page.goto(address)
    expect(page.locator("#summary")).to_contain_text("would be released", timeout=WAIT)
    expect(page.locator("#claim")).to_contain_text("Adding or removing", timeout=WAIT)
    expect(page.locator("#compare tbody tr")).to_have_count(6, timeout=WAIT)


def rows(page: Page) -> str:
    return page.locator("#numbers dt").first.inner_text()


def test_open_tune_release_browse(open_page: OpenPage, address: str, place: Path) -> None:
    page = open_page(local=True)
    tuned(page, address)
    assert page.locator("#profile dt").first.inner_text() == "1,000"
    assert "not private, do not publish" in page.locator(".banner").inner_text()

    before = rows(page)
    page.locator("#epsilon-slider").focus()
    for _ in range(70):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#numbers dt").first).not_to_have_text(before)
    assert float(page.locator("#epsilon").input_value()) == pytest.approx(5, rel=0.1)
    page.locator("#t-keywords").uncheck()
    page.locator("#t-sessions").uncheck()
    page.locator("#t-transitions").uncheck()
    expect(page.locator("#command")).to_contain_text("--tables queries,clicks", timeout=WAIT)
    expect(page.locator("#p-D_t")).to_be_hidden()
    page.locator("#p-queries_weight").fill("60")
    expect(page.locator("#command")).to_contain_text("--set queries_weight=60", timeout=WAIT)
    page.get_by_role("button", name="clicks", exact=True).click()
    expect(page.locator("#summary")).to_contain_text("clicks would be released")
    assert page.locator("#curve svg polyline.strong").count() == 1

    page.locator("#name").fill("made-here")
    expect(page.locator("#command")).to_contain_text("made-here", timeout=WAIT)
    page.locator("#start").click()
    expect(page.locator("#overcap")).to_contain_text("without your word")
    page.locator("#agreed").check()
    page.locator("#start").click()
    expect(page.locator("#job-title")).to_contain_text("running")
    expect(page.locator("#job-title")).to_have_text("The release is done", timeout=WAIT)
    expect(page.locator("#job-told")).to_contain_text("ε = 0 before, ε = 5")
    assert (place / "made-here" / "public" / "card.json").is_file()

    page.get_by_role("link", name="Open the release").click()
    expect(page.locator("h1")).to_contain_text("made-here")
    expect(page.locator(".claim")).to_contain_text("Adding or removing everything one user did")
    expect(page.locator("#results li").first).to_be_visible()
    page.get_by_role("link", name="Ledger").click()
    expect(page.locator("table tbody tr")).to_contain_text("committed")
    expect(page.locator("main")).to_contain_text(": studio")

    page.get_by_role("link", name="Releases").click()
    page.get_by_role("link", name="earlier", exact=True).click()
    page.locator("#q").fill("news")
    expect(page.locator("#results li")).to_have_count(1)
    page.locator("#results button").click()
    expect(page.locator("#suggested")).to_contain_text("train times")
    page.locator("#next button").first.click()
    expect(page.locator("#h-around")).to_have_text("Around “train times”")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page: OpenPage, address: str, scheme: str) -> None:
    page = open_page(scheme=scheme, local=True)
    tuned(page, address)
    for summary in page.locator("summary:visible").all():
        summary.click()
    axe(page)
    for path in ("releases", "releases/earlier", "ledger"):
        page.goto(address + path)
        if path.endswith("earlier"):
            expect(page.locator("#results li").first).to_be_visible()
        axe(page)


def test_a_narrow_screen_and_the_keyboard_do(open_page: OpenPage, address: str) -> None:
    page = open_page(width=NARROW, local=True)
    tuned(page, address)
    assert overflow(page) == 0
    stops = tab_stops(page)
    for wanted in ("input#epsilon", "input#epsilon-slider", "select#mechanism", "input#name", "input#agreed"):
        assert wanted in stops
    assert "button#start" in stops and "button#copy" in stops and "button: korolova" in stops
    for path in ("releases", "releases/earlier", "ledger"):
        page.goto(address + path)
        assert overflow(page) == 0, path


def test_another_mechanism_is_one_click_away(open_page: OpenPage, address: str) -> None:
    page = open_page(local=True)
    tuned(page, address)
    page.get_by_role("button", name="gaussian").click()
    expect(page.locator("#mechanism")).to_have_value("gaussian")
    expect(page.locator("#command")).to_contain_text("--mechanism gaussian", timeout=WAIT)
    page.locator("#epsilon").fill("nothing")
    expect(page.locator("#refused")).to_contain_text("Parameter epsilon", timeout=WAIT)
    page.locator("#epsilon").fill("2")
    expect(page.locator("#refused")).to_be_hidden()


def test_a_release_is_divided_by_what_is_typed(open_page: OpenPage, address: str) -> None:
    page = open_page(local=True)
    tuned(page, address)
    page.locator("#mechanism").select_option("crowd")  # an earlier test may have left another
    page.locator("#groups summary").click()
    page.locator("#by-1").fill("weekday")
    expect(page.locator("#command")).to_contain_text("--by weekday", timeout=WAIT)
    expect(page.locator("#later")).to_contain_text("queries_by_weekday", timeout=WAIT)
    page.locator("#by-2").fill("country=land")
    expect(page.locator("#refused")).to_contain_text("not declared", timeout=WAIT)
    page.locator("#values-2").fill("DE, FR")
    expect(page.locator("#command")).to_contain_text("country=DE, FR", timeout=WAIT)
    axe(page)


def test_once_or_again(open_page: OpenPage, address: str) -> None:
    for scheme, width in (("light", WIDE), ("dark", NARROW)):
        page = open_page(local=True, scheme=scheme, width=width)
        page.goto(address.rstrip("/") + "/again")
        page.get_by_label("Users in all periods").fill("2000")
        page.get_by_label("How many periods").fill("2")
        page.get_by_label("A period is a").select_option("week")
        page.get_by_role("button", name="Estimate").click()
        expect(page.locator("#ways tbody tr")).to_have_count(2, timeout=WAIT)
        expect(page.locator("#advice")).to_contain_text("1,734 queries of 1,827")
        axe(page)
        assert overflow(page) == 0
    page.get_by_label("How many periods").fill("no")
    page.get_by_role("button", name="Estimate").click()
    expect(page.get_by_role("alert")).to_contain_text("whole number")
