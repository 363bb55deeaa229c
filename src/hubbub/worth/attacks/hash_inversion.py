"""Hash inversion (Kumar et al. 2007): a hash keeps how often a word is used, and with which others.

The attacker has another log of the same kind of people. Words are matched to hashes first by frequency, then again and
again by frequency and by the company they keep among those matched before, each time as the best one-to-one
assignment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.mechanisms.traits import Wording
from hubbub.worth.attacks.base import Attack, AttackSetup, NotAttackable, Outcome, Rate

if TYPE_CHECKING:
    from hubbub.log import SearchLog

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
TOP, SCORED, ROUNDS, ANCHORS = 400, 100, 40, 150
"""Words matched; the most frequent of them that count; how often they are matched again; by the company of how many."""
SEARCHES = 'SELECT uid, query, min("time") AS "time" FROM log GROUP BY uid, query'


@dataclass(frozen=True)
class HashedWords:
    """The most frequent words of a log: in how many queries, each user's own once, and with which others in them."""

    text: list[str]
    n: Floats
    together: Floats
    """Queries with both words; none with itself."""
    marks: list[tuple[int, int]]
    """How often, and the sum of a hash of the times: the same word in two copies of one log has the same marks."""


class HashInversion(Attack):
    """Words behind hashes, by frequency and company."""

    name = "hash-inversion"
    about = "which word is behind a hash? frequencies and company, learned from another log, tell"
    paper = "Kumar et al. 2007"

    def run(self, setup: AttackSetup) -> Outcome:
        """Match, then count what is right among the most frequent."""
        if setup.mechanism.wording is not Wording.HASHED or setup.released.log is None:
            raise NotAttackable("the words of this release are not hashed: they can be read")
        hidden = words(setup.released.log)
        if setup.other is not None:
            from hubbub.log import read_log

            with read_log(setup.other) as other:
                plain, source = words(other), "another log"
        else:
            half = f"SELECT * FROM ({SEARCHES}) AS s WHERE md5(concat('{setup.secret.hex()}', uid)) < '8'"
            plain, source = words(setup.log, half), "half of the users of the raw log (no other log was given)"
        guess = match(hidden, plain)
        _, _, text, _, marks = _held(setup.log, SEARCHES)
        truth = dict(zip(marks, text, strict=True))
        tries = min(SCORED, len(hidden.text))
        right = sum(plain.text[guess[i]] == truth.get(hidden.marks[i]) for i in range(tries))
        chance = 1 / len(plain.text)
        return Outcome(
            Rate(right, tries),
            Rate(round(chance * tries), tries),
            f"the {tries} most frequent words, {len(hidden.text)} matched by frequency and company in {source}; "
            "false alarms are what chance would give",
        )


def words(log: SearchLog, searches: str = SEARCHES) -> HashedWords:
    """The most frequent words of a log."""
    search, code, text, n, marks = _held(log, searches)
    top = np.array(sorted(range(n.size), key=lambda i: (-n[i], text[i]))[:TOP], np.int64)
    if top.size < 2:
        raise NotAttackable("the log has no words to match")
    place = np.full(n.size, -1)
    place[top] = np.arange(top.size)
    inside = place[code] >= 0
    from scipy.sparse import csr_matrix

    ones = np.ones(int(inside.sum()))
    held = csr_matrix((ones, (search[inside], place[code][inside])), shape=(int(search.max()) + 1, top.size))
    both = np.asarray((held.T @ held).todense(), float)
    np.fill_diagonal(both, 0.0)
    return HashedWords([text[i] for i in top], n[top].astype(float), both, [marks[i] for i in top])


def _held(log: SearchLog, searches: str) -> tuple[Integers, Integers, list[str], Integers, list[tuple[int, int]]]:
    """Every word of every query of a user once, as (query, word); each word's text, how often it is used, its marks."""
    rows = log.engine.fetch(searches)
    split = pc.split_pattern(rows.column("query").combine_chunks(), " ")
    search = pc.list_parent_indices(split).to_numpy().astype(np.int64)
    once = pa.table({"search": search, "word": split.flatten()}).group_by(["search", "word"]).aggregate([])
    which = once.column("search").to_numpy()
    times = pc.fill_null(rows.column("time"), 0).to_numpy().astype(np.int64)
    coded = once.column("word").combine_chunks().dictionary_encode()
    code, text = coded.indices.to_numpy().astype(np.int64), coded.dictionary.to_pylist()
    n = np.bincount(code, minlength=len(text))
    marks = zip(n.tolist(), _marks(code, times[which], n.size).tolist(), strict=True)
    return which, code, text, n, list(marks)


def _marks(code: Integers, times: Integers, size: int) -> npt.NDArray[np.uint64]:
    mixed = (times.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0x94D049BB133111EB)
    sums = np.zeros(size, np.uint64)
    np.add.at(sums, code, mixed ^ (mixed >> np.uint64(32)))
    return sums


def match(hidden: HashedWords, plain: HashedWords) -> Integers:
    """For each hash the word it is taken for: rank by rank at first, then by frequency and company.

    Counts are compared by their square roots, whose deviation is the same for frequent and for rare words.
    """
    from scipy.optimize import linear_sum_assignment

    guess = np.minimum(np.arange(len(hidden.text)), len(plain.text) - 1)
    as_large = np.sqrt(hidden.n.sum() / plain.n.sum())
    frequency = (np.sqrt(hidden.n)[:, None] - as_large * np.sqrt(plain.n)[None, :]) ** 2
    for number in range(1, ROUNDS + 1):
        anchors = np.arange(min(10 + ANCHORS * number // ROUNDS, guess.size))  # the surest first
        ours, theirs = np.sqrt(hidden.together[:, anchors]), as_large * np.sqrt(plain.together[:, guess[anchors]])
        company = (ours**2).sum(axis=1)[:, None] + (theirs**2).sum(axis=1)[None, :] - 2 * ours @ theirs.T
        rows, columns = linear_sum_assignment(frequency + company)
        guess = guess.copy()
        guess[rows] = columns
    return guess
