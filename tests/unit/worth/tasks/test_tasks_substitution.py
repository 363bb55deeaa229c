"""`query-substitution`: mutual information and log-likelihood ratios in plain Python, measures a second way."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency
from tests.unit.worth.tasks.test_tasks_graph import lists

from hubbub.testing import check_task
from hubbub.worth.evidence import EMPTY
from hubbub.worth.tasks import Evidence, NotEvaluable, QuerySubstitution, Setup
from hubbub.worth.tasks.phrases import SIGNIFICANT, Joined, Words, log_likelihood, phrase_pairs
from hubbub.worth.tasks.query_substitution import compared, ranked, substitutions


def table(rows: dict[tuple[str, str], int]) -> pa.Table:
    return pa.table({"query": [a for a, _ in rows], "next_query": [b for _, b in rows], "n": list(rows.values())})


def test_words_that_belong_together() -> None:
    queries = pa.array(["new york hotel", "new york", "hotel", "cheap hotel", "cheap car", "car new"])
    weight = np.array([20.0, 30, 50, 6, 6, 1])
    joined = Joined.of(Words.of(queries), weight)
    total, pairs = 20 * 3 + 30 * 2 + 50 + 12 + 12 + 2, 20 * 2 + 30 + 6 + 6 + 1
    words = {"new": 51, "york": 50, "hotel": 76, "cheap": 12, "car": 7}
    both = {("new", "york"): 50, ("york", "hotel"): 20, ("cheap", "hotel"): 6, ("cheap", "car"): 6, ("car", "new"): 1}
    expected = {
        pair
        for pair, n in both.items()
        if n >= 5 and math.log2((n / pairs) / (words[pair[0]] / total * words[pair[1]] / total)) >= 3
    }
    names = joined.vocabulary.to_pylist()
    assert {(names[p // len(names)], names[p % len(names)]) for p in joined.together.tolist()} == expected
    assert ("new", "york") in expected and ("car", "new") not in expected
    phrases, of = joined.segment(Words.of(pa.array(["york new york hotel", "unseen", "hotel"])))
    assert phrases.to_pylist() == ["york", "new york", "hotel", "unseen", "hotel"] and of.tolist() == [0, 0, 0, 1, 2]


@pytest.mark.parametrize("seed", range(5))
def test_the_ratio_is_the_g_statistic(seed: int) -> None:
    draw = np.random.default_rng(seed)
    together = draw.integers(0, 6, (5, 6)).astype(float)
    left, right = together.sum(axis=1) + draw.integers(0, 3, 5), together.sum(axis=0) + draw.integers(0, 3, 6)
    everything = float(together.sum() + 40)
    found = log_likelihood(sp.csr_array(together), left, right, everything).toarray()
    for i, j in np.ndindex(5, 6):
        a, b, c = together[i, j], left[i] - together[i, j], right[j] - together[i, j]
        square = np.array([[a, b], [c, everything - a - b - c]])
        g = float(chi2_contingency(square, correction=False, lambda_="log-likelihood").statistic)
        kept = a > 0 and g >= SIGNIFICANT and a * everything > left[i] * right[j]
        assert found[i, j] == pytest.approx(g if kept else 0.0)


def test_phrase_pairs_by_hand() -> None:
    """Queries with a phrase, followed by queries with another instead; what both have is no substitute."""
    cut = sp.csr_array(np.array([[1, 1, 0], [1, 0, 1], [0, 0, 1.0]]))  # queries × phrases
    first, second, n = np.array([0, 0, 2, 1]), np.array([1, 2, 0, 1]), np.array([30.0, 4, 9, 60])
    found = phrase_pairs(cut, first, second, n, np.array([0, 1, 2])).toarray()
    dense, everything = cut.toarray(), n.sum()
    for s, t in np.ndindex(3, 3):
        gone = [bool(dense[x, s] and not dense[y, s]) for x, y in zip(first, second, strict=True)]
        new = [bool(dense[y, t] and not dense[x, t]) for x, y in zip(first, second, strict=True)]
        a, b, c = n[np.logical_and(gone, new)].sum(), n[gone].sum(), n[new].sum()
        if not a or a * everything <= b * c:
            assert found[s, t] == 0
        else:
            square = np.array([[a, b - a], [c - a, everything - b - c + a]])
            g = float(chi2_contingency(square, correction=False, lambda_="log-likelihood").statistic)
            assert found[s, t] == pytest.approx(g if g >= SIGNIFICANT else 0.0)


PAIRS = {
    ("cheap hotel", "inexpensive hotel"): 40,
    ("cheap car", "inexpensive car"): 30,
    ("cat cancer", "feline cancer"): 20,
    ("cat food", "feline food"): 10,
    ("hotel", "motel"): 25,
    ("car", "auto"): 25,
}


def test_a_phrase_is_replaced_in_a_query_never_seen() -> None:
    row, text, score = substitutions(
        table(PAIRS), pa.array(["cheap motel", "cat cancer", "nothing"], pa.large_string())
    )
    found = {(int(r), t): s for r, t, s in zip(row, text.to_pylist(), score, strict=True)}
    assert [t for r, t in found if r == 0] == ["inexpensive motel"], "hotel stood on both sides: nobody replaced by it"
    assert (1, "feline cancer") in found, "the whole query, and a phrase of it, give the same"
    assert not any(r == 2 for r, _ in found)
    assert "cheap motel" not in text.to_pylist()


def test_measures_a_second_way() -> None:
    """Precision and recall as Götz defines them, AP and NDCG by their formulas."""
    draw = np.random.default_rng(3)
    ours, theirs = ([draw.choice(12, draw.integers(0, 6), replace=False).tolist() for _ in range(40)] for _ in range(2))

    found = compared(lists(ours), lists(theirs))
    asked = [(a, b) for a, b in zip(ours, theirs, strict=True) if a]
    answered = [(a, b) for a, b in asked if b]
    assert found["coverage"] == pytest.approx(len(answered) / len(asked))
    assert found["queries_evaluated"] == len(answered)
    for j in (2, 5):
        cut = [(a[:j], b[:j]) for a, b in answered]
        hits = [[x in a for x in b] for a, b in cut]
        assert found[f"precision@{j}"] == pytest.approx(
            np.mean([sum(h) / len(b) for h, (_, b) in zip(hits, cut, strict=True)])
        )
        assert found[f"recall@{j}"] == pytest.approx(
            np.mean([sum(h) / len(a) for h, (a, _) in zip(hits, cut, strict=True)])
        )
        ap = [
            sum(sum(h[: i + 1]) / (i + 1) for i, hit in enumerate(h) if hit) / len(a)
            for h, (a, _) in zip(hits, cut, strict=True)
        ]
        assert found[f"MAP@{j}"] == pytest.approx(np.mean(ap))
        gains = [([j - a.index(x) if x in a else 0 for x in b], [j - i for i in range(len(a))]) for a, b in cut]
        dcg = [[sum(g / math.log2(i + 2) for i, g in enumerate(side)) for side in pair] for pair in gains]
        assert found[f"NDCG@{j}"] == pytest.approx(np.mean([x / y for x, y in dcg]))


def test_a_substitution_found_twice_counts_once() -> None:
    best = ranked(np.array([0, 0, 0]), np.array([4, 2, 4]), np.array([1.0, 2.0, 3.0]), 2)
    assert best.item.tolist() == [4, 2] and best.rank.tolist() == [0, 1]


def test_the_original_against_itself_and_against_less() -> None:
    queries = pa.table({"query": [a for a, _ in PAIRS], "n": list(PAIRS.values())})
    whole = Evidence.of_tables({"transitions": table(PAIRS), "queries": queries})
    some = Evidence.of_tables({"transitions": table(dict(list(PAIRS.items())[:2]))})
    same, less = (QuerySubstitution().score(whole, side, Setup()) for side in (whole, some))
    for metric, pair in same.items():
        assert pair["original"] == pair["release"], metric
        if "@" in metric or metric == "coverage":
            assert pair["release"] == pytest.approx(1.0)
    assert 0 < less["coverage"]["release"] < 1  # type: ignore[operator]
    empty = QuerySubstitution().score(whole, Evidence.of_tables(EMPTY), Setup())
    assert all(pair["release"] == 0 for metric, pair in empty.items() if metric != "queries_with_substitutions")
    with pytest.raises(NotEvaluable, match="no transitions"):
        QuerySubstitution().score(whole, Evidence.of_tables({"queries": queries}), Setup())


def test_the_contract_of_query_substitution() -> None:
    check_task(QuerySubstitution(), users=20)
