"""Spelling correction by the words of a table of queries: which typing errors are put right, and what is spoilt?

A dictionary is the words of a table with their numbers, as `hubbub export --to spelling` writes it. A word of a query
is replaced by the most frequent word at one step from it (a letter added, left out or changed, two neighbours swapped),
if that is much more frequent than the word itself. Questions are the misspelt texts that the truth knows, and the
texts that were meant, which should be left alone; each weighs as many users as typed it.

The floor corrects by the frequencies of words that anybody knows, the ceiling by the words that were truly meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, need
from hubbub.worth.tasks.graph import Floats
from hubbub.worth.tasks.public_words import public_words
from hubbub.worth.tasks.sides import judged

QUESTIONS = 5_000
"""Misspelt texts asked, those of most users first; all of them in a smaller log."""
SURELY = 10
"""A known word makes way for a neighbour that is so many times as frequent."""
LEAST = 2
"""A word of fewer corrects nothing: in a log, it may be anybody's slip."""
Dictionary: TypeAlias = Mapping[str, int]


class SpellingCorrection(Task, register=True):
    """Misspelt queries that are put right, and right ones that are left alone."""

    name = "spelling"
    about = "whether typing errors are corrected, and correct queries left alone"
    paper = "Cucerzan and Brill 2004"
    reads = ("queries",)
    truth = ("typos",)

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """The same texts corrected by each side's words."""
        theirs = need(release, "queries", "release")
        typos = setup.known("typos")
        typos = None if typos is None else typos.filter(pc.field("users") > 0)
        if typos is None or not typos.num_rows:
            raise NotEvaluable("typing errors must be known: --truth DIR with typos.parquet (synth --typos)")
        asked = typos.sort_by([("users", "descending"), ("query", "ascending"), ("meant", "ascending")])[:QUESTIONS]
        typed, meant = asked["query"].to_pylist(), asked["meant"].to_pylist()
        weight = asked["users"].to_numpy().astype(np.float64)
        truly = typos.select(["meant", "users"]).rename_columns(["query", "n"])
        sides = {
            "original": words(need(original, "queries", "original")),
            "release": words(theirs, 1),
            "floor": words(public_words(setup)),
            "ceiling": words(truly, 1),
        }
        sizes = ", ".join(f"{side} {len(known):,}" for side, known in sides.items())
        setup.say(f"{len(typed):,} misspelt texts; words known: {sizes}")
        parts = [word for text in (*typed, *meant) for word in text.split()]
        right: dict[str, Floats] = {}
        alone: dict[str, Floats] = {}
        for side, dictionary in sides.items():
            fix = corrections(parts, dictionary)
            corrected = [[" ".join(fix[word] for word in text.split()) for text in texts] for texts in (typed, meant)]
            right[side], alone[side] = (_same(found, meant) for found in corrected)
        return {"corrected": dict(judged(right, weight)), "left_alone": dict(judged(alone, weight))}


def words(queries: pa.Table, least: int = LEAST) -> Dictionary:
    """The words of a table of queries with the sums of its queries' numbers, from `least` on."""
    made: Counter[str] = Counter()
    for query, n in zip(queries["query"].to_pylist(), queries["n"].to_pylist(), strict=True):
        for word in query.split():
            made[word] += n
    return {word: n for word, n in made.items() if n >= least}


def corrections(asked: Iterable[str], dictionary: Dictionary) -> dict[str, str]:
    """Each word's correction, or the word itself. Only words alike but for a letter left out are looked at closer."""
    asked = set(asked)
    index: dict[str, list[str]] = {}
    for word in asked:
        for left in shortened(word):
            index.setdefault(left, []).append(word)
    best = {word: (SURELY * dictionary.get(word, 0), word) for word in asked}
    for known, n in dictionary.items():
        for word in {word for left in shortened(known) for word in index.get(left, ())}:
            least, by = best[word]
            surer = n > least or (n == least and known < by and by != word)
            if surer and one_step(word, known):
                best[word] = (n, known)
    return {word: known for word, (_, known) in best.items()}


def shortened(word: str) -> Iterator[str]:
    """The word, and the word without each of its letters."""
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def one_step(word: str, other: str) -> bool:
    """Whether one step leads from a word to another: a letter added, left out or changed, two neighbours swapped."""
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    start = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    a, b = word[start:], other[start:]
    changed, added, left_out = a[1:] == b[1:], a == b[1:], a[1:] == b
    return changed or added or left_out or (a[:2] == b[1::-1] and a[2:] == b[2:])


def _same(found: list[str], meant: list[str]) -> Floats:
    return np.array([one == " ".join(other.split()) for one, other in zip(found, meant, strict=True)], np.float64)
