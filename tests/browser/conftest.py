"""A real Chromium for tests: pages without a network, every complaint of theirs a failure.

Pages from disk take the fixture `page`; pages that a server on this machine serves take `local_page`. Other
colours or widths: `open_page(scheme="dark", width=NARROW)`. Whatever a page writes to the console as an error,
throws, or asks of another machine fails its test.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

WAIT = 60_000
"""Milliseconds until a page is given up: machines that run tests are busy."""
expect.set_options(timeout=WAIT)
FLAGS = (
    "--no-sandbox",  # CI runs as root, where Chromium has no sandbox
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
NARROW = 400
WIDE = 1200


def chromium() -> str | None:
    """Where Chromium is: HUBBUB_CHROMIUM, or one on the path."""
    return os.environ.get("HUBBUB_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this folder.

    Not for the whole session: while Playwright runs, its event loop counts as running, and `asyncio.run` of other
    tests in this process would be refused.
    """
    with launched() as browser:
        yield browser


@contextmanager
def launched() -> Iterator[Browser]:
    """A Chromium; a test that asks for one is skipped where there is none, unless HUBBUB_BROWSER_REQUIRED is 1."""
    path = chromium()
    if path is None:
        why = f"no Chromium (HUBBUB_CHROMIUM, or {', '.join(CHROMIUM)} on the path): `make browser` installs one"
        if os.environ.get("HUBBUB_BROWSER_REQUIRED") == "1":
            pytest.fail(why, pytrace=False)
        pytest.skip(why)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens watched pages: open_page(scheme="light" | "dark", width=…, local=True for a server on this machine)."""
    with watched(browser) as opens:
        yield opens


@contextmanager
def watched(browser: Browser) -> Iterator[OpenPage]:
    """Pages whose complaints are gathered, and fail at the end."""
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def opens(
        *, scheme: Literal["light", "dark"] = "light", width: int = WIDE, local: bool = False, script: bool = True
    ) -> Page:
        context = browser.new_context(
            color_scheme=scheme,
            viewport={"width": width, "height": 900},
            offline=not local,
            java_script_enabled=script,
        )
        contexts.append(context)
        context.set_default_timeout(WAIT)
        context.route(lambda url: urlsplit(url).scheme in ("http", "https"), partial(_only_loopback, problems))
        page = context.new_page()
        page.on("console", lambda said: problems.append(f"console: {said.text}") if said.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(f"exception: {error}"))
        return page

    try:
        yield opens
    finally:
        for context in contexts:
            context.close()
    assert not problems, "\n".join(["the page complained:", *problems])


def _only_loopback(problems: list[str], route: Route) -> None:
    """Requests of other machines are refused, and told."""
    if urlsplit(route.request.url).hostname in LOOPBACK:
        route.continue_()
    else:
        problems.append(f"request: {route.request.url}")
        route.abort()


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """A page for files, with the network off."""
    return open_page()


@pytest.fixture
def local_page(open_page: OpenPage) -> Page:
    """A page for a server on 127.0.0.1; no other machine can be reached."""
    return open_page(local=True)


@contextmanager
def studio(*words: str) -> Iterator[str]:
    """The studio as its command starts it, and the address that it says."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hubbub", "studio", *words, "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
        encoding="utf-8",
    )
    assert process.stdout is not None
    found = next(filter(None, (re.search(r"http://127\.0\.0\.1:\d+/\S+", line) for line in process.stdout)))
    try:
        yield found[0]
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def axe(page: Page) -> None:
    """No violation of the accessibility rules of axe."""
    found = Axe().run(page).response["violations"]
    told = [f"{rule['id']} ({rule['impact']}): {rule['help']}\n" + _where(rule) for rule in found]
    assert not told, "\n".join(told)


def _where(rule: dict[str, list[dict[str, object]]]) -> str:
    return "\n".join(f"    {node['html']}\n      {node['failureSummary']}" for node in rule["nodes"][:5])


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window: 0 where nobody has to scroll sideways."""
    root = "document.documentElement"
    return int(page.evaluate(f"{root}.scrollWidth - {root}.clientWidth"))


def tab_stops(page: Page, most: int = 200) -> list[str]:
    """What the Tab key reaches, in order, as `tag#id` or `tag: text`; every stop must show that it has the focus."""
    page.evaluate("document.activeElement.blur()")
    stops: list[str] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        name, shown = page.evaluate(FOCUSED)
        if stops and name == stops[-1]:
            continue  # a date has several places of its own
        if name is None or name in stops:
            break
        assert shown, f"{name} does not show that it has the focus"
        stops.append(name)
    return stops


FOCUSED = """() => {
  const e = document.activeElement;
  if (!e || e === document.body) return [null, true];
  const style = getComputedStyle(e);
  const shown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const tag = e.tagName.toLowerCase();
  return [e.id ? `${tag}#${e.id}` : `${tag}: ${(e.getAttribute("aria-label") || e.textContent).trim()}`, shown];
}"""
