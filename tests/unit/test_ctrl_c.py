"""Tests send Ctrl-C to processes that they start: these hear it, wherever pytest itself was started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEARS = "import signal; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"


def test_a_process_hears_it() -> None:
    subprocess.run([sys.executable, "-c", HEARS], check=True)


@pytest.mark.slow
def test_a_process_hears_it_when_pytest_does_not() -> None:
    deaf = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", sys.executable]
    assert subprocess.run([*deaf, "-c", HEARS], capture_output=True).returncode == 1
    test = f"{__file__}::{test_a_process_hears_it.__name__}"
    told = subprocess.run(
        [*deaf, "-m", "pytest", "-p", "no:cacheprovider", test],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0 and "1 passed" in told.stdout, told.stdout
