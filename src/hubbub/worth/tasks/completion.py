"""Completions of what somebody types, as a search box shows them: is the query that people went on to ask among ten?

Whoever has a table of queries completes a prefix by its ten most frequent queries that begin with it. One tenth of the
users are asked: each of their queries, cut after so many letters. The original's column learns from the other users; a
release is used as it is. The floor completes by words that anybody knows, the ceiling by the very queries that are
asked (of a band, those of the band) and are longer than what was typed: no list that is the same for everybody can do
better on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.log import SearchLog
from hubbub.steps.keys import QUERIES
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, need
from hubbub.worth.tasks.graph import Floats, Ints
from hubbub.worth.tasks.public_words import public_words
from hubbub.worth.tasks.sides import BANDS, band, judged
from hubbub.worth.tasks.split import cut, same_users, select

PARTS = 10
LETTERS = (1, 2, 3, 4, 5, 6, 8, 10)
"""Prefixes of so many letters."""
ENOUGH = 4
"""From so many letters on, scores are told by how frequent the query is."""
SHOWN = 10
ASKED = 20_000
"""Pairs of a test user and a query, drawn by the order of a hash: all of them in a smaller log."""


class QueryCompletion(Task, register=True):
    """Mean reciprocal rank and success of ten completions, by how much was typed and how frequent the query is."""

    name = "completion"
    about = "whether the query that somebody types is among ten completions, by letters typed and by frequency"
    paper = "Bar-Yossef and Kraus 2011"
    reads = ("queries",)
    learns = True

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """The same prefixes completed by each side."""
        theirs = need(release, "queries", "release")
        if original.log is None:
            raise NotEvaluable("the original is not a log, so no users can be held out")
        trained, asked = learned(original.log, original.counts, setup.seed)
        if not asked.num_rows:
            raise NotEvaluable("no user is in the test part: the log has too few users")
        if release.log is not None and same_users(release, original):
            theirs = learned(release.log, release.counts, setup.seed)[0]
        questions = Questions.of(asked, trained)
        sides = {"original": trained, "release": theirs, "floor": public_words(setup)}
        setup.say(f"{asked.num_rows:,} queries of test users, completed after {LETTERS[0]} to {LETTERS[-1]} letters")
        return scores(questions, sides)


@dataclass(frozen=True)
class Questions:
    """Who asked which query, each query as a number into `texts`; and the test users' queries as a table."""

    texts: pa.Array
    whose: Ints
    query: Ints
    bands: Ints
    own: pa.Table

    @classmethod
    def of(cls, asked: pa.Table, trained: pa.Table) -> Questions:
        """From (uid, query) of the test users, and the table that says how frequent each query is."""
        coded = asked["query"].combine_chunks().dictionary_encode()
        whose = asked["uid"].combine_chunks().dictionary_encode().indices.to_numpy()
        place = pc.fill_null(pc.index_in(coded.dictionary, value_set=trained["query"].combine_chunks()), -1)
        query = coded.indices.to_numpy()
        times = pa.table({"query": coded.dictionary, "n": np.bincount(query, minlength=len(coded.dictionary))})
        own = times.sort_by([("n", "descending"), ("query", "ascending")])
        return cls(coded.dictionary, whose, query, band(place.to_numpy()), own)


def learned(log: SearchLog, counts: str, seed: int) -> tuple[pa.Table, pa.Table]:
    """The queries of nine tenths of the users as a table, and (uid, query) of the others, some of them."""
    parts = cut(log, seed, PARTS)
    view = select(log, "trained", parts, f"part < {PARTS - 1}")
    held = QUERIES.distinct(view) if counts == "users" else QUERIES.occurrences(view)
    trained = log.engine.fetch(
        f"SELECT query, count(*) AS n FROM ({held}) AS held GROUP BY query ORDER BY n DESC, query"
    )
    view = select(log, "asked", parts, f"part = {PARTS - 1}")
    asked = log.engine.fetch(
        f"SELECT uid, query FROM ({QUERIES.distinct(view)}) AS held "
        f"ORDER BY md5(concat(uid, '\x1f', query)), uid, query LIMIT {ASKED}"
    )
    return trained, asked


def scores(questions: Questions, sides: dict[str, pa.Table]) -> Scores:
    """Every metric: by letters typed, then by band for prefixes of four letters and more."""
    length = pc.utf8_length(questions.texts).to_numpy()[questions.query]
    bands = {"all": np.ones(len(questions.texts), bool)}
    bands |= {name: questions.bands == number for number, name in enumerate(BANDS)}
    many: dict[str, list[tuple[Ints, dict[str, Floats]]]] = {name: [] for name in bands}
    made: Scores = {}
    for letters in LETTERS:
        at = np.flatnonzero(length > letters)
        if not at.size:
            continue
        longer = questions.own.filter(pc.greater(pc.utf8_length(questions.own["query"]), letters))
        ranks = {side: rank(table, questions.texts, letters) for side, table in (*sides.items(), ("ceiling", longer))}
        made |= _told(f"{letters}_typed", questions, [(at, ranks)])
        for name, chosen in bands.items() if letters >= ENOUGH else ():
            among = pc.is_in(longer["query"], value_set=questions.texts.filter(pa.array(chosen)))
            best = rank(longer.filter(among), questions.texts, letters)
            many[name].append((at[chosen[questions.query[at]]], ranks | {"ceiling": best}))
    for name, found in many.items():
        made |= _told(name, questions, found)
    if not made:
        raise NotEvaluable("no query of a test user is longer than a letter")
    return made


def _told(name: str, questions: Questions, found: list[tuple[Ints, dict[str, Floats]]]) -> Scores:
    """The metrics of some questions, given with where each side shows each text; nothing where none is asked."""
    if not sum(at.size for at, _ in found):
        return {}
    whose = questions.whose[np.concatenate([at for at, _ in found])]
    sides = {side: np.concatenate([ranks[side][questions.query[at]] for at, ranks in found]) for side in found[0][1]}
    return {f"{name}.{metric}": dict(judged(values, whose=whose)) for metric, values in measured(sides).items()}


def measured(ranks: dict[str, Floats]) -> dict[str, dict[str, Floats]]:
    """Reciprocal ranks and successes, from ranks that are infinite where the query is not shown."""
    return {
        "mrr": {side: 1 / found for side, found in ranks.items()},
        f"success@{SHOWN}": {side: np.isfinite(found).astype(np.float64) for side, found in ranks.items()},
    }


def rank(table: pa.Table, texts: pa.Array, letters: int) -> Floats:
    """Where each text stands, from 1, among the table's completions of its first letters; infinite beyond the tenth."""
    if not table.num_rows:
        return np.full(len(texts), np.inf)
    asked = pc.utf8_slice_codeunits(texts, 0, letters).unique()
    begins = pc.utf8_slice_codeunits(table["query"], 0, letters).combine_chunks()
    rows = table["query"].filter(pc.is_in(begins, value_set=asked)).combine_chunks()
    group = pc.utf8_slice_codeunits(rows, 0, letters).dictionary_encode().indices.to_numpy().astype(np.int64)
    order = np.argsort(group, kind="stable")  # the table's own order within each prefix
    start = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 1))
    place = np.empty(group.size, np.float64)
    place[order] = np.arange(group.size) - start[group[order]] + 1
    at = pc.fill_null(pc.index_in(texts, value_set=rows), -1).to_numpy()
    found = np.full(len(texts), np.inf)
    found[at >= 0] = place[at[at >= 0]]
    return np.where(found <= SHOWN, found, np.inf)
