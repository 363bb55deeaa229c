"""`hubbub export --to kit`: its loaders and its notebook really run; the R loader is not run: there is no R here."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from playwright._impl._driver import compute_driver_executable
from tests.browser.made_up import publish

from hubbub.show.export import export

QUERIES = [('say "soup" \\ <b>', 152, 12.5), ("weather\tnow", 40, 12.5), ("rare", 3, 12.5)]
SESSIONS = [(["weather", "rain"], 30, 9.0)]


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit")
    release = publish(folder / "release" / "public", {"queries": QUERIES, "sessions": SESSIONS}).parent
    made = export(release, "kit", folder / "kit")
    assert {file.name for file in made.files} >= {
        "load.py",
        "load.R",
        "load.sql",
        "load.mjs",
        "LIMITS.md",
        "start.ipynb",
    }
    return folder / "kit"


def run(*command: str, at: Path) -> str:
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_python(kit: Path) -> None:
    said = run(sys.executable, "-c", "import load; load.check(); print(load.table('queries').to_pylist())", at=kit)
    assert said.strip() == str([{"query": q, "users": n, "noise_sd": sd} for q, n, sd in QUERIES])
    wrong = kit.parent / "wrong"
    shutil.copytree(kit, wrong)
    pq.write_table(pq.read_table(wrong / "data" / "queries.parquet")[:1], wrong / "data" / "queries.parquet")
    done = subprocess.run(
        [sys.executable, "-c", "import load; load.check()"], cwd=wrong, capture_output=True, text=True
    )
    assert done.returncode and "not as it was published" in done.stderr


def test_duckdb(kit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(kit)
    engine = duckdb.connect()
    engine.execute((kit / "load.sql").read_text(encoding="utf-8"))
    assert engine.execute("SELECT * FROM queries").fetchall() == QUERIES
    assert engine.execute("SELECT queries FROM sessions").fetchall() == [(["weather", "rain"],)]


def test_javascript(kit: Path) -> None:
    """In the Node that comes with Playwright."""
    node, _ = compute_driver_executable()
    read = 'JSON.stringify([await kit.table("queries"), await kit.table("sessions")])'
    script = f'import("./load.mjs").then(async (kit) => console.log({read}))'
    rows, sessions = json.loads(run(str(node), "-e", script, at=kit))
    assert [tuple(row.values()) for row in rows] == QUERIES and sessions[0]["queries"] == ["weather", "rain"]


def test_the_notebook_runs(kit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(kit)
    notebook = json.loads((kit / "start.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    last = "\n".join([*code[:-1], f"print(({code[-1]}))"])
    assert run(sys.executable, "-c", last, at=kit).strip() == "2", "two rows stand clear of their noise"


def test_the_limits_are_in_plain_words(kit: Path) -> None:
    text = (kit / "LIMITS.md").read_text(encoding="utf-8")
    card = json.loads((kit / "card.json").read_text(encoding="utf-8"))
    assert card["claim"]["sentence"] in text and "Please do not" in text and "{" not in text
    assert "privacy@library.example" in text
    for held in card["accuracy"]["per_row"].values():
        assert held in text, "how far off numbers are is said as the card says it"
    assert "## You may" in text and "NOT PRIVATE" not in text


def test_what_is_not_private_may_not_be_published(tmp_path: Path) -> None:
    release = publish(tmp_path / "release" / "public", {"queries": QUERIES}, seeded=True).parent
    export(release, "kit", tmp_path / "kit")
    text = (tmp_path / "kit" / "LIMITS.md").read_text(encoding="utf-8")
    assert "NOT PRIVATE" in text and "You may" not in text
