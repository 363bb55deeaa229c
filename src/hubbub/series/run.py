"""One run of a series: pools, rounds, release, counts; each a commit, so that a killed run goes on where it was.

read     the period's records → new users, keys, pairs; noise of earlier rounds for new keys     stage 0
round j  scores and spending from what is kept → sums with noise, kept with what users have left   stage j
publish  tests, counts, tables, card and page, kept as bytes                                       idle again
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.mechanisms.series.constants import SeriesConstants
from hubbub.mechanisms.series.rounds import SeriesPools, SeriesRound, SeriesSums, late, passing, play
from hubbub.series import arrays
from hubbub.series.arrays import Purses, flagged
from hubbub.series.kept import KeptTable
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
    from hubbub.steps.counts import Integers


class SeriesRun:
    """The run that is under way, or about to begin, in an engine."""

    def __init__(self, series: Series, folder: StateFolder, engine: Engine, noise: NoiseSource, secret: bytes) -> None:
        self.series, self.folder, self.engine, self.noise, self.secret = series, folder, engine, noise, secret
        self.plan: SeriesConstants = series.constants
        self.t = folder.state.run
        self.kept = KeptTable(folder, self.t)

    # -------------------------------------------------------------- reading a period

    def records(self) -> SeriesRecords:
        """What earlier runs kept, and this one so far."""
        return SeriesRecords(self.engine, self.folder.path, self.folder.state.files, self.secret)

    def read(self, period: int, about: dict[str, object]) -> None:
        """The records of a period, and noise for keys that are new: the first commit of a run."""
        state, t = self.folder.state, self.t
        records = self.records()
        out = self.kept.out()[0]
        records.read(t, state.users, state.keys, self.plan.limit, out)
        names = records.write(t, self.folder.path)
        seen = self.engine.fetch("SELECT DISTINCT kid FROM series_new_pool").column("kid").to_numpy()
        names.append(self.kept.write("seen", {"kid": seen}))
        new_users, new_keys = records.added("users"), records.added("keys")
        gathered = self.kept.gathered().next_run() if t else SeriesSums.nothing(0)
        gathered = gathered.joined(late(self.plan, t, new_keys, self.noise))
        names.append(self.kept.write_past(gathered))
        counts = self.series.counts
        most = (0, 0) if counts is None else (counts.budget, counts.entries)
        purses = self.kept.purses().joined(Purses.full(new_users, self.plan.budget, *most))
        names.append(arrays.write_purses(self.kept.path("purses"), purses))
        state = replace(
            state,
            stage=0,
            periods=(*state.periods, period),
            users=state.users + new_users,
            keys=state.keys + new_keys,
            about=about,
        )
        self.folder.commit(state, names, gone=self.kept.named("past", "purses", "sums"))

    # -------------------------------------------------------------- rounds

    def rounds(self) -> None:
        """Every round that is not kept yet."""
        state, t = self.folder.state, self.t
        if state.stage == len(self.plan.multiples(t)):
            return
        self.records()
        out = self.kept.out()[0]
        pools: SeriesPools = self.kept.pools(state.users, state.keys)
        if self.engine.distributed:
            pools = EngineSeriesPools(self.engine, t, state.users, state.keys, out)
        purses, gathered = self.kept.purses(), self.kept.gathered()
        for j in range(state.stage, len(self.plan.multiples(t))):
            before = SeriesRound(gathered, purses.selection)
            after = play(self.plan, t, j, pools, before, flagged([out], state.keys), self.noise)
            gathered, purses = after.gathered, replace(purses, selection=after.left)
            names = [
                self.kept.write("sums", {arrays.NOW: gathered.now}, j),
                arrays.write_purses(self.kept.path("purses", j), purses),
            ]
            self.folder.commit(replace(self.folder.state, stage=j + 1), names, gone=self.kept.named("purses", "sums"))

    # -------------------------------------------------------------- release and counts

    def publish(self, facts: Facts, outputs: Callable[[Path], Mapping[str, Output]]) -> None:
        """Test, count, and keep the period's public files as bytes; `outputs` says what the ledger keeps of them."""
        state, t, counts = self.folder.state, self.t, self.series.counts
        records = self.records()
        out, runs = self.kept.out()
        seen = flagged(self.kept.seen(), state.keys)
        passed = passing(self.plan, t, self.kept.gathered()) & seen & ~flagged([out], state.keys)
        new = np.flatnonzero(passed)
        ids, runs = np.concatenate([out, new]), np.concatenate([runs, np.full(new.size, t, np.int64)])
        names = [self.kept.write("out", {"kid": new})]
        to_date: dict[int, dict[int, int]] = {}
        in_period: dict[int, int] = {}
        if counts is not None:
            purses = self.kept.purses()
            x, paid = self._counted(records, self._due(ids, runs), purses.to_date // counts.price(t), ids)
            y = self.kept.mixed(ids, x, counts.column, state.keys)
            y += self.noise.gaussian(f"run {t} to date", counts.to_date_variance, ids.size)
            names.append(self.kept.write("counted", {"kid": ids, "x": x, "y": y}))
            here = "series_now_kept AS n JOIN series_due AS o ON n.kid = o.kid"
            held = f"SELECT n.person AS person, n.kid AS kid FROM {here}"
            z, entries = self._counted(records, held, purses.in_period, ids)
            z += self.noise.gaussian(f"run {t} in period", counts.in_period_variance, ids.size)
            in_period = dict(zip(ids.tolist(), z.tolist(), strict=True))
            to_date = self.kept.measured() | {t: dict(zip(ids.tolist(), y.tolist(), strict=True))}
            left = replace(
                purses, to_date=purses.to_date - paid * counts.price(t), in_period=purses.in_period - entries
            )
            names.append(arrays.write_purses(self.kept.path("purses", "end"), left))
        else:
            names.append(arrays.write_purses(self.kept.path("purses", "end"), self.kept.purses()))
        labels = {run: self.series.calendar.label(n) for run, n in enumerate(state.periods)}
        table = rows(self.series, ReleasedKeys(ids, runs, to_date, in_period), records.texts(ids), labels)
        place = f"published-{t:03}"
        write_period(self.folder.path / place, self.series, table, facts)
        names += [f"{place}/{path.name}" for path in sorted((self.folder.path / place).iterdir())]
        ended = replace(state, run=t + 1, stage=IDLE, about={})
        gone = [*self.kept.named("purses"), f"now-{t:03}.parquet"]
        self.folder.commit(ended, names, gone, drawn=outputs(self.folder.path / place))

    def _due(self, ids: Integers, runs: Integers) -> str:
        """Pairs that are counted to date in this run: the key is out and she has held it, and one of both is new."""
        self.engine.register("series_due", pa.table({"kid": ids, "came": runs}))
        self.engine.scan("series_now_kept", self.folder.path / f"now-{self.t:03}.parquet")
        return (
            "SELECT h.person AS person, h.kid AS kid FROM series_held AS h JOIN series_due AS o ON h.kid = o.kid "
            f"WHERE greatest(h.first, o.came) = {self.t}"
        )

    def _counted(
        self, records: SeriesRecords, pairs: str, allowed: Integers, ids: Integers
    ) -> tuple[Integers, Integers]:
        """Users of each released key, and keys of each user, within what she has left."""
        by_key, by_user = records.counted(pairs, allowed)
        counted, paid = np.zeros(self.folder.state.keys, np.int64), np.zeros(allowed.size, np.int64)
        counted[by_key.column("kid").to_numpy()] = by_key.column("n").to_numpy()
        paid[by_user.column("person").to_numpy()] = by_user.column("n").to_numpy()
        return counted[ids], paid
