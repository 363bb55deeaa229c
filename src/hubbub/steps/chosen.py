"""Later stages of a chain: what users hold among keys that earlier stages released.

The released keys are known by then, so a table may be restricted to them freely: clicks on released queries,
steps between two of them, walks along released steps, words in them. The engine knows released queries as
`chosen_queries`. All in the common SQL of the engines; texts of sequences are joined by `SEPARATOR`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.engines.base import of_user
from hubbub.log import SearchLog
from hubbub.steps.counts import Integers
from hubbub.steps.holdings import Holdings
from hubbub.steps.keys import CLICKS, KEYWORDS, TRANSITIONS, Keys
from hubbub.steps.keys.base import MadeOf
from hubbub.steps.keys.keywords import WORDS, split
from hubbub.steps.sessions import GAP, SEPARATOR, require_times, searches
from hubbub.switches import Beyond, switch

LONGEST = 4
"""Queries in the longest sequence."""


# ------------------------------------------------------------------ clicks

CHOSEN_CLICKS = replace(
    CLICKS,
    events='SELECT l.uid AS uid, l."time" AS "time", l.query AS query, l."rank" AS "rank", l.url AS url '
    "FROM {log} AS l JOIN chosen_queries AS c ON l.query = c.query WHERE l.url IS NOT NULL",
)


# ------------------------------------------------------------------ transitions and sessions


def _ahead(length: int, log: str = "log") -> tuple[str, str]:
    """Every search with the next ones of its user (n2, t2, …), and q1, q2, … as SQL: NULL once the session has ended.

    A query that repeats the one before it ends the run, too.
    """
    window = 'PARTITION BY uid ORDER BY "time", query'
    leads = "".join(
        f', lead(query, {i}) OVER ({window}) AS n{i + 1}, lead("time", {i}) OVER ({window}) AS t{i + 1}'
        for i in range(1, length)
    )
    columns, alive = '"time", q1, n2 AS q2', "1 = 1"
    for i in range(3, length + 1):
        alive = f"{alive} AND t{i} - t{i - 1} <= {GAP} AND n{i} <> n{i - 1}"
        columns += f", CASE WHEN {alive} THEN n{i} END AS q{i}"
    return f'SELECT uid, "time", query AS q1{leads} FROM ({searches(log)}) AS searches', columns


FOLLOWS = f't2 - "time" <= {GAP} AND n2 <> q1'


def walk(log: SearchLog, length: int) -> None:
    """Keep every run of up to `length` searches, one right after the other, that begins with two released queries."""
    ahead, columns = _ahead(length)
    walks = (
        f"SELECT uid, {columns} FROM ({ahead}) AS ahead "
        f"JOIN chosen_queries AS a ON a.query = q1 JOIN chosen_queries AS b ON b.query = n2 WHERE {FOLLOWS}"
    )
    log.engine.save("walked", of_user(walks))


def _texts(length: int, table: str) -> str:
    """Runs of this many queries in a table of walks, as text."""
    text = f", '{SEPARATOR}', ".join(f"q{i}" for i in range(1, length + 1))
    return f'SELECT uid, "time", concat({text}) AS queries FROM {table} WHERE q{length} IS NOT NULL'


def _all_runs() -> str:
    """Every run of three or four searches of a whole log."""
    ahead, columns = _ahead(LONGEST, "{log}")
    walks = f"(SELECT uid, {columns} FROM ({ahead}) AS ahead WHERE {FOLLOWS})"
    return " UNION ALL ".join(_texts(length, f"{walks} AS walks") for length in range(3, LONGEST + 1))


SESSIONS = Keys(
    "sessions",
    ("queries",),
    _all_runs(),
    ('"time"', "queries"),
    sequence=True,
    timed=True,
    made_of=MadeOf.USER,
    prepare=require_times,
)
"""Runs of three and four queries as one table."""

CHOSEN_TRANSITIONS = replace(
    TRANSITIONS, events='SELECT uid, "time", q1 AS query, q2 AS next_query FROM walked', prepare=None
)


def sequences(length: int) -> Keys:
    """Runs of this many queries that stand in the domain `joined_…`."""
    return Keys(
        name=f"sequences_{length}",
        columns=("queries",),
        events=f'SELECT s.uid AS uid, s."time" AS "time", s.queries AS queries FROM ({_texts(length, "walked")}) AS s '
        f"JOIN joined_{length} AS j ON s.queries = j.queries",
        order=('"time" NULLS LAST', "queries"),
        sequence=True,
        made_of=MadeOf.USER,
    )


MOST_JOINS = switch(__name__, "MOST_JOINS", 1_000_000, low=1, beyond=Beyond.AMOUNT)


def joinable(heads: list[tuple[str, ...]]) -> int:
    """How many of these, from the first, have at most `MOST_JOINS` joins among themselves."""
    begins: Counter[tuple[str, ...]] = Counter()
    ends: Counter[tuple[str, ...]] = Counter()
    total = 0
    for i, head in enumerate(heads):
        total += begins[head[1:]] + ends[head[:-1]] + (head[1:] == head[:-1])
        if total > MOST_JOINS:
            return i
        begins[head[:-1]] += 1
        ends[head[1:]] += 1
    return len(heads)


def joins(heads: list[tuple[str, ...]]) -> tuple[list[str], Integers]:
    """Every sequence made of two released ones that overlap in all but one query, and the two parents of each."""
    begins: dict[tuple[str, ...], list[int]] = {}
    for i, head in enumerate(heads):
        begins.setdefault(head[:-1], []).append(i)
    pairs = [(i, j) for i, head in enumerate(heads) for j in begins.get(head[1:], ())]
    texts = [SEPARATOR.join((*heads[i], heads[j][-1])) for i, j in pairs]
    return texts, np.array(pairs, np.int64).reshape(-1, 2)


# ------------------------------------------------------------------ keywords


class WordsIn:
    """The words of queries that are among these; a class, because it may be carried to other processes."""

    def __init__(self, words: pa.Array) -> None:
        self.words = words

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in split(batches):
            yield batch.filter(pc.is_in(batch.column("keyword"), value_set=self.words))


def words_of(queries: pa.Array) -> pa.Array:
    """The distinct words of released queries, sorted."""
    words = pc.unique(pc.list_flatten(pc.split_pattern(queries, " ")))
    return words.take(pc.sort_indices(words))


def hold_words(log: SearchLog, words: pa.Array) -> Holdings:
    """Who used which of these words in any search; what everybody asked is held since the first stage."""
    engine = log.engine
    engine.map_batches("chosen_words", "SELECT DISTINCT query FROM held_queries", WordsIn(words), WORDS)
    engine.save(
        "held_keywords",
        "SELECT DISTINCT h.uid AS uid, w.keyword AS keyword FROM held_queries AS h "
        "JOIN chosen_words AS w ON h.query = w.query",
    )
    engine.register("pooled_keywords", pa.table({"kid": np.arange(len(words)), "keyword": words}))
    return Holdings(log, KEYWORDS, "held_keywords", "pooled_keywords", len(words))
