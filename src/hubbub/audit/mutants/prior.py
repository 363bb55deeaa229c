"""Faults in what is known of queries: a prior that is read off the log, weights that are too long or another user's."""

from __future__ import annotations

from typing import Any

from hubbub.audit.checks import prior
from hubbub.audit.mutants.fault import Planted, replaced


def _from_the_log(weighed: Any) -> Any:
    """The weight of a query is how many users hold it."""

    def broken(known: Any, texts: str) -> str:
        holders = "SELECT query AS asked, count(*) AS holders FROM held_queries GROUP BY query"
        rows = weighed(known, texts).replace(" AS g,", " AS by_form,")
        return f"SELECT r.*, h.holders AS g FROM ({rows}) AS r JOIN ({holders}) AS h ON h.asked = r.query"

    return broken


def _unmarked(_: Any) -> Any:
    """Known words that somebody holds are tested as other queries."""
    return lambda running, known: running


def _turn_of_the_log(ordered: Any) -> Any:
    """A full pool takes queries first that many users hold."""

    def broken(known: Any, rows: str) -> str:
        few = "SELECT query AS asked FROM held_queries GROUP BY query HAVING count(*) < 6"
        turns = ordered(known, rows).replace(" AS turn", " AS by_form")
        return (
            f"SELECT r.*, CASE WHEN f.asked IS NULL THEN 0 ELSE 3 END AS turn FROM ({turns}) AS r "
            f"LEFT JOIN ({few}) AS f ON f.asked = r.query"
        )

    return broken


def _of_the_first(added: Any) -> Any:
    """Every row adds what the first one does: another user's sum."""
    return lambda rows: added(rows)[:1].repeat(rows.keys.size)


ROWS = "hubbub.steps.live_rows:LiveRows"
POOLS, PRIOR = "hubbub.steps.pools:EnginePools", "hubbub.public.prior:Prior"
PRIOR_MUTANTS: tuple[Planted, ...] = (
    ("a prior read off the log", prior.shares, {f"{PRIOR}.weighed": _from_the_log}),
    ("pools filled by what others hold", prior.shares, {f"{PRIOR}.ordered": _turn_of_the_log}),
    (
        "weights by form too long",
        prior.shares,
        {f"{POOLS}._added": replaced("sum(g) AS total", "max(g) AS total")},
    ),
    (
        "weights by form from another user's forms",
        prior.shares,
        {f"{POOLS}._added": replaced("sum(g) AS total", "min(sum(g)) OVER () AS total")},
    ),
    (
        "whom the prior is about decided by all users",
        prior.shares,
        {f"{POOLS}._added": replaced("sum(fits) AS fits", "sum(sum(fits)) OVER () AS fits")},
    ),
    ("weights by form rounded up", prior.shares, {f"{POOLS}._added": replaced("root AS a", "root + 1 AS a")}),
    (
        "weights by form on arrays rounded up",
        prior.shares,
        {f"{ROWS}.added": lambda added: lambda rows: added(rows) + 1},
    ),
    ("weights by form on arrays from another user's forms", prior.shares, {f"{ROWS}.added": _of_the_first}),
    ("known words tested as others", prior.known, {"hubbub.steps.weights:Running.knowing": _unmarked}),
)
