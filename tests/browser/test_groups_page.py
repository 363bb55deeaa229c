"""The public page of a release by group: a switch between groups, a map, and what makes them different."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from hubbub.card.check import check
from tests.browser.conftest import axe, overflow
from tests.browser.made_up import publish, some_tables


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 queries in three groups; news is asked more in FR."""
    queries = some_tables()["queries"]
    parts = {"DE": 60, "FR": 25, "other": 15}
    cells = [
        (group, query, max(1, 3000 // (n + 1) * (percent if query != "news" else 100 - percent) // 100), 6.0)
        for group, percent in parts.items()
        for n, (query, *_) in enumerate(queries)
    ]
    tables = {"queries": queries, "queries_by_country": cells}
    return publish(tmp_path_factory.mktemp("groups") / "public", tables)


def test_a_switch_shows_one_group_and_a_search_stays_in_it(page: Page, made: Path) -> None:
    page.goto(made.as_uri())
    page.locator("#tab-queries_by_country").click()
    table = page.locator("#table-queries_by_country")
    expect(table.locator(".found")).to_contain_text("of 180")
    page.locator("#group-queries_by_country").select_option("FR")
    expect(table.locator(".found")).to_contain_text("of 60")
    assert set(table.locator("tbody tr td:first-child").all_inner_texts()) == {"FR"}
    page.locator("#search-queries_by_country").fill("weather")
    expect(table.locator("tbody tr")).to_have_count(1)
    page.locator("#group-queries_by_country").select_option("all")
    expect(table.locator("tbody tr")).to_have_count(3)


def test_a_map_has_the_countries_and_follows_a_key(page: Page, made: Path) -> None:
    page.goto(made.as_uri())
    figure = page.locator("figure.map")
    expect(figure.locator("[data-group]")).to_have_count(2)
    expect(figure.locator("[data-group=FR] title")).to_have_text(re.compile("FR: 60 rows; asked more here: news"))
    figure.locator("select").select_option("news")
    expect(figure.locator("[data-group=FR]")).to_have_class("shade5")
    expect(figure.locator("[data-group=DE]")).not_to_have_class("shade5")
    expect(figure.locator("[data-group=FR] title")).to_have_text(re.compile(r"FR: [\d,]+ users, ± 2 noise_sd"))
    figure.locator("select").select_option("")
    expect(figure.locator("[data-group=FR] title")).to_have_text(re.compile("60 rows"))


def test_what_is_asked_more_in_a_group_is_listed_with_its_interval(page: Page, made: Path) -> None:
    page.goto(made.as_uri())
    figures = page.locator(".multiples figure")
    expect(figures).to_have_count(3)
    fr = figures.filter(has_text="FR")
    expect(fr.locator("li").first).to_contain_text("news")
    assert "×" in fr.locator("li").first.inner_text() and " to " in fr.locator("li").first.inner_text()
    assert overflow(page) <= 0
    axe(page)
    assert all(finding.holds for finding in check(made.parent))
