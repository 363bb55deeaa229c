"""The stages after the first: each looks only at keys that the earlier ones released.

    queries → clicks (open)                        a new click must pass a test that pays δ
            → transitions (closed: S × S)          every pair of released queries is tested, held or not
                → sequences of 3, then 4 (closed)  all joins of released shorter ones
            → keywords (closed: the words of S)    counted, nothing to select

What each stage asks of the log is a `Later` on the engine; the chain itself is the same for any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.engines import Engine
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Released
from hubbub.mechanisms.crowd.calibrate import Stage, closed
from hubbub.mechanisms.crowd.combine import Counted, alone, combine, enough
from hubbub.mechanisms.crowd.recount import recount, recount_all
from hubbub.mechanisms.rounds import Known, Selected, select
from hubbub.noise import NoiseSource
from hubbub.steps import chosen
from hubbub.steps.counts import Integers, texts
from hubbub.steps.holdings import Holdings
from hubbub.steps.keys import Keys
from hubbub.steps.mode import RunMode
from hubbub.steps.pools import EnginePools, Pools, fixed
from hubbub.steps.sessions import SEPARATOR


@dataclass(frozen=True)
class Domain:
    """Keys known without the log, by code: how many there are, and the text of any."""

    size: int
    rows: Callable[[Integers], pa.Table]
    table: str = ""
    """The engine's table of their texts, where the stage has other keys besides: a public list."""

    def known(self, pools: EnginePools, stage: Stage, false: Fraction) -> Known:
        """Thresholds by the size of the domain, which is public; present or absent decides nothing."""
        plan = closed(stage.rounds, self.size, false)
        return Known(plan, self.size, lambda codes: pools.holds(self.rows(codes)), self.table)

    def select(self, pools: EnginePools, stage: Stage, noise: NoiseSource, false: Fraction) -> Selected:
        """The rounds; keys that pass and that nobody holds are adopted."""
        found = select(pools, stage.rounds, noise, stage.name, self.known(pools, stage, false))
        pools.adopt(self.rows(found.absent))
        return found


def count(pools: Pools, stage: Stage, found: Selected, noise: NoiseSource, *, few: bool = False) -> Released:
    """Counts of released keys. A later table with too few of them has none: its small share buys mostly noise."""
    if stage.recount is None:
        return Released(found.ids, None, None)
    counted = recount(pools, found, stage.rounds, stage.recount, noise, stage.name)
    if not few and not enough(found.ids.size):
        return Released(found.ids, None, None)
    result: Counted = combine(found, stage.rounds, counted)
    return Released(found.ids, result.users, result.noise_sd)


def at_most(child: Released, parent: Released, places: Integers) -> Released:
    """No key has more users than what it is made of, as far as that has counts."""
    if child.values is None or parent.values is None:
        return child
    return replace(child, values=np.minimum(child.values, parent.values[places]))


def places(texts: pa.ChunkedArray, among: pa.ChunkedArray) -> Integers:
    """Where texts stand among others; all of them do."""
    found: Integers = pc.index_in(texts, value_set=among).to_numpy()
    return found


def by_value(released: Released, texts: Sequence[tuple[str, ...]]) -> Integers:
    """Places by released value, then by text: never by id, which knows more than what was released."""
    values = [0] * len(texts) if released.values is None else released.values.tolist()
    return np.array(sorted(range(len(texts)), key=lambda i: (-values[i], texts[i])), np.int64)


@dataclass
class Later:
    """A later table on the engine: its keys have names only once earlier stages are through."""

    keys: str = ""

    def text(self, engine: Engine, kind: Keys, ids: Integers) -> pa.Table:
        """The text of released keys, in the order of `ids`."""
        return texts(engine, self.keys, kind, ids)


@dataclass
class Chain:
    """What later stages may ask of the log."""

    log: SearchLog
    mode: RunMode
    tables: dict[str, Later] = field(default_factory=dict)
    """Where the text of a released table's keys stands, by table."""
    texts: dict[str, pa.Table] = field(default_factory=dict)
    """Released keys of a stage, by place."""
    click_keys: Keys = chosen.CHOSEN_CLICKS

    def choose(self, pools: Holdings, found: Selected) -> None:
        """From here on these queries are public."""
        self.log.engine.register("chosen_queries", self._texts(pools, found))

    def _texts(self, pools: Holdings, selected: Selected) -> pa.Table:
        """The text of released keys, in the order of their ids here; kept for the stages that follow."""
        kind, ids = pools.kind, selected.ids
        self.texts[kind.name] = found = texts(self.log.engine, pools.keys, kind, ids)
        return found

    def named(self, kind: Keys, ids: Integers) -> pa.Table:
        """The text of released keys."""
        if kind.name in self.texts:
            return self.texts[kind.name]
        return texts(self.log.engine, self.tables[kind.name].keys, kind, ids)

    def _pools(self, kind: Keys, stage: Stage) -> EnginePools:
        return fixed(self.log, kind, stage.rounds.limit, stage.rounds.bits, self.mode)

    # ------------------------------------------------------------------ one stage after another

    def clicks(self, stage: Stage, queries: Released, noise: NoiseSource) -> Released:
        """Clicks on released queries."""
        pools = self._pools(self.click_keys, stage)
        found = select(pools, stage.rounds, noise, stage.name)
        released = count(pools, stage, found, noise)
        self.tables["clicks"].keys = pools.keys
        asked = self._texts(pools, found).column("query")
        return at_most(released, queries, places(asked, self.texts["queries"].column("query")))

    def transitions(
        self, stage: Stage, queries: Released, noise: NoiseSource, false: Fraction, *, longest: int
    ) -> Released:
        """Steps between two different released queries, over all ordered pairs of them."""
        chosen.walk(self.log, longest)
        pools = self._pools(chosen.CHOSEN_TRANSITIONS, stage)
        asked, n = self.texts["queries"].column("query"), queries.ids.size

        def rows(codes: Integers) -> pa.Table:
            first, second = np.divmod(codes, max(1, n - 1))
            second += second >= first  # no diagonal
            return pa.table({"query": asked.take(first), "next_query": asked.take(second)})

        found = Domain(n * (n - 1), rows).select(pools, stage, noise, false)
        released = count(pools, stage, found, noise)
        for ends in self._texts(pools, found).itercolumns():
            released = at_most(released, queries, places(ends, asked))
        self.tables["transitions"].keys = pools.keys
        return released

    def sequences(
        self, stage: Stage, length: int, shorter: Released, noise: NoiseSource, false: Fraction
    ) -> tuple[Holdings, Released]:
        """Runs of `length` queries, over all joins of released shorter ones."""
        if length == 3:
            texts = self.texts["transitions"]
            heads: list[tuple[str, ...]] = list(
                zip(texts.column("query").to_pylist(), texts.column("next_query").to_pylist(), strict=True)
            )
        else:
            texts = self.texts[f"sequences_{length - 1}"]
            heads = [tuple(t.split(SEPARATOR)) for t in texts.column("queries").to_pylist()]
        order = by_value(shorter, heads)
        heads = [heads[i] for i in order]
        joined, parents = chosen.joins(heads[: chosen.joinable(heads)])  # the most frequent, if all would be too many
        table = pa.table({"queries": pa.array(joined, pa.string())})
        self.log.engine.register(f"joined_{length}", table)
        pools = self._pools(chosen.sequences(length), stage)
        found = Domain(len(joined), table.take).select(pools, stage, noise, false)
        released = count(pools, stage, found, noise, few=True)
        codes = places(self._texts(pools, found).column("queries"), table.column("queries"))
        for parent in order[parents[codes]].T:
            released = at_most(released, shorter, parent)
        return pools, released

    def sessions(self, levels: list[tuple[Holdings, Released]]) -> Released:
        """All lengths as one table; it has counts if there are enough of them together."""
        sql, shift, shifts = [], 0, []
        for pools, _ in levels:
            sql.append(f"SELECT kid + {shift} AS kid, queries FROM {pools.keys}")
            shifts.append(shift)
            shift += pools.size
        self.log.engine.view("all_sessions", " UNION ALL ".join(sql))
        self.tables["sessions"].keys = "all_sessions"
        ids = np.concatenate([released.ids + by for (_, released), by in zip(levels, shifts, strict=True)])
        values = [released.values for _, released in levels if released.values is not None]
        spreads = [np.broadcast_to(r.noise_sd, r.ids.size) for _, r in levels if r.noise_sd is not None]
        if not enough(ids.size) or len(values) < len(levels):
            return Released(ids, None, None)
        return Released(ids, np.concatenate(values), np.concatenate(spreads))

    def keywords(self, stage: Stage, noise: NoiseSource) -> Released:
        """The words of released queries, counted over everything users searched."""
        words = chosen.words_of(self.texts["queries"].column("query").combine_chunks())
        held = chosen.hold_words(self.log, words)
        counted = recount_all(held, stage, noise)
        self.tables["keywords"].keys = held.keys
        result = alone(counted)
        return Released(np.arange(held.size), result.users, result.noise_sd)
