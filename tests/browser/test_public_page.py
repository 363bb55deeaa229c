"""The public page of a release, as people meet it: from disk, without a network, with and without a mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from hubbub.card.check import check
from tests.browser.conftest import NARROW, OpenPage, axe, overflow, tab_stops, watched
from tests.browser.made_up import OWNER, Rows, publish, some_tables

SCHEMES = ("light", "dark")
TABLES = ("queries", "clicks", "transitions", "sessions", "keywords", "log")


@pytest.fixture(scope="package")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a release with every table of crowd."""
    return publish(tmp_path_factory.mktemp("made") / "public", some_tables())


@pytest.fixture
def shown(page: Page, made: Path) -> Page:
    """That page, open."""
    page.goto(made.as_uri())
    return page


def keys(page: Page, table: str) -> list[str]:
    """The first column of a table, as it shows."""
    return page.locator(f"#table-{table} tbody tr td:first-child").all_inner_texts()


def tab(page: Page, table: str) -> None:
    """Turn to a table."""
    page.locator(f"#tab-{table}").click()
    expect(page.locator(f"#table-{table}")).to_be_visible()


# ------------------------------------------------------------------ what it says


def test_the_claim_and_the_first_rows_are_on_the_first_screen(open_page: OpenPage, made: Path) -> None:
    for width in (NARROW, 1200):
        page = open_page(width=width)
        page.goto(made.as_uri())
        first = page.locator("main > section").first.inner_text()
        for words in (
            "Adding or removing everything one user did between 2006-03-01 and 2006-05-31",
            "at most a factor e¹, plus 1 × 10⁻⁶",
            "ε = 1",
            "δ = 1 × 10⁻⁶",
        ):
            assert words in first
        expect(page.locator(".claim")).to_be_in_viewport(ratio=1)
        expect(page.locator(".headline")).to_be_in_viewport(ratio=1)
        expect(page.locator("#table-queries tbody tr").first).to_be_in_viewport(ratio=1)
        assert page.title() == "Searches of a made-up library"
    assert "60 queries" in page.locator(".headline").inner_text()


def test_what_is_promised_is_one_click_away(shown: Page) -> None:
    shown.get_by_role("link", name="What that means, and what it does not protect").click()
    promise = shown.locator("section[aria-labelledby=promise]")
    expect(shown.locator("#promise")).to_be_in_viewport(ratio=1)
    for words in (
        "Not protected: one person with several accounts",
        "a factor e1 = 2.72",
        "20,000 users the owner declares: 0.02",
        "one value of AnonID",
        "On condition",
    ):
        assert words in promise.inner_text()


def test_every_part_of_the_card_is_told(shown: Page) -> None:
    headings = shown.get_by_role("heading", level=2).all_inner_texts()
    assert headings == [
        "The tables",
        "What is promised, and on what condition",
        "Using the numbers",
        "How it was made",
        "What could go wrong, and what was done about it",
        "Check this yourself",
        "How to cite",
    ]
    for link in shown.locator(".contents a").all():
        assert shown.locator(str(link.get_attribute("href"))).count() == 1
    shown.locator("details").evaluate_all("all => all.forEach(part => part.open = true)")
    text = shown.locator("body").inner_text()
    for words in (
        "hubbub card . --check",
        "A missing row is not a zero",
        "noisy weight is at least that of",
        "entry 1 of the owner's ledger",
        "δ times declared users is 0.02",
        "@misc{spring-r1,",
        "Data set, release spring-r1; crowd (strict), ε = 1, δ = 1 × 10⁻⁶ per user (add-remove)",
        "crowd strict: not run",
    ):
        assert words in text


def test_the_stamp_cannot_be_missed(page: Page, tmp_path: Path) -> None:
    page.goto(publish(tmp_path / "public", some_tables(), seeded=True).as_uri())
    stamp = page.get_by_text("NOT PRIVATE. Made for tests or experiments. Do not publish.")
    assert page.title().startswith("NOT PRIVATE: ")
    expect(page.locator(".claim")).to_contain_text("Nothing is proven about what this release tells of any one user.")
    for place in ("#tables", "#hazards", "#cite"):
        page.locator(place).scroll_into_view_if_needed()
        expect(stamp).to_be_in_viewport(ratio=1)
    axe(page)


# ------------------------------------------------------------------ search, sheets, tabs


def test_search(shown: Page) -> None:
    box = shown.get_by_label("Search in queries")
    box.fill("TRAIN  times")
    assert keys(shown, "queries") == ["train times"]
    expect(shown.locator("#table-queries .found")).to_have_text("Rows 1 to 1 of 1 found.")
    box.fill("5 query")
    fives = [5, 15, 25, 35, 45, 50, 51, 52, 53]
    assert keys(shown, "queries") == [f"query {n}" for n in fives]
    box.fill("query 50")
    assert keys(shown, "queries") == ["query 50"]
    box.fill("query 1")
    assert keys(shown, "queries")[:3] == ["query 1", "query 10", "query 11"]
    box.fill("ＺÜRICH")  # wide letters, as somebody may paste them
    assert keys(shown, "queries") == ["zürich"]
    box.fill("something nobody asked")
    assert keys(shown, "queries") == []
    told = shown.locator("#table-queries .found")
    expect(told).to_contain_text("No row here has “something nobody asked”. A missing row is not a zero")
    box.fill("")
    expect(told).to_have_text("Rows 1 to 25 of 60.")


def test_search_looks_at_every_column(shown: Page) -> None:
    tab(shown, "clicks")
    shown.get_by_label("Search in clicks").fill("weather 0.example")
    assert keys(shown, "clicks") == ["weather"]
    tab(shown, "sessions")
    shown.get_by_label("Search in sessions").fill("times")
    assert keys(shown, "sessions") == ["weather → news → train times"]


def test_sheets(shown: Page) -> None:
    told = shown.locator("#table-queries .found")
    turn = {n: shown.get_by_role("button", name=f"{n} rows of queries") for n in ("First", "Previous", "Next", "Last")}
    everything = keys(shown, "queries")
    turn["Next"].click()
    expect(told).to_have_text("Rows 26 to 50 of 60.")
    everything += keys(shown, "queries")
    turn["Next"].focus()
    shown.keyboard.press("Enter")
    expect(told).to_have_text("Rows 51 to 60 of 60.")
    everything += keys(shown, "queries")
    assert everything == [str(row[0]) for row in some_tables()["queries"]], "no row twice, none left out"
    expect(turn["Next"]).to_have_attribute("aria-disabled", "true")
    expect(turn["Next"]).to_be_focused()
    shown.keyboard.press("Enter")
    expect(told).to_have_text("Rows 51 to 60 of 60.")
    turn["First"].focus()
    shown.keyboard.press("Space")
    expect(told).to_have_text("Rows 1 to 25 of 60.")
    turn["Last"].click()
    turn["Previous"].click()
    expect(told).to_have_text("Rows 26 to 50 of 60.")


def test_tabs_with_the_mouse_and_the_arrow_keys(shown: Page) -> None:
    for table in TABLES:
        tab(shown, table)
        assert shown.locator(".table:visible").count() == 1
    shown.locator("#tab-queries").click()
    for key, table in (("ArrowRight", "clicks"), ("ArrowLeft", "queries"), ("ArrowLeft", "log"), ("Home", "queries")):
        shown.keyboard.press(key)
        expect(shown.locator(f"#tab-{table}")).to_be_focused()
        expect(shown.locator(f"#table-{table}")).to_be_visible()
    assert [t.split()[0] for t in shown.get_by_role("tab").all_inner_texts()] == list(TABLES)


def test_what_each_table_shows(shown: Page) -> None:
    row = shown.locator("#table-queries tbody tr").first
    assert row.locator("td").all_inner_texts()[:3] == ["weather", "3,000", "58.8"]
    assert row.locator(".range").inner_text() == "2,882 to 3,118", "3000 ± 2 · 58.772, rounded outwards"
    tab(shown, "sessions")
    expect(shown.locator("#table-sessions")).to_contain_text("Keys only: no numbers are published")
    assert shown.locator("#table-sessions th").all_inner_texts() == ["queries"]
    tab(shown, "keywords")
    expect(shown.locator("#table-keywords")).to_contain_text(
        "0 rows in keywords.parquet: nothing reached the threshold."
    )
    tab(shown, "log")
    expect(shown.locator("#table-log")).to_contain_text(
        "1,500 rows in log.parquet; this page can search the first 1,000"
    )
    assert shown.locator("#table-log tbody tr").first.locator("td").all_inner_texts() == [
        "1", "2006-03-05 18:20:58", "weather", "1", ""
    ]  # fmt: skip
    shown.get_by_label("Search in log").fill("nobody")
    expect(shown.locator("#table-log .found")).to_contain_text("first 1,000 of 1,500 rows; look into log.parquet")


def test_bands_are_where_their_numbers_say(shown: Page) -> None:
    """On every sheet the axis begins at 0; the tick is the value, the band ± 2 noise_sd, cut at 0."""
    tab(shown, "transitions")
    shown.get_by_role("button", name="Last rows of transitions").click()
    ticks = shown.locator("#table-transitions th .axis small").all_inner_texts()
    assert ticks == ["0", "20", "40"]
    box = shown.locator("#table-transitions tbody .axis").first.bounding_box()
    first = shown.locator("#table-transitions tbody .axis").first
    mark, reach = first.locator("b").bounding_box(), first.locator("i").bounding_box()
    assert box and mark and reach
    assert shown.locator("#table-transitions tbody tr").first.locator(".range").inner_text() == "-10 to 40"
    assert (mark["x"] + mark["width"] / 2 - box["x"]) / box["width"] == pytest.approx(15 / 40, abs=0.02)
    assert reach["x"] == pytest.approx(box["x"], abs=1)
    assert reach["width"] / box["width"] == pytest.approx(39.5 / 40, abs=0.02)


# ------------------------------------------------------------------ light, dark, narrow, paper, no mouse, no script


@pytest.mark.parametrize("width", [NARROW, 1200])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_usable_in_every_light_and_width(open_page: OpenPage, made: Path, scheme: str, width: int) -> None:
    page = open_page(scheme=scheme, width=width)
    page.goto(made.as_uri())
    page.locator("details").evaluate_all("all => all.forEach(part => part.open = true)")
    for table in TABLES:
        tab(page, table)
        assert overflow(page) == 0, table
        if width > NARROW or table == "queries":
            axe(page)


def test_light_and_dark_differ(open_page: OpenPage, made: Path) -> None:
    papers = []
    for scheme in SCHEMES:
        page = open_page(scheme=scheme)
        page.goto(made.as_uri())
        papers.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert papers == ["rgb(255, 255, 255)", "rgb(18, 23, 29)"]


def test_the_keyboard_reaches_every_control(shown: Page) -> None:
    stops = tab_stops(shown)
    assert stops[0] == "a: Skip to the tables"
    shown.keyboard.press("Tab")
    for control in ("button#tab-queries", "input#search-queries"):
        assert control in stops
    for name in ("First", "Previous", "Next", "Last"):
        assert f"button: {name} rows of queries" in stops
    summaries = [f"summary: {text}" for text in shown.locator("summary").all_inner_texts()]
    links = [f"a: {text}" for text in shown.locator(".contents a").all_inner_texts()]
    assert set(summaries + links) <= set(stops)
    reachable = "a[href], button, input, summary, [tabindex='0']"
    visible = shown.locator(reachable).evaluate_all(
        "all => all.filter(e => e.checkVisibility() && e.tabIndex >= 0).length"
    )
    assert len(stops) == visible


def test_on_paper_everything_is_open(shown: Page) -> None:
    shown.emulate_media(media="print")
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    for table in TABLES:
        expect(shown.locator(f"#table-{table}")).to_be_visible()
    expect(shown.get_by_text("sample by a secret hash").first).to_be_visible()
    expect(shown.locator("#search-queries")).to_be_hidden()
    shown.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(shown.get_by_text("sample by a secret hash").first).to_be_hidden()
    assert shown.pdf()[:5] == b"%PDF-"


def test_readable_without_a_script(open_page: OpenPage, made: Path) -> None:
    page = open_page(script=False)
    page.goto(made.as_uri())
    for table, rows in (("queries", 25), ("clicks", 25), ("sessions", 1), ("log", 25)):
        assert page.locator(f"#table-{table} tbody tr").count() == rows
        expect(page.locator(f"#table-{table} tbody tr").first).to_be_visible()
    expect(page.locator("#table-queries tbody tr").first).to_contain_text("2,882 to 3,118")
    expect(page.get_by_text("Without a script")).to_be_visible()


# ------------------------------------------------------------------ strange texts

HOSTILE = [
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 2</script>",
    "<!--<script>",
    '"><img src=x onerror="window.pwned = 3">',
    "<b>bold</b> &amp; &lt;i&gt;",
    "{{ 7 * 7 }} {% raw %} ${1 + 1}",
    "line\u2028separator\u2029paragraph",
    "turned \u202eround\u202c",
    "mark\u200f",
    "bell\x07 null\x00",
    "`] } ; window.pwned = 4; //",
    "😀 𝔸 é",
]
TEXTS = {
    HOSTILE[6]: "line⟨U+2028⟩separator⟨U+2029⟩paragraph",
    HOSTILE[7]: "turned ⟨U+202E⟩round⟨U+202C⟩",
    HOSTILE[8]: "mark⟨U+200F⟩",
    HOSTILE[9]: "bell⟨U+0007⟩ null⟨U+0000⟩",
}


def test_a_query_is_text_whatever_it_says(page: Page, tmp_path: Path) -> None:
    tables: dict[str, Rows] = {
        "queries": [(q, 100 - n, 3.0) for n, q in enumerate(HOSTILE)],
        "clicks": [(q, q, 100 - n, 3.0) for n, q in enumerate(HOSTILE)],
        "transitions": [(q, q, 100 - n, 3.0) for n, q in enumerate(HOSTILE)],
        "sessions": [([q, q, q], 100 - n, 3.0) for n, q in enumerate(HOSTILE)],
        "keywords": [(q, 100 - n, 3.0) for n, q in enumerate(HOSTILE)],
        "log": [(q, None, q, None, q) for q in HOSTILE],
    }
    owner = OWNER.__class__(
        **vars(OWNER) | {"title": "<img src=x onerror=alert(1)> {{ title }}", "contact": "<script>x"}
    )
    made = publish(tmp_path / "public", tables, owner=owner)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.goto(made.as_uri())
    expected = [TEXTS.get(q, q) for q in HOSTILE]
    for table in tables:
        tab(page, table)
        texts = page.locator(f"#table-{table} tbody tr td:first-child").all_text_contents()
        assert texts == [" → ".join([q] * 3) if table == "sessions" else q for q in expected]
    tab(page, "queries")
    page.get_by_label("Search in queries").fill("</script>")
    assert keys(page, "queries") == expected[:2]
    page.get_by_label("Search in queries").fill("<img src=y>")
    expect(page.locator("#table-queries .found")).to_contain_text("No row here has “<img src=y>”")
    assert page.evaluate("window.pwned") is None
    assert page.locator("img, b b, table script").count() == 0
    assert page.locator("h1").inner_text() == page.title() == "<img src=x onerror=alert(1)> {{ title }}"
    readme = (made.parent / "README.md").read_text(encoding="utf-8")
    assert "\n---\n\n# \\<img src=x onerror=alert(1)\\> \\{\\{ title \\}\\}\n" in readme and "<script>" not in readme
    assert [finding for finding in check(made.parent) if not finding.holds] == []


def test_a_script_that_is_not_the_pages_own_does_not_run(browser: Browser, made: Path, tmp_path: Path) -> None:
    """Should a text ever slip through, the browser refuses it: the page names its one script by hash."""
    forged = tmp_path / "forged.html"
    text = made.read_text(encoding="utf-8").replace("</footer>", "<script>window.pwned = 1</script></footer>")
    forged.write_text(text, encoding="utf-8")
    with pytest.raises(AssertionError, match="Content Security Policy"), watched(browser) as opens:
        page = opens()
        page.goto(forged.as_uri())
        assert page.evaluate("window.pwned") is None
        assert page.locator("#tab-queries").count() == 1, "its own script runs"
