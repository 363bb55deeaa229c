"""Whose shape is estimated: the owner's log, or a made-up log of public shape.

The made-up log is `hubbub synth`'s, fitted to published aggregates of real logs: nothing of the owner's log is in it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from hubbub.log import SearchLog

PRESET = "aol"
SAMPLE = 20_000
MOST_USERS = 10**10


@dataclass(frozen=True)
class Source:
    """A log, the number of users it stands for, and the preset it was made from if it was made up."""

    log: SearchLog
    users: int
    sample: int | None = None
    preset: str | None = None

    @property
    def scale(self) -> float:
        """How many users one user of the log stands for."""
        return self.users / self.sample if self.sample else 1.0

    def record(self) -> dict[str, object]:
        """The shape of the log as it stands in the JSON document."""
        kind = "log" if self.sample is None else "public shape"
        return {"kind": kind, "users": self.users, "preset": self.preset, "sample": self.sample}


@contextmanager
def made_up(
    users: int, preset: str, sample: int, add: Callable[[pa.Table], pa.Table] | None = None
) -> Iterator[Source]:
    """A made-up log of at most `sample` users, standing for `users`; `add` may add columns for groups."""
    from hubbub.engines.duckdb import DuckDB
    from hubbub.log import SearchLog

    if not 1 <= users <= MOST_USERS:
        raise ParameterError("--users is out of range.", given=users, allowed=f"1 to {MOST_USERS}")
    rows = _rows(min(users, sample), preset)
    rows = rows if add is None else add(rows)
    with tempfile.TemporaryDirectory(prefix="hubbub-made-up-") as folder:
        path = Path(folder) / "log.parquet"
        pq.write_table(rows, path, compression="none")
        with SearchLog.over(path, DuckDB(Path(folder)), Path(folder)) as log:
            yield Source(log, users, min(users, sample), preset)


@lru_cache(maxsize=1)
def _rows(users: int, preset: str) -> pa.Table:
    """Kept for the next question: only the parameters of the mechanism change."""
    from hubbub.ingest.schema import SCHEMA
    from hubbub.synth import SYLLABIC, generate

    return pa.Table.from_batches(generate(users, 0, preset, vocabulary=SYLLABIC), SCHEMA)
