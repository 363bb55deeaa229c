"""kill -9 at any moment: the output is whole or absent, what was drawn stays spent, the next run cleans up.

A run that had drawn no noise goes on where it ended, on its own reservation; one that had is refused (more of that in
test_resume.py).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.conftest import RELEASE, Hubbub
from tests.forked import begun, kill_at, run_hubbub

from hubbub.card import check
from hubbub.privacy.ledger import Ledger

pytestmark = pytest.mark.slow

# place, moment, what the ledger then holds, whether OUT is there
POINTS = [
    ("os.link", "before", [], False),  # a new ledger is about to stand
    ("os.link", "after", [], False),
    ("hubbub.log.SearchLog.users", "before", [], False),  # the log has been read
    ("hubbub.privacy.ledger.Ledger.reserve", "before", [], False),
    ("hubbub.privacy.ledger.Ledger._insert", "after", [], False),  # in the middle of the reservation
    ("hubbub.privacy.ledger.Ledger.reserve", "after", ["reserved"], False),
    ("hubbub.privacy.ledger.Ledger.drawing", "after", ["drawing"], False),
    ("hubbub.mechanisms.Korolova.perturb", "after", ["drawing"], False),
    ("hubbub.release.folder.write_pages", "after", ["drawing"], False),
    ("os.fsync", "before", ["drawing"], False),
    ("pathlib.Path.rename", "before", ["drawing"], False),
    ("pathlib.Path.rename", "after", ["drawing"], True),
    ("hubbub.privacy.ledger.Ledger.committed", "after", ["committed"], True),
]
STARTING = [n / 8 for n in range(3)]  # seconds after the start
RUNNING = [n / 30 for n in range(12)]  # seconds after the first line on stdout: the ledger is open
NAMES = [f"{place} {moment}" for place, moment, _, _ in POINTS]
NAMES += [f"start {delay}" for delay in STARTING] + [f"running {delay}" for delay in RUNNING]


def arguments(log: Path, folder: Path, out: str = "out") -> list[str]:
    places = {"--out": folder / "place" / out, "--work": folder / "work", "--ledger": folder / "ledger.sqlite"}
    return ["release", str(log), *RELEASE, *(str(part) for pair in places.items() for part in pair)]


def kill_later(log: Path, folder: Path, name: str) -> None:
    """One release in a process of its own, killed when the name says."""
    where, _, when = name.rpartition(" ")
    if where == "start":  # with all that it imports
        command = [sys.executable, "-m", "hubbub", *arguments(log, folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as new:
            time.sleep(float(when))
            new.kill()
        return
    said = folder / "said"
    process = begun(run_hubbub, arguments(log, folder), said)
    while process.is_alive() and not (said.exists() and said.stat().st_size):
        time.sleep(0.001)
    time.sleep(float(when))
    process.kill()
    process.join()


@pytest.fixture(scope="module")
def graves(log_file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Where each of the killed runs was; those that are killed by the clock run a few at a time."""
    folders = {name: tmp_path_factory.mktemp("killed") for name in NAMES}
    for name, (place, moment, _, _) in zip(NAMES, POINTS, strict=False):
        kill_at(place, moment, arguments(log_file, folders[name]), folders[name] / "said")
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda name: kill_later(log_file, folders[name], name), NAMES[len(POINTS) :]))
    return folders


def states(folder: Path) -> list[str]:
    with Ledger(folder / "ledger.sqlite") as book:
        return [entry.state for entry in book.entries()]


def check_and_go_on(hubbub: Hubbub, log: Path, folder: Path) -> None:
    """What is there is whole; the next run works, and nothing but releases is left."""
    place, before = folder / "place", states(folder)
    stands = (place / "out").exists()
    if stands:
        assert all(finding.holds for finding in check(place / "out"))
        kept = {"NOT-PRIVATE.txt", "facts.json", "rejects.parquet", "run.toml"}
        later = {"exact.json", "exact.parquet", "report.html"}  # made once the release stands; hubbub report makes them
        owner = {path.name for path in (place / "out" / "owner-only").iterdir() if not path.name.startswith(".")}
        assert kept <= owner <= kept | later
    assert stands or "committed" not in before
    assert len(before) == 1 or not (stands or before)
    next_out = "next" if stands else "out"
    if before == ["drawing"] and not stands:
        said = hubbub(*arguments(log, folder), code=2).output
        assert "It is never drawn again" in said and "stays spent" in said
        (dead,) = (folder / "work").iterdir()
        assert [path.name for path in dead.iterdir()] == ["run.json"], "no copy of the raw log is left"
        shutil.rmtree(dead)
    hubbub(*arguments(log, folder, next_out))
    spent = [state for state in before if state != "reserved"]
    assert states(folder) == [*spent, "committed"]
    with Ledger(folder / "ledger.sqlite") as book:
        assert book.spent("default").epsilon == 2 * (len(spent) + 1)
    left = {path.name for path in place.iterdir()}
    assert left == ({"out", "next"} if stands else {"out"}), "the dead run's partial folder is gone"
    assert not list((folder / "work").iterdir()), "no copy of the raw log is left"
    assert all(finding.holds for finding in check(place / next_out))


@pytest.mark.parametrize(("place", "moment", "ledger", "out"), POINTS)
def test_killed_at_a_point(
    graves: dict[str, Path], hubbub: Hubbub, log_file: Path, place: str, moment: str, ledger: list[str], out: bool
) -> None:
    folder = graves[f"{place} {moment}"]
    assert (states(folder), (folder / "place" / "out").exists()) == (ledger, out)
    check_and_go_on(hubbub, log_file, folder)


@pytest.mark.parametrize("name", NAMES[len(POINTS) :])
def test_killed_at_any_time(graves: dict[str, Path], hubbub: Hubbub, log_file: Path, name: str) -> None:
    check_and_go_on(hubbub, log_file, graves[name])


def test_the_killed_runs_left_something_to_sweep(log_file: Path, hubbub: Hubbub, tmp_path: Path) -> None:
    """The dead are told from the living by their locks, and from other people's folders by their names."""
    kill_at("hubbub.privacy.ledger.Ledger.reserve", "after", arguments(log_file, tmp_path), tmp_path / "said")
    place, work = tmp_path / "place", tmp_path / "work"
    (partial,), (copy,) = place.iterdir(), work.iterdir()
    assert (partial / "owner-only" / "rejects.parquet").exists()
    assert (copy / "log.parquet").exists()
    others = [place / ".out.partial-mine", place / ".other.partial-1-0123abcd", work / "hubbub-raw", work / "notes"]
    for other in others:
        other.mkdir()
    hubbub(*arguments(log_file, tmp_path))
    assert not partial.exists()
    assert not copy.exists()
    assert all(other.exists() for other in others)


def test_terminated_politely(log_file: Path, tmp_path: Path) -> None:
    """SIGTERM unwinds: nothing is left to sweep. Without --work, nothing is kept to go on with either."""
    command = [sys.executable, "-m", "hubbub", *arguments(log_file, tmp_path)]
    at = command.index("--work")
    del command[at : at + 2]
    temporary = tmp_path / "work"
    temporary.mkdir()
    places = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=places) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        process.communicate()
    assert process.returncode in (0, 128 + signal.SIGTERM)
    assert not list(tmp_path.glob("work/*"))
    assert not list(tmp_path.glob("place/.*"))
    assert len(states(tmp_path)) <= 1
