"""The package of docs/plugins.md: built, installed into a folder of its own, used by every command that it extends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT, blocks

PAGE = [block.code for block in blocks(ROOT / "docs" / "plugins.md") if block.runs]
BUDGET = ("--epsilon", "2", "--delta", "1e-5")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the page's package is installed, without a package index."""
    where = tmp_path_factory.mktemp("plugins")
    for code in PAGE[:2]:  # the two files
        subprocess.run(["bash", "-euo", "pipefail", "-c", code], check=True, cwd=where)
    install = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "install", *install, "--target", "site", "./hubbub-mine"]
    subprocess.run(pip, check=True, cwd=where, capture_output=True)
    lines = [f"{u}|{1144100000 + u}|weather\n{u}|{1144200000 + u}|goal!\n" for u in range(400)]
    (where / "log.txt").write_text("".join(lines), encoding="utf-8")
    return where / "site"


def run(site: Path, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """The command, in a process that finds the package."""
    path = os.pathsep.join([str(site), str(ROOT / "src")])
    environment = os.environ | {"PYTHONPATH": path, "HUBBUB_LEDGER": str(site.parent / "ledger.sqlite")}
    command = [sys.executable, "-m", "hubbub", *map(str, words)]
    done = subprocess.run(command, cwd=site.parent, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_every_command_finds_it(site: Path) -> None:
    made = json.loads(
        run(
            site, "release", "log.txt", "--format", "mine", "--mechanism", "mine", *BUDGET, "--out", "out", "--json"
        ).stdout
    )
    assert made["mechanism"] == "mine" and made["private"] and made["tables"] == {"queries": 1}
    run(site, "card", "out", "--check")
    scores = json.loads(run(site, "evaluate", "out", "--log", "log.txt", "--task", "mine", "--json").stdout)
    assert scores["mine"]["share"] == {"original": 0.5, "release": 0}
    run(site, "export", "out", "--to", "mine", "--out", "words")
    assert (site.parent / "words" / "words.txt").read_text() == "weather\n"
    for command in (("release",), ("export",), ("evaluate",)):
        assert "mine" in run(site, *command, "--help").stdout


def test_it_is_audited_by_generic_checks(site: Path) -> None:
    from hubbub.audit.checks.generic import NO_SUBJECTS

    done = run(site, "audit", "--quick", "--mechanism", "mine", "--json")
    rows = json.loads(done.stdout)["rows"]
    assert NO_SUBJECTS in done.stderr and {row["verdict"] for row in rows} == {"not refuted"}


def test_help_does_not_load_it(site: Path) -> None:
    code = "import sys; from hubbub.cli import app; app(['--help'], standalone_mode=False); print([*sys.modules])"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(ROOT / "src")])}
    seen = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "hubbub_mine" not in seen.stdout


def test_a_package_that_fails_is_named_and_takes_nothing_down(site: Path, tmp_path: Path) -> None:
    broken = tmp_path / "site"
    shutil.copytree(site, broken)
    (broken / "hubbub_mine.py").write_text("raise RuntimeError('half written')\n", encoding="utf-8")
    done = run(broken, "estimate", "--users", "300", "--mechanism", "korolova", *BUDGET)
    told = "The mechanism 'mine' of the package hubbub-mine 0.1 cannot be used: RuntimeError: half written"
    assert told in done.stderr and "rows" in done.stdout
    asked = run(broken, "estimate", "--users", "300", "--mechanism", "mine", *BUDGET, code=2)
    assert told in asked.stderr and "uninstall" in asked.stderr and "Traceback" not in asked.stderr
