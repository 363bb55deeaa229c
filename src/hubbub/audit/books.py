"""A folder and a ledger for one look, and spending from it: what the audits of files and of booking share."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hubbub.privacy.account import Loss
from hubbub.privacy.ledger import Entry, Ledger

POPULATION = "people"


@contextmanager
def scratch() -> Iterator[Path]:
    """A new folder, removed with all that is in it afterwards."""
    with tempfile.TemporaryDirectory(prefix="hubbub-audit-") as folder:
        yield Path(folder)


class book(tempfile.TemporaryDirectory[str]):
    """A new ledger; in memory where there is such a folder, as the ledger waits for the disk at every step."""

    def __init__(self) -> None:
        memory = "/dev/shm"
        super().__init__(prefix="hubbub-audit-", dir=memory if os.access(memory, os.W_OK) else None)

    def __enter__(self) -> Ledger:  # type: ignore[override]
        self.ledger = Ledger(Path(super().__enter__()) / "ledger.sqlite")
        return self.ledger

    def __exit__(self, *exception: Any) -> None:
        self.ledger.close()
        super().__exit__(*exception)


def spend(
    ledger: Ledger, dataset: str, loss: Loss, *, private: bool = True, file: str | None = None, died: str | None = None
) -> Entry:
    """Book one release; `died` is the state in which its process ended, None if it came to the end."""
    entry = ledger.reserve(
        population=POPULATION,
        dataset=dataset,
        mechanism="korolova",
        variant="strict",
        loss=loss,
        private=private,
        parameters={},
        software="audit",
        fingerprint=file,
    )
    for state, step in (("reserved", ledger.drawing), ("drawing", ledger.committed)):
        if died == state:
            return entry
        step(entry)
    return entry
