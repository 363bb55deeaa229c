"""Screenshots of a demo release, taken by Chromium without a network: the public page and the owner's report."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAGES = {"public-page": ("public/index.html", 1250), "owner-report": ("owner-only/report.html", 1500)}
WIDE = 1100
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def take(into: Path) -> None:
    """One PNG per page, of what is seen first."""
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        raise SystemExit("no Chromium found: install it, or make the other pictures by name")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        demo = Path(folder) / "demo"
        hubbub = Path(sys.executable).parent / "hubbub"
        subprocess.run([hubbub, "demo", "--quiet", "--out", demo], check=True)
        browser = playwright.chromium.launch(executable_path=found, args=QUIET)
        for name, (page, tall) in PAGES.items():
            context = browser.new_context(viewport={"width": WIDE, "height": tall}, offline=True)
            tab = context.new_page()
            tab.goto((demo / "release-1" / page).as_uri())
            tab.wait_for_timeout(2_000)  # charts are drawn after the page is there
            tab.screenshot(path=into / f"{name}.png")
            context.close()
        browser.close()
