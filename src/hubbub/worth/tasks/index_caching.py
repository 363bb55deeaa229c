"""Which posting lists to keep in memory: Götz et al. §8.2, after Baeza-Yates.

A keyword's score is its frequency divided by the number of documents that contain it. Posting lists go into memory
from the highest score down until it is filled; what is in memory answers its keyword's share of the original's
traffic: the hit probability. The release decides what is cached, the original what is asked.

The paper's memory is 1 GB, for a log with about a million distinct keywords (§7.1). A smaller log's lists would all fit
into that, so memory is scaled with the log: as much for every distinct keyword of the original, 1,000 bytes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.worth.evidence import Evidence, Integers, find, numbers
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, need

MEMORY = 10**9 // 10**6  # §8.2: 1 GB; §7.1: about one million distinct keywords
POSTING = 8  # postings of 8 bytes …
LONGEST = 200_000  # … and lists cut at this many documents
Mask = npt.NDArray[np.bool_]


class IndexCaching(Task, register=True):
    """A cache filled by the release, asked by the original."""

    name = "index-caching"
    about = "hit probability of an index cache that the release filled"
    paper = "Götz et al. 2009, §8.2"
    reads = ("keywords", "queries")
    truth = ("document_frequency",)

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """Both caches against the occurrences of keywords in the original."""
        documents = setup.known("document_frequency")
        if documents is None:
            raise NotEvaluable("document frequencies are needed: --truth DIR with document_frequency.parquet")
        ours, theirs = keywords(original), keywords(release)
        if ours is None or not ours.num_rows:
            raise NotEvaluable("the original has no keywords")
        if theirs is None:
            raise NotEvaluable("the release has neither keywords nor queries")
        asked = ours
        if original.log is not None and original.counts != "count":
            asked = need(Evidence.of_log(original.log, "count"), "keywords", "original")
        known = documents.select(["keyword"])
        lists = documents.column("documents").to_numpy()
        scores: Scores = {"hit_probability": {}, "cached_keywords": {}, "cached_bytes": {}, "memory_bytes": {}}
        memory = MEMORY * ours.num_rows
        setup.say(f"{memory:,} bytes of memory: {MEMORY:,} for every keyword of the original, as in the paper")
        for side, table in (("original", ours), ("release", theirs)):
            at = find(table, known)
            table, at = table.filter(pa.array(at >= 0)), at[at >= 0]
            kept, size = pack(numbers(table), lists[at], memory)
            cached = table.filter(pa.array(kept))
            hit = numbers(asked)[find(asked, cached) >= 0].sum() / numbers(asked).sum()
            scores["hit_probability"][side] = float(hit)
            scores["cached_keywords"][side] = cached.num_rows
            scores["cached_bytes"][side] = size
            scores["memory_bytes"][side] = memory
            setup.say(f"{side}: {cached.num_rows:,} posting lists in memory")
        return scores


def pack(
    n: Integers, documents: Integers, memory: int, posting: int = POSTING, longest: int = LONGEST
) -> tuple[Mask, int]:
    """Which lists fit, from the highest score down until the next does not fit; ties in the order given."""
    value = np.where(documents > 0, n / np.maximum(documents, 1), 0.0)  # §8.2: frequency ÷ document frequency
    order = np.argsort(-value, kind="stable")
    order = order[value[order] > 0]
    size = np.cumsum(np.minimum(documents[order], longest) * posting)
    fits = size <= memory
    kept = np.zeros(n.size, bool)
    kept[order[fits]] = True
    return kept, int(size[fits][-1]) if fits.any() else 0


def keywords(evidence: Evidence) -> pa.Table | None:
    """The keywords, or those of the queries: a keyword then counts once for each time a query with it counts."""
    table = evidence.table("keywords")
    queries = None if table is not None else evidence.table("queries")
    if queries is None:
        return table
    words = pc.split_pattern(queries.column("query").combine_chunks(), " ")
    n = queries.column("n").combine_chunks().take(pc.list_parent_indices(words))
    rows = pa.table({"query": pc.list_parent_indices(words), "keyword": pc.list_flatten(words), "n": n})
    once = rows.group_by(["query", "keyword", "n"]).aggregate([])
    summed = once.group_by("keyword").aggregate([("n", "sum")]).rename_columns(["keyword", "n"])
    return summed.sort_by([("n", "descending"), ("keyword", "ascending")])
