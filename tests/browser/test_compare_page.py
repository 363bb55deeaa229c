"""The page of a comparison in a real browser: offline, drawn, readable by everybody, as text where a log speaks."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page

import hubbub
from tests.browser.conftest import NARROW, WIDE, OpenPage, axe, overflow
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
        ["crowd", "zealous", "korolova", "safelog", "k-query", "ngrams"],
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


APART = """names => names.every((one, i) => names.slice(i + 1).every(other => {
    const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
    return a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
}))"""


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_no_name_lies_upon_another(open_page: OpenPage, compared: str, width: int) -> None:
    page = open_page(width=width)
    drawn(page, compared)
    names = page.locator("#chart-1 svg .role-axis-label text").filter(has_text=re.compile("[a-z]{4}"))
    assert names.count() >= 3
    assert names.evaluate_all(APART)
    shares = page.locator("#chart-1 svg .role-axis-label text").filter(has_text=re.compile(r"^\d+%$"))
    volumes = [int(text.rstrip("%")) for text in shares.all_text_contents()]
    assert volumes and min(volumes) == 0


def test_the_first_column_stays_while_the_others_pass(open_page: OpenPage, compared: str) -> None:
    page = open_page(width=NARROW)
    drawn(page, compared)
    table = page.get_by_role("region", name="the table")
    first, second = (table.locator("tbody tr").first.locator(":scope > *").nth(i) for i in (0, 1))
    before = [cell.evaluate("c => c.getBoundingClientRect().left") for cell in (first, second)]
    table.evaluate("t => { t.scrollLeft = 200 }")
    after = [cell.evaluate("c => c.getBoundingClientRect().left") for cell in (first, second)]
    assert after[0] == pytest.approx(before[0], abs=1) and after[1] < before[1] - 100
    assert first.evaluate("c => c.getBoundingClientRect().width") < 0.5 * NARROW
    assert "of the same ε" in page.locator("main").inner_text()


def test_on_paper_the_table_fits_and_every_sheet_says_what_it_is(open_page: OpenPage, compared: str) -> None:
    page = open_page(scheme="dark", width=1000)
    drawn(page, compared)
    page.emulate_media(media="print")
    assert overflow(page) == 0
    first = page.get_by_role("region", name="the table").locator("tbody th").first
    assert first.evaluate("c => c.getBoundingClientRect().height") < 60  # its name is not broken into letters
    colours = page.locator(".banner").evaluate("b => [getComputedStyle(b).color, getComputedStyle(b).backgroundColor]")
    assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
