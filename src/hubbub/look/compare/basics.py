"""What can be said of any release, whatever its tables: the one yardstick that every row of a comparison has.

    rows.T     rows released, table by table
    error.T    median of |released − exact| / exact over released keys that somebody holds; exact is what the unbounded
               log holds, in the release's own unit (users, or occurrences), so that bounding counts as error
    error      the same, of the first table that has numbers
    volume     share of all searches whose query the release names in any of its tables

Sessions are subsequences in a release and whole in a log: they have rows and no error. A synthetic log is counted like
a log. Keywords name no queries.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.worth.evidence import Evidence, find, numbers
from hubbub.worth.tasks.base import Scores, Setup, Task

NAME = "basics"
COUNTED = ("queries", "clicks", "transitions", "keywords")
NAMING = {
    "queries": ("query",),
    "clicks": ("query",),
    "transitions": ("query", "next_query"),
    "sessions": ("queries",),
    "ngrams": ("queries",),
}
"""Tables that name queries, and where."""


class Basics(Task):
    """Rows, errors and volume. Not registered: an evaluation has its own tasks."""

    name = NAME
    about = "how much is released, and how far off it is"
    paper = "hubbub"
    reads = (*COUNTED, "sessions", "log")

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """Of the tables that were released (option `tables`), against searches counted once (option `searches`)."""
        published, searches = setup.options["tables"], setup.options["searches"]
        assert isinstance(published, tuple) and isinstance(searches, Evidence)
        scores: Scores = {}
        for name in published:
            rows = _log_rows(release) if name == "log" else _size(_released(release, name))
            whole = _log_rows(original) if name == "log" else _size(original.table(name)) if name in COUNTED else None
            scores[f"rows.{name}"] = {"original": whole, "release": rows}
        errors = {kind: _error(original, release, kind) for kind in _counted(published)}
        found = next((error for error in errors.values() if error is not None), None)
        scores["error"] = {"original": 0.0, "release": found}
        scores |= {f"error.{kind}": {"original": 0.0, "release": error} for kind, error in errors.items()}
        scores["volume"] = {"original": 1.0, "release": _volume(release, published, searches)}
        return scores


def _counted(published: tuple[str, ...]) -> tuple[str, ...]:
    """Tables whose numbers can be compared with those of a log."""
    named = set(published) | ({"queries", "clicks"} if "log" in published else set())
    return tuple(kind for kind in COUNTED if kind in named)


def _released(release: Evidence, name: str) -> pa.Table | None:
    """A released table, whether or not tasks know it."""
    return release.others[name] if name in release.others else release.table(name)


def _size(table: pa.Table | None) -> int | None:
    return None if table is None else int(table.num_rows)


def _log_rows(evidence: Evidence) -> int:
    assert evidence.log is not None
    return int(evidence.log.engine.fetch("SELECT count(*) AS n FROM log").column("n")[0].as_py())


def _error(original: Evidence, release: Evidence, kind: str) -> float | None:
    """None where there are no numbers, or no key that anybody holds."""
    theirs, ours = release.table(kind), original.table(kind)
    if theirs is None or ours is None or release.keys_only(kind):
        return None
    at = find(theirs, ours)
    held = at >= 0
    exact = numbers(ours)[at[held]]
    return float(np.median(np.abs(numbers(theirs)[held] - exact) / exact)) if exact.size else None


def _volume(release: Evidence, published: tuple[str, ...], searches: Evidence) -> float | None:
    """None where no table names queries."""
    named: list[pa.ChunkedArray] = []
    for kind in published:
        if kind == "log" and release.log is not None:
            named.append(release.log.engine.fetch("SELECT DISTINCT query FROM log").column("query"))
        table = _released(release, kind) if kind in NAMING else None
        for values in [] if table is None else [table.column(name) for name in NAMING[kind]]:
            named.append(pc.list_flatten(values) if pa.types.is_list(values.type) else values)
    asked = searches.table("queries")
    if not named or asked is None:
        return None
    known = pa.concat_arrays([chunk.cast(pa.string()) for values in named for chunk in _chunks(values)])
    kept = pc.is_in(asked.column("query"), value_set=known).to_numpy()
    n = numbers(asked)
    return float(n[kept].sum() / n.sum())


def _chunks(values: pa.ChunkedArray | pa.Array) -> list[pa.Array]:
    if isinstance(values, pa.Array):
        return [values]
    return values.chunks or [pa.array([], pa.string())]
