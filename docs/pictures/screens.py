"""Screenshots of every page that hubbub makes, taken by Chromium without a network, on two screens, in light and dark.

Two releases of a made-up log with what can be made from them, a comparison of mechanisms, a made-up series, the studio,
and the page of the papers. The public page and the owner's report stand in docs/start.md, the studio in the README.
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from tests.browser.conftest import FLAGS, chromium, studio
from tests.made_up_series import publish, some_periods

from hubbub.synth.run import synthesise

FOLDER = "pages"
SCREENS = {"wide": (1280, 900), "narrow": (390, 844)}
SCHEMES = ("light", "dark")
FRONT = {"public-page": ("public", 1250), "owner-report": ("owner", 1400)}
"""Pictures of docs/start.md: the page, and how tall."""
QUALITY = 55
SETTLED = 1_500
"""Milliseconds: charts are drawn after the page is there."""
HUBBUB = [sys.executable, "-m", "hubbub"]
BUDGET = ("--mechanism", "crowd", "--epsilon", "1", "--delta", "1e-6")


def take(into: Path) -> None:
    """Every page, on every screen."""
    found = chromium()
    if found is None:
        raise SystemExit("no Chromium found: install it, or make the other pictures by name")
    (into / FOLDER).mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, _browser(found) as browser:
        pages = made(Path(folder))
        for name, page in pages.items():
            shoot(browser, name, page.as_uri(), into / FOLDER)
        for name, (which, tall) in FRONT.items():
            with opened(browser, (1100, tall), "light") as page:
                page.goto(pages[which].as_uri())
                page.wait_for_timeout(SETTLED)
                page.screenshot(path=into / f"{name}.png")


def take_studio(into: Path) -> None:
    """The studio's own pages, which a server on this machine makes while it runs."""
    (into / FOLDER).mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, _browser(str(chromium())) as browser:
        for name, address, ready in in_the_studio(Path(folder)):
            shoot(browser, name, address, into / FOLDER, ready)


def take_choice(into: Path) -> None:
    """The picture of the README: ε is chosen in the studio, for a log as large as the demo's."""
    with tempfile.TemporaryDirectory() as folder, _browser(str(chromium())) as browser:
        log = Path(folder) / "log.tsv.gz"
        synthesise(20_000, log)
        words = [str(log), "--format", "aol", "--folder", folder, "--ledger", f"{folder}/ledger.sqlite"]
        with studio(*words, "--population", "readers") as address, opened(browser, (1280, 730), "light") as page:
            page.goto(address)
            _tuned(page)
            page.locator("#epsilon").fill("2")
            page.locator("#epsilon").blur()
            page.get_by_role("heading", name="What it would keep").evaluate(
                "it => window.scrollTo(0, it.getBoundingClientRect().top + scrollY - 80)"
            )
            page.wait_for_timeout(2 * SETTLED)
            page.screenshot(path=into / "studio-choice.png")


def made(folder: Path) -> dict[str, Path]:
    """The pages that are files, by the name of their pictures."""
    run = _runs(folder)
    run("demo", "--users", 8000, "--out", "demo", "--quiet")
    log = next((folder / "demo").glob("log-*.gz"))
    book = ("--ledger", "demo/ledger.sqlite", "--population", "demo", "--dataset", "demo-log")
    run("release", log, "--format", "aol", *BUDGET, "--tables", "queries,clicks", *book, "--out", "demo/release-2")
    run("withdraw", "demo/release-1", "--reason", "the first ε was too large")
    run("index", "demo", "--population", "demo", "--out", "all-releases")
    run("report", "demo/release-2", "--ledger", "demo/ledger.sqlite")
    run("synth", "--users", 3000, "--out", "small.tsv.gz")
    compared = [word for name in ("crowd", "korolova", "zealous", "gaussian") for word in ("--mechanism", name)]
    asked = ("--epsilon", 1, "--delta", "1e-6", "--draws", 2, "--jobs", 1, "--ledger", "small.sqlite")
    run("compare", "small.tsv.gz", "--format", "aol", *compared, *asked, "--out", "c")
    series = publish(folder / "series", some_periods())
    write_index, write_pages, card_of = _writers()
    period = sorted(path for path in series.iterdir() if path.is_dir())[-1]
    write_pages(period / "public", card_of(period))
    return {
        "public": folder / "demo/release-1/public/index.html",
        "owner": folder / "demo/release-1/owner-only/report.html",
        "compare": folder / "c/owner-only/compare.html",
        "population": folder / "all-releases/index.html",
        "series": write_index(series),
        "period": period / "public/index.html",
        "papers": Path(__file__).parents[1] / "papers.html",
    }


def in_the_studio(folder: Path) -> Iterator[tuple[str, str, Callable[[Page], Any]]]:
    """A small log, a release and a draft in its folder, and the pages about them."""
    run, log = _runs(folder), folder / "log.parquet"
    synthesise(1000, log)
    book = ("--ledger", folder / "ledger.sqlite", "--population", "readers", "--dataset", "spring")
    for out, more in (("first", ()), ("draft", ("--review",))):
        asked = (*BUDGET[:3], "4", *BUDGET[4:], "--tables", "queries,clicks", "--out", folder / "releases" / out)
        run("release", log, "--format", "table", *asked, *book, *more)
    words = [str(log), "--folder", str(folder / "releases"), "--ledger", str(folder / "ledger.sqlite")]
    with studio(*words, "--population", "readers") as address:
        root = address.partition("?")[0]
        yield "studio", address, _tuned
        for page in ("releases", "ledger"):
            yield f"studio-{page}", f"{root}{page}", _nothing
        yield "studio-release", f"{root}releases/first", _nothing
        yield "studio-review", f"{root}releases/draft/review", _rows


def _rows(page: Page) -> None:
    """Every drawn row, not only those that ask for a second look."""
    page.locator("#only").select_option("all", timeout=120_000)
    page.wait_for_selector("#rows li button", timeout=120_000)


def _tuned(page: Page) -> None:
    """Wait until the studio has answered."""
    page.get_by_text("would be released").first.wait_for(timeout=120_000)


def _nothing(page: Page) -> None:
    """Wait for nothing more."""


def shoot(browser: Browser, name: str, address: str, into: Path, ready: Callable[[Page], Any] = _nothing) -> None:
    """What is seen first of a page, on every screen and in both schemes."""
    for screen, size in SCREENS.items():
        for scheme in SCHEMES:
            with opened(browser, size, scheme) as page:
                page.goto(address)
                ready(page)
                page.wait_for_timeout(SETTLED)
                taken = page.context.new_cdp_session(page).send(
                    "Page.captureScreenshot", {"format": "webp", "quality": QUALITY}
                )
                (into / f"{name}-{screen}-{scheme}.webp").write_bytes(base64.b64decode(taken["data"]))


@contextmanager
def opened(browser: Browser, size: tuple[int, int], scheme: str) -> Iterator[Page]:
    """A page of this size."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)  # type: ignore[arg-type]
    yield context.new_page()
    context.close()


@contextmanager
def _browser(path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def _runs(folder: Path) -> Callable[..., None]:
    def run(*words: object) -> None:
        subprocess.run([*HUBBUB, *map(str, words)], check=True, cwd=folder, stdout=subprocess.DEVNULL)

    return run


def _writers() -> tuple[Callable[[Path], Path], Callable[..., Any], Callable[[Path], Any]]:
    from hubbub.card.check import load, parsed
    from hubbub.show.page import write_pages
    from hubbub.show.series.index import write_index

    return write_index, write_pages, lambda period: parsed(load(period))
