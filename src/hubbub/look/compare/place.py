"""Where a comparison is written: `OUT/owner-only/`, marked, readable by its owner; or nowhere that stays."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hubbub.errors import OutputError
from hubbub.files import disk_errors
from hubbub.look.compare.cells import FOLDER
from hubbub.release.folder import DO_NOT_PUBLISH

OWNER_ONLY, MARK = "owner-only", "NOT-PRIVATE.txt"


@contextmanager
def place(out: str | Path | None) -> Iterator[Path]:
    """The folder to write into; a comparison that is there goes on, anything else is left alone."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="hubbub-compare-") as nowhere:
            (Path(nowhere) / FOLDER).mkdir()
            yield Path(nowhere)
        return
    folder = Path(out).absolute() / OWNER_ONLY
    with disk_errors(folder):
        if folder.parent.exists() and not (folder / FOLDER).is_dir() and any(folder.parent.iterdir()):
            raise OutputError(
                "The output folder holds something else than a comparison or prices.",
                given=out,
                allowed="a new folder, or one that an earlier `hubbub compare` or `hubbub worth` wrote",
                next="choose another --out",
            )
        folder.mkdir(0o700, parents=True, exist_ok=True)
        (folder / MARK).write_text(DO_NOT_PUBLISH, encoding="utf-8")
        (folder / FOLDER).mkdir(0o700, exist_ok=True)
        yield folder
