"""The studio during a release and after it, in a real browser: cancel by a click, then report, evaluate and export."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from hubbub.privacy.ledger import Ledger
from hubbub.synth.run import synthesise
from tests.browser.conftest import OpenPage, axe, overflow, studio

WAIT = 90_000
TELEPHONE = 390
GATE = """
import sys, time
from importlib.abc import MetaPathFinder
from pathlib import Path


class Gate(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        while name == "duckdb" and Path(__file__).with_name("closed").exists():
            time.sleep(0.05)


if "release" in sys.orig_argv:
    sys.meta_path.insert(0, Gate())
"""
"""A release that reads its log stands still while the file `closed` is there: there is time for a click."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("after")
    synthesise(300, folder / "log.parquet")
    (folder / "gate").mkdir()
    (folder / "gate" / "sitecustomize.py").write_text(GATE, encoding="utf-8")
    (folder / "out").mkdir()
    return folder


@pytest.fixture(scope="module")
def address(place: Path) -> Iterator[str]:
    words = [str(place / "log.parquet"), "--folder", str(place / "out"), "--ledger", str(place / "ledger.sqlite")]
    with pytest.MonkeyPatch.context() as patch:
        paths = filter(None, (str(place / "gate"), os.environ.get("PYTHONPATH")))
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        with studio(*words, "--population", "readers", "--threads", "1") as said:
            yield said


def start(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#summary")).to_contain_text("would be released", timeout=WAIT)
    page.locator("#mechanism").select_option("korolova")
    page.locator("#epsilon").fill("8")
    page.locator("#delta").fill("1e-4")
    expect(page.locator("#command")).to_contain_text("--epsilon 8 --delta 1e-4", timeout=WAIT)
    page.locator("#agreed").check()
    page.locator("#start").click()
    expect(page.locator("#job-title")).to_contain_text(re.compile("The release is (running|done)"), timeout=WAIT)


def test_a_click_cancels_and_nothing_is_left_or_spent(open_page: OpenPage, address: str, place: Path) -> None:
    page = open_page(local=True, width=TELEPHONE)
    (place / "gate" / "closed").touch()
    start(page, address)
    expect(page.locator("#job-title")).to_have_text("The release is running: reading the log")
    expect(page.locator("#start")).to_be_disabled()
    page.reload()
    expect(page.locator("#job-title")).to_contain_text("The release is running", timeout=WAIT)
    page.locator("#cancel").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#job-title")).to_have_text("The release was cancelled", timeout=WAIT)
    expect(page.locator("#job-told")).to_contain_text("Nothing was reserved in the ledger, so nothing is spent.")
    expect(page.locator("#job-told")).to_contain_text("ε = 0 before, ε = 0 now")
    assert page.locator("#cancel").is_hidden() and list((place / "out").iterdir()) == []
    with Ledger(place / "ledger.sqlite") as book:
        assert book.entries() == []
    (place / "gate" / "closed").unlink()
    expect(page.locator("#start")).to_be_enabled(timeout=WAIT)


def test_report_evaluation_and_export_are_at_hand(open_page: OpenPage, address: str, place: Path) -> None:
    page = open_page(local=True)
    start(page, address)
    expect(page.locator("#job-title")).to_have_text("The release is done", timeout=WAIT)
    expect(page.locator("#name")).to_have_value("release-2")
    for name in ("Report", "Evaluate", "Export", "Review its rows"):
        expect(page.locator("#job-links").get_by_role("link", name=name)).to_be_visible()
    page.locator("#job-links").get_by_role("link", name="Evaluate").click()

    expect(page.get_by_role("button", name="Evaluate it")).to_be_enabled()
    chosen = page.locator("#evaluate input:checked")
    while chosen.count():
        chosen.first.uncheck()
    page.get_by_role("button", name="Evaluate it").click()
    expect(page.locator("#evaluate .refusal")).to_contain_text("No task is wanted")
    page.locator("#task-counts").check()
    page.get_by_role("button", name="Evaluate it").click()
    expect(page.locator("#job-title")).to_have_text("The evaluation is done", timeout=WAIT)
    expect(page.locator("#job-lines")).to_contain_text("original")
    assert (place / "out" / "release-1" / "owner-only" / "scores.json").is_file()

    page.locator("#to").select_option("tsv")
    expect(page.locator("#export-name")).to_have_value("release-1-tsv")
    page.locator("#export-name").press("Enter")
    expect(page.locator("#job-title")).to_have_text("The export is done", timeout=WAIT)
    assert (place / "out" / "release-1-tsv" / "README.md").is_file()
    page.locator("#export-name").press("Enter")
    expect(page.locator("#export .refusal")).to_contain_text("exists already")
    page.reload()
    expect(page.locator("#export-name")).to_have_value("release-1-tsv")
    expect(page.locator("#job-title")).to_have_text("The export is done")

    (place / "log.parquet").rename(place / "moved.parquet")
    page.get_by_role("button", name="Make the report again").click()
    expect(page.locator("#job-title")).to_have_text("The report failed", timeout=WAIT)
    expect(page.locator("#job-error")).to_contain_text("log.parquet")
    (place / "moved.parquet").rename(place / "log.parquet")
    axe(page)
    page.get_by_role("link", name="The owner’s report").click()
    expect(page.locator("body")).to_contain_text("DO NOT PUBLISH")
    expect(page.locator("figure.chart[data-drawn=yes]").first).to_be_visible(timeout=WAIT)
    page.goto(address + "releases/release-1/page")
    expect(page.locator("h1")).to_be_visible()

    page.goto(address + "releases")
    line = page.locator("#shelf tbody tr")
    expect(line).to_have_count(1)
    for text in ("release-1", "stands", "readers", "8"):
        expect(line).to_contain_text(text)


def test_a_release_on_a_telephone(open_page: OpenPage, address: str) -> None:
    page = open_page(local=True, width=TELEPHONE, scheme="dark")
    page.goto(address + "releases/release-1")
    expect(page.locator("#results li").first).to_be_visible(timeout=WAIT)
    assert overflow(page) == 0
    axe(page)
