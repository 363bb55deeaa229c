"""Statements that run part by part: the log is brought together by user once, and then only sums move.

A job has one stage and no shuffle of Spark's. Where rows go from one part to another, every task writes one file that
is sorted by part, and the tasks of the next job read their row groups of all of these files.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.engines.base import Aggregate, Along
from hubbub.engines.spark.tables import Cut, Moved, OwnPart, Query, Slice, Stored, TaskTable, needed, numbered
from hubbub.engines.spark.tasks import Doing, Keep, Map, Move, NumberRows, PartJob, Say, Smallest
from hubbub.errors import OurBug
from hubbub.switches import switch

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from hubbub.engines.base import Batches

ROWS = switch(__name__, "ROWS", 1_500_000, low=20)
"""Rows of the log that a task reads, and about as many as a part has."""
MOVED = "hubbub_moved"


@dataclass(frozen=True)
class Done:
    """What the tasks of a job have made, by part."""

    folder: Path
    files: tuple[str, ...]
    rows: tuple[int, ...]
    said: tuple[bytes, ...]


class Parted:
    """The tables of an engine, and the jobs that run over their parts."""

    def __init__(
        self, session: SparkSession, folder: Path, memory: str, asking: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self.session, self.folder, self.memory, self.asking = session, folder, memory, asking
        self.tables: dict[str, Query | Stored] = {}
        self.moved: dict[str, Done] = {}
        """Tables whose rows were brought together by user, beside where they are."""
        self.users: Cut | None = None

    # ------------------------------------------------------------------ statements; None: not along that column

    def save(self, name: str, sql: str) -> tuple[Stored, Path] | None:
        """Rows of the query, part by part."""
        cut = self._cut(sql)
        return (
            None if cut is None else self._kept(cut, self._run(name, sql, Keep(cut), self._parts(sql, cut), cut.parts))
        )

    def smallest(self, name: str, sql: str, columns: Sequence[str], by: str, limit: int) -> tuple[Stored, Path] | None:
        """Of every user the rows with the smallest values."""
        cut = self._cut(sql)
        if cut is None:
            return None
        doing = Smallest(cut, tuple(columns), by, limit)
        return self._kept(cut, self._run(name, sql, doing, self._parts(sql, cut), cut.parts))

    def map_batches(self, name: str, sql: str, function: Batches, schema: pa.Schema) -> tuple[Stored, Path] | None:
        """What a function returns for the rows of the query."""
        cut = self._cut(sql)
        if cut is None:
            return None
        return self._kept(cut, self._run(name, sql, Map(function, schema), self._parts(sql, cut), cut.parts))

    def fetch(self, sql: str) -> pa.Table | None:
        """The rows of the query, part after part."""
        cut = self._cut(sql)
        if cut is None:
            return None
        done = self._run("brought", sql, Say(), self._parts(sql, cut), cut.parts)
        shutil.rmtree(done.folder)
        return pa.concat_tables(pa.ipc.open_stream(said).read_all() for said in done.said)

    def gather(self, name: str, rows: str, columns: Sequence[str], value: Aggregate) -> tuple[Stored, Path] | None:
        """One row for every user and key: added up where the rows of the log are, then where her rows go."""
        by = ", ".join(["uid", *columns])
        large = [n for n, t in needed(rows, self.tables) if isinstance(t, Stored) and t.along("uid") and not t.small]
        if len(large) != 1 or large[0] in self.moved or not self._plain(large[0]):
            return self.save(name, Along(value.first(rows, by), "uid"))
        slices, cut = self._slices(large[0]), self._users(large)
        sources = [(n, slices if n == large[0] else t) for n, t in needed(rows, self.tables)]
        once = self._run(name, value.first(rows, by), Move(cut, "uid"), sources, len(slices.slices))
        return self._merged(name, once, value.merged(MOVED, by), Keep(cut), cut)

    def total(
        self, name: str, rows: str, columns: Sequence[str], value: Aggregate, by: Sequence[str], id: str
    ) -> tuple[Stored, Path] | None:
        """One row for every key: added up in the parts of users, then where the key goes; numbered there."""
        cut, keys = self._cut(rows), ", ".join(columns)
        if cut is None:
            return None
        to = Cut(id, 1 if by else max(2, cut.parts // 2))
        once = self._run(name, value.first(rows, keys), Move(to, keys), self._parts(rows, cut), cut.parts)
        stored, path = self._merged(name, once, value.merged(MOVED, keys), NumberRows(tuple(by)), to)
        return stored, path

    def summed(self, name: str, rows: str, value: Aggregate, keys: str) -> tuple[Stored, Path] | None:
        """The value of every key, by id: added up in the parts of users, then where the key lies."""
        cut = self._cut(rows)
        if cut is None:
            return None
        to = self._cut(Along(keys, "kid")) or Cut("kid", 1, (0,))
        once = self._run(name, value.first(rows, "kid"), Move(to, "kid"), self._parts(rows, cut), cut.parts)
        return self._merged(name, once, value.merged(MOVED, "kid"), Keep(to), to)

    # ------------------------------------------------------------------ where rows lie

    def _cut(self, sql: str) -> Cut | None:
        """Along what a query may be run; None where nothing that it reads has that column, or lies by it."""
        if not isinstance(sql, Along):
            return None
        read = [(n, t) for n, t in needed(sql, self.tables) if isinstance(t, Stored) and t.along(sql.column)]
        if sql.column == "uid":
            large = [n for n, t in read if not t.small]
            return self._users(large) if large else None
        cuts = [t.cut for _, t in read if t.cut is not None and t.cut.column == sql.column]
        return max(cuts, key=lambda cut: cut.parts, default=None)

    def _users(self, names: Sequence[str]) -> Cut:
        """Into how many parts users are cut: decided once, by the largest of the first tables that are."""
        if self.users is None:
            self.users = Cut("uid", max(2, *(len(self._slices(name).slices) for name in names)))
        return self.users

    def _plain(self, name: str) -> bool:
        """Whether a table is files alone, in no order that we know of."""
        table = self.tables[name]
        return isinstance(table, Stored) and table.cut is None and table.select == "*"

    def _slices(self, name: str) -> Slice:
        """About as many rows for every task, and work for every core."""
        table = self.tables[name]
        sizes = {file: pq.read_metadata(file).num_rows for file in table.files} if isinstance(table, Stored) else {}
        cores = int(self.session.sparkContext.defaultParallelism)
        most = max(1, min(ROWS, -(-sum(sizes.values()) // cores)))
        pieces = {file: max(1, -(-rows // most)) for file, rows in sizes.items()}
        return Slice(
            tuple(
                (file, rows * i // pieces[file], rows * (i + 1) // pieces[file])
                for file, rows in sizes.items()
                for i in range(pieces[file])
            )
        )

    def _parts(self, sql: str, cut: Cut) -> Iterator[tuple[str, TaskTable]]:
        """What a task reads under each name: its part of tables with the column of the cut, all of the others."""
        for name, table in needed(sql, self.tables):
            if isinstance(table, Query) or not table.along(cut.column):
                yield name, table
            elif cut.column == "uid" and not table.small and self._plain(name):
                yield name, Moved(self._brought(name, table, cut).files)
            else:
                yield name, OwnPart(table, cut)

    def _brought(self, name: str, table: Stored, cut: Cut) -> Done:
        """The rows of a table brought together by user; once."""
        if name not in self.moved:
            slices, column = self._slices(name), table.along(cut.column)
            rows, move = f"SELECT * FROM {name}", Move(cut, f'"{column}"')
            self.moved[name] = self._run(f"{name}_by_user", rows, move, [(name, slices)], len(slices.slices))
        return self.moved[name]

    def forget(self, name: str) -> None:
        """Remove what was made of a table that is no more."""
        self.tables.pop(name, None)
        done = self.moved.pop(name, None)
        if done is not None:
            shutil.rmtree(done.folder, ignore_errors=True)

    # ------------------------------------------------------------------ jobs

    def _merged(self, name: str, once: Done, sql: str, doing: Doing, cut: Cut) -> tuple[Stored, Path]:
        """What tasks have moved, added up where it went to."""
        done = self._run(name, sql, doing, [(MOVED, Moved(once.files))], cut.parts)
        shutil.rmtree(once.folder)
        if not isinstance(doing, NumberRows):
            return self._kept(cut, done)
        starts = tuple(accumulate(done.rows[:-1], initial=0))
        columns = (cut.column, *pq.read_schema(done.files[0]).names[2:])
        cut = Cut(cut.column, cut.parts, starts)
        return Stored(done.files, columns, cut, numbered(cut.column, starts)), done.folder

    def _kept(self, cut: Cut, done: Done) -> tuple[Stored, Path]:
        columns = tuple(pq.read_schema(done.files[0]).names)
        return Stored(done.files, columns, cut), done.folder

    @contextmanager
    def _called(self, name: str) -> Iterator[None]:
        """Spark's own pages show a job by the name of the table that it makes."""
        context: Any = self.session.sparkContext
        before = context.getLocalProperty("spark.job.description")
        context.setJobDescription(f"hubbub: {name}")
        try:
            yield
        finally:
            context.setLocalProperty("spark.job.description", before)

    def _run(self, name: str, sql: str, doing: Doing, sources: Iterable[tuple[str, TaskTable]], parts: int) -> Done:
        """One task for every part. Of each task Spark hands us one answer: that of the attempt which it accepted."""
        sources, folder = tuple(sources), self.folder / f"{name}-{secrets.token_hex(8)}"
        folder.mkdir()
        job = PartJob(str(folder), str(sql), doing, sources, self.memory)

        try:
            with self.asking(), self._called(name):
                tasks = self.session.sparkContext.parallelize(range(parts), parts)
                answers = sorted(tasks.mapPartitions(job).collect())
            if [answer[0] for answer in answers] != list(range(parts)):
                raise OurBug(f"{name}: {parts} tasks answered as {[answer[0] for answer in answers]}")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        _, files, sizes, said = (tuple(column) for column in zip(*answers, strict=True))
        for lost in {str(path) for path in folder.iterdir()} - set(files):
            Path(lost).unlink(missing_ok=True)
        return Done(folder, files, sizes, said)
