"""Places that cannot be written: full, closed, taken or damaged ones end in one message and exit code 2."""

from __future__ import annotations

import os
import pkgutil
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import HEADER, RELEASE, Hubbub, left_in

from hubbub.card import check
from hubbub.privacy.ledger import Entry, Ledger
from hubbub.release.resume import KEPT
from hubbub.show.page import write_pages


def states(ledger: Path) -> list[str]:
    with Ledger(ledger) as book:
        return [entry.state for entry in book.entries()]


def message(stderr: str, *parts: str) -> None:
    """One message: what was wrong, these parts, what to do next."""
    assert stderr.count("hubbub: ") == 1, stderr
    for part in ("next:", *parts):
        assert part in stderr
    for never in ("Traceback", "bug of ours"):
        assert never not in stderr


# ------------------------------------------------------------------ the output folder

TAKEN = "The output folder exists already."
OUTS = {
    "folder": TAKEN,
    "folder/../folder": TAKEN,
    "file": TAKEN,
    "dangling": TAKEN,
    "new/..": TAKEN,
    "file/out": "Not a folder",
    "file/deeper/out": "Not a folder",
    "dangling/out": "Not a folder",
    "n" * 300: "File name too long",
    "n" * 250: "File name too long",
}


@pytest.mark.parametrize("out", OUTS, ids=lambda out: str(out)[:20])
def test_an_output_that_cannot_be(hubbub: Hubbub, log_file: Path, tmp_path: Path, own_ledger: Path, out: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to("nowhere")
    result = hubbub("release", log_file, *RELEASE, "--out", tmp_path / out, code=2)
    message(result.stderr, "given:", OUTS[out])
    assert not own_ledger.exists(), "a refused run makes none"
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "file", "dangling"}
    assert (tmp_path / "file").read_text() == "mine"
    assert not list((tmp_path / "folder").iterdir())


def test_a_folder_taken_at_the_last_moment(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_ledger: Path
) -> None:
    def meanwhile(*arguments: Any) -> list[Path]:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "theirs").write_text("")
        return write_pages(*arguments)

    monkeypatch.setattr("hubbub.release.folder.write_pages", meanwhile)
    result = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", code=2)
    message(result.stderr, TAKEN)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["theirs"]
    assert {path.name for path in tmp_path.iterdir()} == {"out", "ledger.sqlite"}
    assert states(own_ledger) == ["drawing"]


# ------------------------------------------------------------------ folders that are closed


@pytest.fixture
def closed(released: Path) -> Iterator[Path]:
    """A folder that an effective user bound by permission bits may read but not write; root never is bound."""
    folder, user = Path(tempfile.mkdtemp()), os.geteuid()
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    shutil.copyfile(released.parent / "ledger.sqlite", folder / "ledger.sqlite")
    (folder / "ledger.sqlite").chmod(0o444)
    folder.chmod(0o555)
    if user == 0:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.chmod(0o700)
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("option", "name", "says"),
    [
        ("--out", "out", "Not a writable folder"),
        ("--out", "a/b/out", "Not a writable folder"),
        ("--work", "work", "Permission denied"),
        ("--work", "", "Permission denied"),
        ("--ledger", "new.sqlite", "Permission denied"),
        ("--ledger", "ledger.sqlite", "writable"),
    ],
)
def test_a_closed_folder(hubbub: Hubbub, closed: Path, option: str, name: str, says: str) -> None:
    log = closed / "open" / "log.tsv"
    log.write_text(f"{HEADER}\n1\tnews\t2006-03-01 00:00:00\t\t\n")
    places = {"--out": "open/out", "--work": "open/work", "--ledger": "open/ledger.sqlite"} | {option: name}
    options = [part for key, place in places.items() for part in (key, closed / place)]
    message(hubbub("release", log, *RELEASE, *options, code=2).stderr, says, option)
    assert {path.name for path in closed.iterdir()} == {"open", "ledger.sqlite"}
    assert {path.name for path in (closed / "open").iterdir()} <= {"log.tsv", "ledger.sqlite", "work"}
    assert left_in(closed / "open" / "work") <= set(KEPT)
    assert states(closed / "ledger.sqlite") == ["committed"], "as before"
    assert states(closed / "open" / "ledger.sqlite") == []


# ------------------------------------------------------------------ full disks


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """The kernel refuses to make any file larger than this, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


FULL = "The disk is full."


@pytest.mark.parametrize(
    ("moment", "says", "ledger"),
    [
        ("hubbub.privacy.ledger.Ledger.would_allow", "The cleaned log cannot be written", []),
        ("hubbub.release.story.whole", FULL, []),
        ("hubbub.privacy.ledger.Ledger.reserve", "room on", []),
        ("hubbub.privacy.ledger.Ledger.drawing", "room on", ["reserved"]),
        ("hubbub.release.story.write_public", FULL, ["drawing"]),
        ("hubbub.release.folder.write_pages", FULL, ["drawing"]),
    ],
)
def test_no_room_from_a_moment_on(
    hubbub: Hubbub,
    log_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    own_ledger: Path,
    moment: str,
    says: str,
    ledger: list[str],
) -> None:
    """What can fail for free fails before the reservation; afterwards the budget is gone, and nothing is left."""
    work = tmp_path / "work"
    with ExitStack() as limits:
        real = pkgutil.resolve_name(moment)

        def late(*arguments: Any, **options: Any) -> Any:
            limits.enter_context(no_file_above(100))
            return real(*arguments, **options)

        monkeypatch.setattr(moment, late)
        result = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", "--work", work, code=2)
    message(result.stderr, says)
    monkeypatch.undo()
    assert states(own_ledger) == ledger
    made = bool(ledger) or moment.endswith("reserve")  # by the time of the reservation there is a ledger
    assert {path.name for path in tmp_path.iterdir()} == {"work"} | ({"ledger.sqlite"} if made else set())
    drawn = "drawing" in ledger  # before the first noise the run may go on; after it no copy of the log is left
    assert left_in(work) <= ({"run.json"} if drawn else set(KEPT))


def test_no_room_to_note_the_end(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_ledger: Path
) -> None:
    """The release stands and is spent: a warning, not a failure."""
    real = Ledger.committed

    def late(book: Ledger, entry: Entry) -> None:
        with no_file_above(100):
            real(book, entry)

    monkeypatch.setattr(Ledger, "committed", late)
    result = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    assert "warning: the release is whole and its budget spent" in result.stderr
    assert all(finding.holds for finding in check(tmp_path / "out"))
    assert states(own_ledger) == ["drawing"]


def in_a_process(command: list[str], log: Path, out: Path, ledger: Path) -> subprocess.CompletedProcess[str]:
    where = ["--out", str(out), "--ledger", str(ledger), "--work", str(ledger.parent / "work")]
    release = [sys.executable, "-m", "hubbub", "release", str(log), *RELEASE, *where]
    return subprocess.run([*command, *release], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_no_room_from_the_start(log_file: Path, tmp_path: Path) -> None:
    """The signal that comes with the limit must not end us without a word."""
    shell = ["sh", "-c", 'ulimit -f 8; PYTHONDONTWRITEBYTECODE=1 exec "$@"', "sh"]
    done = in_a_process(shell, log_file, tmp_path / "out", tmp_path / "ledger.sqlite")
    assert done.returncode == 2
    message(done.stderr, "cannot be written", "free space")
    assert {path.name for path in tmp_path.iterdir()} <= {"work"}
    assert left_in(tmp_path / "work") <= set(KEPT)


def test_no_room_for_a_ledger(tmp_path: Path) -> None:
    cap = ["ledger", "cap", "us", "--epsilon", "1", "--delta", "0", "--ledger", str(tmp_path / "ledger.sqlite")]
    shell = ["sh", "-c", 'ulimit -f 8; PYTHONDONTWRITEBYTECODE=1 exec "$@"', "sh", sys.executable, "-m", "hubbub", *cap]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    message(done.stderr, "The ledger", "cannot be written", "room on")
    assert not list(tmp_path.iterdir())


MOUNT = """
folder=$1; options=$2; shift 2
mount -t tmpfs -o "$options" none "$folder" || exit 77
"$@"; code=$?
ls -A "$folder"
exit $code
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "says", "ledger"),
    [("ro", "Not a writable folder", None), ("size=8k", FULL, []), ("size=28k", FULL, ["drawing"])],
)
def test_a_small_disk(log_file: Path, tmp_path: Path, options: str, says: str, ledger: list[str] | None) -> None:
    """A real file system without room, in a mount namespace of its own."""
    disk, book = tmp_path / "disk", tmp_path / "ledger.sqlite"
    disk.mkdir()
    if sys.platform != "linux" or not shutil.which("unshare") or os.geteuid():
        pytest.skip("only root on Linux can mount")
    shell = ["unshare", "--mount", "sh", "-c", MOUNT, "sh", str(disk), options]
    done = in_a_process(shell, log_file, disk / "out", book)
    if done.returncode in (1, 77) and "hubbub" not in done.stderr:
        pytest.skip("mounting is not allowed here")
    assert done.returncode == 2, done.stderr
    message(done.stderr, says)
    assert done.stdout.splitlines()[-1:] != ["out"]
    assert ".partial" not in done.stdout
    assert not book.exists() if ledger is None else states(book) == ledger


# ------------------------------------------------------------------ ledgers


def truncate(path: Path) -> None:
    os.truncate(path, 5000)


def overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * 8192)


def replace(path: Path) -> None:
    path.write_text("user\ttime\n")


def unlink(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [truncate, overwrite, replace, unlink])
def test_a_damaged_ledger(
    hubbub: Hubbub, released: Path, log_file: Path, own_ledger: Path, damage: Callable[[Path], None]
) -> None:
    damage(own_ledger)
    before = own_ledger.read_bytes() if own_ledger.is_file() else None
    for command in (
        ("release", log_file, *RELEASE, "--out", released.parent / "again"),
        ("ledger", "show"),
        ("ledger", "cap", "us", "--epsilon", "1", "--delta", "0"),
        ("ledger", "export"),
    ):
        message(hubbub(*command, code=2).stderr, str(own_ledger), "--ledger or HUBBUB_LEDGER")
    assert {path.name for path in released.parent.iterdir()} == {"released", "ledger.sqlite"}
    assert before is None or own_ledger.read_bytes() == before
