"""What a cap allows when later releases follow earlier outputs: an envelope that is fixed before the first one.

An envelope has three kinds of clocks: μ² of Gaussian noise, slots for pure steps, and δ of thresholds. A release is
charged to them before it draws, and is refused where one of them would overflow. Whatever is chosen on the way, all
outputs together are then (ε, δ)-private for the pair the envelope was certified for: theorem 1 of
docs/proofs/composition.md. Charges are exact fractions; prices round up.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from hubbub.errors import OurBug
from hubbub.privacy.account import Loss, round_up
from hubbub.privacy.compose import (
    Cap,
    Cost,
    basic_sums,
    checked,
    cost_of,
    float_down,
    float_up,
    gaussian_epsilon,
    product_epsilon,
    written,
)

PRICE_SLACK = 1e-9, 1e-12  # of μ, relative and at all: far above what binomial tails and normal quantiles lose


@dataclass(frozen=True)
class Charge:
    """What one release takes from an envelope: μ², parts of slots (which, how much), and δ."""

    gaussian: Fraction = Fraction(0)
    slots: tuple[tuple[int, Fraction], ...] = ()
    threshold: Fraction = Fraction(0)


@dataclass(frozen=True)
class Envelope:
    """Totals that no sequence of releases may leave; also what is left of one after charges."""

    gaussian: Fraction = Fraction(0)
    slots: tuple[Fraction, ...] = ()
    threshold: Fraction = Fraction(0)

    def epsilon(self, delta: float) -> float:
        """The smallest ε at which everything inside is (ε, δ)-private."""
        if written(delta) < self.threshold:
            return math.inf
        added = math.inf if self.gaussian else float_up(sum(self.slots, Fraction(0)))
        responses = Counter(slot for slot in self.slots if slot)
        return min(added, product_epsilon(Cost(self.gaussian, responses, self.threshold), written(delta)))

    def charge(self, loss: Loss) -> Charge | None:
        """How a release is paid from what is left here, by the first of three ways that fits; None if none does."""
        (loss,) = checked([loss])
        if math.isinf(loss.epsilon):
            return None
        cost = cost_of(loss)
        ways: tuple[Callable[[], Charge | None], ...] = (
            lambda: self._by_slots(cost),
            lambda: self._by_price(cost),
            lambda: self._by_its_own_proof(loss),
        )
        return next((charge for way in ways if (charge := way()) is not None and self._holds(charge)), None)

    def less(self, charge: Charge) -> Envelope:
        """What is left after a charge that fits."""
        slots = list(self.slots)
        for index, amount in charge.slots:
            slots[index] -= amount
        return Envelope(self.gaussian - charge.gaussian, tuple(slots), self.threshold - charge.threshold)

    def _holds(self, charge: Charge) -> bool:
        left = self.less(charge)
        return left.gaussian >= 0 and left.threshold >= 0 and min(left.slots, default=Fraction(0)) >= 0

    def _by_slots(self, cost: Cost) -> Charge | None:
        """Every randomised response into the smallest slot that has room for it, the largest first."""
        room = sorted((left, index) for index, left in enumerate(self.slots))
        taken = dict[int, Fraction]()
        for epsilon, count in sorted(cost.responses.items(), reverse=True):
            for _ in range(count):
                place = bisect_left(room, (epsilon, -1))
                if place == len(room):
                    return None
                left, index = room.pop(place)
                insort(room, (left - epsilon, index))
                taken[index] = taken.get(index, Fraction(0)) + epsilon
        return Charge(cost.gaussian, tuple(sorted(taken.items())), cost.threshold)

    def _by_price(self, cost: Cost) -> Charge | None:
        """Charge the whole release to the Gaussian clock."""
        gaussian = priced(cost)
        return None if gaussian is None else Charge(gaussian, (), cost.threshold)

    def _by_its_own_proof(self, loss: Loss) -> Charge | None:
        """The release's own (ε, δ): ε to one slot, δ to the thresholds."""
        epsilon = written(loss.epsilon)
        fits = [(left, index) for index, left in enumerate(self.slots) if left >= epsilon]
        return Charge(Fraction(0), ((min(fits)[1], epsilon),), written(loss.delta)) if fits else None


# ------------------------------------------------------------------ how an envelope is fixed


def split(cap: Cap, loss: Loss) -> Envelope | None:
    """The envelope within a cap that holds the most releases like this one; None if it does not hold one.

    Either everything is charged to the Gaussian clock and to thresholds, in the proportion of this release, or each
    release by its own proof (the sums of ε and of δ). Decided before the first output, by the first release.
    """
    if math.isinf(max(loss.epsilon, cap.epsilon)):
        return None
    sums = _sums_that_fit(cap, loss)
    clock, envelope = _clocks_that_fit(cap, cost_of(loss))
    if max(sums, clock) < 1:
        return None
    return envelope if clock > sums else Envelope(slots=(written(cap.epsilon),), threshold=written(cap.delta))


def even(cap: Cap, share: Fraction) -> Envelope:
    """An envelope that leaves this share of δ to thresholds, and takes the rest for the Gaussian clock."""
    threshold = written(cap.delta) * share
    return Envelope(_gaussian_within(cap.epsilon, written(cap.delta) - threshold), (), threshold)


def planned(losses: Sequence[Loss]) -> Envelope:
    """The envelope of a plan: the sum of what its releases cost. Its ε is the product bound, not that of the sums."""
    total = Cost()
    for loss in finite(losses):
        total += cost_of(loss)
    slots = tuple(sorted(Counter(total.responses).elements(), reverse=True))
    return Envelope(total.gaussian, slots, total.threshold)


def by_sums(losses: Sequence[Loss]) -> Envelope:
    """The envelope that holds by the releases' own proofs: one slot for the sum of their ε."""
    epsilon, delta = basic_sums(finite(losses))
    return Envelope(slots=(written(epsilon),), threshold=written(delta))


def finite(losses: Sequence[Loss]) -> Sequence[Loss]:
    """Refuse a plan with a release that has no finite cost."""
    if any(math.isinf(loss.epsilon) for loss in losses):
        raise OurBug("a plan with a release that is not private")
    return losses


def _sums_that_fit(cap: Cap, loss: Loss) -> Fraction | float:
    """How many such releases fit a cap if ε and δ add."""
    pairs = ((written(cap.epsilon), written(loss.epsilon)), (written(cap.delta), written(loss.delta)))
    return min((most / one for most, one in pairs if one), default=math.inf)


def _clocks_that_fit(cap: Cap, one: Cost) -> tuple[Fraction | float, Envelope]:
    """How many such releases fit a cap on the Gaussian clock and the thresholds: n with G(ε, √n μ) + n tv <= δ."""
    gaussian = priced(one)
    if not gaussian:
        return 0, Envelope()
    delta = written(cap.delta)

    def fits(n: Fraction) -> bool:
        room = delta - n * one.threshold
        return room > 0 and gaussian_epsilon(float_down(room), n * gaussian) <= cap.epsilon

    n = _largest(fits)
    return n, Envelope(n * gaussian, (), n * one.threshold)


def _gaussian_within(epsilon: float, room: Fraction) -> Fraction:
    """The largest μ² that stays within ε at what thresholds leave of δ."""
    return _largest(lambda s: room > 0 and gaussian_epsilon(float_down(room), s) <= epsilon)


def _largest(fits: Callable[[Fraction], bool]) -> Fraction:
    """The largest number that fits, from below, to twelve digits; fitting must end somewhere."""
    low, high = Fraction(0), Fraction(1, 2**64)
    if not fits(high):
        return low
    while fits(high):
        low, high = high, high * 2
    for _ in range(44):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


# ------------------------------------------------------------------ randomised response on the Gaussian clock


def priced(cost: Cost) -> Fraction | None:
    """μ² of a Gaussian that gives away at least as much as all these draws; None where no number is safe."""
    total = cost.gaussian
    for epsilon, count in cost.responses.items():
        one = price(count, epsilon)
        if math.isinf(one):
            return None
        total += Fraction(one)
    return total


@lru_cache(maxsize=1024)
def price(count: int, epsilon: Fraction) -> float:
    """π(k, ε): the smallest μ² whose trade-off curve lies below that of k randomised responses at ε, rounded up.

    That curve is piecewise linear and the Gaussian's is convex, so it is enough to compare corners: Φc⁻¹ of the
    chance of at least j true answers when each is true with probability 1 − p, less that with p = e^ε/(1 + e^ε).
    By symmetry the upper half of j suffices.
    """
    from scipy.special import ndtri
    from scipy.stats import binom

    rarely = 1 / (1 + math.exp(min(round_up(epsilon), 700.0)))
    largest = 0.0
    for j in range(count // 2 + 1, count + 1):
        rare = float(binom.sf(j - 1, count, rarely))
        often, else_ = float(binom.cdf(count - j, count, rarely)), float(binom.sf(count - j, count, rarely))
        if min(rare, often, else_) < 1e-280:  # tails leave the floats: slots, or the release's own proof
            return math.inf
        largest = max(largest, float(-ndtri(rare) + (ndtri(often) if often < 0.5 else -ndtri(else_))))
    relative, absolute = PRICE_SLACK
    return round_up(Fraction(largest * (1 + relative) + absolute) ** 2)
