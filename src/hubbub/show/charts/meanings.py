"""What each score of a task says, in words, and which way is good: by the stem of its name, whatever its table.

A name is `table.stem@depth`. Entries that end in `@` are for scores of the first {at}, in `@/` for those of what has
the share {at} of everything. A score of another package's task is not here: it is shown under its own name.
"""

from __future__ import annotations

from dataclasses import dataclass

MORE, LESS, ALIKE = "more is better", "less is better", "the nearer to the log's the better"


@dataclass(frozen=True)
class Meaning:
    """What a score says, which way is good, and a few words for an axis (none: it is not drawn)."""

    words: str
    better: str = MORE
    short: str = ""


MEANINGS = {
    "distinct": Meaning("different keys"),
    "unknown": Meaning("published keys that nobody in the log has", LESS),
    "coverage@": Meaning("of {keys}, the share that is released", MORE, "{keys} released"),
    "coverage": Meaning("share of the questions that it can answer", MORE, "questions answered"),
    "l1@": Meaning("how far the shares of {keys} are off, on average", LESS),
    "kl@": Meaning("divergence of the shares of {keys} (Kullback-Leibler, in nats)", LESS),
    "total": Meaning("all counts together", ALIKE),
    "average_difference": Meaning("how far a scaled count is off, on average", LESS),
    "rms_difference": Meaning("how far a scaled count is off, large errors weighing more", LESS),
    "total_variation": Meaning("distance of all shares: 0 the same, 1 nothing in common", LESS),
    "published_distinct": Meaning("share of the log's queries that is released", MORE, "queries released"),
    "published_volume": Meaning("share of all searches whose query is released", MORE, "searches covered"),
    "hit_probability": Meaning("share of lookups that a cache answers which was filled from it", MORE, "cache hits"),
    "cached_keywords": Meaning("words in that cache"),
    "cached_bytes": Meaning("bytes of that cache in use", ALIKE),
    "memory_bytes": Meaning("bytes that the cache has", ALIKE),
    "precision": Meaning("share of what it gives that is right", MORE, "given and right"),
    "precision@": Meaning("share of its first {at} answers that is right", MORE, "right of {at} given"),
    "precision@/": Meaning("of the pairs that look frequent ({at} of all), the share that is", MORE, "truly frequent"),
    "recall": Meaning("share of what is right that it gives", MORE, "right and given"),
    "recall@": Meaning("share of what is right that is among its first {at} answers", MORE, "found in the first {at}"),
    "recall@/": Meaning("of the frequent pairs ({at} of all), the share that still is", MORE, "frequent pairs kept"),
    "recall_by_clicks": Meaning("share of what is right that it gives, weighed by clicks", MORE, "given, by clicks"),
    "MAP": Meaning("mean average precision of its rankings", MORE, "MAP"),
    "MAP@": Meaning("mean average precision of its first {at}", MORE, "MAP of the first {at}"),
    "NDCG@": Meaning("how good its first {at} are, the first of them weighing more", MORE, "NDCG of the first {at}"),
    "nDCG@": Meaning("how good its first {at} are, the first of them weighing more", MORE, "nDCG of the first {at}"),
    "U(Q)": Meaning("the same over all questions, an unanswered one scoring 0", MORE, "U(Q), all questions"),
    "queries_with_substitutions": Meaning("queries that have rewritings in the log", ALIKE),
    "queries_evaluated": Meaning("queries that could be asked"),
    "sessions_evaluated": Meaning("test sessions for which there was a suggestion"),
    "sessions": Meaning("test sessions", ALIKE),
    "prefixes_evaluated": Meaning("beginnings of sessions for which there was a suggestion"),
    "prefixes": Meaning("beginnings of test sessions", ALIKE),
    "purity": Meaning("share of websites that are in a cluster of their own topic", MORE, "purity"),
    "clusters": Meaning("clusters of websites", ALIKE),
    "websites_in_clusters": Meaning("websites in a cluster with others", ALIKE),
    "websites": Meaning("websites looked at", ALIKE),
    "keywords": Meaning("keywords found for all concepts", ALIKE),
    "concepts_with_keywords": Meaning("concepts for which a keyword was found"),
    "frequent@/": Meaning("pairs that have {at} of all clicks or more", ALIKE),
    "support_distance@/": Meaning("how far the shares of frequent pairs ({at} of all) are off, together", LESS),
    "average_support_distance@/": Meaning("how far the share of a frequent pair ({at} of all) is off", LESS),
    "diversity": Meaning("share of the pairs of two users or more that is released", MORE, "pairs released"),
    "diff_ratio_below_40%": Meaning("frequent pairs whose share is off by less than 40 %", MORE, "pairs off by < 40 %"),
    "triplet_diff_ratio_below_40%": Meaning("the same with the user beside the pair", MORE, "triplets off by < 40 %"),
    "completions": Meaning("completions of the phrase"),
    "overlap@": Meaning(
        "of the {at} most frequent completions, the share that still is", MORE, "of the first {at}, kept"
    ),
    "kendall_tau@": Meaning("order of the first {at}: 1 the same, −1 turned round", MORE, "order of the first {at}"),
    "mrr": Meaning("mean reciprocal rank of the right answer among ten", MORE, "mean reciprocal rank"),
    "success@": Meaning("share of questions whose answer is among {at}", MORE, "answer among {at}"),
    "spearman": Meaning("order by popularity: 1 the same, −1 turned round", MORE, "order"),
    "corrected": Meaning("share of misspelt searches that are put right", MORE, "misspelt, put right"),
    "left_alone": Meaning("share of well-typed searches that are left alone", MORE, "well typed, left alone"),
    "pairs": Meaning("pairs of queries learned to mean the same"),
    "typical@": Meaning("of the {at} most typical queries of a group, the share named", MORE, "typical of a group"),
    "top@": Meaning("of the {at} most frequent queries of a group, the share named", MORE, "frequent in a group"),
    "kendall_tau_truth": Meaning("order beside their true popularity: 1 the same", MORE, "true order"),
}


def meaning(metric: str) -> Meaning | None:
    """What a metric says (`queries.coverage@100`), with its table and depth filled in; None: not known."""
    name, depth, at = metric.partition("@")
    of, _, stem = name.rpartition(".")
    found = MEANINGS.get(stem + (f"{depth}/" if "/" in at else depth))
    if found is None:
        return None
    at = f"{int(at):,}" if at.isdigit() else at
    table = f"{of.replace('_', ' ')}: " if of else ""
    words = found.words.format(at=at, keys="all keys" if at == "all" else f"the {at} most frequent keys")
    short = found.short.format(at=at, keys="all" if at == "all" else f"first {at}")
    return Meaning(f"{table}{words}", found.better, f"{table}{short}" if short else "")


def less_is_better(stem: str) -> bool:
    """Whether a small value is the good one, whatever its depth."""
    return any(found.better == LESS for name, found in MEANINGS.items() if name.rstrip("@/") == stem)
