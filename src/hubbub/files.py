"""Write a folder, or a file, whole or not at all.

A folder is written into a hidden sibling, synced, and moved into place by one rename. Its writer holds a lock
on it, which the system lets go when the process ends, however it ends: what a killed run left behind is
known by its free lock, and is removed by the next run.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hubbub.errors import OutputError

PRIVATE, READABLE = (0o700, 0o600), (0o755, 0o644)
"""Permissions of folders and files: for the account that made them alone, or for everybody to read."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def require_free(out: Path) -> None:
    """Refuse to write over anything, or where nothing can be written."""
    with disk_errors(out):
        if out.name in ("", "..") or _exists(out):
            raise OutputError(
                "The output folder exists already.",
                given=out,
                allowed="a name that does not exist yet",
                next="choose another --out; a release is never overwritten",
            )
        parent = next(p for p in out.parents if os.path.lexists(p))
        if not parent.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "Not a folder", str(parent))
        if not os.access(parent, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
            raise PermissionError(errno.EACCES, "Not a writable folder", str(parent))


@contextmanager
def whole(out: Path) -> Iterator[Path]:
    """A folder to fill; it becomes `out` at the end, or disappears."""
    require_free(out)
    with disk_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        prefix = f".{out.name}.partial-"
        if sweep(out.parent, prefix):
            raise OutputError("Another run is writing this folder.", given=out, next="let it finish, or choose another")
        partial = hold(out.parent, prefix, mode=0o755)
    try:
        with disk_errors(out):
            yield partial.path
            for path in [*sorted(partial.path.rglob("*"), reverse=True), partial.path]:  # folders after what is in them
                sync(path)
            require_free(out)
            partial.path.rename(out)
            sync(out.parent)
    finally:
        partial.remove()


def write_whole(path: Path, content: str | bytes) -> None:
    """A file that is there is whole, and only its owner can read it."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_SYNC, 0o600), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def permit(folder: Path, folders: int, files: int) -> None:
    """Give a folder and everything in it these permissions, whatever the process's own habit (umask) is."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(folders if path.is_dir() else files)


@contextmanager
def disk_errors(place: Path, option: str = "--out") -> Iterator[None]:
    """Turn errors of the disk (full, closed, missing) into errors that say what the user can do."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            next = f"free some space, or choose another {option}"
            raise OutputError("The disk is full.", given=place, next=next) from error
        what = f"Cannot write here: {error.strerror or error}" + (f": {error.filename}" if error.filename else "")
        raise OutputError(f"{what}.", given=place, next=f"choose another {option}") from error


def _exists(path: Path) -> bool:
    """Whether anything has this name, even a link to nowhere; a name that the system does not allow is an error."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


# ------------------------------------------------------------------ folders of living processes


@dataclass
class HeldFolder:
    """A folder that belongs to this process, and is locked, for as long as the process lives."""

    path: Path
    lock: int | None

    def remove(self) -> None:
        """Remove the folder with everything in it, and give up its lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None


def hold(parent: Path, prefix: str, mode: int = 0o700) -> HeldFolder:
    """Make a folder that no `sweep` removes while this process lives."""
    while True:
        path = parent / f"{prefix}{os.getpid()}-{secrets.token_hex(4)}"
        path.mkdir(mode)
        try:
            held = lock(path)
        except (BlockingIOError, FileNotFoundError):  # swept before it was locked
            continue
        except OSError:  # a file system without locks: nothing is swept there either
            return HeldFolder(path, None)
        if path.exists():
            return HeldFolder(path, held)
        os.close(held)


def hold_work(work: Path | None, prefix: str) -> HeldFolder:
    """A folder for copies of a raw log, below `--work` or where temporary files are; sweeps what killed runs left."""
    with disk_errors(Path(work or "the temporary folder"), "--work"):
        parent = Path(work or tempfile.gettempdir()).absolute()
        parent.mkdir(parents=True, exist_ok=True)
        sweep(parent, prefix)
        return hold(parent, prefix)


def create_private(file: Path) -> IO[bytes]:
    """A new file, open for writing, that only its owner may read."""
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def sweep(parent: Path, prefix: str) -> bool:
    """Remove the folders of this prefix whose processes are dead; True if a living process still holds one."""
    pattern = re.compile(re.escape(prefix) + r"\d+-[0-9a-f]{8}")
    living = False
    for path in [p for p in parent.iterdir() if pattern.fullmatch(p.name)]:
        try:
            HeldFolder(path, lock(path)).remove()
        except BlockingIOError:
            living = True
        except OSError:  # somebody else's, or gone meanwhile
            continue
    return living


def lock(folder: Path) -> int:
    """Lock a folder until this process ends; BlockingIOError if another process has locked it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def sync(path: Path) -> None:
    """Have the disk keep a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
