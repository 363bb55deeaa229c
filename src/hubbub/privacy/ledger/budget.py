"""Whether a release fits what a population was promised, and how it is paid. Nothing here reads or writes a file.

A cap is kept by envelopes that are fixed before the outputs they bound (docs/proofs/composition.md, theorems 1 and 3).
Releases made without one count by the odometer (theorem 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from hubbub.privacy.account import Loss
from hubbub.privacy.compose import Cap, float_up, written, written_down
from hubbub.privacy.envelope import Charge, Envelope, split
from hubbub.privacy.odometer import odometer

FIRST_RELEASE, STATED, PLANNED, ADOPTED = "first release", "stated", "plan", "adopted"
"""What fixed an envelope: the release that opened it, a share given with the cap, a declared plan, or the first
release of a ledger that knew no envelopes."""


@dataclass(frozen=True)
class OpenEnvelope:
    """An envelope of a population: certified for (ε, δ), and what is left of it. Id 0 is not written yet."""

    id: int
    whole: Envelope
    left: Envelope
    epsilon: Fraction
    delta: Fraction
    origin: str

    @property
    def adds(self) -> bool:
        """Whether it is certified by sums alone, so that several such envelopes are one (theorem 3)."""
        sums = not self.whole.gaussian and len(self.whole.slots) == 1
        return sums and self.whole.slots[0] <= self.epsilon and self.whole.threshold <= self.delta

    def used(self) -> dict[str, float]:
        """Which share of each clock is used."""
        slots = sum(self.whole.slots, Fraction(0)), sum(self.left.slots, Fraction(0))
        clocks = {
            "gaussian": (self.whole.gaussian, self.left.gaussian),
            "slots": slots,
            "thresholds": (self.whole.threshold, self.left.threshold),
        }
        return {name: float(1 - left / whole) for name, (whole, left) in clocks.items() if whole}


@dataclass(frozen=True)
class Booking:
    """How a release is paid: from which envelope, which may have to be opened first, and how much of it."""

    into: OpenEnvelope
    charge: Charge


@dataclass(frozen=True)
class Standing:
    """Where a population stands before its next release."""

    cap: Cap | None
    opened: tuple[OpenEnvelope, ...]
    loose: tuple[Loss, ...]
    """Releases that were charged to no envelope."""
    losses: tuple[Loss, ...]
    """All of them, in order."""

    @property
    def promised(self) -> tuple[Fraction, Fraction]:
        """(ε, δ) of everything so far and of everything that may still be charged to an envelope (theorem 3)."""
        epsilon, delta = odometer(self.loose)
        return (
            written(epsilon) + sum((o.epsilon for o in self.opened), Fraction(0)),
            written(delta) + sum((o.delta for o in self.opened), Fraction(0)),
        )

    @property
    def unpromised(self) -> Cap:
        """What the cap has left for another envelope."""
        assert self.cap is not None
        epsilon, delta = self.promised
        left = written(self.cap.epsilon) - epsilon, written(self.cap.delta) - delta
        return Cap(*map(written_down, left)) if min(left) >= 0 else Cap(0.0, 0.0)

    @property
    def room(self) -> bool:
        """Whether anything at all could still be charged."""
        clocks = [x for o in self.opened for x in (o.left.gaussian, *o.left.slots, o.left.threshold)]
        return max([*clocks, Fraction(self.unpromised.epsilon)]) > 0

    @property
    def lowered(self) -> bool:
        """Whether more was promised than the cap now says: releases must stay under both."""
        assert self.cap is not None
        epsilon, delta = self.promised
        return epsilon > written(self.cap.epsilon) or delta > written(self.cap.delta)

    def book(self, loss: Loss) -> Booking | None:
        """How a release would be paid under the cap; None if it does not fit."""
        assert self.cap is not None
        if self.lowered:
            epsilon, delta = odometer([*self.losses, loss])
            if epsilon > self.cap.epsilon or delta > self.cap.delta:
                return None
        places = rooms(self.opened)
        for room in places:
            if (charge := room.left.charge(loss)) is not None:
                return Booking(room, charge)
        rest = self.unpromised
        if not rest.epsilon:
            return None
        fresh = split(rest, loss)
        if fresh is not None:
            opened = OpenEnvelope(0, fresh, fresh, written(rest.epsilon), written(rest.delta), FIRST_RELEASE)
            charge = fresh.charge(loss)
            return None if charge is None else Booking(opened, charge)
        return self._extended([room for room in places if room.adds], rest, loss)

    def _extended(self, adding: Sequence[OpenEnvelope], rest: Cap, loss: Loss) -> Booking | None:
        """By its own proof, from what is left of envelopes that add and from what the cap has left, together."""
        more = Envelope(slots=(written(rest.epsilon),), threshold=written(rest.delta))
        opened = OpenEnvelope(0, more, more, written(rest.epsilon), written(rest.delta), FIRST_RELEASE)
        (room,) = rooms((*adding, opened))
        charge = room.left.charge(loss)
        return None if charge is None else Booking(opened, charge)


def rooms(opened: Sequence[OpenEnvelope]) -> list[OpenEnvelope]:
    """Where a release may be charged, in the order of opening; envelopes that add are one, under the last one's id."""
    adding = [o for o in opened if o.adds]
    places = [o for o in opened if not o.adds]
    if adding:
        one = replace(
            adding[-1],
            whole=_sum([o.whole for o in adding]),
            left=_sum([o.left for o in adding]),
            epsilon=sum((o.epsilon for o in adding), Fraction(0)),
            delta=sum((o.delta for o in adding), Fraction(0)),
        )
        places.append(one)
    return places


def _sum(envelopes: Sequence[Envelope]) -> Envelope:
    """Envelopes of one slot as one."""
    slot = sum((e.slots[0] for e in envelopes), Fraction(0))
    return Envelope(slots=(slot,), threshold=sum((e.threshold for e in envelopes), Fraction(0)))


def adopted(cap: Cap, losses: Sequence[Loss]) -> tuple[OpenEnvelope, list[Charge]] | None:
    """The envelope that the first of these releases would have fixed, if all of them fit it, and their charges."""
    envelope = split(cap, losses[0])
    if envelope is None:
        return None
    left, charges = envelope, []
    for loss in losses:
        charge = left.charge(loss)
        if charge is None:
            return None
        left = left.less(charge)
        charges.append(charge)
    return OpenEnvelope(0, envelope, left, written(cap.epsilon), written(cap.delta), ADOPTED), charges


def promise(standing: Standing) -> tuple[float, float] | None:
    """What is promised for all releases, those to come within envelopes included; None without any envelope."""
    if not standing.opened:
        return None
    epsilon, delta = standing.promised
    return float_up(epsilon), float_up(delta)
