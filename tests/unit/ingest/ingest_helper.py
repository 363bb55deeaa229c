"""What the tests of ingest share: write a log, ingest it, look at the result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from hubbub.ingest import REJECTS, SCHEMA, Ingested, ingest

Row = tuple[Any, ...]


class Result:
    """What ingest returned and wrote."""

    def __init__(self, told: Ingested) -> None:
        self.told = told
        log, rejects = pq.read_table(told.log), pq.read_table(told.rejects)
        assert log.schema.equals(SCHEMA) and rejects.schema.equals(REJECTS)
        self.rows: list[Row] = list(zip(*log.to_pydict().values(), strict=True))
        self.rejects: list[Row] = list(zip(*rejects.to_pydict().values(), strict=True))
        assert told.read == told.kept + told.dropped + told.rejected
        assert (told.kept, told.rejected) == (len(self.rows), len(self.rejects))
        assert sum(told.reasons.values()) == told.rejected

    @property
    def reasons(self) -> list[tuple[int, str]]:
        """Line and reason of each reject."""
        return [(line, reason) for _, line, reason, _, _ in self.rejects]


Ingest = Callable[..., Result]


def reading(tmp_path: Path) -> Ingest:
    """A fixture: ingest bytes (written to a file called `name`) or a source that exists."""

    def run(source: bytes | str | Path, name: str = "log.tsv", **options: Any) -> Result:
        if isinstance(source, bytes):
            (tmp_path / name).write_bytes(source)
            source = tmp_path / name
        return Result(ingest(source, tmp_path / "work", **options))

    return run
