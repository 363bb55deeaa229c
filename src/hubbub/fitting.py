"""The largest ε that a budget has room for: what a refusal names, and what a plan is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.account import Loss
from hubbub.envelope import Envelope, by_sums, planned
from hubbub.errors import OverBudget, ParameterError, UserError
from hubbub.guarantee import number
from hubbub.mechanisms import build

if TYPE_CHECKING:
    from hubbub.ledger import Ledger
    from hubbub.mechanisms import Mechanism

DIGITS = 3
SMALLEST, LARGEST = Decimal("0.001"), Decimal(1024)
MOST_RELEASES = 1000


def at_epsilon(mechanism: Mechanism, epsilon: Decimal) -> Mechanism | None:
    """The same release at another ε; None if it was not asked for by ε."""
    if "epsilon" not in mechanism.given:
        return None
    settings = {k: v if isinstance(v, int) else str(v) for k, v in mechanism.given.items()} | {"epsilon": str(epsilon)}
    lists = ("serp", "pool", "public_list", "previous")
    return build(
        mechanism.name,
        settings,
        variant=mechanism.variant,
        neighbours=mechanism.neighbours,
        tables=mechanism.tables,
        **{name: getattr(mechanism, name) for name in lists},
    )


def largest_epsilon(make: Callable[[Decimal], Mechanism | None], fits: Callable[[Loss], bool]) -> Decimal | None:
    """The largest ε of three digits at which the release that `make` gives fits; None if not even .001 does.

    What is returned was itself tried. Costs grow with ε but for rounding, so bisection finds the edge to a digit.
    """

    def good(epsilon: Decimal) -> bool:
        try:
            mechanism = make(epsilon)
        except UserError:
            return False
        return mechanism is not None and fits(mechanism.loss())

    high = LARGEST
    low = high / 2
    while not good(low):  # from above: below its own range a mechanism cannot be made at all
        low, high = low / 2, low
        if low < SMALLEST:
            return None
    while (middle := _rounded((low + high) / 2)) > low and middle < high:
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


def _rounded(x: Decimal) -> Decimal:
    return x.quantize(Decimal(1).scaleb(x.adjusted() - DIGITS + 1), rounding=ROUND_FLOOR).normalize()


def require_room(ledger: Ledger, population: str, mechanism: Mechanism, private: bool) -> None:
    """Refuse a release that the cap does not allow, naming the largest ε of the same release that it would."""
    try:
        ledger.would_allow(population, mechanism.loss(), private)
    except OverBudget as error:
        found = largest_epsilon(
            lambda epsilon: at_epsilon(mechanism, epsilon), lambda loss: ledger.allows(population, loss)
        )
        if found is None:
            raise
        next = f"ask for at most --epsilon {found:f}, or raise the cap: " + error.next.partition(": ")[2]
        raise OverBudget(error.what, given=error.given, allowed=error.allowed, next=next) from None


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


def plan(ledger: Ledger, population: str, releases: int, make: Callable[[Decimal], Mechanism | None]) -> Fitted:
    """The largest ε at which so many equal releases fit, in open envelopes or in what the cap has left."""
    if not 1 <= releases <= MOST_RELEASES:
        raise ParameterError(
            "A plan needs a number of releases.", given=releases, allowed=f"1 to {MOST_RELEASES} of them"
        )
    standing = ledger.standing(population)
    rest = standing.unpromised

    def inside(loss: Loss) -> bool:
        return any(_holds(room.left, loss, releases) for room in standing.opened)

    def fresh(loss: Loss) -> Envelope | None:
        sums, product = (make_one([loss] * releases) for make_one in (by_sums, planned))
        return next((e for e in (product, sums) if rest.epsilon and e.epsilon(rest.delta) <= rest.epsilon), None)

    found = largest_epsilon(make, lambda loss: inside(loss) or fresh(loss) is not None)
    mechanism = None if found is None else make(found)
    if found is None or mechanism is None:
        raise OverBudget(
            f"The cap of the population {population!r} has no room for {releases} such releases.",
            given=f"{releases} releases",
            allowed=f"left: ε = {number(rest.epsilon)} at δ = {number(rest.delta)}",
            next="plan fewer releases, give each a smaller --delta, or raise the cap",
        )
    loss = mechanism.loss()
    return Fitted(releases, mechanism, found, fresh(loss) or Envelope(), inside(loss))


def _holds(left: Envelope, loss: Loss, releases: int) -> bool:
    for _ in range(releases):
        charge = left.charge(loss)
        if charge is None:
            return False
        left = left.less(charge)
    return True


def share_of(delta: float, releases: int) -> Fraction:
    """The δ of each of several releases if they share a cap's equally, to three digits, rounded down."""
    return Fraction(_rounded(Decimal(repr(delta)) / releases)) if delta else Fraction(0)
