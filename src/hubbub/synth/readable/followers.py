"""The second word of two: words that often follow the first come first, and every word keeps a place of its own.

For each first word, this is a rearrangement of all words within their topics: no two second words become one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hubbub.synth.hashing import Ints
from hubbub.synth.vocabulary import TOPICS

FIRSTS = 8192  # so many of the most frequent words have followers
FOLLOWERS = 24  # at most, of each
PLACE_BITS = 20
STEP = len(TOPICS)


class Followers:
    """Rearranges second words. A word's rank is STEP · (place + 1) + topic; the first STEP ranks stay as they are."""

    def __init__(self, words: Sequence[str], follow: Mapping[str, Sequence[str]]) -> None:
        ranks = {word: rank for rank, word in enumerate(words[:FIRSTS])}
        rows = [
            (first * STEP + ranks[word] % STEP, ranks[word] // STEP - 1)
            for first, name in enumerate(words[:FIRSTS])
            for word in follow.get(name, ())[:FOLLOWERS]
            if ranks.get(word, 0) >= STEP
        ]
        group, place = np.array(rows, np.int64).reshape(-1, 2).T
        order = np.argsort(group, kind="stable")
        self._begin = np.searchsorted(group[order], np.arange(FIRSTS * STEP + 1))
        self._often = place[order]
        order = np.lexsort((place, group))
        before = np.arange(len(order)) - self._begin[group[order]]
        self._skipped = (group[order] << PLACE_BITS) + place[order] - before

    def __call__(self, first: Ints, second: Ints) -> Ints:
        """The words that stand for these second words after these first ones."""
        moved = second.copy()
        where = np.flatnonzero((first < FIRSTS) & (second >= STEP) & (second < STEP << PLACE_BITS))
        topic, place = second[where] % STEP, second[where] // STEP - 1
        group = first[where] * STEP + topic
        count = self._begin[group + 1] - self._begin[group]
        rest = np.maximum(place - count, 0)
        skipped = np.searchsorted(self._skipped, (group << PLACE_BITS) + rest, side="right") - self._begin[group]
        often = place < count
        rest += skipped
        rest[often] = self._often[self._begin[group[often]] + place[often]]
        moved[where] = STEP * (rest + 1) + topic
        return moved
