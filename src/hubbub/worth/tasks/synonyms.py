"""Queries that mean the same, learned from clicks and from words that people replace: are they, by the truth?

The truth knows the intent of each query. Pairs are learned as `hubbub export --to synonyms` writes them
(worth/alike.py). Precision is over the pairs learned whose two intents are known; recall over all pairs of one intent
that at least five users ask each. The floor is what anybody sees without a log: the same letters but for www., .com,
blanks, order of words and a final s. The ceiling is 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.worth.alike import AlikePair, Weighed, alike, key
from hubbub.worth.evidence import Evidence, numbers
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task
from hubbub.worth.tasks.sides import judged, wilson

ASKED = 5
"""Users who ask each query of a true pair."""
LEAST = 2
"""In a log, a click or a transition of one user is no evidence."""
CROWD = 30
"""Of an intent with more texts, the most frequent so many are paired."""
Pairs = Collection[tuple[str, str]]


class SynonymDiscovery(Task, register=True):
    """Precision and recall of learned pairs against known intents."""

    name = "synonyms"
    about = "whether queries that are learned to mean the same do, and how many of those that do are found"
    paper = "none"
    reads = ("clicks", "transitions")
    truth = ("intents",)

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """Learn from each side, judge by the intents."""
        if all(release.table(name) is None for name in self.reads):
            raise NotEvaluable(
                "the release has neither clicks nor transitions: hubbub release … --tables queries,clicks makes them"
            )
        intents = setup.known("intents")
        if intents is None:
            raise NotEvaluable("intents must be known: --truth DIR with intents.parquet (query, intent, users)")
        frequent = intents.filter((pc.field("users") >= ASKED) & (pc.field("intent") >= 0))
        true = true_pairs(frequent)
        if not true:
            raise NotEvaluable(f"no two queries of one intent are asked by {ASKED} users or more each")
        meant: dict[str, set[int]] = {}
        for query, intent in zip(intents["query"].to_pylist(), intents["intent"].to_pylist(), strict=True):
            meant.setdefault(query, set()).add(intent)
        sides: dict[str, Pairs] = {
            "original": [(p.left, p.right) for p in learned(original, LEAST)],
            "release": [(p.left, p.right) for p in learned(release, 1)],
            "floor": seen(frequent["query"].to_pylist()),
        }
        setup.say(f"{len(true):,} true pairs; learned: " + ", ".join(f"{s} {len(p):,}" for s, p in sides.items()))
        order = sorted(true)
        recall = {side: np.isin(_texts(order), _texts(pairs)).astype(np.float64) for side, pairs in sides.items()}
        made: Scores = {"recall": dict(judged(recall | {"ceiling": np.ones(len(order))}))}
        right = {side: precision(pairs, meant) for side, pairs in sides.items()}
        low, high = wilson(right["release"][0] or 0.0, max(right["release"][1], 1e-9))
        found: dict[str, float | None] = {side: share for side, (share, _) in right.items()}
        made["precision"] = found | {"ceiling": 1.0, "low": low, "high": high}
        made["pairs"] = {side: len(pairs) for side, pairs in sides.items() if side != "floor"}
        return made


def learned(evidence: Evidence, least: int) -> list[AlikePair]:
    """The pairs that a side shows to be alike."""
    clicks, transitions = (_weighed(evidence.table(name), least) for name in ("clicks", "transitions"))
    return alike(clicks, transitions)


def _weighed(table: pa.Table | None, least: int) -> Weighed | None:
    if table is None:
        return None
    rows = table.filter(pc.field("n") >= least)
    return Weighed(rows, numbers(rows), numbers(rows).astype(np.float64))


def true_pairs(frequent: pa.Table) -> set[tuple[str, str]]:
    """Every two texts of one intent."""
    texts: dict[int, list[str]] = {}
    ordered = frequent.sort_by([("users", "descending"), ("query", "ascending")])
    for query, intent in zip(ordered["query"].to_pylist(), ordered["intent"].to_pylist(), strict=True):
        texts.setdefault(intent, []).append(query)
    return {key(pair) for of in texts.values() for pair in combinations(of[:CROWD], 2) if pair[0] != pair[1]}


def precision(pairs: Pairs, meant: dict[str, set[int]]) -> tuple[float | None, int]:
    """The share of the pairs of known intent that have one in common, and how many such pairs there are."""
    known = [(meant[a], meant[b]) for a, b in pairs if a in meant and b in meant]
    return (sum(bool(a & b) for a, b in known) / len(known), len(known)) if known else (None, 0)


def seen(queries: Iterable[str]) -> Pairs:
    """Pairs that look alike to anybody."""
    alike_texts: dict[str, list[str]] = {}
    for query in dict.fromkeys(queries):
        plain = query.removeprefix("http ").removeprefix("http://").removeprefix("www.").removesuffix(".com")
        words = sorted(word.rstrip("s") for word in plain.replace("-", " ").split())
        alike_texts.setdefault("".join(words), []).append(query)
    return {key(pair) for of in alike_texts.values() for pair in combinations(of[:CROWD], 2)}


def _texts(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return ["\x1f".join(pair) for pair in pairs]
