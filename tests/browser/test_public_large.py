"""The public page of a large release: all of it can be searched, or the page says what it has no room for."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from hubbub.card.check import check
from hubbub.show import public
from tests.browser.made_up import Rows, publish, some_tables
from tests.browser.test_public_page import keys, tab


def test_a_hundred_thousand_queries(page: Page, tmp_path: Path) -> None:
    """All of them can be searched, in a page below 15 MB. How fast it opens is measured by bench/page.py."""
    words = ["weather", "news", "hotel", "recipe", "train", "music", "school", "garden", "doctor", "holiday"]
    names = [f"{words[n % 10]} {words[n // 10 % 10]} {n:06d}" for n in range(100_000)]
    tables: dict[str, Rows] = {
        "queries": [(q, 200_000 - n, 20 + n % 977 / 10) for n, q in enumerate(names)],
        "clicks": [(q, f"http://www.{n}.example/", 100_000 - n, 33.25) for n, q in enumerate(names[:50_000])],
        "transitions": [(a, b, 50_000 - n, 33.25) for n, (a, b) in enumerate(pairwise(names[:50_001]))],
    }
    made = publish(tmp_path / "public", tables)
    size = made.stat().st_size
    assert size < 15_000_000
    page.goto(made.as_uri())
    expect(page.locator("#table-queries")).to_contain_text("100,000 rows in queries.parquet, all of them in this page")
    page.get_by_role("button", name="Last rows of queries").click()
    assert keys(page, "queries")[-1] == names[-1]
    page.get_by_label("Search in queries").fill("099999")
    assert keys(page, "queries") == [names[-1]]
    tab(page, "transitions")
    page.get_by_label("Search in transitions").fill("049999")
    assert len(keys(page, "transitions")) == 2
    assert [finding for finding in check(made.parent) if not finding.holds] == []


def test_what_has_no_room_is_said(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public, "ROOM", 6_000)
    monkeypatch.setattr(public, "SHARE", 1_000)
    page.goto(publish(tmp_path / "public", some_tables()).as_uri())
    told = page.locator("#table-queries").inner_text()
    fits = int(re.findall(r"60 rows in queries.parquet; this page can search the first (\d+) of them", told)[0])
    assert 25 < fits < 60
    page.get_by_label("Search in queries").fill("query 53")
    expect(page.locator("#table-queries .found")).to_contain_text(
        f"the first {fits} of 60 rows; look into queries.parquet"
    )
    tab(page, "transitions")
    assert keys(page, "transitions"), "a long table leaves room for the next ones"
