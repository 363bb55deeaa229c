"""One run of a series: pools, rounds, release, counts; each a commit, so that a killed run goes on where it was.

read     the period's records → new users, keys, pairs; noise of earlier rounds for new keys            stage 0
round j  scores and spending from what is kept → sums with noise, kept with what users have left          stage j
open     which queries are out; pools of clicks and transitions, which rest on it; then rounds of theirs   and so on
publish  tests, counts, tables, card and page, kept as bytes                                              idle again
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.mechanisms.series.constants import STEPS
from hubbub.mechanisms.series.rounds import SeriesPools, SeriesRound, late, passing, play
from hubbub.mechanisms.series.tables import TABLE
from hubbub.release.rows import rows_with
from hubbub.series import arrays
from hubbub.series.arrays import Purses, flagged
from hubbub.series.further import FurtherRecords, KeywordRecords
from hubbub.series.kept import KeptTable
from hubbub.series.placed import drawn_place
from hubbub.series.publish import ReleasedKeys, rows, write_period
from hubbub.series.records import EngineSeriesPools, SeriesRecords
from hubbub.series.state import IDLE, StateFolder

if TYPE_CHECKING:
    from pathlib import Path

    from hubbub.card.facts import Facts
    from hubbub.engines import Engine
    from hubbub.mechanisms.series import Series
    from hubbub.noise import NoiseSource
    from hubbub.privacy.ledger import Output
    from hubbub.public.screening import Screen
    from hubbub.steps.counts import Integers

ROUNDS = len(STEPS)


class SeriesRun:
    """The run that is under way, or about to begin, in an engine."""

    def __init__(self, series: Series, folder: StateFolder, engine: Engine, noise: NoiseSource, secret: bytes) -> None:
        self.series, self.folder, self.engine, self.noise, self.secret = series, folder, engine, noise, secret
        self.t = folder.state.run
        self.kept = {table: KeptTable(folder, self.t, table) for table in series.tables}
        self.queries = self.kept[TABLE]
        self.further = [table for table in series.table_constants if table != TABLE]

    # -------------------------------------------------------------- reading a period

    def records(self) -> SeriesRecords:
        """What earlier runs kept, and this one so far."""
        return SeriesRecords(self.engine, self.folder.path, self.folder.state.files, self.secret)

    def _further(self, table: str) -> FurtherRecords:
        kind = FurtherRecords if table in self.further else KeywordRecords
        return kind(self.engine, self.folder.path, self.folder.state.files, self.secret, table)

    def read(self, period: int, about: dict[str, object]) -> None:
        """The records of a period, and noise for queries that are new: the first commit of a run."""
        state, t, plan = self.folder.state, self.t, self.series.constants
        names, keys = self._listed() if not t else ([], state.keys)
        files = [*state.files, *names]
        records = SeriesRecords(self.engine, self.folder.path, files, self.secret)
        records.read(t, state.users, keys, plan.limit, self.queries.out()[0])
        names += records.write(t, self.folder.path)
        for table in self.further:
            names += self._further(table).read(t, records.unerased())
        seen = self.engine.fetch("SELECT DISTINCT kid FROM series_new_pool").column("kid").to_numpy()
        if plan.listed and not t:
            seen = np.union1d(seen, np.arange(plan.listed))  # a listed query may always be released
        names.append(self.queries.write("seen", {"kid": seen}))
        new_users, keys = records.added("users"), keys + records.added("keys")
        arrays.refuse_too_large(state.users + new_users, keys)
        names.append(self._gathered_with(TABLE, keys - state.keys))
        gone = self.queries.named("past", "sums")
        for table, kept in self.kept.items():
            purses = kept.purses().joined(self._full(table, new_users))
            names.append(arrays.write_purses(kept.path("purses"), purses))
            gone += kept.named("purses")
        state = replace(
            state,
            stage=0,
            periods=(*state.periods, period),
            users=state.users + new_users,
            keys=keys,
            about=about,
        )
        self.folder.commit(state, names, gone)

    def _listed(self) -> tuple[list[str], int]:
        """Write the queries of a public list as the first keys: the file, and how many there are."""
        known = self.series.known_queries
        if known is None:
            return [], 0
        name = "keys-list.parquet"
        pq.write_table(
            known.rows.select(["query"]).add_column(0, "kid", pa.array(range(known.size))), self.folder.file(name)
        )
        return [name], known.size

    def _full(self, table: str, users: int) -> Purses:
        """What new users have for a table."""
        plan, counts = self.series.table_constants.get(table), self.series.table_counts.get(table)
        most = (0, 0) if counts is None else (counts.budget, counts.entries)
        return Purses.full(users, 0 if plan is None else plan.budget, *most)

    def _gathered_with(self, table: str, new: int) -> str:
        """Write what keys of a table have gathered in earlier runs, with so many new ones: the file."""
        kept, plan = self.kept[table], self.series.table_constants[table]
        fresh = late(plan, self.t, new, self.noise)
        gathered = kept.gathered().next_run().joined(fresh) if kept.paths("past") else fresh
        return kept.write_past(gathered)

    # -------------------------------------------------------------- rounds

    def rounds(self) -> None:
        """Every round that is not kept yet: of the queries, then of what hangs on them."""
        if self.folder.state.stage <= ROUNDS:
            self._rounds(TABLE, 0)
        if self.further and self.folder.state.stage == ROUNDS:
            self._open()
        for n, table in enumerate(self.further):
            self._rounds(table, ROUNDS + 1 + n * ROUNDS)

    def _rounds(self, table: str, start: int) -> None:
        """The rounds of a table that are not kept yet; its first follows the commit of this stage."""
        state, t, kept, plan = self.folder.state, self.t, self.kept[table], self.series.table_constants[table]
        done = state.stage - start
        if done >= ROUNDS:
            return
        self.records()
        out, gathered, purses = kept.out()[0], kept.gathered(), kept.purses()
        size = gathered.now.size
        pools = self._pools(table, size, out)
        for j in range(done, ROUNDS):
            before = SeriesRound(gathered, purses.selection)
            after = play(plan, t, j, pools, before, flagged([out], size), self.noise)
            gathered, purses = after.gathered, replace(purses, selection=after.left)
            names = [
                kept.write("sums", {arrays.NOW: gathered.now}, j),
                arrays.write_purses(kept.path("purses", j), purses),
            ]
            self.folder.commit(
                replace(self.folder.state, stage=start + j + 1), names, gone=kept.named("purses", "sums")
            )

    def _pools(self, table: str, size: int, out: Integers) -> SeriesPools:
        """Where the pools of a table lie: with the workers of an engine that has some, else here."""
        if not self.engine.distributed:
            return self.kept[table].pools(self.folder.state.users, size)
        pool = "series_pool" if table == TABLE else self._further(table).pool
        return EngineSeriesPools(self.engine, self.t, self.folder.state.users, size, out, pool)

    def _open(self) -> None:
        """Keep which queries are out, and fill the pools of what is made of them, with noise for its new keys."""
        ids, _, names = self._released(TABLE)
        texts = self.records().texts(ids)
        self.engine.register(
            "series_out_queries", pa.table({"query": pa.array([text for (text,) in texts.values()], pa.string())})
        )
        gone: list[str] = []
        for table in self.further:
            kept = self.kept[table]
            size = kept.gathered().now.size if kept.paths("past") else 0
            limit = self.series.table_constants[table].limit
            files, new = self._further(table).fill(self.t, limit, size, kept.out()[0])
            names += [*files, self._gathered_with(table, new)]
            gone += kept.named("past", "sums")
        self.folder.commit(replace(self.folder.state, stage=ROUNDS + 1), names, gone)

    # -------------------------------------------------------------- release and counts

    def _released(self, table: str) -> tuple[Integers, Integers, list[str]]:
        """Keys that are out after this run, the runs they came out in, and the file that is not kept yet."""
        kept, t = self.kept[table], self.t
        out, runs = kept.out()
        if any(run == t for run, _ in kept.by_run("out")):
            return out, runs, []
        gathered = kept.gathered()
        passed = passing(self.series.table_constants[table], t, gathered) & ~flagged([out], gathered.now.size)
        if table == TABLE:  # of other tables, no key has an id that was not seen
            passed &= flagged(kept.seen(), gathered.now.size)
        new = np.flatnonzero(passed)
        written = kept.write("out", {"kid": new})
        return np.concatenate([out, new]), np.concatenate([runs, np.full(new.size, t, np.int64)]), [written]

    def publish(
        self, facts: Facts, outputs: Callable[[Path], Mapping[str, Output]], screen: Screen | None = None
    ) -> None:
        """Test, count, and keep the period's public files as bytes; `outputs` says what the ledger keeps of them."""
        state, t = self.folder.state, self.t
        labels = {run: self.series.calendar.label(n) for run, n in enumerate(state.periods)}
        records = self.records()
        tables: dict[str, pa.Table] = {}
        names: list[str] = []
        for table in self.kept:
            kept = records if table == TABLE else self._further(table)
            if isinstance(kept, KeywordRecords):
                ids, runs, files = self._words(kept, tables[TABLE].column("query").combine_chunks())
            else:
                ids, runs, files = self._released(table)
            released, counted = self._numbers(table, kept, ids, runs)
            names += [*files, *counted]
            tables[table] = rows(self.series, table, released, kept.texts(ids), labels)
        if screen is not None:  # a word or a listed query may be what no record may be
            tables = {name: table.filter(pa.array(~rows_with(table, screen.hits))) for name, table in tables.items()}
        place = drawn_place(t)
        write_period(self.folder.path / place, self.series, tables, facts)
        names += [f"{place}/{path.name}" for path in sorted((self.folder.path / place).iterdir())]
        ended = replace(state, run=t + 1, stage=IDLE, about={})
        gone = [name for kept in self.kept.values() for name in kept.named("purses", "now")]
        self.folder.commit(ended, names, gone, drawn=outputs(self.folder.path / place))

    def _words(self, records: KeywordRecords, queries: pa.Array) -> tuple[Integers, Integers, list[str]]:
        """The words of released queries: all are out, those that are new since this run."""
        kept = self.kept[records.table]
        out, runs = kept.out()
        files, new = records.named(self.t, queries)
        runs = np.concatenate([runs, np.full(new.size, self.t, np.int64)])
        return np.concatenate([out, new]), runs, [*files, kept.write("out", {"kid": new})]

    def _numbers(
        self, table: str, records: SeriesRecords | FurtherRecords, ids: Integers, runs: Integers
    ) -> tuple[ReleasedKeys, list[str]]:
        """The noisy numbers of released keys, and the files with what was drawn and what users have left."""
        kept, counts, t = self.kept[table], self.series.table_counts.get(table), self.t
        purses, end = kept.purses(), kept.path("purses", "end")
        if counts is None:
            return ReleasedKeys(ids, runs, {}, {}), [arrays.write_purses(end, purses)]
        self.engine.register("series_due", pa.table({"kid": ids, "came": runs}))
        held, now = records.held(t)
        pairs = "SELECT h.person AS person, h.kid AS kid FROM ({}) AS h JOIN series_due AS o ON h.kid = o.kid"
        due = pairs.format(held) + f" WHERE greatest(h.first, o.came) = {t}"  # out and held, and one of both is new
        of = "" if table == TABLE else f"{table} "
        x, paid = _counted(records, due, purses.to_date // counts.price(t), ids)
        y = kept.mixed(ids, x, counts.column)
        y += self.noise.gaussian(f"{of}run {t} to date", counts.to_date_variance, ids.size)
        z, entries = _counted(records, pairs.format(now), purses.in_period, ids)
        z += self.noise.gaussian(f"{of}run {t} in period", counts.in_period_variance, ids.size)
        left = replace(purses, to_date=purses.to_date - paid * counts.price(t), in_period=purses.in_period - entries)
        to_date = kept.measured() | {t: dict(zip(ids.tolist(), y.tolist(), strict=True))}
        in_period = dict(zip(ids.tolist(), z.tolist(), strict=True))
        names = [kept.write("counted", {"kid": ids, "x": x, "y": y}), arrays.write_purses(end, left)]
        return ReleasedKeys(ids, runs, to_date, in_period), names


def _counted(
    records: SeriesRecords | FurtherRecords, pairs: str, allowed: Integers, ids: Integers
) -> tuple[Integers, Integers]:
    """Users of each released key, and keys of each user, within what she has left."""
    by_key, by_user = records.counted(pairs, allowed)
    counted = np.zeros(int(ids.max(initial=-1)) + 1, np.int64)
    paid = np.zeros(allowed.size, np.int64)
    counted[by_key.column("kid").to_numpy()] = by_key.column("n").to_numpy()
    paid[by_user.column("person").to_numpy()] = by_user.column("n").to_numpy()
    return counted[ids], paid
