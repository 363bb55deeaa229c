"""Write a folder whole or not at all.

Everything is written into a hidden sibling whose name carries the writer's process id, synced, and moved
into place by one rename. What a killed run left behind is removed by the next one that uses the same name.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hubbub.errors import OutputError


def require_free(out: Path) -> None:
    """Refuse to write over anything."""
    if out.exists() or out.is_symlink():
        raise OutputError(
            "The output folder exists already.",
            given=out,
            allowed="a name that does not exist yet",
            next="choose another --out; a release is never overwritten",
        )


@contextmanager
def whole(out: Path) -> Iterator[Path]:
    """A folder to fill; it becomes `out` at the end, or disappears."""
    require_free(out)
    with disk_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        _sweep(out)
        partial = out.parent / f".{out.name}.partial-{os.getpid()}-{secrets.token_hex(4)}"
        partial.mkdir(mode=0o755)
    try:
        with disk_errors(out):
            yield partial
            _sync(partial)
            require_free(out)
            partial.rename(out)
            _sync_folder(out.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


@contextmanager
def disk_errors(out: Path) -> Iterator[None]:
    """A full, read-only or missing disk in a user's words."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise OutputError(
                "The disk is full.", given=out, next="free some space, or choose another --out"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG):
            raise OutputError(
                f"Cannot write here: {error.strerror}.", given=out, next="choose another --out"
            ) from error
        raise


def _sweep(out: Path) -> None:
    """Remove what killed runs of this name left behind."""
    pattern = re.compile(re.escape(f".{out.name}.partial-") + r"(\d+)-[0-9a-f]{8}")
    for entry in out.parent.iterdir():
        match = pattern.fullmatch(entry.name)
        if match and not _alive(int(match.group(1))):
            shutil.rmtree(entry, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _sync(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
    for path in [*sorted(p for p in folder.rglob("*") if p.is_dir()), folder]:
        _sync_folder(path)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
