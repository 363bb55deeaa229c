"""One draw of an experiment: a synthetic log of its own, mechanisms run on it in memory with seeded noise, no ledger.

Nothing here is a release: noise is seeded, and nothing is booked. The log is made up, or somebody's own (own.py). Draw
i of a run with `--seed S` has the split into training and test and the noise of seed S + i, and the made-up log of that
seed, so that an interval over the draws covers all three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.errors import OurBug
from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import build
from hubbub.noise import SeededNoise
from hubbub.public.lists import QueryPool
from hubbub.release.rows import as_lists, named_rows
from hubbub.steps.keys import Keys
from hubbub.steps.mode import RunMode
from hubbub.synth import SYLLABIC, World
from hubbub.synth.queries import queries
from hubbub.synth.run import synthesise
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import Truth
from hubbub.worth.tasks.split import part

Settings = Mapping[str, object]
Numbers = dict[str, float | None]
"""What one draw saw, by names such as "m=4 queries.distinct"."""


class Lab:
    """The logs of one draw, made when asked for and gone when it is closed."""

    def __init__(
        self, users: int, seed: int, folder: Path, threads: int | None = None, own: Path | None = None
    ) -> None:
        self.users, self.seed, self.folder, self.threads = users, seed, folder, threads
        self.own = own
        """The cleaned rows of somebody's own log, in the place of synthetic ones."""
        self._opened = ExitStack()
        self._logs: dict[str, SearchLog] = {}
        self._originals: dict[tuple[str, str], Evidence] = {}

    def log(self, preset: str, users: int | None = None) -> SearchLog:
        """The synthetic log of a preset, cleaned and open, its truth beside it; or the own log or some of its users."""
        wanted = min(users or self.users, self.users)
        name = f"{preset}-{wanted}" if self.own is None else f"own-{wanted}"
        if self.own is not None and name not in self._logs:
            if wanted == self.users:
                self._logs[name] = self._open(self.own)
            else:
                people = f"SELECT DISTINCT uid FROM log ORDER BY md5(concat('{self.seed}', uid)) LIMIT {wanted}"
                self.some(self.log(preset), name, f"uid IN ({people})")
        elif name not in self._logs:
            path = self.folder / f"{name}.parquet"
            shape: dict[str, Any] = {"preset": preset, "seed": self.seed, "vocabulary": SYLLABIC}
            synthesise(wanted, path, truth=self.folder / f"{name}-truth", **shape)
            self._logs[name] = self._open(path)
        return self._logs[name]

    @cached_property
    def fivefold(self) -> Lab:
        """This draw with five times the users, for what is too rare among so few; an own log has no more of them."""
        if self.own is not None:
            return self
        folder = self.folder / "fivefold"
        folder.mkdir()
        return self._opened.enter_context(Lab(FIVEFOLD * self.users, self.seed, folder, self.threads))

    def truth(self, preset: str) -> Truth:
        """What `hubbub synth --truth` knows of that log."""
        self.log(preset)
        return Truth(self.folder / f"{preset}-{self.users}-truth")

    def original(self, preset: str, counts: str = "users") -> Evidence:
        """The original of that log as tables of evidence, counted once."""
        if (preset, counts) not in self._originals:
            self._originals[preset, counts] = Evidence.of_log(self.log(preset), counts)
        return self._originals[preset, counts]

    def some(self, log: SearchLog, name: str, where: str) -> SearchLog:
        """Some rows of a log, as a log: `where` is SQL over its columns."""
        if name not in self._logs:
            rows = log.engine.fetch(f'SELECT uid AS "user", "time", query, "rank", url FROM log WHERE {where}')
            path = self.folder / f"{name}.parquet"
            pq.write_table(rows, path)
            self._logs[name] = self._open(path)
        return self._logs[name]

    def training(self, preset: str, parts: int, test: int) -> SearchLog:
        """The users outside one part of the split that `hubbub.worth.tasks` makes with this draw's seed."""
        name = f"{preset}-without-{test}-of-{parts}"
        return self.some(self.log(preset), name, f"{part(self.seed, parts)} <> {test}")

    def run(self, log: SearchLog, name: str, settings: Settings, **context: object) -> Evidence:
        """A mechanism's tables of a log, with this draw's noise."""
        return next(self.sweep(log, name, [settings], **context))

    def sweep(self, log: SearchLog, name: str, settings: Sequence[Settings], **context: object) -> Iterator[Evidence]:
        """Tables for several settings that bound users alike: the log is measured once, and noise drawn for each."""
        mechanisms = [build(name, dict(each), **context) for each in settings]
        if any(each.bounds() != mechanisms[0].bounds() for each in mechanisms):
            raise OurBug(f"{name}: these settings do not limit users alike")
        measured = mechanisms[0].measure(log, RunMode(SeededNoise(self.seed).secret("bounding")))
        for each in mechanisms:
            released = each.draw(measured, SeededNoise(self.seed))
            yield Evidence.of_tables(
                {
                    table: as_lists(named_rows(log, each, table, measured, released), each.offers[table])
                    for table in each.tables
                },
                each.value_column,
            )

    @cached_property
    def pool(self) -> QueryPool:
        """A public pool: the canonical text of the thousand most popular needs of the log's world."""
        ranks = np.arange(1, POOL + 1)
        texts = pa.chunked_array([queries(World(self.seed, "aol", SYLLABIC), ranks, np.zeros_like(ranks))])
        rows = pa.table({"query": texts.unique().cast(pa.string())}).sort_by("query")
        return QueryPool("popular", rows, "", rows.num_rows, "the synthetic log's own world")

    def _open(self, path: Path) -> SearchLog:
        return self._opened.enter_context(read_log(path, format="table", threads=self.threads, work=self.folder))

    def close(self) -> None:
        """Close every log of this draw and remove its files."""
        self._originals.clear()
        self._logs.clear()
        self.__dict__.pop("fivefold", None)
        self._opened.close()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()


POOL = 1000
FIVEFOLD = 5


def counted(log: SearchLog, keys: Keys, rows: str) -> pa.Table:
    """Users of each key among some rows of the log, `rows` naming them; as a table of evidence."""
    keys.ready(log)
    held = keys.distinct(rows)
    return log.engine.fetch(
        f"SELECT {keys.list()}, count(*) AS n FROM ({held}) AS held GROUP BY {keys.list()} "
        f"ORDER BY n DESC, {keys.list()}"
    )
