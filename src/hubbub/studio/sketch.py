"""A log as a few small arrays, made once when it is opened, so that every later question is arithmetic.

Keys are put into bins by their number of users (1, 2–3, 4–7, …). Of each bin at most `KEYS` keys are looked at, and of
each key at most `HOLDERS` of its users: what is counted for them is multiplied up. Of each such user the sketch knows
how many keys she holds in every bin. No text of a key and no name of a user is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.steps.keys import CLICKS, QUERIES, TRANSITIONS, Keys
from hubbub.worth.tasks.graph import shuffled

if TYPE_CHECKING:
    from hubbub.log import SearchLog

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.float32]
KEYS = 2000
HOLDERS = 64
BINS = 24


@dataclass(frozen=True)
class Sketch:
    """One kind of key. Holders stand side by side by key: those of key k from `start[k]` on."""

    users: Ints
    """Of each key looked at: how many users hold it …"""
    events: Ints
    stands: Floats
    """… and how many keys it stands for."""
    bin: Ints
    parents: tuple[Ints, ...]
    """For a click, how many users hold its query; for a transition, both its queries."""
    start: Ints
    grown: Floats
    """Of each key: its users for every holder looked at."""
    holder: npt.NDArray[np.int32]
    """Of each holding: the user, as a row of `people`."""
    place: Ints
    """Which of her keys it is, by time."""
    people: Small
    """Users by bins: how many keys of the bin a user holds. Users who hold as many of each are one row."""
    degrees: tuple[Ints, Ints]
    """How many keys users hold, and how many users hold so many: everybody."""
    keys: int
    whole: int
    """All holdings: users of every key, summed."""
    asked: int

    def sums(self, values: Floats | Small) -> Floats:
        """Sums over the holders of each key, as if all of them had been looked at."""
        if not self.start.size:
            return np.zeros(0)
        return np.asarray(np.add.reduceat(values, self.start, dtype=np.float64) * self.grown)

    def of_people(self, by_bin: Small) -> Small:
        """Sums over what users hold, each key worth what its bin is; without the threads of a matrix product."""
        return np.asarray(np.einsum("ub,b->u", self.people, by_bin))

    @cached_property
    def degree(self) -> Small:
        """How many keys each user looked at holds."""
        return np.asarray(self.people.sum(axis=1))

    @cached_property
    def key(self) -> npt.NDArray[np.int32]:
        """The key of each holding."""
        lengths = np.diff(np.append(self.start, self.holder.size))
        return np.repeat(np.arange(self.users.size, dtype=np.int32), lengths)

    def cut(self, limit: int) -> float:
        """The share of all holdings that goes if each user keeps at most so many."""
        degree, people = self.degrees
        return 1 - float((np.minimum(degree, limit) * people).sum()) / max(self.whole, 1)


def sketch(log: SearchLog, kind: Keys, parents: tuple[str, ...] = ()) -> Sketch:
    """Look at a log once. `parents` are the columns that hold queries, whose sketch was made before."""
    engine, columns = log.engine, kind.list()
    name, held, placed = f"sketched_{kind.name}", f"sketch_held_{kind.name}", f"sketch_placed_{kind.name}"
    kind.ready(log)
    engine.save(
        held,
        f'SELECT uid, {columns}, count(*) AS n, min("time") AS first FROM ({kind.occurrences()}) AS events '
        f"GROUP BY uid, {columns}",
    )
    bins = " ".join(f"WHEN users < {2 << b} THEN {b}" for b in range(BINS - 1))
    engine.number(
        name,
        f"SELECT {columns}, users, events, CASE {bins} ELSE {BINS - 1} END AS bin FROM (SELECT {columns}, count(*) AS "
        f"users, CAST(sum(n) AS BIGINT) AS events FROM {held} GROUP BY {columns}) AS counted",
        kind.columns,
        "kid",
    )
    on = " AND ".join(f"h.{c} = k.{c}" for c in kind.columns)
    engine.save(
        placed,
        f"SELECT h.uid AS uid, k.kid AS kid, k.bin AS bin, row_number() OVER (PARTITION BY h.uid ORDER BY h.first "
        f"NULLS LAST, {kind.list('h')}) AS place FROM {held} AS h JOIN {name} AS k ON {on}",
    )
    rows = engine.fetch(f"SELECT kid, users, events, bin FROM {name} ORDER BY kid")
    users, events, bin = (rows.column(c).to_numpy().astype(np.int64) for c in ("users", "events", "bin"))
    taken, stands = _taken(bin)
    engine.register("sketch_taken", pa.table({"kid": taken, "at": np.arange(taken.size)}))
    hold = [
        engine.fetch(
            f"SELECT p.users AS users FROM {name} AS k JOIN sketch_taken AS t ON k.kid = t.kid "
            f"JOIN sketched_queries AS p ON k.{column} = p.query ORDER BY t.at"
        )
        for column in parents
    ]
    engine.number("sketch_users", f"SELECT uid, count(*) AS degree FROM {held} GROUP BY uid", ("uid",), "person")
    edges = engine.fetch(
        f"SELECT t.at AS at, u.person AS person, p.place AS place FROM {placed} AS p JOIN sketch_taken AS t "
        "ON p.kid = t.kid JOIN sketch_users AS u ON p.uid = u.uid"
    )
    at, person, place = (edges.column(c).to_numpy().astype(np.int64) for c in ("at", "person", "place"))
    at, person, place = _thinned(at, person, place)
    looked, holder = np.unique(person, return_inverse=True)
    start = np.searchsorted(at, np.arange(taken.size))
    people, alike = np.unique(_people(log, placed, looked, int(bin.max(initial=0)) + 1), axis=0, return_inverse=True)
    counted = engine.fetch("SELECT degree, count(*) AS n FROM sketch_users GROUP BY degree ORDER BY degree")
    degrees = tuple(counted.column(c).to_numpy().astype(np.int64) for c in ("degree", "n"))
    made = Sketch(
        users=users[taken],
        events=events[taken],
        stands=stands,
        bin=bin[taken],
        parents=tuple(rows.column("users").to_numpy().astype(np.int64) for rows in hold),
        start=start,
        grown=users[taken] / np.diff(np.append(start, at.size)),
        holder=alike.ravel()[holder].astype(np.int32),
        place=place,
        people=people,
        degrees=(degrees[0], degrees[1]),
        keys=users.size,
        whole=int(users.sum()),
        asked=int(events.sum()),
    )
    for table in (held, placed, "sketch_users"):
        engine.drop(table)
    return made


def sketches(log: SearchLog) -> dict[str, Sketch]:
    """Queries, and clicks and transitions where there are any."""
    found = {"queries": sketch(log, QUERIES)}
    there = log.engine.fetch('SELECT count(url) AS clicks, count("time") AS times FROM log').to_pylist()[0]
    if there["clicks"]:
        found["clicks"] = sketch(log, CLICKS, ("query",))
    if there["times"]:
        found["transitions"] = sketch(log, TRANSITIONS, ("query", "next_query"))
    return found


def _taken(bin: Ints) -> tuple[Ints, Floats]:
    """At most KEYS of each bin, by a fixed shuffle, in order; how many each stands for."""
    order = np.lexsort((shuffled(np.arange(bin.size)), bin))
    sizes = np.bincount(bin, minlength=1)
    rank = np.arange(bin.size) - (np.cumsum(sizes) - sizes)[bin[order]]
    taken = np.sort(order[rank < KEYS])
    return taken, np.maximum(1.0, sizes / KEYS)[bin[taken]]


def _thinned(at: Ints, person: Ints, place: Ints) -> tuple[Ints, Ints, Ints]:
    """At most HOLDERS of each key, by a fixed shuffle."""
    order = np.lexsort((shuffled(person * 1_000_003 + at), at))
    sizes = np.bincount(at, minlength=1)
    rank = np.arange(at.size) - (np.cumsum(sizes) - sizes)[at[order]]
    kept = order[rank < HOLDERS]
    return at[kept], person[kept], place[kept]


def _people(log: SearchLog, placed: str, looked: Ints, bins: int) -> Small:
    log.engine.register("sketch_looked", pa.table({"person": looked, "row": np.arange(looked.size)}))
    rows = log.engine.fetch(
        f'SELECT l."row" AS "row", p.bin AS bin, count(*) AS n FROM {placed} AS p JOIN sketch_users AS u '
        'ON p.uid = u.uid JOIN sketch_looked AS l ON l.person = u.person GROUP BY l."row", p.bin'
    )
    people = np.zeros((looked.size, bins), np.float32)
    people[rows.column("row").to_numpy(), rows.column("bin").to_numpy()] = rows.column("n").to_numpy()
    return people
