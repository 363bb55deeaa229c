"""Standard input as a log: kept in a file of the owner's alone while it is read, because it is read more than once."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hubbub.errors import InputError
from hubbub.files import create_private, disk_errors, hold_work

DASH = "-"
PREFIX = "hubbub-input-"
KINDS = {  # what no text begins with: of other input, --format and --separator say what it is
    rb"PAR1[\x00-\x08\x0e-\x1f]": ".parquet",
    rb"ARROW1\x00\x00": ".arrow",
    rb"PK\x03\x04.{26}(\[Content_Types\]|_rels|xl|docProps)": ".xlsx",
    rb"PK\x03\x04": ".zip",
}


@contextmanager
def spooled(work: Path | None) -> Iterator[Path]:
    """Standard input as a file that nobody else may read, removed at the end."""
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("Nothing is piped into standard input.", given=DASH, next="name a file, or pipe one into it")
    held = hold_work(work, PREFIX)
    try:
        file = held.path / "standard-input"
        with disk_errors(held.path.parent, "--work"):
            with create_private(file) as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
            with file.open("rb") as copy:
                head = copy.read(64)
            suffix = next((suffix for magic, suffix in KINDS.items() if re.match(magic, head, re.DOTALL)), "")
            file = file.rename(file.with_suffix(suffix))
        yield file
    finally:
        held.remove()
