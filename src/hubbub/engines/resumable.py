"""An engine that keeps what took long: a run that is interrupted does not compute it again.

Every statement extends a digest of all statements before it, of the tables that were registered and of what the run
depends on. A saved table that took long is written below that digest; a later run that comes to the same digest reads
it instead. Only exact tables are kept: `stop` is called before the first noise.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from hubbub.engines.base import Aggregate, Batches, Engine
from hubbub.switches import switch

WORTH = switch(__name__, "WORTH", 20.0, low=0.0)
"""Seconds of work from which a table is kept; what took less is as quickly computed again."""


class Resumable:
    """Another engine, with checkpoints in a folder."""

    def __init__(self, engine: Engine, folder: Path, key: str) -> None:
        self.engine, self.name, self.distributed = engine, engine.name, engine.distributed
        self._folder: Path | None = folder
        self._digest = hashlib.sha256(key.encode())
        self.read: list[str] = []
        """Tables that were read instead of computed."""

    def stop(self) -> None:
        """Keep nothing from here on."""
        self._folder = None

    def _note(self, *parts: object) -> None:
        for part in parts:
            text = part if isinstance(part, bytes) else str(part).encode()
            self._digest.update(len(text).to_bytes(8, "big") + text)

    def _kept(self, name: str, compute: Callable[[], None], *, unordered: bool = False) -> None:
        """Read a table if an earlier run kept it whole; else compute it, and keep it if that took long.

        Ids in any order are those of one numbering: a random name of it goes with its file and into the digest, so that
        a table which holds such ids is never read beside another numbering.
        """
        if self._folder is None:
            compute()
            return
        stem = self._digest.hexdigest()[:32]
        path = next(self._folder.glob(f"{stem}-*.parquet"), None)
        if path is not None and self._read(name, path):
            numbering = path.stem.split("-")[2]
        else:
            numbering, started = secrets.token_hex(8) if unordered else "", time.monotonic()
            compute()
            if time.monotonic() - started >= WORTH:
                self._keep(name, self._folder, stem, numbering)
        self._note(numbering)

    def _rows(self, table: str) -> int:
        return int(self.engine.fetch(f"SELECT count(*) AS n FROM {table}")["n"][0].as_py())

    def _read(self, name: str, path: Path) -> bool:
        """Read what was kept; a folder may have lost some of its files, and is then as good as lost."""
        self.engine.scan("kept", path)
        if self._rows("kept") != int(path.stem.split("-")[1]):
            _remove(path)
            return False
        self.engine.save(name, "SELECT * FROM kept")
        self.read.append(name)
        return True

    def _keep(self, name: str, folder: Path, stem: str, numbering: str) -> None:
        folder.mkdir(0o700, exist_ok=True)
        draft = folder.with_name(f"{stem}-{secrets.token_hex(4)}.draft")  # a half-written one goes with the next run
        self.engine.write(name, draft)
        self.engine.scan("kept", draft)
        same = [self.engine.fetch(f"SELECT * FROM {table} LIMIT 0").schema for table in (name, "kept")]
        if same[0].types == same[1].types:  # a type that Parquet has not would change the numbers
            os.replace(draft, folder / f"{stem}-{self._rows(name)}-{numbering}.parquet")
        else:
            _remove(draft)

    # ------------------------------------------------------------------ the engine's own words

    def scan(self, name: str, parquet: Path) -> None:
        """Make a Parquet file readable under a name."""
        self._note("scan", name)
        self.engine.scan(name, parquet)

    def register(self, name: str, table: pa.Table) -> None:
        """Make an Arrow table readable under a name."""
        if self._folder is not None:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as stream:
                stream.write_table(table)
            self._note("register", name, hashlib.sha256(sink.getvalue()).digest())
        self.engine.register(name, table)

    def view(self, name: str, sql: str) -> None:
        """Name a query without running it."""
        self._note("view", name, sql)
        self.engine.view(name, sql)

    def save(self, name: str, sql: str) -> None:
        """Run a query once and keep its rows under a name."""
        self._note("save", name, sql)
        self._kept(name, lambda: self.engine.save(name, sql))

    def gather(self, name: str, rows: str, columns: Sequence[str], value: Aggregate) -> None:
        """Like `save`, one row for every user and key."""
        self._note("gather", name, rows, *columns, value)
        self._kept(name, lambda: self.engine.gather(name, rows, columns, value))

    def total(self, name: str, rows: str, columns: Sequence[str], value: Aggregate, by: Sequence[str], id: str) -> None:
        """Like `number`, one row for every key."""
        self._note("total", name, rows, *columns, value, *by, id)
        self._kept(name, lambda: self.engine.total(name, rows, columns, value, by, id), unordered=not by)

    def summed(self, name: str, rows: str, value: Aggregate, keys: str) -> None:
        """Name the value of every key, by its id."""
        self._note("summed", name, rows, value, keys)
        self.engine.summed(name, rows, value, keys)

    def number(self, name: str, sql: str, by: Sequence[str], id: str) -> None:
        """Like `save`, with ids."""
        self._note("number", name, sql, *by, id)
        self._kept(name, lambda: self.engine.number(name, sql, by, id), unordered=not by)

    def smallest(self, name: str, sql: str, columns: Sequence[str], by: str, limit: int) -> None:
        """Like `save`, the rows with the smallest values of each user."""
        self._note("smallest", name, sql, *columns, by, limit)
        self._kept(name, lambda: self.engine.smallest(name, sql, columns, by, limit))

    def shuffle(self, columns: str) -> str:
        """The engine's own hash."""
        return self.engine.shuffle(columns)

    def map_batches(self, name: str, sql: str, function: Batches, schema: pa.Schema) -> None:
        """Like `save`, through a function. Kept by its name: the key of the run holds the version of the code."""
        self._note("map", name, sql, getattr(function, "__qualname__", type(function).__qualname__), schema)
        self._kept(name, lambda: self.engine.map_batches(name, sql, function, schema))

    def fetch(self, sql: str) -> pa.Table:
        """The rows of a query."""
        return self.engine.fetch(sql)

    def write(self, name: str, parquet: Path) -> None:
        """Write a table to Parquet."""
        self.engine.write(name, parquet)

    def drop(self, name: str) -> None:
        """Forget a saved table."""
        self._note("drop", name)
        self.engine.drop(name)

    def close(self) -> None:
        """Give back memory and temporary files."""
        self.engine.close()


def _remove(kept: Path) -> None:
    shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
