"""How well counts survive: Götz et al. §7.2 and §8.1, and Korolova et al.'s shares of what is published.

For each of keywords, queries, clicks and transitions (query pairs) that the release has:

    coverage@j          share of the original's j most frequent keys that the release has (§7.2)
    l1@j                average |p − q| over those keys, p and q the relative frequencies in the whole tables (§7.2)
    kl@j                KL(p ‖ q) in nats over those of them that the release has (§7.2)
    distinct, total     number of keys, and the sum of their counts (Table 3)
    average_difference  of the counts, the release's scaled to the original's total (§8.1, Figure 5)
    rms_difference      the root of the mean square of these differences (§8.1)
    total_variation     ½ Σ |p − q| over the keys of both, relative frequencies in the whole tables (§8.1)
    unknown             published keys that the original does not have

and the published share of distinct queries and of search volume (Korolova et al., experiments). A key that is missing
would make KL infinite, and the paper does not say what it does then: here p and q are each taken relative to the keys
that both have, and coverage tells the rest. The distribution of the counts on log-log axes (Figure 4) is a detail.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.worth.evidence import Evidence, Integers, find, numbers
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task

KINDS = ("keywords", "queries", "clicks", "transitions")
Floats = npt.NDArray[np.float64]


class CountsTask(Task, register=True):
    """Coverage and precision of the counts themselves."""

    name = "counts"
    about = "which keys are left, and how far their counts are off"
    paper = "Götz et al. 2009, §7.2 and §8.1; Korolova et al. 2009"
    reads = KINDS

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """How far the counts of every table that both have agree."""
        scores: Scores = {}
        for kind in KINDS:
            theirs = release.table(kind)
            ours = None if theirs is None else original.table(kind)
            if theirs is None or ours is None or not ours.num_rows:
                continue
            setup.say(f"{kind}: {ours.num_rows:,} in the original, {theirs.num_rows:,} in the release")
            bare = release.keys_only(kind)
            at = find(ours, theirs)
            found = compare(numbers(ours), numbers(theirs), at, bare=bare)
            scores |= {f"{kind}.{metric}": pair for metric, pair in found.items()}
            setup.details[kind] = distribution(numbers(ours), None if bare else numbers(theirs))
            if kind == "queries":
                scores |= published(original, ours, at >= 0)
        if not scores:
            raise NotEvaluable(f"the release and the original have none of {', '.join(KINDS)} in common")
        return scores


def compare(c: Integers, x: Integers, at: Integers, *, bare: bool = False) -> Scores:
    """Counts c of the original, largest first, and x of the release; `at` says where each key is in x, or -1."""
    there = at >= 0
    matched = np.where(there, x[at] if x.size else 0, 0)
    p = c / c.sum()
    q = matched / max(int(x.sum()), 1)
    scores: Scores = {
        "distinct": {"original": int(c.size), "release": int(x.size)},
        "unknown": {"original": 0, "release": int(x.size - there.sum())},
    }
    for name, j in tops(c.size).items():
        scores[f"coverage@{name}"] = {"original": 1.0, "release": float(there[:j].mean())}
        if not bare:
            scores[f"l1@{name}"] = {"original": 0.0, "release": float(np.abs(p[:j] - q[:j]).mean())}
            scores[f"kl@{name}"] = {"original": 0.0, "release": kl(p[:j], q[:j])}
    if not bare:
        scores["total"] = {"original": int(c.sum()), "release": int(x.sum())}
        scaled = q * c.sum()  # §8.1: a common factor makes the totals equal
        scores["average_difference"] = {"original": 0.0, "release": float(np.abs(c - scaled).mean())}
        scores["rms_difference"] = {"original": 0.0, "release": float(np.sqrt(np.square(c - scaled).mean()))}
        scores["total_variation"] = {"original": 0.0, "release": total_variation(p, q, x, at)}
    return scores


def tops(size: int) -> dict[str, int]:
    """j = 10, 100, 1000, … never above the number of keys (§7.2), and all of them."""
    return {str(10**e): 10**e for e in range(1, 12) if 10**e <= size} | {"all": size}


def kl(p: Floats, q: Floats) -> float | None:
    """KL(p ‖ q) over the keys that both have, each relative to them; None where there are none."""
    both = (p > 0) & (q > 0)
    if not both.any():
        return None
    p, q = p[both] / p[both].sum(), q[both] / q[both].sum()
    return max(0.0, float(np.sum(p * np.log(p / q))))


def total_variation(p: Floats, q: Floats, x: Integers, at: Integers) -> float | None:
    """The most that a set of keys can differ by; keys of the release alone count too. None without a total."""
    total = int(x.sum())
    if total <= 0:
        return None
    alone = np.ones(x.size, np.bool_)
    alone[at[at >= 0]] = False
    return (float(np.abs(p - q).sum()) + float(np.abs(x[alone]).sum() / total)) / 2


def published(original: Evidence, queries: pa.Table, kept: npt.NDArray[np.bool_]) -> Scores:
    """Korolova et al.: the share of distinct queries, and of searches, whose query is published."""
    volume = numbers(queries)
    if original.log is not None and original.counts != "count":
        searches = Evidence.of_log(original.log, "count").table("queries")
        volume = numbers(searches)[find(queries, searches)]
    return {
        "published_distinct": {"original": 1.0, "release": float(kept.mean())},
        "published_volume": {"original": 1.0, "release": float(volume[kept].sum() / volume.sum())},
    }


def distribution(c: Integers, x: Integers | None) -> list[dict[str, int | None]]:
    """How many keys have a count in [2^i, 2^(i+1)): equal steps on a log axis (§8.1, Figure 4)."""
    sides = [c] if x is None else [c, x]
    last = max(int(side.max(initial=1)) for side in sides).bit_length()
    edges = np.array([1 << i for i in range(last + 1)])
    ours, *theirs = (np.histogram(side[side > 0], [*edges[:-1], edges[-1] - 0.5])[0] for side in sides)
    return [
        {
            "from": int(edges[i]),
            "below": int(edges[i + 1]),
            "original": int(ours[i]),
            "release": int(theirs[0][i]) if theirs else None,
        }
        for i in range(last)
    ]
