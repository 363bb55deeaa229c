"""The search box of `hubbub export --to completion` in a real browser, from disk, without a network."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from hubbub.show.export import export
from tests.browser.conftest import axe, overflow
from tests.browser.made_up import publish

QUERIES = [(f"weather {n}", 1000 - n, 3.0) for n in range(30)]
QUERIES += [("köln 天気", 50, 3.0), ("<b>bold</script>", 60, 3.0), ("weather", 990, 3.0), ("web", 2000, 3.0)]


def test_the_page_completes_offline(page: Page, tmp_path: Path) -> None:
    export(publish(tmp_path / "r" / "public", {"queries": QUERIES}).parent, "completion", tmp_path / "out")
    page.goto((tmp_path / "out" / "search.html").as_uri())

    def completed(typed: str) -> list[str]:
        page.get_by_label("Begin a query").fill(typed)
        return page.locator("#found li span:first-child").all_text_contents()

    heaviest = [query for query, *_ in sorted(QUERIES, key=lambda row: -row[1])]
    assert completed("we") == heaviest[:10] and heaviest[0] == "web"
    assert completed("weather 1") == ["weather 1", *(f"weather {n}" for n in range(10, 19))]
    assert completed("KÖ") == ["köln 天気"] and completed("<b") == ["<b>bold</script>"]
    assert completed("no such") == [] and completed("") == []
    completed("wea")
    axe(page)
    assert overflow(page) == 0
