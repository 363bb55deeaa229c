"""Tests that share a process stay in one: a real run of two workers over made-up tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.workers import FOLDERS, LONGEST, pytest_collection_modifyitems, pytest_xdist_auto_num_workers, unit

ROOT = Path(__file__).parents[2]
MADE_UP = """
import os, pytest
@pytest.mark.parametrize("i", range(3))
def test_where(i):
    with open(os.environ["HUBBUB_RAN"], "a") as file:
        file.write(__file__ + " " + os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


@pytest.mark.slow
def test_a_unit_is_run_by_one_worker(tmp_path: Path) -> None:
    files = ["tests/browser/test_a.py", "tests/spark/test_b.py", "tests/spark/test_c.py", "tests/test_d.py"]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(MADE_UP, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    ran = tmp_path / "ran"
    command = [sys.executable, "-m", "pytest", "-p", "tests.workers", "-p", "no:cacheprovider", "--numprocesses", "2"]
    run = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "HUBBUB_RAN": str(ran)}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout
    workers: dict[str, set[str]] = {}
    for line in ran.read_text(encoding="utf-8").splitlines():
        file, worker = line.split()
        workers.setdefault(unit(str(Path(file).relative_to(tmp_path))), set()).add(worker)
    assert workers.keys() == {"tests/browser/", "tests/spark/", "tests/test_d.py"}
    assert all(len(by) == 1 for by in workers.values()), workers


def test_the_longest_come_first_and_what_ends_a_session_last() -> None:
    spark = [made_up("tests/spark/a.py"), made_up("tests/spark/a.py", "alone"), made_up("tests/spark/b.py")]
    others = [made_up("tests/a.py"), *(made_up(name) for name in LONGEST[:0:-1]), made_up("tests/b.py")]
    pytest_collection_modifyitems(found := [*others, *spark])
    first = ["tests/spark/b.py", "tests/spark/a.py", "tests/spark/a.py"]
    assert [item.nodeid for item in found] == [*first, *LONGEST[1:], "tests/a.py", "tests/b.py"]


def made_up(name: str, *fixtures: str) -> Any:
    """What the order looks at."""
    return SimpleNamespace(nodeid=name, path=name, fixturenames=fixtures)


@pytest.mark.parametrize(("cores", "asked", "workers"), [(2, None, 3), (0, None, 0), (2, "2", 2)])
def test_there_is_one_worker_more_than_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int, asked: str | None, workers: int
) -> None:
    """Unless files were named, which run in this process, or somebody has said how many there shall be."""
    monkeypatch.delenv("PYTEST_XDIST_AUTO_NUM_WORKERS", raising=False)
    if asked:
        monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", asked)
    hook = pytest_xdist_auto_num_workers()
    next(hook)
    with pytest.raises(StopIteration) as ended:
        hook.send(cores)
    assert ended.value.value == workers


def test_what_is_named_is_there() -> None:
    assert all((ROOT / name).exists() for name in FOLDERS + LONGEST)
