"""The browser of the tests would notice: errors on the console, exceptions, requests, unreadable colours, overflow."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import NARROW, OpenPage, axe, overflow, tab_stops, watched

HEAD = "<!doctype html><html lang=en><title>t</title><main><h1>t</h1>"


def written(folder: Path, body: str) -> str:
    """A page on disk, by its address."""
    path = folder / "page.html"
    path.write_text(HEAD + body, encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("<script>console.error('boo')</script>", "console: boo"),
        ("<script>nothing()</script>", "exception: nothing is not defined"),
        ("<img alt='' src='http://elsewhere.example/x.png'>", "request: http://elsewhere.example/x.png"),
        (
            "<script>fetch('https://elsewhere.example/y').catch(() => 0)</script>",
            "request: https://elsewhere.example/y",
        ),
        ("<img alt='' src='missing.png'>", "console: Failed to load resource"),
    ],
)
def test_a_complaint_fails(browser: Browser, tmp_path: Path, body: str, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint), watched(browser) as opens:
        opens().goto(written(tmp_path, body), wait_until="networkidle")


def test_other_machines_are_out_of_reach_of_local_pages_too(browser: Browser, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="request: http://elsewhere"), watched(browser) as opens:
        opens(local=True).goto(written(tmp_path, "<img alt='' src='http://elsewhere.example/x.png'>"))


def test_a_quiet_page_passes(page: Page, tmp_path: Path) -> None:
    page.goto(written(tmp_path, "<script>console.log('hm')</script>"))
    axe(page)


def test_unreadable_colours_are_a_violation(page: Page, tmp_path: Path) -> None:
    page.goto(written(tmp_path, "<p style='color: #ddd; background: #fff'>pale"))
    with pytest.raises(AssertionError, match=r"color-contrast \(serious\)"):
        axe(page)


def test_overflow_is_seen(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(width=NARROW)
    page.goto(written(tmp_path, "<div style='width: 500px'>x</div>"))
    assert overflow(page) > 90


def test_tab_stops_and_a_focus_that_hides(page: Page, tmp_path: Path) -> None:
    page.goto(written(tmp_path, "<button id=a>1</button><a href='#b'>2</a><button tabindex=-1>3</button>"))
    assert tab_stops(page) == ["button#a", "a: 2"]
    page.goto(written(tmp_path, "<button id=a style='outline: none'>1</button>"))
    with pytest.raises(AssertionError, match="does not show"):
        tab_stops(page)
