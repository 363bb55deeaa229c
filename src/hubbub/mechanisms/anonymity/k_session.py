"""Motwani and Nabar: Anonymizing Unstructured Data (2008): sessions as sets of keywords, k of each.

Keywords are added to sessions or deleted from them until every session equals at least k − 1 others. The fewest changes
are hard to find; any partition into groups of k has the property. Ours: a set that k sessions share stays as it is; the
others are sorted, most frequent keyword first, and cut into groups of k, and each takes the keywords that most of its
group have, which is the fewest changes within a group. A session left without keywords is not published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.mechanisms.anonymity.base import Anonymity, as_log, fresh_numbers
from hubbub.mechanisms.anonymity.k_query import together
from hubbub.mechanisms.base import Tables
from hubbub.mechanisms.traits import Wording
from hubbub.steps.counts import Integers
from hubbub.steps.keys import LOG
from hubbub.steps.keys.keywords import words
from hubbub.steps.sessions import require_times, sessions

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode


@dataclass(frozen=True)
class Sets:
    """Sessions as sets of keywords: those of session i are `keywords[starts[i]:starts[i + 1]]`, ascending."""

    starts: Integers
    keywords: Integers
    text: pa.Array
    """The keywords, most frequent first."""

    @staticmethod
    def of(session: Integers, keyword: pa.Array) -> Sets:
        """Make the value from (session, keyword) rows, each of which stands there once."""
        coded = keyword.dictionary_encode()
        code = coded.indices.to_numpy().astype(np.int64)
        n, names = np.bincount(code, minlength=len(coded.dictionary)), coded.dictionary.to_pylist()
        order = np.array(sorted(range(n.size), key=lambda i: (-n[i], names[i])), np.int64)
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        by = np.lexsort((rank[code], session))
        ends = np.cumsum(np.bincount(session))
        return Sets(np.append(0, ends).astype(np.int64), rank[code][by], coded.dictionary.take(pa.array(order)))

    def packed(self) -> pa.LargeBinaryArray:
        """Each set as bytes, whose order is that of its keywords, the most frequent first."""
        data = pa.py_buffer(self.keywords.astype(">u4").tobytes())
        ends = pa.py_buffer((self.starts * 4).astype(np.int64))
        return pa.LargeBinaryArray.from_buffers(pa.large_binary(), self.starts.size - 1, [None, ends, data])

    def kinds(self) -> Integers:
        """Which sets are equal: the same number for the same keywords."""
        return np.asarray(self.packed().dictionary_encode().indices.to_numpy(), np.int64)

    def sorted(self, which: Integers) -> Integers:
        """These sets in the order of their keywords, the most frequent first."""
        order: Integers = pc.sort_indices(self.packed().take(pa.array(which))).to_numpy()
        return which[order]

    def of_one(self, which: int) -> Integers:
        """The keywords of one set."""
        return self.keywords[self.starts[which] : self.starts[which + 1]]

    def majority(self, members: Integers) -> Integers:
        """The keywords that more than half of these sets have: the fewest changes that make them equal."""
        held, times = np.unique(np.concatenate([self.of_one(i) for i in members]), return_counts=True)
        most: Integers = held[2 * times > members.size]
        return most


class KSession(Anonymity, register=True):
    """Sessions as sets of keywords, each k times."""

    name = "k-session"
    paper = "Motwani and Nabar 2008"
    about = "sessions as sets of keywords, changed until k are equal; one row per session (not private)"
    offers = {"log": LOG}  # noqa: RUF012
    default_tables = ("log",)
    promise = "every published session is one of at least {k} with the same keywords"
    wording = Wording.CHANGED
    weakness = "some of these sessions may be an attacker's own, who then learns about the last one for certain"

    @property
    def needs_times(self) -> bool:
        """Sessions are what it is about."""
        return True

    def accounts(self) -> int:
        """k of them stay as they are, and k + 1 can be told from k."""
        return self.k

    def users_shown(self, log: pa.Table, queries: Sequence[str], times: Sequence[int]) -> list[int]:
        """One row per session, its words in the order of the alphabet."""
        sessions = Counter(log.column("query").to_pylist())
        return [sessions[" ".join(sorted(set(query.split())))] for query in queries]

    def spurious(self) -> str:
        """Keywords are added."""
        return "a session may show keywords that were added to make it equal to others"

    def missing(self) -> tuple[str, ...]:
        """What is deleted."""
        return ("log: keywords that fewer than half of a group of sessions have; times, order and clicks",)

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """The keywords of every session."""
        require_times(log)
        words(log)
        rows = log.engine.fetch(
            f"SELECT DISTINCT s.uid AS uid, s.session AS session, w.keyword AS keyword "
            f"FROM ({sessions()}) AS s JOIN words AS w ON s.query = w.query"
        )
        return {"log": Sets.of(together(rows), rows.column("keyword").combine_chunks())}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """One row per session: its keywords in the order of the alphabet."""
        sets: Sets = counts["log"]
        keywords, size = alike(sets, self.k)
        texts = pa.array(
            [" ".join(sorted(sets.text.take(pa.array(group)).to_pylist())) for group in keywords], pa.string()
        )
        query = texts.take(pa.array(np.repeat(np.arange(size.size), size)))
        return {"log": as_log(fresh_numbers(len(query), "numbers of sessions", noise), {"query": query})}


def alike(sets: Sets, k: int) -> tuple[list[Integers], Integers]:
    """Groups of sessions that become equal: the keywords of each group, none empty, and how many sessions it has."""
    kind = sets.kinds()
    n = np.bincount(kind)
    first = np.full(n.size, kind.size, np.int64)
    np.minimum.at(first, kind, np.arange(kind.size))
    enough = np.flatnonzero(n >= k)
    keywords = [sets.of_one(i) for i in first[enough]]
    sizes = n[enough].tolist()
    # The rest in sorted order, cut into groups of k; the last one takes what is left over.
    order = sets.sorted(np.flatnonzero(n[kind] < k))
    groups = order.size // k
    for g in range(groups):
        members = order[g * k : (g + 1) * k if g < groups - 1 else None]
        if (chosen := sets.majority(members)).size:
            keywords.append(chosen)
            sizes.append(members.size)
    return keywords, np.array(sizes, np.int64)
