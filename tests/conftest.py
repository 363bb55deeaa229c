"""Shared fixtures: a small made-up log, a ledger of the test's own, and a release made once."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from typer.main import get_command
from typer.testing import CliRunner, Result

from hubbub.cli import app
from hubbub.release.resume import PREFIX

pytest_plugins = ["tests.kinds", "tests.workers"]

# Containers like to forbid bytecode. Every process that a test starts would then compile all that it imports: seconds.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("hubbub", deadline=None)  # how long a case takes says how busy the machine is
settings.load_profile("hubbub")

sys.path.append(str(Path(__file__).parents[1] / "bench"))  # `field`, the rules that bench/selection.py runs

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"


def aol_lines(users: int = 300) -> list[str]:
    """A log in which everybody asks a few queries and somebody asks each rare one."""
    lines = [HEADER]
    for u in range(users):
        day = f"2006-03-{1 + u % 28:02d}"
        lines.append(f"{u}\tWeather\t{day} 08:00:{u % 60:02d}\t1\thttp://www.weather.example")
        lines.append(f"{u}\tnews\t{day} 09:00:00\t\t")
        if u % 2:
            lines.append(f"{u}\tmaps\t{day} 10:00:00\t2\thttp://www.maps.example")
        lines.append(f"{u}\trare query {u}\t{day} 11:00:00\t\t")
    return lines


def left_in(work: Path) -> set[str]:
    """What an interrupted run leaves in a folder that `--work` named, for the next one to go on with."""
    assert all(path.name.startswith(PREFIX) and path.stat().st_mode & 0o077 == 0 for path in work.glob("*"))
    return {path.name for path in work.glob("*/*")}


@pytest.fixture(scope="session", autouse=True)
def ctrl_c() -> Iterator[None]:
    """What a shell runs in the background is deaf to Ctrl-C, and so are its children; tests send it to theirs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def no_real_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fixtures of wider scope do not touch it either, nor the audits kept beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HUBBUB_LEDGER", str(tmp_path_factory.mktemp("ledger") / "ledger.sqlite"))
        yield


@pytest.fixture(autouse=True)
def own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test touches the real ledger."""
    path = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("HUBBUB_LEDGER", str(path))
    return path


@pytest.fixture(scope="session")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small log as a file in AOL's format."""
    path = tmp_path_factory.mktemp("log") / "log.tsv"
    path.write_text("\n".join(aol_lines()) + "\n", encoding="utf-8")
    return path


Hubbub = Callable[..., Result]


@pytest.fixture(scope="session", autouse=True)
def one_command() -> Iterator[None]:
    """Commands are built once, as in any process of hubbub, and not at every call: that takes longer than most."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", functools.cache(get_command))
        yield


def run_hubbub(*arguments: object, code: int = 0) -> Result:
    """The command line, in process; the exit code is asserted."""
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, f"exit {result.exit_code}\n{result.output}\n{result.exception!r}"
    return result


@pytest.fixture
def hubbub() -> Hubbub:
    """The command line, in process; the exit code is asserted."""
    return run_hubbub


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases without the owner's report, which takes as long as all else that crowd does."""
    monkeypatch.setattr("hubbub.release.story.finish", lambda *_: "")


RELEASE = ("--format", "aol", "--mechanism", "korolova", "--epsilon", "2", "--delta", "1e-5", "--set", "d=3")


@pytest.fixture(scope="session")
def released_once(log_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the small log and its ledger, made once and never changed."""
    folder = tmp_path_factory.mktemp("released")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HUBBUB_LEDGER", str(folder / "ledger.sqlite"))
        run_hubbub("release", log_file, *RELEASE, "--out", folder / "released")
    return folder


@pytest.fixture
def released(released_once: Path, own_ledger: Path, tmp_path: Path) -> Path:
    """A release of the small log, of the test's own, and booked in its ledger."""
    out = tmp_path / "released"
    shutil.copytree(released_once / out.name, out)
    shutil.copy(released_once / "ledger.sqlite", own_ledger)
    run = out / "owner-only" / "run.toml"
    run.write_text(run.read_text(encoding="utf-8").replace(str(released_once / out.name), str(out)), encoding="utf-8")
    return out


def document(result: Result) -> dict[str, object]:
    """The JSON document a command printed."""
    parsed: dict[str, object] = json.loads(result.stdout)
    return parsed
