"""Exact counts of a log over a public pool, and the paper's own way to them.

Strict: every user is limited by her own data among what the pool holds; a pool query that nobody holds counts zero.
Published: queries asked fewer than τ times by all users together are removed first, then each user's first q_f
searches and c_f clicks are kept; queries of the log that no pool holds stay. SQL in the engines' common subset.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.steps import bound
from hubbub.steps.count import count_under
from hubbub.steps.counts import Counts, EngineCounts, Integers, placed
from hubbub.steps.keys import CLICKS, QUERIES, TRANSITIONS, Keys
from hubbub.steps.mode import RunMode, Where
from hubbub.steps.pairs import EnginePairs, LocalPairs, PairCounts
from hubbub.steps.sessions import GAP, adjacent

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.public.lists import QueryPool, UrlList

POOL, SERP, DOMAIN, PAIRS = "safelog_pool", "safelog_serp", "safelog_queries", "safelog_pairs"


def strict(
    log: SearchLog, mode: RunMode, pool: QueryPool, serp: UrlList | None, q_f: int, c_f: int, c_t: int
) -> dict[str, Any]:
    """Distinct users of every pool query; with c_f > 0 of listed clicks, with c_t > 0 of transitions between them."""
    log.engine.register(POOL, pool.rows)
    queries = _restricted(QUERIES, f"JOIN {POOL} AS p ON p.query = e.query")
    counted = f"SELECT query, count(*) AS n FROM ({bound.first_keys(queries, q_f)}) AS bounded GROUP BY query"
    counts: dict[str, Any] = {"queries": _domain(log, mode, counted, "LEFT")}
    if c_f and serp is not None:
        log.engine.register("serp", serp.rows)
        log.engine.view(
            SERP, f"SELECT s.query AS query, s.url AS url FROM serp AS s JOIN {POOL} AS p ON p.query = s.query"
        )
        listed = _restricted(CLICKS, f"JOIN {SERP} AS s ON s.query = e.query AND s.url = e.url")
        counts["clicks"] = count_under(log, CLICKS, bound.first_keys(listed, c_f), mode, DOMAIN, SERP)
    if c_t:
        both = f"JOIN {POOL} AS p ON p.query = e.query JOIN {POOL} AS r ON r.query = e.next_query"
        TRANSITIONS.ready(log)
        counts["transitions"] = _pairs(log, mode, bound.first_keys(_restricted(TRANSITIONS, both), c_t))
    return counts


def published(
    log: SearchLog, mode: RunMode, pool: QueryPool, tau: int, q_f: int, c_f: int, transitions: bool
) -> dict[str, Any]:
    """Algorithm 1, lines 3 to 5: occurrences in Q_clean, beside a pool whose queries count zero."""
    log.engine.register(POOL, pool.rows)
    searches = 'SELECT DISTINCT uid, "time", query FROM log'
    often = f"SELECT query FROM ({searches}) AS s GROUP BY query HAVING count(*) >= {tau}"
    log.engine.save("safelog_clean", f"SELECT l.* FROM log AS l JOIN ({often}) AS f ON f.query = l.query")
    log.engine.save(
        "safelog_kept",
        'SELECT uid, "time", query FROM (SELECT uid, "time", query, '
        f"row_number() OVER (PARTITION BY uid ORDER BY {', '.join(QUERIES.order)}) AS ordinal "
        f"FROM ({QUERIES.occurrences('safelog_clean')}) AS searches) AS ordered WHERE ordinal <= {q_f}",
    )
    counted = "SELECT query, count(*) AS n FROM safelog_kept GROUP BY query"
    counts: dict[str, Any] = {"queries": _domain(log, mode, counted, "FULL OUTER")}
    if c_f:
        counts["clicks"] = count_under(log, CLICKS, bound.first_events(CLICKS, c_f, "safelog_clean"), mode, DOMAIN)
    if transitions:
        TRANSITIONS.ready(log)
        counts["transitions"] = _pairs(log, mode, adjacent(GAP, "safelog_kept"))
    return counts


def _restricted(keys: Keys, join: str) -> Keys:
    """The same kind of key, of the events `e` that a public list holds: a function of the user's own rows."""
    return replace(keys, events=f"SELECT e.* FROM ({keys.events}) AS e {join}")


def _domain(log: SearchLog, mode: RunMode, counted: str, join: str) -> Counts:
    """Every query of the domain with its count, which is zero where nobody holds it."""
    log.engine.number(
        DOMAIN,
        "SELECT coalesce(p.query, c.query) AS query, coalesce(c.n, 0) AS n "
        f"FROM {POOL} AS p {join} JOIN ({counted}) AS c ON c.query = p.query",
        mode.order(("query",)),
        "kid",
    )
    return placed(EngineCounts(DOMAIN, log.engine), mode)


def _pairs(log: SearchLog, mode: RunMode, bounded: str) -> PairCounts:
    """How many bounded rows each pair of queries of the domain has; pairs that nobody holds are not listed."""
    counted = (
        f"SELECT a.kid AS one, b.kid AS two, count(*) AS n FROM ({bounded}) AS t "
        f"JOIN {DOMAIN} AS a ON a.query = t.query JOIN {DOMAIN} AS b ON b.query = t.next_query GROUP BY a.kid, b.kid"
    )
    if mode.where is Where.ENGINE:
        log.engine.save(PAIRS, counted)
        return EnginePairs(PAIRS, DOMAIN, log.engine)
    rows = log.engine.fetch(counted)
    one, two, n = (rows.column(name).to_numpy().astype(np.int64) for name in ("one", "two", "n"))
    order: Integers = np.lexsort((two, one))
    return LocalPairs(n[order], one[order], two[order], DOMAIN)
