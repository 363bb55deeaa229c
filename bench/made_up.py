"""The made-up log that benches measure on: words of syllables, as when the figures of bench/README.md were taken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def make_log(path: str | Path, users: int, preset: str = "aol") -> None:
    """Write the log, in the form that the name of the file says."""
    command = [sys.executable, "-m", "hubbub", "synth", "--vocabulary", "made-up", "--preset", preset]
    subprocess.run([*command, "--users", str(users), "--out", str(path), "--quiet"], check=True)
