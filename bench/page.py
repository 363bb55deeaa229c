"""How large the public page of a large release is, and how fast Chromium opens it, beside a page that does nothing.

    python bench/page.py [--queries 100000] [--repeats 5]

Makes up a public folder with that many queries of 17 characters, half as many clicks and transitions, and opens its
page from disk with the network off. The other page has as many bytes, in a
script tag that nobody reads. Both open in turn, each time in a new context; the best of each counts. Needs Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from playwright.sync_api import Browser, sync_playwright

from hubbub.card.build import build_card
from hubbub.card.check import check
from hubbub.card.facts import Booked, Facts, Written
from hubbub.card.owner import Owner
from hubbub.card.schema import sha256_of
from hubbub.mechanisms import build
from hubbub.show.page import write_pages

LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
SEARCH = """text => {
  const box = document.querySelector("input"), start = performance.now();
  box.value = text;
  box.dispatchEvent(new Event("input"));
  return performance.now() - start;
}"""


def made_up(folder: Path, size: int) -> float:
    """A public folder; the seconds that its pages took."""
    rng = np.random.default_rng(1)
    letters = rng.choice(list("etaoinshrdlu "), (size, 10))
    names = [f"{''.join(row)} {n:06d}" for n, row in enumerate(letters)]
    users = np.sort(rng.zipf(1.5, size).clip(max=10**6))[::-1] + 20
    sd = np.sqrt(users) + 10
    half = size // 2
    pairs = list(pairwise(names[: half + 1]))
    numbers = {"users": users[:half], "noise_sd": sd[:half]}
    tables = {
        "queries": {"query": names, "users": users, "noise_sd": sd},
        "clicks": {"query": names[:half], "url": [f"http://www.{n}.example.com/" for n in names[:half]]} | numbers,
        "transitions": {"query": [a for a, _ in pairs], "next_query": [b for _, b in pairs]} | numbers,
    }
    written: dict[str, Written] = {}
    for name, columns in tables.items():
        path = folder / f"{name}.parquet"
        pq.write_table(pa.table(columns), path)
        written[path.name] = Written(sha256_of(path), len(columns["users"]))
    mechanism = build("crowd", {"epsilon": "1", "delta": "1e-6"}, tables=tuple(tables))
    facts = Facts(Owner(), Booked("p", "d", 1, 0.0, 1.0, None, (), ()), "user", False, 0.05, None, files=written)
    start = time.perf_counter()
    for page in write_pages(folder, build_card(mechanism, facts)):
        written[page.name] = Written(sha256_of(page))
    seconds = time.perf_counter() - start
    (folder / "card.json").write_text(build_card(mechanism, replace(facts, files=written)).text(), encoding="utf-8")
    return seconds


def opened(browser: Browser, path: Path, search: str = "") -> tuple[float, float]:
    """Milliseconds until the page is loaded, and of a search in it."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    loaded = float(page.evaluate(LOADED))
    searched = float(page.evaluate(SEARCH, search)) if search else 0.0
    context.close()
    return loaded, searched


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    chromium = os.environ.get("HUBBUB_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary) / "public"
        folder.mkdir()
        rendered = made_up(folder, asked.queries)
        start = time.perf_counter()
        assert all(finding.holds for finding in check(folder))
        checked = time.perf_counter() - start
        ours, idle = folder / "index.html", Path(temporary) / "idle.html"
        size = ours.stat().st_size
        idle.write_text(f"<!doctype html><title>idle</title><script type='text/plain'>{'x' * size}</script>")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        runs = [(opened(browser, ours, "etaoin"), opened(browser, idle)[0]) for _ in range(asked.repeats)]
        browser.close()
    load, search, floor = min(a for (a, _), _ in runs), min(b for (_, b), _ in runs), min(c for _, c in runs)
    print("| queries | page | opens in | a page of as many bytes | ratio | one search | made in | checked in |")
    print("|---|---|---|---|---|---|---|---|")
    row = [f"{asked.queries:,}", f"{size / 1e6:.1f} MB", f"{load / 1e3:.2f} s", f"{floor / 1e3:.2f} s"]
    row += [f"{load / floor:.1f}", f"{search / 1e3:.2f} s", f"{rendered:.1f} s", f"{checked:.1f} s"]
    print("|", " | ".join(row), "|")


if __name__ == "__main__":
    main()
