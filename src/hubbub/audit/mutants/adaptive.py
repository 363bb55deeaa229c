"""Ledgers that add up wrongly when later releases follow earlier outputs: the old rules, and slips in the new one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hubbub.audit.checks import adaptive, replay
from hubbub.audit.mutants.fault import Change, Planted
from hubbub.privacy.account import Pure


def _so_far(book: Any) -> Any:
    """A release is allowed while the tight sum of all so far stays under the cap: the rule of version 1."""
    from hubbub.privacy.compose import compose
    from hubbub.privacy.envelope import Charge
    from hubbub.privacy.ledger.budget import Booking, OpenEnvelope

    def allowed(standing: Any, loss: Any) -> Any:
        cap = standing.cap
        if any(isinstance(atom, Pure) and atom.epsilon for atom in loss.atoms):
            return book(standing, loss)  # loss distributions take long, and the attack needs none
        if compose([*standing.losses, loss], cap.delta) > cap.epsilon:
            return None
        booking = book(standing, loss)
        return booking or Booking(_any(standing, OpenEnvelope), Charge())

    return allowed


def _any(standing: Any, opened: Any) -> Any:
    from hubbub.privacy.envelope import Envelope

    if standing.opened:
        return standing.opened[-1]
    return opened(0, Envelope(), Envelope(), Fraction(1), Fraction(0), "first release")


def _whichever_fits(book: Any) -> Any:
    """What the envelope refuses is allowed if the plain sums fit."""
    from hubbub.privacy.compose import basic_sums
    from hubbub.privacy.envelope import Charge
    from hubbub.privacy.ledger.budget import Booking, OpenEnvelope

    def allowed(standing: Any, loss: Any) -> Any:
        epsilon, delta = basic_sums([*standing.losses, loss])
        fits = epsilon <= standing.cap.epsilon and delta <= standing.cap.delta
        return book(standing, loss) or (Booking(_any(standing, OpenEnvelope), Charge()) if fits else None)

    return allowed


def _anew(book: Any) -> Any:
    """Every release finds an envelope of its own for the whole cap."""

    def allowed(standing: Any, loss: Any) -> Any:
        from hubbub.privacy.envelope import Charge, split
        from hubbub.privacy.ledger.budget import Booking, OpenEnvelope

        again = split(standing.cap, loss)
        if standing.opened and again is not None:
            return Booking(_any(standing, OpenEnvelope), Charge())
        return book(standing, loss)

    return allowed


def _free(**nothing: object) -> Change:
    """Charges leave something out."""

    def change(charge: Any) -> Any:
        return lambda envelope, loss: charge(envelope, replace(loss, **nothing))

    return change


def _in_advance(_: Any) -> Any:
    """The number so far is what would hold if all had been decided in advance."""
    from hubbub.privacy.compose import basic_sums, compose

    return lambda losses: (compose(losses, basic_sums(losses)[1]), basic_sums(losses)[1])


def _half(charge: Any) -> Any:
    """Half of ε is charged."""
    return lambda envelope, loss: charge(envelope, replace(loss, epsilon=loss.epsilon / 2))


def _nothing(*_: object) -> None:
    """Nothing is written."""


def _envelopes_alone(_: Any) -> Any:
    """The sum over envelopes, without what was released before them."""
    return lambda standing: (
        (float(sum(o.epsilon for o in standing.opened)), float(sum(o.delta for o in standing.opened)))
        if standing.opened
        else None
    )


def _at_its_own_total(_: Any) -> Any:
    """The grid's points follow the releases: the total itself, at the whole δ."""
    from hubbub.privacy.compose import float_down, gaussian_epsilon

    return lambda total, delta: gaussian_epsilon(float_down(delta), total)


PROMISE = "hubbub.privacy.ledger.accounts:promise"
BOOK = "hubbub.privacy.ledger.budget:Standing.book"
ODOMETER = "hubbub.privacy.ledger.accounts:odometer"
ADAPTIVE_MUTANTS: tuple[Planted, ...] = (
    ("a cap asks for the tight sum so far", adaptive.steering, {BOOK: _so_far}),
    ("the envelope or the sums, whichever fits", adaptive.steering, {BOOK: _whichever_fits}),
    ("an envelope for every release", adaptive.steering, {BOOK: _anew}),
    ("thresholds are not charged", adaptive.steering, {"hubbub.privacy.envelope:Envelope.charge": _free(tv=0.0)}),
    ("the number so far as if decided in advance", adaptive.stopping, {ODOMETER: _in_advance}),
    (
        "a second envelope for the whole cap",
        adaptive.steering,
        {
            "hubbub.privacy.ledger.budget:Standing.promised": lambda _: property(
                lambda standing: (Fraction(0), Fraction(0))
            )
        },
    ),
    (
        "pure steps at the price of wide noise",
        adaptive.prices,
        {"hubbub.privacy.envelope:price": lambda _: lambda count, epsilon: float(count * epsilon**2)},
    ),
    (
        "a slot is charged by its largest step",
        adaptive.prices,
        {
            "hubbub.privacy.envelope:Envelope.less": lambda less: (
                lambda envelope, charge: _largest_only(less, envelope, charge)
            )
        },
    ),
    ("half of its own proof is charged", replay.tests, {"hubbub.privacy.envelope:Envelope._by_its_own_proof": _half}),
    ("charges are not written", replay.tests, {"hubbub.privacy.ledger.accounts:Accounts._charge": lambda _: _nothing}),
    ("what came before a cap is not part of the promise", replay.tests, {PROMISE: _envelopes_alone}),
    ("the grid at the total itself", adaptive.stopping, {"hubbub.privacy.odometer:grid_epsilon": _at_its_own_total}),
)


def _largest_only(less: Any, envelope: Any, charge: Any) -> Any:
    left = less(envelope, charge)
    return replace(left, slots=envelope.slots) if min(left.slots, default=Fraction(0)) >= 0 else left
