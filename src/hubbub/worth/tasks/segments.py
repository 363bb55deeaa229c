"""What is typical of a group: the queries that people of one country, device or hour ask more than others do.

A release by group has tables such as `queries_by_country`. Typical of a group are the queries whose share there exceeds
their share of everything by most. `typical@20` is the part of a group's twenty that the release names, too, and
`top@20` the same of the most frequent ones; both are over all declared groups, also those of which nothing came out.
The floor names words that anybody knows for every group; the ceiling is 1.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import InputError
from hubbub.public.groups import OF_TIME, OTHER, Grouping
from hubbub.steps.keys import QUERIES
from hubbub.steps.keys.divided import BY, divided, group_of
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task
from hubbub.worth.tasks.graph import number
from hubbub.worth.tasks.public_words import public_words
from hubbub.worth.tasks.sides import judged

SHOWN = 20
LEAST = 5
"""In a log, what fewer users of a group ask is typical of nobody."""
MISSING = (
    "the release has no table of queries by group: hubbub release … --tables queries --by weekday makes one "
    "(docs/groups.md)"
)


class Segments(Task, register=True):
    """Typical and most frequent queries of each group."""

    name = "segments"
    about = "whether the queries that are typical of a country, a device or an hour are still named"
    paper = "none"
    reads = ("queries",)
    truth = ("groups",)

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """Every table by group, group by group."""
        tables = {n: t for n, t in release.others.items() if n.startswith(f"queries{BY}")}
        tables = {n: t for n, t in tables.items() if t.num_rows or group_of(n) in release.groupings}
        if not tables:
            raise NotEvaluable(MISSING)
        words = set(public_words(setup)["query"].slice(0, SHOWN).to_pylist())
        made: Scores = {}
        for name, table in sorted(tables.items()):
            group = group_of(name)
            theirs = _rows(table, group)
            declared = release.groupings.get(group)
            values = sorted(declared.values if declared else set(theirs["group"].to_pylist()) - {OTHER})
            ours = counted(original, group, values, setup)
            for metric, score in (("typical", typical), ("top", frequent)):
                one, other = score(ours), score(theirs)
                asked = [value for value in values if one.get(value)]
                if not asked:
                    continue
                kept = np.array([len(one[v] & other.get(v, set())) / len(one[v]) for v in asked])
                floor = np.array([len(one[v] & words) / len(one[v]) for v in asked])
                sides = {"original": np.ones(kept.size), "release": kept, "floor": floor, "ceiling": np.ones(kept.size)}
                weight = np.array([float(len(one[v])) for v in asked])
                made[f"{group}.{metric}@{SHOWN}"] = dict(judged(sides, weight))
        if not made:
            raise NotEvaluable(f"no group has a query that {LEAST} of its users ask")
        return made


def counted(original: Evidence, group: str, values: list[str], setup: Setup) -> pa.Table:
    """The original's (group, query, n): of its log, or as the truth knows it."""
    if original.log is not None and len(values) > 1:
        kind = divided(QUERIES, Grouping(group, tuple(values), "" if group in OF_TIME else group))
        try:
            kind.ready(original.log)
        except InputError:
            pass
        else:
            held = kind.distinct() if original.counts == "users" else kind.occurrences()
            rows = f"SELECT {group}, query, count(*) AS n FROM ({held}) AS held GROUP BY {group}, query"
            return _rows(original.log.engine.fetch(f"SELECT * FROM ({rows}) AS rows WHERE n >= {LEAST}"), group)
    known = setup.known("groups")
    if known is None:
        raise NotEvaluable(f"the log was read without its column for {group}: give --truth DIR with groups.parquet")
    mine = known.filter(pc.field("name") == group)
    return _rows(mine.select(["value", "query", "users"]).rename_columns([group, "query", "n"]), group)


def _rows(table: pa.Table, group: str) -> pa.Table:
    """(group, query, n), most frequent first; without a number, every row has n = 1."""
    value = next((name for name in ("n", "users", "count") if name in table.column_names), None)
    n = pa.array(np.ones(table.num_rows, np.int64)) if value is None else table[value].cast(pa.int64())
    made = pa.table({"group": table[group], "query": table["query"], "n": pc.max_element_wise(pc.fill_null(n, 0), 0)})
    return made.sort_by([("n", "descending"), ("group", "ascending"), ("query", "ascending")])


def frequent(rows: pa.Table) -> dict[str, set[str]]:
    """The most frequent queries of each group."""
    return _first(rows, rows["n"].to_numpy().astype(np.float64))


def typical(rows: pa.Table) -> dict[str, set[str]]:
    """The queries of each group whose share exceeds their share of everything by most."""
    (_, (query,)), (_, (group,)), n = number(rows["query"]), number(rows["group"]), rows["n"].to_numpy()
    everywhere, there = np.bincount(query, n), np.bincount(group, n)
    return _first(rows, n / np.maximum(there[group], 1) - everywhere[query] / max(n.sum(), 1))


def _first(rows: pa.Table, score: np.ndarray[tuple[int], np.dtype[np.float64]]) -> dict[str, set[str]]:
    order = np.argsort(-score, kind="stable")
    found: dict[str, set[str]] = {}
    groups, queries = rows["group"].to_pylist(), rows["query"].to_pylist()
    for at in order.tolist():
        mine = found.setdefault(groups[at], set())
        if len(mine) < SHOWN and score[at] > 0:
            mine.add(queries[at])
    return found
