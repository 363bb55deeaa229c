"""The largest ε that a budget has room for: what a refusal names, and what a plan is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.errors import OverBudget, ParameterError, UserError
from hubbub.privacy.account import Loss
from hubbub.privacy.envelope import Envelope, by_sums, planned
from hubbub.privacy.guarantee import number
from hubbub.privacy.ledger.budget import rooms
from hubbub.privacy.ledger.words import left_of

if TYPE_CHECKING:
    from hubbub.mechanisms import Mechanism
    from hubbub.privacy.ledger import Ledger

DIGITS = 3
STEP, RANGE = Decimal("1.25"), Decimal(200)
PARTS = (Fraction(1), Fraction(1, 2), Fraction(1, 5), Fraction(1, 20))
MOST_RELEASES = 1000


Make = Callable[[Decimal, Fraction], "Mechanism"]
"""A release at this ε, with this part of the δ it would otherwise have."""


def largest_epsilon(make: Make, fits: Callable[[Loss], bool], most: Decimal) -> tuple[Decimal, Mechanism] | None:
    """The largest ε of three digits, below `most`, at which the release that `make` gives fits; and that release.

    If none fits with all of its δ, smaller parts of it are tried: a lower ε alone does not lower what thresholds cost.
    What is returned was itself tried.
    """

    def tried(epsilon: Decimal, part: Fraction) -> Mechanism | None:
        try:
            mechanism = make(epsilon, part)
        except UserError:  # below its own range a mechanism cannot be made at all
            return None
        return mechanism if fits(mechanism.loss()) else None

    for part in PARTS:
        low = _rounded(most)
        while low > most / RANGE:
            low, high = _rounded(low / STEP), low
            if (best := tried(low, part)) is None:
                continue
            while low < (middle := _rounded((low + high) / 2)) < high:
                found = tried(middle, part)
                low, high, best = (low, middle, best) if found is None else (middle, high, found)
            return low, best
    return None


def _rounded(x: Decimal) -> Decimal:
    return x.quantize(Decimal(1).scaleb(x.adjusted() - DIGITS + 1), rounding=ROUND_FLOOR).normalize()


def require_room(ledger: Ledger, population: str, mechanism: Mechanism, private: bool) -> None:
    """Refuse a release that the cap does not allow, naming the largest ε of the same release that it would."""
    try:
        ledger.would_allow(population, mechanism.loss(), private)
    except OverBudget as error:
        asked = mechanism.given.get("epsilon")
        found = None
        if asked is not None and ledger.standing(population).room:
            most = Decimal(repr(float(Fraction(asked))))
            found = largest_epsilon(another(mechanism), lambda loss: ledger.allows(population, loss), most)
        if found is None:
            raise
        asks = f"--epsilon {found[0]:f}"
        if "delta" in mechanism.given and found[1].given["delta"] != mechanism.given["delta"]:
            asks += f" --delta {number(float(Fraction(found[1].given['delta'])))}"
        next = f"ask for at most {asks} in this release, or raise the cap: " + error.next.partition(": ")[2]
        raise OverBudget(error.what, given=error.given, allowed=error.allowed, next=next) from None


def another(mechanism: Mechanism) -> Make:
    """The same release at another ε and with part of its δ."""

    def make(epsilon: Decimal, part: Fraction) -> Mechanism:
        settings = {k: v if isinstance(v, int) else str(v) for k, v in mechanism.given.items()}
        settings["epsilon"] = str(epsilon)
        if "delta" in settings:
            settings["delta"] = part_of(Fraction(settings["delta"]), part)
        return mechanism.remade(settings)

    return make


def part_of(delta: Fraction, part: Fraction) -> str:
    """A part of δ as an owner would write it: three digits, rounded down."""
    if part == 1:
        return str(delta)
    return str(_rounded(Decimal(delta.numerator) / Decimal(delta.denominator) * Decimal(float(part))))


# ------------------------------------------------------------------ plans


@dataclass(frozen=True)
class Fitted:
    """A plan of equal releases: each at this ε and δ, all of them within what was left of the cap."""

    releases: int
    mechanism: Mechanism
    epsilon: Decimal
    envelope: Envelope
    inside: bool
    """Whether they fit an envelope that is open already: nothing new need be fixed."""


def plan(ledger: Ledger, population: str, releases: int, make: Make) -> Fitted:
    """The largest ε at which so many equal releases fit, in open envelopes or in what the cap has left."""
    if not 1 <= releases <= MOST_RELEASES:
        raise ParameterError(
            "A plan needs a number of releases.", given=releases, allowed=f"1 to {MOST_RELEASES} of them"
        )
    standing = ledger.standing(population)
    rest, places = standing.unpromised, rooms(standing.opened)

    def inside(loss: Loss) -> bool:
        return any(_holds(room.left, loss, releases) for room in places)

    def fresh(loss: Loss) -> Envelope | None:
        made = (form([loss] * releases) for form in (planned, by_sums)) if rest.epsilon else ()
        return next((envelope for envelope in made if envelope.epsilon(rest.delta) <= rest.epsilon), None)

    most = max([rest.epsilon, *(float(room.epsilon) for room in places)])
    fits = largest_epsilon(make, lambda loss: inside(loss) or fresh(loss) is not None, Decimal(repr(most)) * 2)
    if fits is None:
        raise OverBudget(
            f"The cap of the population {population!r} has no room for {releases} such releases.",
            given=f"{releases} releases",
            allowed=left_of(standing),
            next="plan fewer releases, give each a smaller --delta, or raise the cap",
        )
    epsilon, mechanism = fits
    loss = mechanism.loss()
    return Fitted(releases, mechanism, epsilon, fresh(loss) or Envelope(), inside(loss))


def _holds(left: Envelope, loss: Loss, releases: int) -> bool:
    for _ in range(releases):
        charge = left.charge(loss)
        if charge is None:
            return False
        left = left.less(charge)
    return True
