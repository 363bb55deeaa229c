"""The public page, further: order, scale, downloads, the neighbourhood of a query, and the claim computed again."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Page, expect

from hubbub.card.build import build_card
from hubbub.card.facts import Booked, Facts, Written
from hubbub.card.schema import sha256_of
from hubbub.mechanisms import build
from hubbub.show.page import Shown, render
from tests.browser.conftest import NARROW, OpenPage, axe, overflow
from tests.browser.made_up import OWNER, Rows, publish, some_tables


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page on which queries hang together: walks between them, pages that two of them lead to."""
    tables: dict[str, Rows] = some_tables() | {
        "queries": [
            ("news", 900, 9.0),
            ("news today", 90, 9.0),
            ("weather", 80, 9.0),
            ("=1+1", 70, 9.0),
            ("a/b#c %", 9, 2.5),
        ],
        "clicks": [
            ("news", "paper.example", 300, 5.5),
            ("weather", "paper.example", 40, 5.5),
            ("news", "tv.example", 30, 5.5),
        ],
        "transitions": [
            ("news", "weather", 40, 12.25),
            ("a/b#c %", "news", 30, 12.25),
            ("news", "news today", 20, 5.0),
        ],
    }
    return publish(tmp_path_factory.mktemp("around") / "public", tables)


@pytest.fixture
def shown(page: Page, made: Path) -> Page:
    """That page, open."""
    page.goto(made.as_uri())
    return page


def column(page: Page, table: str) -> list[str]:
    """The first column of a table, as it shows."""
    return page.locator(f"#table-{table} tbody tr td:first-child").all_inner_texts()


def test_a_click_on_a_head_sorts_another_turns_a_third_undoes(shown: Page) -> None:
    head = shown.locator("#table-queries th").first
    released = column(shown, "queries")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert column(shown, "queries") == ["=1+1", "a/b#c %", "news", "news today", "weather"]
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    assert column(shown, "queries")[0] == "weather"
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") is None and column(shown, "queries") == released
    users = shown.locator("#table-queries th.value")
    for way in (released, released[::-1]):
        users.get_by_role("button").click()
        assert column(shown, "queries") == way
    shown.get_by_label("Search in queries").fill("news")
    assert column(shown, "queries") == ["news today", "news"], "what is found keeps the order"


def test_uneven_numbers_get_a_log_scale_that_can_be_turned_off(shown: Page) -> None:
    toggle = shown.get_by_role("button", name="Log scale for queries")
    ticks = shown.locator("#table-queries th .axis small")
    expect(toggle).to_have_attribute("aria-pressed", "true")
    assert ticks.all_inner_texts() == ["1", "10", "100", "1K"]
    place = "Math.round(parseFloat(document.querySelector('#table-queries tbody b').style.left))"
    assert shown.evaluate(place) == 98, "log10(900) of 3"
    toggle.click()
    assert ticks.all_inner_texts() == ["0", "500", "1K"] and shown.evaluate(place) == 90


def test_a_table_as_csv(shown: Page) -> None:
    with shown.expect_download() as download:
        shown.get_by_role("button", name="queries.csv").click()
    assert download.value.suggested_filename == "queries.csv"
    rows = list(csv.reader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8"))))
    assert rows[0] == ["query", "users", "noise_sd"] and rows[1] == ["news", "900", "9"]
    assert rows[4][0] == "'=1+1", "a spreadsheet must not run it"
    for name in ("queries.parquet", "card.json", "README.md"):
        assert (Path(shown.url.removeprefix("file://")).parent / name).is_file()
        expect(shown.locator(f"a[href='{name}']")).to_have_count(1)


def test_around_a_query(shown: Page) -> None:
    shown.locator("#table-queries").get_by_role("link", name="news", exact=True).click()
    around = shown.locator("#around")
    expect(around.get_by_role("heading", name="Around “news”")).to_be_focused()
    expect(around).to_contain_text("900 users, ± 2 noise_sd: 882 to 918.")
    parts = {
        part.locator("h4").inner_text(): part.locator("li").all_inner_texts()
        for part in around.locator(".lists > div").all()
    }
    assert parts == {
        "Clicked": ["paper.example 300 ± 11", "tv.example 30 ± 11"],
        "Asked next": ["weather 40 ± 25", "news today 20 ± 10"],
        "Asked before": ["a/b#c % 30 ± 25"],
        "In sessions": ["weather → news → train times"],
        "Similar released queries": ["news today 90 ± 18", "weather 80 ± 18"],
    }
    assert set(around.locator("svg a").evaluate_all("all => all.map(a => a.getAttribute('aria-label'))")) == {
        "weather", "news today", "a/b#c %",
    }  # fmt: skip
    axe(shown)
    around.locator(".lists").get_by_role("link", name="a/b#c %").click()
    expect(around.get_by_role("heading", name="Around “a/b#c %”")).to_be_visible()
    shown.go_back()
    expect(around.get_by_role("heading", name="Around “news”")).to_be_visible()
    around.get_by_role("link", name="Close").click()
    expect(around).to_be_hidden()


@pytest.mark.parametrize("width", [NARROW, 1200])
def test_an_address_opens_a_query(open_page: OpenPage, made: Path, width: int) -> None:
    page = open_page(scheme="dark", width=width)
    page.goto(f"{made.as_uri()}#q=a%2Fb%23c%20%25")
    expect(page.get_by_role("heading", name="Around “a/b#c %”")).to_be_in_viewport()
    assert overflow(page) == 0
    axe(page)
    page.goto(f"{made.as_uri()}#q=nobody%20asked%20this")
    expect(page.locator("#around")).to_contain_text("A missing query is not a zero")
    page.goto(f"{made.as_uri()}#q=%E0%A4%A")
    expect(page.locator("#around")).to_be_hidden()


# ------------------------------------------------------------------ the claim, computed again by the page

MECHANISMS: dict[str, tuple[str, dict[str, Any], tuple[str, ...] | None]] = {
    "crowd": ("crowd", {"epsilon": "1", "delta": "1e-6"}, None),
    "crowd, tables": ("crowd", {"epsilon": "8", "delta": "1e-9"}, ("queries", "clicks", "transitions")),
    "korolova": ("korolova", {"epsilon": "1", "delta": "1e-6", "d": 20}, None),
    "zealous": ("zealous", {"epsilon": "0.7", "delta": "1e-5"}, None),
    "sessions": ("sessions", {"epsilon": "2", "delta": "1e-6"}, None),
    "gaussian": ("gaussian", {"epsilon": "1", "delta": "1e-6"}, None),
    "sips": ("sips", {"epsilon": "3", "delta": "1e-7"}, None),
    "ngrams": ("ngrams", {"epsilon": "1", "delta": "1e-6"}, None),
}


def page_of(name: str, settings: dict[str, Any], tables: tuple[str, ...] | None) -> str:
    """The public page of a mechanism that released nothing yet: its claim and its steps are on it."""
    mechanism = build(name, settings, tables=tables)
    booked = Booked("readers", "spring", 1, 0.0, 1.0, None, (), ())
    empty = [Shown(table, ["query", "users", "noise_sd"], 0, []) for table in mechanism.tables]
    files = {f"{table.name}.parquet": Written("0" * 64, 0) for table in empty}
    card = build_card(mechanism, Facts(OWNER, booked, "AnonID", False, 0.05, 20_000, files=files))
    return render(card, empty)["index.html"]


@pytest.mark.parametrize("case", MECHANISMS)
def test_the_browser_agrees_with_the_card(page: Page, tmp_path: Path, case: str) -> None:
    text = page_of(*MECHANISMS[case])
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator("#recomputed")).to_contain_text("Your browser agrees.")
    assert page.locator("#recomputed li").count() >= 1


@pytest.mark.parametrize("case", ["crowd", "korolova"])
@pytest.mark.parametrize("field", ["epsilon", "delta"])
def test_the_browser_does_not_agree_with_a_better_claim(page: Page, tmp_path: Path, case: str, field: str) -> None:
    text = page_of(*MECHANISMS[case])
    block = re.search(r'(?<=id="claimed">).*?(?=</script>)', text)
    assert block
    claimed = json.loads(block[0])
    claimed[field] *= 0.999
    (tmp_path / "page.html").write_text(text.replace(block[0], json.dumps(claimed)), encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator("#recomputed")).to_contain_text("YOUR BROWSER DOES NOT AGREE")


# ------------------------------------------------------------------ for machines


def test_the_page_describes_its_tables_for_machines(made: Path) -> None:
    text = made.read_text(encoding="utf-8")
    block = re.search(r'<script type="application/ld\+json">(.*?)</script>', text)
    assert block
    told = json.loads(block[1])
    assert told["@type"] == "sc:Dataset" and told["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert told["name"] == OWNER.title and told["license"] == OWNER.licence
    assert told["temporalCoverage"] == "2006-03-01/2006-05-31"
    assert {file["contentUrl"]: file["sha256"] for file in told["distribution"]} == {
        path.name: sha256_of(path) for path in made.parent.glob("*.parquet")
    }
    for records in told["recordSet"]:
        schema = pq.read_schema(made.parent / f"{records['name']}.parquet")
        assert [field["source"]["extract"]["column"] for field in records["field"]] == schema.names
