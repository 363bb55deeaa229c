"""The page of a comparison in a real browser: offline, drawn, readable by everybody, as text where a log speaks."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

import hubbub
from tests.browser.conftest import NARROW, OpenPage, axe, overflow
from tests.conftest import aol_lines


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small comparison with a sweep and the task of the finding, as an address."""
    folder = tmp_path_factory.mktemp("compared")
    (folder / "log.tsv").write_text("\n".join(aol_lines(400)) + "\n", encoding="utf-8")
    hubbub.compare(
        folder / "log.tsv",
        4,
        "1e-3",
        ["crowd", "zealous", "korolova", "safelog", "k-query"],
        ["counts", "suggestion"],
        draws=2,
        sweeps=["epsilon=2,4"],
        out=folder / "out",
    )
    return (folder / "out" / "owner-only" / "compare.html").as_uri()


def drawn(page: Page, address: str) -> None:
    """Open it and wait until every chart stands."""
    page.goto(address)
    page.wait_for_function("document.querySelectorAll('figure.chart:not([data-drawn])').length === 0")


def test_the_page_draws_its_charts_offline(page: Page, compared: str) -> None:
    drawn(page, compared)
    assert "NOT PRIVATE" in page.locator(".banner").inner_text()
    figures = page.locator("figure.chart")
    assert figures.count() >= 3
    assert page.locator("figure.chart[data-drawn=yes] svg").count() == figures.count()
    assert "zealous(epsilon=2)" in page.locator("table").first.inner_text()
    assert (
        "safelog" in page.get_by_role("heading", name="What did not run").locator("xpath=following::ul[1]").inner_text()
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page: OpenPage, compared: str, scheme: str) -> None:
    page = open_page(scheme=scheme)
    drawn(page, compared)
    for summary in page.locator("summary").all():
        summary.click()
    axe(page)


def test_a_narrow_screen_need_not_scroll_sideways(open_page: OpenPage, compared: str) -> None:
    page = open_page(width=NARROW)
    drawn(page, compared)
    assert overflow(page) == 0
