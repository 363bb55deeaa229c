"""The stages after the first: each looks only at keys that the earlier ones released.

    queries → clicks (open)                        a new click must pass a test that pays δ; own domains may be known
            → transitions (closed: S × S)          every pair of released queries is tested, held or not
                → sequences of 3, then 4 (closed)  all joins of released shorter ones
            → keywords (closed: the words of S)    counted, nothing to select

Every stage is a run of pairs: it measures with the log and with what was released, and hands exact numbers to what adds
noise to them. A released table carries the text of its keys, which is public by then.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import OurBug
from hubbub.log import SearchLog
from hubbub.mechanisms.base import Released
from hubbub.mechanisms.crowd.calibrate import Stage, closed
from hubbub.mechanisms.crowd.combine import Counted, alone, combine, enough
from hubbub.mechanisms.crowd.recount import recount, recount_all
from hubbub.mechanisms.pairs import Draw
from hubbub.mechanisms.rounds import Known, Selected, select
from hubbub.steps import chosen
from hubbub.steps.chosen import CHOSEN_CLICKS, CHOSEN_TRANSITIONS
from hubbub.steps.counts import Integers
from hubbub.steps.keys import Keys
from hubbub.steps.mode import RunMode
from hubbub.steps.pools import EnginePools, Pools, fixed
from hubbub.steps.sessions import SEPARATOR
from hubbub.steps.weights import KNOWN, UNMARKED


@dataclass(frozen=True)
class CodedDomain:
    """Keys known without the log, by code: how many there are, and the text of any."""

    size: int
    rows: Callable[[Integers], pa.Table]
    table: str = ""
    """The engine's table of their texts, where the stage has other keys besides: a public list."""
    mark: int = UNMARKED
    """The mark of these keys among others."""
    called: str = "absent keys"
    """The name of the draw for those that nobody holds."""

    def known(self, pools: EnginePools, stage: Stage, false: Fraction) -> Known:
        """Thresholds by the size of the domain, which is public; present or absent decides nothing."""
        plan = closed(stage.rounds, self.size, false, late=self.mark == KNOWN)  # marked after the first round
        return Known(plan, self.size, lambda codes: pools.holds(self.rows(codes)), self.table, self.mark, self.called)

    def select(self, pools: EnginePools, stage: Stage, false: Fraction) -> Generator[Draw, Any, Selected]:
        """The rounds over this domain."""
        return select_known(pools, stage, (self, false))


def select_known(
    pools: EnginePools, stage: Stage, *domains: tuple[CodedDomain, Fraction]
) -> Generator[Draw, Any, Selected]:
    """The rounds; keys of these domains that pass and that nobody holds are adopted."""
    known = [domain.known(pools, stage, false) for domain, false in domains]
    found = yield from select(pools, stage.rounds, stage.name, *known)
    rows = [domain.rows(codes) for (domain, _), codes in zip(domains, found.absent, strict=True)]
    if rows:
        pools.adopt(pa.concat_tables(rows))
    return found


def count(pools: Pools, stage: Stage, found: Selected, *, few: bool = False) -> Generator[Draw, Any, Released]:
    """Counts of released keys. A later table with too few of them has none: its small share buys mostly noise."""
    if stage.recount is None:
        return Released(found.ids, None, None)
    counted = yield from recount(pools, found, stage.rounds, stage.recount, stage.name)
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
    """The place of each text in another column, which holds all of them."""
    found: Integers = pc.index_in(texts, value_set=among).to_numpy()
    return found


def by_value(released: Released, texts: Sequence[tuple[str, ...]]) -> Integers:
    """Places by released value, then by text: never by id, which knows more than what was released."""
    values = [0] * len(texts) if released.values is None else released.values.tolist()
    return np.array(sorted(range(len(texts)), key=lambda i: (-values[i], texts[i])), np.int64)


def text_of(released: Released) -> pa.Table:
    """The text of released keys, in their order."""
    if released.text is None:
        raise OurBug("the text of these keys was not asked for")
    return released.text


@dataclass(frozen=True)
class Chain:
    """What later stages measure with: the log, and how this run counts. No noise is added by it."""

    log: SearchLog
    mode: RunMode

    def choose(self, queries: Released) -> None:
        """From here on these queries are public."""
        self.log.engine.register("chosen_queries", text_of(queries))

    def pools(self, kind: Keys, stage: Stage) -> EnginePools:
        """What users hold of a later stage's keys."""
        return fixed(self.log, kind, stage.rounds.limit, stage.rounds.bits, self.mode)

    def named(self, pools: EnginePools, released: Released) -> Released:
        """Released keys with their text, under ids of their own."""
        text = pools.text(self.log.engine, pools.kind, released.ids)
        return replace(released, ids=np.arange(released.ids.size), text=text)

    # ------------------------------------------------------------------ one stage after another

    def clicks(
        self, stage: Stage, queries: Released, *own: tuple[CodedDomain, Fraction]
    ) -> Generator[Draw, Any, Released]:
        """Clicks on released queries; `own` are clicks that are known by them."""
        pools = self.pools(CHOSEN_CLICKS, stage)
        for domain, _ in own:
            marks = pa.array(np.full(domain.size, domain.mark))
            self.log.engine.register(domain.table, domain.rows(np.arange(domain.size)).append_column("mark", marks))
        found = yield from select_known(pools, stage, *own)
        released = self.named(pools, (yield from count(pools, stage, found)))
        asked = text_of(released).column("query")
        return at_most(released, queries, places(asked, text_of(queries).column("query")))

    def transitions(
        self, stage: Stage, queries: Released, false: Fraction, *, longest: int
    ) -> Generator[Draw, Any, Released]:
        """Steps between two different released queries, over all ordered pairs of them."""
        chosen.walk(self.log, longest)
        pools = self.pools(CHOSEN_TRANSITIONS, stage)
        asked, n = text_of(queries).column("query"), queries.ids.size

        def rows(codes: Integers) -> pa.Table:
            first, second = np.divmod(codes, max(1, n - 1))
            second += second >= first  # no diagonal
            return pa.table({"query": asked.take(first), "next_query": asked.take(second)})

        found = yield from CodedDomain(n * (n - 1), rows).select(pools, stage, false)
        released = self.named(pools, (yield from count(pools, stage, found)))
        for ends in text_of(released).itercolumns():
            released = at_most(released, queries, places(ends, asked))
        return released

    def sequences(
        self, stage: Stage, length: int, shorter: Released, false: Fraction
    ) -> Generator[Draw, Any, Released]:
        """Runs of `length` queries, over all joins of released shorter ones."""
        columns = [column.to_pylist() for column in text_of(shorter).itercolumns()]
        heads = [tuple(q for text in row for q in text.split(SEPARATOR)) for row in zip(*columns, strict=True)]
        order = by_value(shorter, heads)
        heads = [heads[i] for i in order]
        joined, parents = chosen.joins(heads[: chosen.joinable(heads)])  # the most frequent, if all would be too many
        table = pa.table({"queries": pa.array(joined, pa.string())})
        self.log.engine.register(f"joined_{length}", table)
        pools = self.pools(chosen.sequences(length), stage)
        found = yield from CodedDomain(len(joined), table.take).select(pools, stage, false)
        released = self.named(pools, (yield from count(pools, stage, found, few=True)))
        codes = places(text_of(released).column("queries"), table.column("queries"))
        for parent in order[parents[codes]].T:
            released = at_most(released, shorter, parent)
        return released

    def keywords(self, stage: Stage, queries: Released) -> Generator[Draw, Any, Released]:
        """The words of released queries, counted over everything users searched."""
        words = chosen.words_of(text_of(queries).column("query").combine_chunks())
        held = chosen.hold_words(self.log, words)
        result = alone((yield from recount_all(held, stage)))
        return Released(np.arange(held.size), result.users, result.noise_sd, text=pa.table({"keyword": words}))


def sessions(levels: Sequence[Released]) -> Released:
    """All lengths as one table; it has counts if there are enough of them together."""
    text = pa.concat_tables([text_of(released) for released in levels])
    ids = np.arange(text.num_rows)
    values = [released.values for released in levels if released.values is not None]
    sds = [np.broadcast_to(r.noise_sd, r.ids.size) for r in levels if r.noise_sd is not None]
    if not enough(ids.size) or len(values) < len(levels):
        return Released(ids, None, None, text=text)
    return Released(ids, np.concatenate(values), np.concatenate(sds), text=text)
