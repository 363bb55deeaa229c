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

from hubbub.log import SearchLog
from hubbub.mechanisms.base import Released
from hubbub.mechanisms.crowd.calibrate import Stage, closed
from hubbub.mechanisms.crowd.combine import FEWEST, Counted, alone, combine
from hubbub.mechanisms.crowd.recount import recount, recount_all
from hubbub.mechanisms.rounds import Known, Selected, select
from hubbub.noise import NoiseSource
from hubbub.steps import chosen
from hubbub.steps.count import Counts, Integers, names
from hubbub.steps.holdings import Holdings
from hubbub.steps.keys import Keys
from hubbub.steps.pools import EnginePools, Pools
from hubbub.steps.sessions import SEPARATOR


def missing(present: Integers, ranks: Integers) -> Integers:
    """The numbers of these ranks among those that are not in `present` (sorted, from 0)."""
    return ranks + np.searchsorted(present - np.arange(present.size), ranks, side="right")


@dataclass(frozen=True)
class Domain:
    """A closed domain: how many keys, which of them stand in pools, and the text of any."""

    size: int
    present: Integers
    """Codes of the pools' keys, by id."""
    rows: Callable[[Integers], pa.Table]

    def known(self, stage: Stage, false: Fraction) -> Known:
        """Thresholds by the size of the domain, which is public; present or absent decides nothing."""
        return Known(closed(stage.rounds, self.size, false), self.size - self.present.size)

    def codes(self, found: Selected) -> Integers:
        """Codes of released keys: those of pools first, then those of nobody."""
        held = found.ids[: found.ids.size - found.absent.size]
        return np.concatenate([self.present[held], missing(np.sort(self.present), found.absent)])


LISTED = "public_list"
"""The engine's table of queries known beforehand."""


@dataclass(frozen=True)
class Listed:
    """Queries known without the log, inside the open stage: tested by thresholds of their own, held or not."""

    rows: pa.Table
    false: Fraction

    def register(self, log: SearchLog) -> None:
        """Make the list readable before pools are filled from it."""
        log.engine.register(LISTED, self.rows.append_column("place", pa.array(np.arange(self.rows.num_rows))))

    def select(self, pools: EnginePools, stage: Stage, noise: NoiseSource) -> Selected:
        """The rounds, with keys of the list that nobody holds adopted if they pass."""
        engine = pools.log.engine
        found = engine.fetch(
            f"SELECT k.kid AS kid, l.place AS place FROM {pools.keys} AS k JOIN {LISTED} AS l ON k.query = l.query"
        )
        members = np.zeros(pools.size, bool)
        members[found.column("kid").to_numpy()] = True
        places = np.sort(found.column("place").to_numpy())
        size = self.rows.num_rows
        known = Known(closed(stage.rounds, size, self.false), size - places.size, members)
        chosen_ones = select(pools, stage.rounds, noise, stage.name, known)
        pools.adopt(self.rows.take(missing(places, chosen_ones.absent)))
        return chosen_ones


def count(pools: Pools, stage: Stage, found: Selected, noise: NoiseSource, fewest: int = FEWEST) -> Released:
    """Counts of released keys. A later table with too few of them has none: its small share buys mostly noise."""
    if stage.recount is None:
        return Released(found.ids, None, None)
    counted = recount(pools, found, stage.rounds, stage.recount, noise, stage.name)
    if found.ids.size < fewest:
        return Released(found.ids, None, None)
    result: Counted = combine(found, stage.rounds, counted)
    return Released(found.ids, result.users, result.noise_sd)


def at_most(child: Released, parent: Released, places: Integers) -> Released:
    """No key has more users than what it is made of, as far as that has counts."""
    if child.values is None or parent.values is None:
        return child
    return replace(child, values=np.minimum(child.values, parent.values[places]))


def by_value(released: Released, texts: Sequence[tuple[str, ...]]) -> Integers:
    """Places by released value, then by text: never by id, which knows more than what was released."""
    values = [0] * len(texts) if released.values is None else released.values.tolist()
    return np.array(sorted(range(len(texts)), key=lambda i: (-values[i], texts[i])), np.int64)


@dataclass
class Later:
    """A later table on the engine: its keys have names only once earlier stages are through."""

    keys: str = ""


@dataclass
class Chain:
    """What later stages may ask of the log."""

    log: SearchLog
    secret: bytes
    tables: dict[str, Later] = field(default_factory=dict)
    """Where the text of a released table's keys stands, by table."""
    texts: dict[str, pa.Table] = field(default_factory=dict)
    """Released keys of a stage, by place."""
    click_keys: Keys = chosen.CHOSEN_CLICKS

    def choose(self, pools: Holdings, found: Selected) -> None:
        """From here on these keys are public."""
        self.texts[pools.kind.name] = chosen.choose(self.log, pools, found.ids)

    def named(self, kind: Keys, ids: Integers) -> pa.Table:
        """The text of released keys."""
        if kind.name in self.texts:
            return self.texts[kind.name].select(kind.columns)
        return names(self.log, Counts(ids, self.tables[kind.name].keys), kind, ids)

    def _pools(self, kind: Keys, stage: Stage) -> EnginePools:
        return EnginePools(self.log, kind, stage.rounds.limit, stage.rounds.bits, self.secret)

    def _numbers(self, sql: str, size: int, columns: tuple[str, ...]) -> list[Integers]:
        rows = self.log.engine.fetch(sql)
        at = rows.column("kid").to_numpy()
        found = []
        for column in columns:
            values = np.zeros(size, np.int64)
            values[at] = rows.column(column).to_numpy()
            found.append(values)
        return found

    def _places(self, sql: str, ids: Integers) -> Integers:
        """A number of each released key (ids sorted), and of no other."""
        self.log.engine.register("found_keys", pa.table({"kid": ids}))
        rows = self.log.engine.fetch(
            f"SELECT n.kid AS kid, n.a AS a FROM ({sql}) AS n JOIN found_keys AS f ON n.kid = f.kid"
        )
        places = np.zeros(ids.size, np.int64)
        places[np.searchsorted(ids, rows.column("kid").to_numpy())] = rows.column("a").to_numpy()
        return places

    # ------------------------------------------------------------------ one stage after another

    def clicks(self, stage: Stage, queries: Released, noise: NoiseSource) -> Released:
        """Clicks on released queries."""
        pools = self._pools(self.click_keys, stage)
        found = select(pools, stage.rounds, noise, stage.name)
        released = count(pools, stage, found, noise)
        self.tables["clicks"].keys = pools.keys
        return at_most(released, queries, self._places(chosen.click_parents(pools.keys), found.ids))

    def transitions(
        self, stage: Stage, queries: Released, noise: NoiseSource, false: Fraction, *, longest: int
    ) -> Released:
        """Steps between two different released queries, over all ordered pairs of them."""
        chosen.walk(self.log, longest)
        pools = self._pools(chosen.CHOSEN_TRANSITIONS, stage)
        n = queries.ids.size
        a, b = self._numbers(chosen.transition_codes(pools.keys), pools.size, ("a", "b"))
        names = self.texts["queries"].column("query")

        def rows(codes: Integers) -> pa.Table:
            first, second = codes // max(1, n - 1), codes % max(1, n - 1)
            second = second + (second >= first)  # no diagonal
            return pa.table({"query": names.take(first), "next_query": names.take(second)})

        domain = Domain(n * (n - 1), a * (n - 1) + b - (b > a), rows)
        found = self._closed(pools, stage, domain, noise, false)
        released = count(pools, stage, found, noise)
        codes = domain.codes(found)
        first, second = codes // max(1, n - 1), codes % max(1, n - 1)
        released = at_most(at_most(released, queries, first), queries, second + (second >= first))
        self.choose(pools, found)
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
        parents = order[parents]
        table = pa.table({"queries": pa.array(joined, pa.string()), "place": np.arange(len(joined))})
        self.log.engine.register(f"joined_{length}", table)
        pools = self._pools(chosen.sequences(length), stage)
        (codes,) = self._numbers(chosen.sequence_codes(length, pools.keys), pools.size, ("a",))
        domain = Domain(len(joined), codes, lambda codes: table.take(codes))
        found = self._closed(pools, stage, domain, noise, false)
        released = count(pools, stage, found, noise, fewest=0)
        both = parents[domain.codes(found)]
        released = at_most(at_most(released, shorter, both[:, 0]), shorter, both[:, 1])
        self.choose(pools, found)
        return pools, released

    def _closed(
        self, pools: EnginePools, stage: Stage, domain: Domain, noise: NoiseSource, false: Fraction
    ) -> Selected:
        known = domain.known(stage, false)
        found = select(pools, stage.rounds, noise, stage.name, known)
        pools.adopt(domain.rows(domain.codes(found)[found.ids.size - found.absent.size :]))
        return found

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
        if ids.size < FEWEST or len(values) < len(levels):
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
