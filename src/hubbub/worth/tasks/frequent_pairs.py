"""What is left of the frequent (query, url) pairs: Hong et al. §6.3 to §6.5.

A pair is frequent if its support, its share of all pairs, is at least s. The paper drops the pairs that only one
user has before it starts, from the pairs and from |D|: so do we, and what a release publishes of them is left out of
it, too. A pair that the original does not have at all stays, and counts against precision.

    precision@s, recall@s   of the frequent pairs (eq. 9)
    support_distance@s      sum over the original's frequent pairs of |x/|O| − c/|D|| (eq. 5), and its average
    diversity               distinct pairs of the original that the release has (§6.4)
    diff_ratio_below_40%    share of the pairs frequent at 1/1000 with DiffRatio below 0.4 (eq. 10, Figure 6); for
                            (query, url, user) triplets where the release says whose rows its log holds
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.worth.evidence import Evidence, Integers, find, numbers
from hubbub.worth.tasks.base import NotEvaluable, Scores, Setup, Task, need
from hubbub.worth.tasks.split import same_users

SUPPORTS = tuple(Fraction(1, n) for n in (100, 250, 500, 750, 1000))  # §6.1
TOLERABLE = 0.4  # §6.5
Floats = npt.NDArray[np.float64]


class FrequentPairs(Task, register=True):
    """Precision, recall and support of frequent query-url pairs; diversity of all."""

    name = "frequent-pairs"
    about = "which frequent (query, url) pairs stay frequent, and how far their support moves"
    paper = "Hong et al. 2012, §6"
    reads = ("clicks",)

    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """Every minimum support of the paper."""
        theirs = need(release, "clicks", "release")
        if release.keys_only("clicks"):
            raise NotEvaluable("the release has clicks without counts, so they have no support")
        ours = need(original, "clicks", "original")
        shared = held_by_several(original, ours)
        single = ours.filter(pa.array(~shared))
        ours = ours.filter(pa.array(shared))
        if not ours.num_rows:
            raise NotEvaluable("no pair of the original is held by two users")
        theirs = theirs.filter(pa.array(find(theirs, single) < 0))
        setup.say(f"{ours.num_rows:,} pairs of two users or more; {theirs.num_rows:,} in the release")
        c, x, at = numbers(ours), numbers(theirs), find(ours, theirs)
        scores: Scores = {}
        for s in SUPPORTS:
            scores |= {f"{metric}@{s}": pair for metric, pair in supported(c, x, at, s).items()}
        present = at >= 0
        present[present] = x[at[present]] > 0
        scores["diversity"] = {"original": 1.0, "release": float(present.mean())}
        frequent = c * SUPPORTS[-1].denominator >= c.sum()
        size, output = int(c.sum()), int(x.sum())
        ratios = diff_ratio(c[frequent], matched(x, at)[frequent], size, output)
        scores["diff_ratio_below_40%"] = {"original": 1.0, "release": below(ratios)}
        setup.details["diff_ratio"] = histogram(ratios)
        triplets = of_users(original, release, ours.filter(pa.array(frequent)), size, output)
        if triplets is not None:
            scores["triplet_diff_ratio_below_40%"] = {"original": 1.0, "release": below(triplets)}
            setup.details["triplet_diff_ratio"] = histogram(triplets)
        return scores


def held_by_several(original: Evidence, clicks: pa.Table) -> npt.NDArray[np.bool_]:
    """Which pairs appear in two user logs or more (§6.1)."""
    if original.counts == "users" or original.log is None:
        return numbers(clicks) >= 2
    users = need(Evidence.of_log(original.log, "users"), "clicks", "original")
    several: npt.NDArray[np.bool_] = numbers(users)[find(clicks, users)] >= 2
    return several


def matched(x: Integers, at: Integers) -> Integers:
    """The release's counts in the order of the original's; 0 where it has none."""
    return np.where(at >= 0, x[at] if x.size else 0, 0)


def supported(c: Integers, x: Integers, at: Integers, s: Fraction) -> Scores:
    """Eq. 9 and eq. 5 at one minimum support; the comparisons with s are exact."""
    size, output = int(c.sum()), int(x.sum())  # |D|, |O|
    paired = matched(x, at)
    frequent = c * s.denominator >= s.numerator * size
    stays = frequent & (paired * s.denominator >= s.numerator * output) & (paired > 0)
    published = int(((x * s.denominator >= s.numerator * output) & (x > 0)).sum())
    distance = np.abs(paired / max(output, 1) - c / size)[frequent]
    n = int(frequent.sum())
    one, zero = (1.0, 0.0) if n else (None, None)
    return {
        "frequent": {"original": n, "release": published},
        "precision": {"original": one, "release": int(stays.sum()) / published if published else zero},
        "recall": {"original": one, "release": int(stays.sum()) / n if n else None},
        "support_distance": {"original": 0.0, "release": float(distance.sum())},
        "average_support_distance": {"original": zero, "release": float(distance.mean()) if n else None},
    }


def diff_ratio(c: Integers, x: Integers, size: int, output: int) -> Floats:
    """Eq. 10: |x/|O| − c/|D|| ÷ (c/|D|); every c is positive."""
    ratios: Floats = np.abs((x / max(output, 1)) / (c / size) - 1)
    return ratios


def below(ratios: Floats) -> float | None:
    """The share within the paper's tolerable bound."""
    return float((ratios < TOLERABLE).mean()) if ratios.size else None


def histogram(ratios: Floats) -> list[dict[str, float | None]]:
    """Figure 6: how many have a ratio of 0 to 10 %, … and what is above 100 %."""
    edges = [*(i / 10 for i in range(11)), np.inf]
    n = np.histogram(ratios, edges)[0]
    return [
        {"from": edges[i], "below": edges[i + 1] if i < 10 else None, "n": int(n[i])} for i in range(len(edges) - 1)
    ]


def of_users(original: Evidence, release: Evidence, frequent: pa.Table, size: int, output: int) -> Floats | None:
    """DiffRatio of (query, url, user); None unless the release is a log of the original's users, clicks counted."""
    if original.log is None or release.log is None or not same_users(release, original):
        return None
    if release.counts != "count" or not frequent.num_rows:
        return None
    found = []
    for log in (original.log, release.log):
        log.engine.register("frequent_pairs", frequent.select(["query", "url"]))
        found.append(
            log.engine.fetch(
                "SELECT l.query AS query, l.url AS url, l.uid AS uid, count(*) AS n FROM log AS l JOIN frequent_pairs "
                "AS f ON l.query = f.query AND l.url = f.url GROUP BY l.query, l.url, l.uid"
            )
        )
    ours, theirs = found
    return diff_ratio(numbers(ours), matched(numbers(theirs), find(ours, theirs)), size, output)
