"""Query substitution (Götz et al. 2009, §8.3): how else could one ask for the same thing?

Learned from query pairs alone (transitions), each log by its own: a query is cut into phrases by mutual information;
what replaces a phrase, or the whole query, is ranked by log-likelihood ratio. The original's first j substitutions
of each of its 100,000 most frequent queries are the truth for the release's first j, j = 2 and 5.

As in the paper, coverage is over the queries for which the original has substitutions, everything else over those
for which the release has some too. MAP is the usual mean average precision: the paper's formula gives a substitution
that is missing a rank of zero, the best there is. NDCG: the original's i-th of j substitutions gains j - i + 1.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, need
from hubbub.worth.tasks.graph import Floats, Ints, find, matrix, number, top
from hubbub.worth.tasks.measures import Lists, mean, measured
from hubbub.worth.tasks.phrases import Joined, Words, incidence, log_likelihood, phrase_pairs

QUERIES = 100_000
CUTS = (2, 5)
CANDIDATES = 2 * max(CUTS)
"""Replacements looked at for a phrase: more than are listed, as two of them can give the same query."""


def substitutions(transitions: pa.Table, asked: pa.Array) -> tuple[Ints, pa.Array, Floats]:
    """Every candidate for the queries asked: (which query, the substitution, its score)."""
    n = transitions.column("n").to_numpy().astype(np.float64)
    if not n.sum():
        return np.zeros(0, np.int64), pa.array([], pa.large_string()), np.zeros(0)
    texts, (first, second) = number(transitions.column("query"), transitions.column("next_query"))
    known = Words.of(texts)
    joined = Joined.of(known, _sums(first, n, len(texts)) + _sums(second, n, len(texts)))
    whole = _whole(texts, first, second, n, asked)
    learned, of_learned = joined.segment(known)
    wanted, of_wanted = joined.segment(Words.of(asked))
    phrases, (learned_ids, wanted_ids) = number(learned, wanted)
    cut = incidence(of_learned, learned_ids, (len(texts), len(phrases)))
    scores = phrase_pairs(cut, first, second, n, np.unique(wanted_ids))
    source, _, target, value = top(scores, CANDIDATES)
    parts = _replaced(phrases, wanted_ids, of_wanted, source, target, value)
    row, score = (np.concatenate([whole[place], parts[place]]) for place in (0, 2))
    text = pa.concat_arrays([whole[1], parts[1]])
    new = pc.not_equal(text, asked.take(pa.array(row))).to_numpy(zero_copy_only=False)
    return row[new], text.filter(pa.array(new)), score[new]


def _whole(texts: pa.Array, first: Ints, second: Ints, n: Floats, asked: pa.Array) -> tuple[Ints, pa.Array, Floats]:
    """Whole queries that follow whole queries."""
    size = len(texts)
    pairs = matrix(first, second, n, (size, size))
    before, after = _sums(first, n, size), _sums(second, n, size)
    node = find(asked, texts)
    here = np.flatnonzero(node >= 0)
    row, _, column, value = top(
        log_likelihood(pairs[node[here]], before[node[here]], after, float(n.sum())), CANDIDATES
    )
    return here[row], texts.take(pa.array(column)), value


def _sums(ids: Ints, weight: Floats, size: int) -> Floats:
    return np.bincount(ids, weight, size).astype(np.float64)


def _replaced(
    phrases: pa.Array, wanted: Ints, of_wanted: Ints, source: Ints, target: Ints, value: Floats
) -> tuple[Ints, pa.Array, Floats]:
    """Each query with one of its phrases replaced by each of that phrase's replacements."""
    start, end = (np.searchsorted(source, wanted, side) for side in ("left", "right"))
    choices = end - start
    slot = np.repeat(np.arange(wanted.size), choices)  # which phrase of which query is replaced
    chosen = np.arange(slot.size) - np.repeat(np.cumsum(choices) - choices, choices) + start[slot]
    query = of_wanted[slot]
    begin, stop = (np.searchsorted(of_wanted, query, side) for side in ("left", "right"))
    lengths = stop - begin
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    place = np.arange(bounds[-1]) - np.repeat(bounds[:-1] - begin, lengths)
    pieces = np.where(place == np.repeat(slot, lengths), np.repeat(target[chosen], lengths), wanted[place])
    lists = pa.LargeListArray.from_arrays(pa.array(bounds, pa.int64()), phrases.take(pa.array(pieces)))
    return query, pc.binary_join(lists, pa.scalar(" ", pa.large_string())), value[chosen]


class QuerySubstitution(Task, register=True):
    """Precision, recall, MAP, NDCG and coverage of a release's substitutions."""

    name = "query-substitution"
    about = "whether query pairs still tell how people rephrase their queries"
    paper = "Götz et al. 2009, §8.3; Jones et al. 2006"
    reads = ("transitions", "queries")

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """The release's ranking against the original's."""
        asked = need(original, "queries", "original").column("query").slice(0, QUERIES).combine_chunks()
        asked = asked.cast(pa.large_string())
        setup.say("query-substitution: phrases and pairs of the original")
        ours = substitutions(need(original, "transitions", "original"), asked)
        if not ours[0].size:
            raise NotEvaluable("the original has no query pair that is more than chance")
        setup.say("query-substitution: phrases and pairs of the release")
        theirs = substitutions(need(release, "transitions", "release"), asked)
        _, (our_text, their_text) = number(ours[1], theirs[1])
        truth, found = (ranked(r[0], t, r[2], len(asked)) for r, t in ((ours, our_text), (theirs, their_text)))
        same, other = compared(truth, truth), compared(truth, found)
        return {metric: {"original": same[metric], "release": other[metric]} for metric in same}


def ranked(row: Ints, item: Ints, score: Floats, rows: int) -> Lists:
    """The best of each row; an item found in two ways counts by the better one."""
    order = np.lexsort((-score, item, row))
    row, item, score = row[order], item[order], score[order]
    again = np.zeros(row.size, bool)
    again[1:] = (row[1:] == row[:-1]) & (item[1:] == item[:-1])
    row, item, score = row[~again], item[~again], score[~again]
    made = matrix(row, item, score, (rows, int(item.max(initial=-1)) + 1))
    at, rank, column, _ = top(made, max(CUTS))
    return Lists(at, column, rank, rows)


def compared(truth: Lists, found: Lists) -> dict[str, float]:
    """Every metric of one ranking against the truth."""
    has = np.isin(np.unique(truth.row), found.row)
    scores: dict[str, float] = {
        "coverage": mean(has.astype(np.float64)),
        "queries_with_substitutions": int(np.unique(truth.row).size),
        "queries_evaluated": int(has.sum()),
    }
    both = np.unique(truth.row)[has]
    for cut in CUTS:
        judged = _within(truth, both, cut)
        gains = Lists(judged.row, judged.item, cut - judged.rank, judged.rows)
        values = measured(("SetP", "SetR", f"AP@{cut}", f"nDCG@{cut}"), gains, _within(found, both, cut))
        for name, measure in zip(("precision", "recall", "MAP", "NDCG"), values, strict=True):
            scores[f"{name}@{cut}"] = mean(values[measure])
    return scores


def _within(lists: Lists, rows: Ints, cut: int) -> Lists:
    """The first entries of some rows, these numbered anew."""
    kept = (lists.rank < cut) & np.isin(lists.row, rows)
    return Lists(np.searchsorted(rows, lists.row[kept]), lists.item[kept], lists.rank[kept], rows.size)
