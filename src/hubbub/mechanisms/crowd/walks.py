"""Walks over released queries: what a synthetic user searches next, and what she clicks.

Released queries, transitions and longer sequences are one tree: a sequence hangs on the sequence without its last
query. A walk goes down to one of the children of where it is, by their released counts, or else forgets the first
query of where it is and tries again; where only one query is left to forget, she searches that query once more. So two
different queries follow each other only if that transition was released, and three only if each step was. What users
asked next and was not released cannot be known; starting anywhere instead would make up ten times as many
transitions as there are.

Nothing here has ever seen a log: `Public` is all there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.log import Period
from hubbub.steps.sessions import SEPARATOR

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
CLICKS = 3
"""Clicks of one search at most; the last bin of the histogram counts as this many."""
NO_CLICK = np.iinfo(np.int64).max
MOST_STEPS = 0.9
"""Released transitions for each user of a released query, at most: walks end."""
LEAST_START = 0.1
"""Of its count, what a query keeps as a start however many transitions lead to it."""


@dataclass(frozen=True)
class Public:
    """All that the generator sees: released keys with counts (NULL where none), noisy histograms, a stated period."""

    queries: pa.Table
    """query, users"""
    clicks: pa.Table
    """query, url, users"""
    transitions: pa.Table
    """query, next_query, users"""
    sessions: pa.Table
    """queries (joined by SEPARATOR), users"""
    histograms: Mapping[str, Integers]
    noise_sd: Mapping[str, float]
    """Of each histogram's noise."""
    period: Period | None = None


class Choices:
    """Items in groups, each drawn within its group by its weight."""

    def __init__(self, group: Integers, weight: Floats, groups: int) -> None:
        self.order = np.argsort(group, kind="stable")
        self.up = np.concatenate([[0.0], np.cumsum(weight[self.order])])
        self.start = np.searchsorted(group[self.order], np.arange(groups + 1))

    def totals(self) -> Floats:
        """The weight of each group."""
        total: Floats = self.up[self.start[1:]] - self.up[self.start[:-1]]
        return total

    def draw(self, rng: np.random.Generator, group: Integers) -> Integers:
        """One item of each of these groups, none of them empty."""
        first, after = self.start[group], self.start[group + 1]
        x = self.up[first] + rng.random(group.size) * (self.up[after] - self.up[first])
        at = np.clip(np.searchsorted(self.up, x, side="right") - 1, first, after - 1)
        chosen: Integers = self.order[at]
        return chosen


class WalkTree:
    """Released sequences of every length; node 0 is the root, the queries come next, most frequent first."""

    def __init__(self, public: Public, length: float) -> None:
        """`length` is the mean number of searches in a session."""
        queries, self.users = _sorted(public.queries, ["query"])
        self.names = queries.column("query").combine_chunks()
        self.rarest = float(self.users.min())
        keys: list[tuple[str, ...]] = [(q,) for q in self.names.to_pylist()]
        weights = [self.users]
        for table, columns in ((public.transitions, ["query", "next_query"]), (public.sessions, ["queries"])):
            rows, users = _sorted(table, columns, self.rarest)
            texts = zip(*(rows.column(c).to_pylist() for c in columns), strict=True)
            found = [tuple(query for text in row for query in text.split(SEPARATOR)) for row in texts]
            order = np.argsort([len(key) for key in found], kind="stable")
            keys += [found[i] for i in order]
            weights.append(users[order])
        ids = {(): 0} | {key: i for i, key in enumerate(keys, 1)}
        parent = np.array([ids[key[:-1]] for key in keys], np.int64)
        self.shorter = np.array([0] + [ids[key[1:]] for key in keys], np.int64)
        self.last = np.array([0] + [ids[key[-1:]] - 1 for key in keys], np.int64)
        pairs = 1 + np.flatnonzero([len(key) == 2 for key in keys])
        weight = np.concatenate(weights)
        into = np.bincount(self.last[pairs], weight[pairs - 1], minlength=self.users.size)
        starts = np.maximum(self.users - into, LEAST_START * self.users)
        self.children = Choices(parent, np.concatenate([starts, *weights[1:]]), len(ids))
        steps = min(MOST_STEPS, float(weight[pairs - 1].sum() / self.users.sum()))
        self.visits = 1 / (1 - steps)
        """Different queries of a walk, if as many go from one to another as users did."""
        # A walk goes on (length - 1) times, so this often from each of them; then it goes to a child as users did.
        share = self.children.totals()[1:] / np.maximum(weight * (length - 1) / self.visits, 1e-9)
        self.share = np.minimum(1.0, np.append(1.0, share))

    def walk(self, rng: np.random.Generator, length: Integers) -> Integers:
        """The queries of walks of these lengths, one walk after the other."""
        begins = np.concatenate([[0], np.cumsum(length)])
        found = np.empty(begins[-1], np.int64)
        node = np.zeros(length.size, np.int64)
        for step in range(int(length.max(initial=0))):
            walking = np.flatnonzero(length > step)
            node[walking] = self._on(rng, node[walking])
            found[begins[walking] + step] = self.last[node[walking]]
        return found

    def _on(self, rng: np.random.Generator, node: Integers) -> Integers:
        waiting = np.arange(node.size)
        while waiting.size:
            goes = rng.random(waiting.size) < self.share[node[waiting]]
            down, back = waiting[goes], waiting[~goes]
            node[down] = 1 + self.children.draw(rng, node[down])
            waiting = back[self.shorter[node[back]] > 0]  # the others stay: the same query again
            node[waiting] = self.shorter[node[waiting]]
        return node


class Clicks:
    """Released URLs of each query; their order is their rank."""

    def __init__(self, public: Public, tree: WalkTree, shares: Floats) -> None:
        """`shares` of searches with 0, 1, 2 and 3 clicks."""
        rows, users = _sorted(public.clicks, ["query", "url"], tree.rarest)
        query = pc.index_in(rows.column("query"), value_set=tree.names).to_numpy().astype(np.int64)
        order = np.argsort(query, kind="stable")
        query = query[order]
        self.urls = rows.column("url").combine_chunks().take(pa.array(order))
        self.rank = np.arange(query.size) - np.searchsorted(query, query) + 1
        self.of_query = Choices(query, users[order], tree.users.size)
        some = shares[1:] / shares[1:].sum() if shares[1:].any() else np.array([1.0, 0.0, 0.0])
        self.several = np.cumsum(some)[:-1]
        mean = float(some @ np.arange(1, CLICKS + 1))
        self.clicked = np.minimum(1.0, self.of_query.totals() / tree.users / mean)
        """Of the users of a query, how many clicked."""
        usual = float(self.clicked @ tree.users / tree.users.sum())
        self.again = min(1.0, float(1 - shares[0]) / usual) if usual > 0 else 0.0
        """Of the times that one who clicked searches the same once more, how often she clicks again."""

    def draw(self, rng: np.random.Generator, query: Integers) -> Integers:
        """The clicks of one user for each query, at most three, by rank; NO_CLICK where there is none."""
        found = np.full((query.size, CLICKS), NO_CLICK)
        clicked = np.flatnonzero(rng.random(query.size) < self.clicked[query])
        many = np.searchsorted(self.several, rng.random(clicked.size), side="right")
        for place in range(CLICKS):
            more = clicked[many >= place]
            found[more, place] = self.of_query.draw(rng, query[more])
        found.sort(axis=1)
        found[:, 1:][found[:, 1:] == found[:, :-1]] = NO_CLICK  # one click on a URL is enough
        found.sort(axis=1)
        return found


def _sorted(table: pa.Table, columns: list[str], unknown: float = 1.0) -> tuple[pa.Table, Floats]:
    """By count, then by text: the order of internal ids must not show. Keys without counts all weigh the same."""
    users = pc.fill_null(table.column("users").cast(pa.float64()), unknown)
    rows = table.set_column(table.column_names.index("users"), "users", users)
    rows = rows.sort_by([("users", "descending"), *((column, "ascending") for column in columns)])
    return rows, rows.column("users").to_numpy().astype(np.float64)
