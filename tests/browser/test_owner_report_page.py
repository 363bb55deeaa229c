"""The owner's report in a real browser: charts drawn from disk, hostile text stays text, anybody can read it."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page
from typer.testing import CliRunner

from hubbub.cli import app
from hubbub.show.charts import palette
from tests.browser.conftest import NARROW, OpenPage, axe, overflow, tab_stops
from tests.conftest import aol_lines

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
DRAWN = "[...document.querySelectorAll('figure.chart')].every(f => f.dataset.drawn)"
MARKS = "f => f.querySelectorAll('svg .mark-symbol path, svg .mark-line path, svg .mark-rect path').length"
CHARTS = {
    "epsilon",
    "coverage-rank",
    "coverage-volume",
    "survival",
    "counts-queries",
    "counts-clicks",
    "error",
    "scores",
    "tradeoff",
    "ledger",
    "rejects",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every chart there is, of a log with a hostile query."""
    folder = tmp_path_factory.mktemp("report")
    lines = [line.replace("\tmaps\t", f"\t{HOSTILE}\t") for line in aol_lines(200)]
    (folder / "log.tsv").write_text("\n".join([*lines, "a line that is none"]) + "\n", encoding="utf-8")
    log, out, book = folder / "log.tsv", folder / "out", ("--ledger", folder / "ledger.sqlite")
    budget = (
        "--mechanism",
        "zealous",
        "--epsilon",
        "8",
        "--delta",
        "1e-3",
        "--tables",
        "queries,clicks",
        "--set",
        "m=4",
    )
    for command in (
        ("release", log, "--format", "aol", *budget, "--out", out, *book),
        ("evaluate", out, "--log", log, "--task", "counts"),
        ("report", out, "--log", log),
    ):
        result = CliRunner().invoke(app, [str(word) for word in command])
        assert result.exit_code == 0, result.output
    return out / "owner-only" / "report.html"


def shown(page: Page, report: Path) -> Page:
    page.goto(report.as_uri())
    page.wait_for_function(DRAWN)
    return page


def test_every_chart_is_drawn(page: Page, report: Path) -> None:
    shown(page, report)
    figures = page.locator("figure.chart")
    assert {figure.get_attribute("id") for figure in figures.all()} == CHARTS
    for figure in figures.all():
        name = figure.get_attribute("id")
        assert figure.get_attribute("data-drawn") == "yes", name
        assert figure.locator("svg").count() == 1 and figure.evaluate(MARKS) > 0, name
        assert figure.locator("> [role=img]").get_attribute("aria-label"), name


def test_it_begins_with_what_is_left_and_says_what_scores_mean(open_page: OpenPage, report: Path) -> None:
    page = shown(open_page(width=NARROW), report)
    lead = page.locator(".lead")
    assert re.fullmatch(r"\d+ of \d+ queries, [\d.]+ % of searches", lead.inner_text())
    assert lead.evaluate("p => p.getBoundingClientRect().bottom") < 844  # on the first screen of a telephone
    scores = page.locator("#scores")
    scores.locator("summary").click()
    assert scores.get_by_text("queries: of all keys, the share that is released").is_visible()
    assert "more is better" in scores.locator("tbody tr").first.inner_text()
    assert "used by" in page.locator("#ledger figcaption").inner_text()
    assert page.locator("#tradeoff svg").get_by_text("chosen: 8").is_visible()


def test_hostile_queries_are_text_even_under_the_pointer(page: Page, report: Path) -> None:
    shown(page, report)
    assert page.title() == "NOT PRIVATE: owner's report"
    assert page.locator("main img").count() == 0
    page.locator("#counts-queries .plot").evaluate("f => f.scrollIntoView({block: 'center'})")
    found = []
    for dot in page.locator("#counts-queries .mark-symbol path").all():
        box = dot.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
        page.wait_for_selector("#vg-tooltip-element.visible")
        found.append(page.locator("#vg-tooltip-element").inner_text())
    assert any("document.title='owned'" in text for text in found)
    page.locator("#counts-queries summary").click()
    assert HOSTILE in page.locator("#counts-queries table").inner_text()
    assert page.title() == "NOT PRIVATE: owner's report" and page.locator("#vg-tooltip-element img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_take_the_ink_of_the_page(open_page: OpenPage, report: Path, scheme: str) -> None:
    page = shown(open_page(scheme=scheme), report)
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    label = page.locator("#coverage-rank svg text").first
    assert label.evaluate("t => getComputedStyle(t).fill") == ink != paper
    assert page.locator("#rejects .mark-rect path").first.get_attribute("fill") == palette.VERMILION
    axe(page)


def test_a_narrow_screen_needs_no_sideways_scrolling(open_page: OpenPage, report: Path) -> None:
    page = shown(open_page(width=NARROW), report)
    assert overflow(page) == 0
    for chart in page.locator("figure.chart svg").all():
        box = chart.bounding_box()
        assert box is not None and 200 < box["width"] <= NARROW
    axe(page)


def test_the_keyboard_reaches_everything(page: Page, report: Path) -> None:
    shown(page, report)
    stops = tab_stops(page)
    assert sum(stop.startswith("a:") for stop in stops) == 7  # the sections
    assert any(stop.startswith("summary") for stop in stops)
    page.locator("#coverage-rank summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#coverage-rank table").is_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "scroll"  # long tables scroll by keys


def test_the_banner_cannot_be_missed(page: Page, report: Path) -> None:
    shown(page, report)
    banner = page.locator(".banner")
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    box = banner.bounding_box()
    assert box is not None and box["y"] == 0 and "NOT PRIVATE. DO NOT PUBLISH." in banner.inner_text()
    page.emulate_media(media="print")
    assert banner.is_visible() and banner.evaluate("b => getComputedStyle(b).borderTopWidth") == "4px"
    assert page.pdf(format="A4").startswith(b"%PDF")
