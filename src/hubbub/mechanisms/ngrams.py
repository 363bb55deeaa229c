"""Chen, Acs, Castelluccia: Differentially Private Sequential Data Publication via Variable-Length N-Grams (CCS 2012).

Of each user the first l_max searches are one sequence; its n-grams, n up to n_max, are counted, noise is added, and
those that stay above a threshold are published: frequent ones are long, rare ones short or absent.

Known to us by its abstract, what its authors' program says of itself, and later papers; its own text was not at hand.
It takes the alphabet as public and explores a tree: children of what passed, absent ones with noise too, the budget
adapted along each path; then it makes synthetic sequences. Ours, `strict`: queries are no public alphabet, so only
n-grams that somebody has are drawn for, and the threshold pays for that with δ; distinct users are counted; one scale
for all lengths; no tree (nothing is saved where absent keys are never drawn) and no synthetic sequences.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Parameter, Tables, Value
from hubbub.mechanisms.laplace import SCALE, LaplaceMechanism
from hubbub.mechanisms.noisy import Noisy
from hubbub.privacy.account import Domain, Step, smallest_threshold
from hubbub.privacy.guarantee import Claim
from hubbub.steps.keys import NGRAMS, ngrams

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.counts import Counts
    from hubbub.steps.mode import RunMode

PROOF = "docs/proofs/ngrams.md"


def held_at_most(l_max: int, n_max: int) -> int:
    """How many n-grams a sequence of l_max searches has: l_max of one, l_max − 1 of two, …"""
    return sum(max(0, l_max - n + 1) for n in range(1, n_max + 1))


class NGrams(LaplaceMechanism, register=True):
    """Thresholded noisy counts of n-grams of users' histories."""

    name = "ngrams"
    paper = "Chen et al. 2012"
    about = "sequences of searches right after each other that many share, with noisy counts"
    offers = {"ngrams": NGRAMS}  # noqa: RUF012
    default_tables = ("ngrams",)
    variants = ("strict",)
    proof = PROOF
    estimator = "hubbub.look.estimate.laplace:estimate"
    in_studio = False
    parameters = (
        EPSILON,
        DELTA,
        Parameter("l_max", "integer", "searches kept of each user, the first by time", 5, low=1, high=1000),
        Parameter("n_max", "integer", "the longest sequence", 3, low=1, high=10),
        Parameter("b", "number", "noise scale", low=SCALE, high=1_000_000),
        Parameter("K", "number", "a sequence is released if its noisy count is above K", low=0, high=10**9),
    )

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """Raw b and K as given, or calibrated from (ε, δ)."""
        settings: dict[str, Value] = {"l_max": given.get("l_max", 5), "n_max": given.get("n_max", 3)}
        most = held_at_most(int(settings["l_max"]), int(settings["n_max"]))
        if self.serp is not None:
            raise ParameterError("ngrams takes no result list.", given="--serp")
        self.offers = {"ngrams": ngrams(int(settings["n_max"]))}
        if self._is_raw(given, ("b", "K"), ("b", "K")):
            return settings | {"b": given["b"], "K": given["K"]}
        epsilon, delta = Fraction(given["epsilon"]), Fraction(given["delta"])
        b = self.factor * most / epsilon
        self.drawable("b", b, epsilon, "l_max and n_max")
        share = Decimal(delta.numerator) / Decimal(delta.denominator)
        return settings | {"b": b, "K": smallest_threshold(b, share, most, most, 1) - 1}

    # ------------------------------------------------------------------ what is stated

    @property
    def _most(self) -> int:
        return held_at_most(self._whole("l_max"), self._whole("n_max"))

    def steps(self) -> tuple[Step, ...]:
        """One noise for all lengths."""
        return (Step("ngrams", self._number("b"), self._threshold("K"), self._most, self._most, 1, Domain.OPEN, PROOF),)

    def bounds(self) -> tuple[Bound, ...]:
        """The first l_max searches, and so many sequences of them."""
        searches = Bound("searches per user", "l1", self._whole("l_max"), "the first by time")
        return (searches, *self._distinct("ngrams", self._most, "all of the searches that are kept"))

    def claimed(self) -> Claim:
        """The paper claims nothing about this variant."""
        return self._ours()

    # ------------------------------------------------------------------ what runs

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Counts]:
        """Distinct users of each sequence among their first searches."""
        from hubbub.steps.count import count

        kept = ngrams(self._whole("n_max"), self._whole("l_max"))
        return {"ngrams": count(log, kept, kept.distinct(), mode)}

    def perturb(self, counts: Mapping[str, Counts], noise: NoiseSource) -> Tables:
        """Noise, then the threshold; the very values that passed are published."""
        select = Noisy("ngrams", self._number("b"), self._threshold("K"), passes=self.passes)
        return {"ngrams": counts["ngrams"].test(select, noise)}
