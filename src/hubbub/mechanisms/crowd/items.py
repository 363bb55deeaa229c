"""crowd for items of which people hold few: one vote each, Laplace noise once.

Gaussian noise pays where a user's weight is spread over many keys. Where most users hold one or two, an L1 budget of
one is nearly as much, and Laplace noise hides it at a third less. So each user has one vote for one of hers, and a vote
that a popular key does not need goes to a rarer one (`steps/ballots.py`): one user more moves one number by one. Three
draws: a look at all keys that orders the ballots and tells how many users there are to a vote; the votes; and how
many released keys users hold. Theory and integer form: docs/proofs/crowd.md, section 17.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.errors import OurBug, ParameterError
from hubbub.mechanisms.base import Bound, Mechanism, Released, Tables, Value
from hubbub.mechanisms.crowd import PROOF, Crowd
from hubbub.mechanisms.crowd.combine import combine, enough
from hubbub.mechanisms.crowd.recount import Recounted
from hubbub.mechanisms.pairs import Draw
from hubbub.mechanisms.rounds import Selected, Selection
from hubbub.mechanisms.survival import RoundsTest
from hubbub.noise.laws import Law
from hubbub.privacy.account import Domain, Step, release_probability, smallest_threshold
from hubbub.privacy.guarantee import Neighbours
from hubbub.steps.ballots import Ballots
from hubbub.steps.counts import Flags, Integers
from hubbub.steps.holdings import checked
from hubbub.steps.keys import QUERIES

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode

LOOK, KEPT = Fraction(17, 400), Fraction(3, 400)
"""Parts of ε for the look and the kept total; the votes have the rest."""
VOTE_BITS = 4
"""A vote is 16 units of the noise's grid."""
LOOK_UNIT, LOOK_MOST = 256, 3
"""In the look a key of a user counts 256 units, and all of hers together at most three times that."""
KEPT_MOST = 20
PASSES = 20
"""How many keys of hers a vote may ask for a seat, one after the other."""
PROSPECT = Fraction(9, 20)
"""A key whose look is below this part of the threshold comes last in every ballot."""
SPARE = 2
"""A key has seats for the threshold and so many scales of the noise."""


@dataclass(frozen=True)
class LookNoise:
    """Noise for every key; none passes, all stay."""

    step: Step

    def __call__(
        self, weights: Integers, before: Integers, marks: Integers, noise: NoiseSource
    ) -> tuple[Integers, Flags, Flags]:
        """The noisy sums."""
        now = checked(weights) + noise.laplace(self.step.name, self.step.scale, weights.size)
        return now, np.zeros(now.size, bool), np.ones(now.size, bool)


@dataclass(frozen=True)
class VoteNoise:
    """Noise and a test for every key that has a vote."""

    step: Step

    def __call__(
        self, weights: Integers, before: Integers, marks: Integers, noise: NoiseSource
    ) -> tuple[Integers, Flags, Flags]:
        """The noisy votes, and which pass."""
        if self.step.threshold is None:
            raise OurBug("votes are tested")
        drawn = noise.laplace(self.step.name, self.step.scale, weights.size)
        now = (checked(weights) << VOTE_BITS) + drawn
        return now, (weights > 0) & (now >= self.step.threshold), np.zeros(now.size, bool)


@dataclass(frozen=True)
class TotalNoise:
    """Noise for one number."""

    step: Step

    def perturb(self, exact: int, noise: NoiseSource) -> int:
        """The noisy number."""
        return exact + int(noise.laplace(self.step.name, self.step.scale, 1)[0])


class CrowdOfItems(Crowd):
    """crowd by one vote of each user: made where the owner states items and asks for nothing that needs rounds."""

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """Three scales from ε, a threshold from δ."""
        if self.neighbours is not Neighbours.ADD_REMOVE:
            raise ParameterError("crowd is proven for add-remove only.", given="replace", allowed="add-remove")
        if self.serp is not None:
            raise ParameterError("crowd takes no result list.", given="--serp")
        missing = [name for name in ("epsilon", "delta") if name not in given]
        if missing:
            raise ParameterError("crowd needs a privacy budget.", given="no " + ", ".join(missing), next="set both")
        epsilon, delta = Fraction(given["epsilon"]), Fraction(given["delta"])
        self.stages, self.histograms, self.prior = (), (), None
        unit = 1 << VOTE_BITS
        scale = unit / (epsilon * (1 - LOOK - KEPT))
        below = Decimal(delta.numerator) / Decimal(delta.denominator)
        threshold = smallest_threshold(scale, below, 1, unit, unit)
        look = LOOK_UNIT * LOOK_MOST
        self.look = Step("queries look", look / (epsilon * LOOK), None, look, look, LOOK_UNIT, Domain.UNSEEN, PROOF)
        self.votes = Step("queries", scale, threshold, 1, unit, unit, Domain.OPEN, PROOF)
        total = KEPT_MOST / (epsilon * KEPT)
        self.kept = Step("queries kept total", total, None, 1, KEPT_MOST, KEPT_MOST, Domain.CLOSED, PROOF)
        return given

    @property
    def seats(self) -> int:
        """Votes that a key takes: those it needs, and some to spare."""
        return math.ceil((self._needed + SPARE * self.votes.scale) / (1 << VOTE_BITS))

    @property
    def level(self) -> int:
        """The look from which on a key has a prospect."""
        return math.ceil(PROSPECT * self._needed * Fraction(LOOK_UNIT, 1 << VOTE_BITS))

    @property
    def _needed(self) -> int:
        return self.votes.threshold or 0

    @property
    def selections(self) -> dict[str, Selection]:
        """None: votes are tested once."""
        return {}

    def steps(self) -> tuple[Step, ...]:  # type: ignore[override]
        """The look, the votes, the kept total."""
        return self.votes, self.look, self.kept

    def laws(self) -> tuple[Law, ...]:
        """Laplace noise, each at its scale."""
        return Mechanism.laws(self)

    def bounds(self) -> tuple[Bound, ...]:
        """One vote; a share of the look; a part of the total."""
        return (
            Bound("a user's votes in the selection", "l0", 1, "one of hers has her vote"),
            Bound("distinct queries per user in the look", "l0", self.look.l0, "beyond that none counts"),
            Bound(f"a user's share of the look in {LOOK_UNIT}ths", "l1", self.look.l1, "shared by all of hers"),
            Bound("a user's released queries in the kept total", "l1", KEPT_MOST, "clipped"),
        )

    def thresholds(self) -> dict[str, int]:
        """In votes, rounded up."""
        return {"queries": -(-self._needed >> VOTE_BITS)}

    def missing(self) -> tuple[str, ...]:
        """Votes pass the threshold, and a user has one."""
        even, sure = (self._fewest(at_least) for at_least in (0.5, 0.95))
        return (
            f"queries: an even chance to be released from {even:,} votes on, 95 % from {sure:,}; a user has one vote, "
            "for one of hers that has not enough without it",
        )

    def _fewest(self, at_least: float) -> int:
        votes = 1
        while float(release_probability(self.votes.scale, self._needed, votes << VOTE_BITS)) < at_least:
            votes += 1
        return votes

    def survival(self) -> dict[str, RoundsTest]:
        """Not known by users alone: it depends on what else they hold."""
        return {}

    def intervals(self) -> dict[str, str]:
        """Noise alone: how far votes tell users was measured on few sets."""
        return {"queries": "value +/- 1.96 noise_sd (95 % of the noise; how votes tell users comes on top)"}

    def values(self) -> str:
        """Votes are scaled to users by what a noisy look says of keys with as many votes."""
        return (
            "a value estimates how many users hold the key, from its votes and from what keys of as many votes have in "
            "common: off by 18 to 39 % in the middle on real baskets at ε = 1 (bench/README.md)"
        )

    def chosen(self) -> tuple[str, ...]:
        """What follows from the statement."""
        return ("each user has one vote, because users are stated to hold items",)

    def spurious(self) -> str:
        """Only keys with a vote are tested."""
        return "none: every released key was held by at least one user"

    def post_processing(self) -> tuple[str, ...]:
        """Everything that happens to released numbers."""
        return (
            "two estimates of each count weighed by their noise, in floating point, and rounded to whole users",
            "counts raised by the share that scaling heavy users took, as far as the kept total shows it",
            *Mechanism.post_processing(self),
        )

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """What users hold, and the sums of the look."""
        return {"queries": Ballots(log, QUERIES, LOOK_UNIT, LOOK_MOST, mode)}

    def pairs(self, measured: Mapping[str, Any]) -> Generator[Draw, Any, Tables]:
        """Look, vote, count."""
        ballots: Ballots = measured["queries"]
        looks = (yield Draw(ballots.looked(), lambda sums, noise: sums.test(LookNoise(self.look), noise))).running
        votes = ballots.voted(looks, self.level, self.seats, PASSES)
        found = yield Draw(votes, lambda sums, noise: sums.test(VoteNoise(self.votes), noise))
        order = np.argsort(found.ids)
        ids, values = found.ids[order], found.accumulators[order]
        total = yield Draw(ballots.kept(ids, KEPT_MOST), TotalNoise(self.kept).perturb)
        return {"queries": self._counted(ids, values, ballots.noisy(looks, ids), total)}

    def _counted(self, ids: Integers, votes: Integers, looks: Integers, total: int) -> Released:
        """Users of each released key: a function of what was released of it, and of the total."""
        variance = math.ceil(2 * self.votes.scale**2)
        if not enough(ids.size):  # too few to learn how many users a vote stands for
            users = np.maximum(1, (votes + (1 << VOTE_BITS - 1)) >> VOTE_BITS)
            return Released(ids, users, round(math.sqrt(variance) / (1 << VOTE_BITS), 3))
        plan = Selection(VOTE_BITS, (1,), (variance,), 1, (self._needed,), ())
        looked, kept = (math.ceil(2 * step.scale**2) for step in (self.look, self.kept))
        counted = Recounted(looks, np.full(ids.size, LOOK_UNIT), looked, total, kept)
        result = combine(Selected(ids, votes, np.zeros(ids.size, np.int64)), plan, counted)
        return Released(ids, result.users, result.noise_sd)


Crowd.by_vote = CrowdOfItems
