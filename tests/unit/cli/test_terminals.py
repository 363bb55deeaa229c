"""Where a command speaks may be closed, full or unable to spell ε: a release never breaks half-way because of it."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.conftest import RELEASE

from hubbub.card import check
from hubbub.privacy.ledger import Ledger

# how the shell runs it, the exit code, what is heard; there is a release exactly if the code is 0
CASES = {
    "stderr closed": ('"$@" 2>&-', 0, "ε = 2"),
    "stdout closed": ('"$@" >&-', 0, ""),
    "no ε in Latin-1": ('PYTHONIOENCODING=latin-1 "$@"', 0, r"\u03b5 = 2"),
    "stdout full": ('"$@" >/dev/full', 2, "No space left on device"),
    "stdout broken": ('"$@"', 1, ""),
}


@pytest.fixture(scope="module")
def runs(log_file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, int, str]]:
    """All of them, two at a time: folder, exit code, what was heard."""
    nobody, broken = os.pipe()
    os.close(nobody)

    def run(name: str) -> tuple[Path, int, str]:
        folder = tmp_path_factory.mktemp("terminal")
        places = {"--out": folder / "out", "--ledger": folder / "ledger.sqlite", "--work": folder / "work"}
        options = [str(part) for pair in places.items() for part in pair]
        command = ["sh", "-c", CASES[name][0], "sh", sys.executable, "-m", "hubbub", "release", str(log_file), *RELEASE]
        stdout = broken if name == "stdout broken" else subprocess.PIPE
        done = subprocess.run([*command, *options], stdout=stdout, stderr=subprocess.PIPE, check=False)
        return folder, done.returncode, ((done.stdout or b"") + done.stderr).decode("utf-8", "replace")

    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(CASES, pool.map(run, CASES), strict=True))
    os.close(broken)
    return results


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_release_is_made_or_not_begun(runs: dict[str, tuple[Path, int, str]], case: str) -> None:
    (folder, code, heard), (_, expected, says) = runs[case], CASES[case]
    assert code == expected, heard
    assert says in heard
    for never in ("Traceback", "bug of ours"):
        assert never not in heard
    with Ledger(folder / "ledger.sqlite") as book:
        assert [entry.state for entry in book.entries()] == ([] if code else ["committed"])
    assert {path.name for path in folder.iterdir()} <= {"ledger.sqlite", "out", "work"}
    assert not list(folder.glob("work/*"))
    assert (folder / "out").exists() == (code == 0)
    assert code or all(finding.holds for finding in check(folder / "out"))
