"""What `strict` measures: the pairs that many users hold, and how busy users are. Everything after is made of these.

    clicks     (query, url): at most d distinct pairs of a user, distinct users, noise, a threshold
    activity   how many clicks a user has, in public bins 1, 2, 3-4, 5-8, …: one bin per user, noise, every bin

It is a mechanism of its own, so that audits can try to refute it with the code that tries the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Parameter, Tables, Value
from hubbub.mechanisms.laplace import SCALE, LaplaceMechanism
from hubbub.mechanisms.noisy import Noisy
from hubbub.privacy.account import Domain, Step, smallest_threshold
from hubbub.privacy.guarantee import Claim
from hubbub.steps import bound
from hubbub.steps.keys import CLICKS, Keys

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.counts import Counts, LocalCounts
    from hubbub.steps.mode import RunMode

PROOF = "docs/proofs/optimal.md"
ACTIVITY = Keys(name="activity", columns=("bin",), events="", order=())
SHARE = Fraction(1, 10)
"""Of ε, for the activity."""

D = Parameter("d", "integer", "distinct pairs kept of each user (strict)", default=2, low=1, high=10_000)
BINS = Parameter("bins", "integer", "bins of the users' activity (strict)", default=14, low=1, high=40)
B = Parameter("b", "number", "noise scale of the pairs (strict)", low=SCALE, high=1_000_000)
B_A = Parameter("b_a", "number", "noise scale of the activity (strict)", low=SCALE, high=1_000_000)
T = Parameter("T", "integer", "a pair is released if its noisy count is at least T (strict)", low=1, high=10**9)
STRICT = (D, BINS, B, B_A, T)


def starts(bins: int) -> list[int]:
    """The least activity of each bin: 1, 2, 3, 5, 9, … (2^(i−1) + 1)."""
    return [1, 2, *(2 ** (i - 1) + 1 for i in range(2, bins))][:bins]


class Histograms(LaplaceMechanism):
    """The two noisy histograms of `optimal` strict."""

    name = "optimal"
    paper = "Hong et al. 2012"
    about = "noisy histograms of clicked pairs and of activity"
    offers = {"clicks": CLICKS, "activity": ACTIVITY}  # noqa: RUF012
    default_tables = ("clicks", "activity")
    variants = ("strict",)
    proof = PROOF
    parameters = (EPSILON, DELTA, *STRICT)

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """Scales and threshold as given, or from (ε, δ); every rounding goes towards privacy."""
        d, bins = int(given.get("d", 2)), int(given.get("bins", 14))
        if not self._is_raw(given, ("b", "b_a", "T"), ("b", "b_a", "T")):
            given = given | self._calibrate(d, Fraction(given["epsilon"]), Fraction(given["delta"]))
        return {"d": d, "bins": bins, "b": given["b"], "b_a": given["b_a"], "T": given["T"]}

    def _calibrate(self, d: int, epsilon: Fraction, delta: Fraction) -> dict[str, Value]:
        b = self.factor * d / ((1 - SHARE) * epsilon)
        b_a = self.factor / (SHARE * epsilon)
        for name, scale in (("b", b), ("b_a", b_a)):
            self.drawable(name, scale, epsilon, "d")
        share = Decimal(delta.numerator) / Decimal(delta.denominator)
        return {"b": b, "b_a": b_a, "T": smallest_threshold(b, share, d, d, 1)}

    def steps(self) -> tuple[Step, ...]:
        """A threshold for pairs, which come from the data; none for bins, which are public."""
        d, b, b_a = int(self.settings["d"]), Fraction(self.settings["b"]), Fraction(self.settings["b_a"])
        return (
            Step("clicks", b, int(self.settings["T"]), d, d, 1, Domain.OPEN, PROOF),
            Step("activity", b_a, None, 1, 1, 1, Domain.CLOSED, PROOF),
        )

    def bounds(self) -> tuple[Bound, ...]:
        """The first d pairs of a user; one bin."""
        return (
            *self._distinct("clicks", self._whole("d")),
            Bound("bins per user (activity)", "l1", 1, "the number of her clicks is in one bin"),
        )

    def claimed(self) -> Claim:
        """The paper claims nothing about this variant."""
        return self._ours()

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Counts]:
        """Limit each user, then count."""
        from hubbub.steps.count import count

        return {
            "clicks": count(log, CLICKS, bound.first_keys(CLICKS, int(self.settings["d"])), mode),
            "activity": activity(log, int(self.settings["bins"])),
        }

    def perturb(self, counts: Mapping[str, Counts], noise: NoiseSource) -> Tables:
        """The value that passed the threshold is the one that goes on; every bin gets noise, empty ones too."""
        pairs = Noisy("clicks", Fraction(self.settings["b"]), int(self.settings["T"]), passes=self.passes)
        busy, users = Noisy("activity", Fraction(self.settings["b_a"])), counts["activity"].local().n
        return {
            "clicks": counts["clicks"].test(pairs, noise),
            "activity": busy.every(noise, np.arange(users.size), users),
        }


def activity(log: SearchLog, bins: int) -> LocalCounts:
    """How many users are in each bin; ids follow the bins."""
    from hubbub.steps.counts import EngineCounts

    least = starts(bins)
    names = [f"{n:012d}" for n in least]
    cases = " ".join(f"WHEN n < {after} THEN '{name}'" for name, after in zip(names, least[1:], strict=False))
    bin_of = f"CASE {cases} ELSE '{names[-1]}' END" if cases else f"'{names[-1]}'"
    log.engine.register("activity_bins", pa.table({"bin": names}))
    busy = "SELECT uid, count(*) AS n FROM log WHERE url IS NOT NULL GROUP BY uid"
    log.engine.number(
        "counted_activity",
        f"SELECT b.bin AS bin, coalesce(h.n, 0) AS n FROM activity_bins AS b LEFT JOIN "
        f"(SELECT bin, count(*) AS n FROM (SELECT {bin_of} AS bin FROM ({busy}) AS busy) AS binned GROUP BY bin) AS h "
        "ON b.bin = h.bin",
        ("bin",),
        "kid",
    )
    return EngineCounts("counted_activity", log.engine).local()
