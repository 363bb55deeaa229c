"""Folders of living and dead processes are told apart by their locks, and nothing else is ever removed."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from hubbub.errors import OutputError
from hubbub.files import disk_errors, hold, sweep, whole

DEAD = "mine-999999999-0123abcd"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_dead_are_swept_and_the_living_are_not(tmp_path: Path) -> None:
    (tmp_path / DEAD / "inside").mkdir(parents=True)
    held = hold(tmp_path, "mine-")
    assert sweep(tmp_path, "mine-"), "there is a living one"
    assert names(tmp_path) == {held.path.name}
    assert held.path.stat().st_mode & 0o777 == 0o700
    held.remove()
    held.remove()
    assert not sweep(tmp_path, "mine-")
    assert names(tmp_path) == set()


@pytest.mark.parametrize(
    "name", ["mine-1", "mine-1-0123abc", "mine-x-0123abcd", "mine-1-0123abcd.d", "Mine-1-0123abcd"]
)
def test_other_names_are_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert not sweep(tmp_path, "mine-")
    assert names(tmp_path) == {name}


def test_links_and_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / DEAD).symlink_to(tmp_path / "precious")
    (tmp_path / "mine-1-0123abcd").write_text("")
    assert not sweep(tmp_path, "mine-")
    assert names(tmp_path) == {"precious", DEAD, "mine-1-0123abcd"}


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can be told dead there: nothing is swept, and everything else works."""

    def flock(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "not supported")

    monkeypatch.setattr(fcntl, "flock", flock)
    (tmp_path / DEAD).mkdir()
    held = hold(tmp_path, "mine-")
    assert not sweep(tmp_path, "mine-")
    held.remove()
    assert names(tmp_path) == {DEAD}
    with whole(tmp_path / "out") as folder:
        (folder / "file").write_text("")
    assert names(tmp_path / "out") == {"file"}


def test_a_folder_swept_before_it_was_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweeper of another process comes between making and locking, at each of three moments."""
    real, moments = fcntl.flock, iter(["locked by a sweeper", "removed by a sweeper", "left alone"])

    def flock(descriptor: int, how: int) -> None:
        moment = next(moments)
        if moment == "locked by a sweeper":
            raise BlockingIOError
        if moment == "removed by a sweeper":
            (path,) = (p for p in tmp_path.iterdir() if os.path.samestat(p.stat(), os.fstat(descriptor)))
            path.rmdir()
        real(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    held = hold(tmp_path, "mine-")
    assert held.path.is_dir()
    assert next(moments, None) is None
    held.remove()


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), whole(tmp_path / "deep" / "out") as folder:
        (folder / "half").write_text("")
        raise KeyboardInterrupt
    assert names(tmp_path / "deep") == set()


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (errno.ENOSPC, "The disk is full."),
        (errno.EDQUOT, "The disk is full."),
        (errno.EFBIG, "The disk is full."),
        (errno.EROFS, "Read-only file system: /name."),
        (errno.EIO, "error: /name."),
    ],
)
def test_what_the_system_says_in_a_users_words(error: int, says: str) -> None:
    with pytest.raises(OutputError) as raised, disk_errors(Path("place"), "--work"):
        raise OSError(error, os.strerror(error), "/name")
    assert says in str(raised.value)
    assert "choose another --work" in str(raised.value)
