"""The index page of a series in a real browser: lines, bands, search, permalinks; offline, in every light and width."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from hubbub.show.series.index import write_index
from tests.browser.conftest import OpenPage, axe, overflow, tab_stops
from tests.made_up_series import publish, some_periods, with_further

PHONE, WIDE = 390, 1280
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_index(publish(tmp_path_factory.mktemp("series"), some_periods()))


@pytest.fixture
def shown(page: Page, made: Path) -> Page:
    page.goto(made.as_uri())
    return page


def chips(page: Page) -> list[str]:
    return [text.removesuffix(" ×") for text in page.locator("#chips button").all_inner_texts()]


def test_what_moves_shows_at_first(shown: Page) -> None:
    assert {"rising star", "falling leaf"} < set(chips(shown)) and len(chips(shown)) == 4
    assert shown.locator("#plot .line:not(.reach)").count() == 4 and shown.locator("#plot circle").count() == 48
    expect(shown.locator("#rising")).to_contain_text("rising star")
    expect(shown.locator("#no-script")).to_have_count(0)


def test_bands_are_where_their_numbers_say(page: Page, made: Path) -> None:
    """Noise of sd 20 at twelve points: each band is 80 users high, on the axis that the ticks name."""
    page.goto(made.as_uri() + "#q=weather")
    assert chips(page) == ["weather"]
    lines = [page.locator("#plot .grid").nth(n).get_attribute("d") or "" for n in (4, 0)]
    top, bottom = (float(line.split()[1].split("H")[0]) for line in lines)
    highest = float((page.locator("#plot text").nth(4).text_content() or "").replace(",", ""))
    band = page.locator("#plot .reach").get_attribute("d") or ""
    points = [tuple(map(float, pair.split())) for pair in band.strip("MZ").split("L")]
    assert len(points) == 24
    for upper, lower in zip(points[:12], reversed(points[12:]), strict=True):
        assert upper[0] == lower[0]
        assert (lower[1] - upper[1]) * highest / (bottom - top) == pytest.approx(80, rel=0.01)
    first = page.locator("#plot circle title").first.text_content()
    assert first and first.startswith("weather, 2026-01: ") and first.endswith(" ± 40")


def test_a_missing_number_is_a_triangle_and_a_word(page: Page, made: Path) -> None:
    page.goto(made.as_uri() + "#q=small%203")
    below = page.locator("#plot .below")
    assert below.count() + page.locator("#plot circle").count() == 8, "out since the fifth of twelve periods"
    assert below.count() > 0
    assert "below 60" in (below.first.locator("title").text_content() or "")
    page.locator("summary", has_text="The numbers of these lines").click()
    cells = page.locator("#cells tbody td").all_inner_texts()
    assert cells[:4] == ["not out yet"] * 4 and cells.count("below 60") == below.count()


def test_search_chooses_and_the_address_says_so(shown: Page, made: Path) -> None:
    shown.get_by_label("Search a query").fill("steady 1")
    expect(shown.locator("#found")).to_contain_text("7 found")
    assert shown.locator("#hits button").first.inner_text() == "steady 1"
    shown.locator("#hits button").first.click()
    assert chips(shown)[-1] == "steady 1"
    expect(shown.get_by_label("Search a query")).to_be_focused()
    assert shown.url.endswith("&q=" + quote("steady 1"))
    shown.get_by_label("Search a query").fill("nobody asks this")
    expect(shown.locator("#found")).to_have_text("No query in this page has “nobody asks this”.")
    for name in chips(shown)[:-1]:
        shown.get_by_role("button", name=f"Remove the line of {name}").click()
    assert chips(shown) == ["steady 1"] and shown.url.endswith("#q=steady%201")
    shown.reload()
    assert chips(shown) == ["steady 1"]


def test_a_link_of_a_list_shows_its_line(shown: Page) -> None:
    shown.locator("#falling a", has_text="falling leaf").click()
    assert chips(shown) == ["falling leaf"] and shown.url.endswith("#q=falling%20leaf")


def test_an_address_of_strange_and_missing_queries(page: Page, made: Path) -> None:
    page.goto(made.as_uri() + f"#q={quote('天気')}&q={quote('كتاب')}&q=gone")
    assert chips(page) == ["天気", "كتاب"]
    expect(page.locator("#found")).to_have_text("Not in this page: “gone”.")


def test_users_to_date_are_another_view(shown: Page) -> None:
    before = shown.locator("#plot path.line").first.get_attribute("d")
    shown.get_by_label("users to date").check()
    assert shown.locator("#plot path.line").first.get_attribute("d") != before
    expect(shown.locator("#cells caption")).to_have_text("users to date, ± 2 noise_sd")
    label = shown.locator("#plot svg").get_attribute("aria-label") or ""
    assert label.startswith("Lines of users to date for")


@pytest.mark.parametrize("width", [PHONE, WIDE])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_usable_in_every_light_and_width(open_page: OpenPage, made: Path, scheme: str, width: int) -> None:
    page = open_page(scheme=scheme, width=width)
    page.goto(made.as_uri())
    page.locator("details").evaluate_all("all => all.forEach(part => part.open = true)")
    page.get_by_label("Search a query").fill("small")
    assert overflow(page) == 0
    axe(page)


def test_the_keyboard_reaches_every_control(shown: Page) -> None:
    stops = tab_stops(shown)
    assert stops[0] == "a: Skip to the lines"
    for control in ("input#search", "button: Remove the line of rising star", "summary: The numbers of these lines"):
        assert control in stops
    for name in ("Page of 2026-12", "Card of 2026-01"):
        link = shown.get_by_role("link", name=name)
        link.focus()
        expect(link).to_be_focused()


def test_readable_without_a_script(open_page: OpenPage, made: Path) -> None:
    page = open_page(script=False)
    page.goto(made.as_uri())
    expect(page.locator("#no-script")).to_be_visible()
    assert page.locator("#largest tbody tr").count() == 25 and page.locator(".calendar li").count() == 12


HOSTILE = [
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 2</script>",
    '"><img src=x onerror="window.pwned = 3">',
    "a&q=b#c",
    "turned \u202eround\u202c",
]


def test_a_query_is_text_whatever_it_says(page: Page, tmp_path: Path) -> None:
    made = write_index(publish(tmp_path, some_periods(3, names=HOSTILE)))
    page.goto(made.as_uri())
    for text in HOSTILE[:4]:
        page.goto("about:blank")
        page.goto(made.as_uri() + "#q=" + quote(text, safe=""))
        assert chips(page) == [text]
    page.locator("#largest a", has_text="turned").click()
    assert chips(page) == ["turned ⟨U+202E⟩round⟨U+202C⟩"]
    assert page.evaluate("window.pwned") is None and page.locator("img").count() == 0


def test_what_hangs_on_a_query_follows_its_line(page: Page, tmp_path: Path) -> None:
    made = write_index(with_further(tmp_path))
    page.goto(made.as_uri() + "#q=weather")
    rows = page.locator("#follows tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("sky.example/<b>")
    expect(rows.last).to_contain_text("then asked")
    page.goto(made.as_uri() + "#q=falling%20leaf")
    expect(rows).to_have_text(["Nothing that is out."])
    axe(page)
