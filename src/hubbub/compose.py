"""What several releases cost together: the smallest ε we can prove at a given δ.

Two bounds hold at once, so the smaller one does. Basic: the ε and the δ of the releases add.
Tight: all noisy draws of all releases are composed as one, at what is left of δ after the
thresholds' own δ (`tv`) is taken off. Add-remove neighbours only; docs/proofs/composition.md has the proofs.

A float here stands for the decimal it prints as, which is what a card shows and the ledger
stores: three releases at 0.1 cost 0.3. Everything else rounds up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from hubbub.account import Atom, DiscreteLaplace, Gaussian, Generic, Loss, Pure, round_up
from hubbub.errors import OurBug

SLACK = 1e-9  # of ε: far above what double precision loses below
FFT_SLACK = 1e-12  # of δ: what the convolutions of dp-accounting may lose


def compose(losses: Sequence[Loss], delta: float) -> float:
    """The smallest ε proven for all these releases together at this δ; infinity if there is none."""
    return min(_basic(losses, delta), _tight(losses, delta))


def fits(losses: Sequence[Loss], epsilon: float, delta: float) -> bool:
    """Whether compose(losses, delta) <= epsilon, without the costly bound where the basic one is enough."""
    return _basic(losses, delta) <= epsilon or _tight(losses, delta) <= epsilon


def basic_sums(losses: Iterable[Loss]) -> tuple[float, float]:
    """The sum of the ε and the sum of the δ."""
    losses = _checked(losses)
    if any(math.isinf(x.epsilon) for x in losses):
        return math.inf, _float_up(sum((_written(x.delta) for x in losses), Fraction(0)))
    epsilon, delta = _sums(losses)
    return _float_up(epsilon), _float_up(delta)


# ------------------------------------------------------------------ the two bounds


def _basic(losses: Iterable[Loss], delta: float) -> float:
    losses = _checked(losses, delta)
    if any(math.isinf(x.epsilon) for x in losses):
        return math.inf
    total, total_delta = _sums(losses)
    return _float_up(total) if total_delta <= _written(delta) else math.inf


def _tight(losses: Iterable[Loss], delta: float) -> float:
    losses = _checked(losses, delta)
    if any(math.isinf(x.epsilon) for x in losses):
        return math.inf
    mu2, room, draws = Fraction(0), _written(delta), Counter[Fraction]()
    for loss in losses:
        room -= Fraction(loss.tv) if loss.atoms else 0
        for atom in loss.atoms or (_generic(loss),):
            match atom:
                case Gaussian(more):
                    mu2 += more
                case DiscreteLaplace(scale, keys):  # each key shifted by one: randomised response at 1/scale
                    draws[1 / scale] += keys
                case Pure(epsilon):
                    draws[epsilon] += 1
                case Generic(epsilon, own):  # randomised response at ε, but for an event of mass δ
                    draws[epsilon] += 1
                    room -= Fraction(own)
    if room < 0:
        return math.inf
    draws.pop(Fraction(0), None)
    if not draws:
        return gaussian_epsilon(_float_down(room), mu2)
    return _by_loss_distribution(mu2, tuple(sorted(draws.items())), _float_down(room))


def _generic(loss: Loss) -> Atom:
    """A release known by its (ε, δ) alone."""
    return Generic(_written(loss.epsilon), Decimal(repr(loss.delta)))


@lru_cache(maxsize=256)
def _by_loss_distribution(mu2: Fraction, draws: tuple[tuple[Fraction, int], ...], delta: float) -> float:
    """ε at δ of Gaussian noise beside randomised responses, by privacy loss distributions rounded up."""
    steps = sum(count for _, count in draws)
    room = delta - FFT_SLACK * (1 + steps / 1000)
    if room <= 0:
        return math.inf
    from dp_accounting.pld import privacy_loss_distribution as pld

    interval = _interval(mu2, draws)
    parts = [
        pld.from_discrete_laplace_mechanism(
            round_up(epsilon), value_discretization_interval=interval, use_connect_dots=True
        ).self_compose(count)
        for epsilon, count in draws
    ]
    if mu2:
        parts.append(pld.from_gaussian_mechanism(1 / _root_up(mu2), value_discretization_interval=interval))
    total = parts[0]
    for part in parts[1:]:
        total = total.compose(part)
    return _with_slack(float(total.get_epsilon_for_delta(room)))


def _interval(mu2: Fraction, draws: Iterable[tuple[Fraction, int]]) -> float:
    """The grid of the loss: a power of two that only grows with more draws, so that ε never falls with them."""
    spread = math.sqrt(mu2 + sum(count * epsilon**2 for epsilon, count in draws))
    return 2.0 ** (math.ceil(math.log2(spread * (1 + spread / 8))) - 13)


# ------------------------------------------------------------------ Gaussian noise alone


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The hockey stick of N(mu, 1) and N(0, 1): Φ(mu/2 - ε/mu) - e^ε Φ(-mu/2 - ε/mu) (Balle and Wang 2018, thm 8)."""
    from scipy.special import log_ndtr

    if mu == 0:
        return max(0.0, -math.expm1(epsilon))
    upper = float(log_ndtr(mu / 2 - epsilon / mu))
    lower = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return max(0.0, -math.exp(upper) * math.expm1(min(0.0, lower - upper)))


def gaussian_epsilon(delta: float, mu2: Fraction | float) -> float:
    """The smallest ε >= 0 at which Gaussian noise with total squared shift mu2 stays within δ, rounded up."""
    if mu2 == 0:
        return 0.0
    if delta <= 0:
        return math.inf
    mu = _root_up(Fraction(mu2))
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    low, high = 0.0, mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta))  # zCDP to DP: never too small
    while (middle := (low + high) / 2) not in (low, high):
        if gaussian_delta(middle, mu) > delta:
            low = middle
        else:
            high = middle
    return _with_slack(high)


# ------------------------------------------------------------------ rounding


def _checked(losses: Iterable[Loss], delta: float = 0.0) -> tuple[Loss, ...]:
    losses = tuple(losses)
    if not 0 <= delta < 1 or not all(x.epsilon >= 0 and 0 <= x.tv <= 1 and 0 <= x.delta <= 1 for x in losses):
        raise OurBug("composition needs ε >= 0 and δ between 0 and 1")
    return losses


def _sums(losses: Iterable[Loss]) -> tuple[Fraction, Fraction]:
    losses = tuple(losses)
    return (
        sum((_written(x.epsilon) for x in losses), Fraction(0)),
        sum((_written(x.delta) for x in losses), Fraction(0)),
    )


def _written(x: float) -> Fraction:
    """The decimal a float prints as."""
    return Fraction(repr(float(x)))


def _float_up(x: Fraction) -> float:
    """The smallest float that prints as no less than x."""
    nearest = float(x)
    return nearest if _written(nearest) >= x else math.nextafter(nearest, math.inf)


def _float_down(x: Fraction) -> float:
    nearest = float(x)
    return nearest if Fraction(nearest) <= x else math.nextafter(nearest, 0.0)


def _root_up(x: Fraction) -> float:
    """A float not below the square root of x, by an ulp or two."""
    return math.nextafter(math.sqrt(round_up(x)), math.inf)


def _with_slack(epsilon: float) -> float:
    return epsilon * (1 + SLACK) + SLACK


# ------------------------------------------------------------------ losses as text


def loss_record(loss: Loss) -> dict[str, object]:
    """A loss for JSON, exactly: numbers are text, fractions stay fractions."""
    atoms = [
        {"atom": type(atom).__name__} | {name: str(value) for name, value in vars(atom).items()} for atom in loss.atoms
    ]
    return {"epsilon": repr(loss.epsilon), "delta": repr(loss.delta), "tv": repr(loss.tv), "atoms": atoms}


def read_loss(record: Mapping[str, Any]) -> Loss:
    """The loss that `loss_record` wrote; anything else is a ValueError, KeyError or TypeError."""
    atoms = tuple(_read_atom(**atom) for atom in record["atoms"])
    return Loss(float(record["epsilon"]), float(record["delta"]), atoms, float(record["tv"]))


def _read_atom(atom: str, **fields: str) -> Atom:
    match atom:
        case "Gaussian":
            return Gaussian(Fraction(fields["mu2"]))
        case "DiscreteLaplace":
            return DiscreteLaplace(Fraction(fields["scale"]), int(fields["keys"]))
        case "Pure":
            return Pure(Fraction(fields["epsilon"]))
        case "Generic":
            return Generic(Fraction(fields["epsilon"]), Decimal(fields["delta"]))
    raise ValueError(f"unknown atom {atom!r}")
