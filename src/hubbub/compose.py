"""What several releases cost together, and whether a cap allows one more.

Two bounds hold at once, so the smaller one does. Basic: the ε and the δ of the releases add.
Tight: all noisy draws of all releases are composed as one, at what is left of δ after the
thresholds' own δ (`tv`) is taken off. Add-remove neighbours only; proofs in docs/proofs/composition.md.

A float here stands for the decimal it prints as, which is what a card shows and the ledger
stores: three releases at 0.1 cost 0.3. Everything else rounds up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from hubbub.account import Atom, DiscreteLaplace, Gaussian, Generic, Loss, Pure, round_up
from hubbub.errors import OurBug

SLACK = 1e-9  # of ε: far above what double precision loses here
FFT_SLACK = 1e-12, 1e-15  # of δ, at all and per draw: dp-accounting's transforms lose about 4e-17 per draw
WIDEST = 100.0  # spread of the loss beyond which only the basic sum is tried: e^ε leaves the floats


@dataclass(frozen=True)
class Cap:
    """What all releases of a population may cost together."""

    epsilon: float
    delta: float

    def allows(self, losses: Sequence[Loss]) -> bool:
        """Whether compose(losses, δ) <= ε; the slow bound only runs where the basic one does not settle it."""
        losses = _checked(losses, self.delta)
        return _basic(losses, self.delta) <= self.epsilon or _tight(losses, self.delta) <= self.epsilon


def compose(losses: Sequence[Loss], delta: float) -> float:
    """The smallest ε proven for all these releases together at this δ; infinity if there is none."""
    losses = _checked(losses, delta)
    return min(_basic(losses, delta), _tight(losses, delta))


def basic_sums(losses: Sequence[Loss]) -> tuple[float, float]:
    """The sum of the ε and the sum of the δ."""
    losses = _checked(losses)
    epsilon = math.inf if _hopeless(losses) else _float_up(sum((_written(x.epsilon) for x in losses), Fraction(0)))
    return epsilon, _float_up(sum((_written(x.delta) for x in losses), Fraction(0)))


# ------------------------------------------------------------------ the two bounds


def _basic(losses: Sequence[Loss], delta: float) -> float:
    epsilon, needed = basic_sums(losses)
    return epsilon if needed <= delta else math.inf


def _tight(losses: Sequence[Loss], delta: float) -> float:
    if _hopeless(losses):
        return math.inf
    mu2, room, draws = Fraction(0), _written(delta), Counter[Fraction]()
    for loss in losses:
        room -= Fraction(loss.tv) if loss.atoms else 0
        for atom in loss.atoms or (Generic(_written(loss.epsilon), Decimal(repr(loss.delta))),):
            match atom:
                case Gaussian(more):
                    mu2 += more
                case DiscreteLaplace(scale, keys):  # a count moved by one: randomised response at 1/scale
                    draws[1 / scale] += keys
                case Pure(epsilon):
                    draws[epsilon] += 1
                case Generic(epsilon, own):  # randomised response at ε but for an event of mass δ
                    draws[epsilon] += 1
                    room -= Fraction(own)
    if room < 0:
        return math.inf
    del draws[Fraction(0)]
    if not draws:
        return gaussian_epsilon(_float_down(room), mu2)
    return _by_loss_distribution(mu2, tuple(sorted(draws.items())), _float_down(room))


@lru_cache(maxsize=256)
def _by_loss_distribution(mu2: Fraction, draws: tuple[tuple[Fraction, int], ...], delta: float) -> float:
    """ε at δ of Gaussian noise beside randomised responses: privacy loss distributions, rounded up throughout."""
    room = delta - FFT_SLACK[0] - FFT_SLACK[1] * sum(count for _, count in draws)
    spread = math.sqrt(mu2 + sum(count * epsilon**2 for epsilon, count in draws))
    if room <= 0 or spread > WIDEST:
        return math.inf
    from dp_accounting.pld import privacy_loss_distribution as pld

    # a power of two that only grows with more draws: grids are nested, so ε never falls with one more
    grid = 2.0 ** (math.ceil(math.log2(spread * (1 + spread / 8))) - 13)
    parts = []
    for epsilon, count in draws:
        one = pld.from_discrete_laplace_mechanism(
            round_up(epsilon), value_discretization_interval=grid, use_connect_dots=True
        )
        parts.append(one.self_compose(count))
    if mu2:
        parts.append(pld.from_gaussian_mechanism(1 / _root_up(mu2), value_discretization_interval=grid))
    total = parts[0]
    for part in parts[1:]:
        total = total.compose(part)
    return _with_slack(float(total.get_epsilon_for_delta(room)))


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The hockey stick of N(mu, 1) and N(0, 1): Φ(mu/2 - ε/mu) - e^ε Φ(-mu/2 - ε/mu) (Balle and Wang 2018, thm 8)."""
    if mu == 0:
        return max(0.0, -math.expm1(epsilon))
    from scipy.special import log_ndtr

    upper = float(log_ndtr(mu / 2 - epsilon / mu))
    lower = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return -math.exp(upper) * math.expm1(min(0.0, lower - upper))


def gaussian_epsilon(delta: float, mu2: Fraction | float) -> float:
    """The smallest ε >= 0 at which Gaussian noise with total squared shift mu2 stays within δ, rounded up."""
    if mu2 == 0:
        return 0.0
    if delta <= 0:
        return math.inf
    mu = _root_up(Fraction(mu2))
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    low, high = 0.0, mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta))  # by Rényi divergence: never too small
    while low < (middle := (low + high) / 2) < high:
        if gaussian_delta(middle, mu) > delta:
            low = middle
        else:
            high = middle
    return _with_slack(high)


# ------------------------------------------------------------------ checks and rounding


def _hopeless(losses: Iterable[Loss]) -> bool:
    return any(math.isinf(loss.epsilon) for loss in losses)


def _checked(losses: Sequence[Loss], delta: float = 0.0) -> Sequence[Loss]:
    """Refuse what would make a total too small."""
    if not 0 <= delta <= 1:
        raise OurBug(f"composition at δ = {delta}")
    for loss in losses:
        if not (loss.epsilon >= 0 and 0 <= loss.tv <= 1 and 0 <= loss.delta <= 1 and all(map(_sound, loss.atoms))):
            raise OurBug(f"no such cost: {loss}")
    return losses


def _sound(atom: Atom) -> bool:
    match atom:
        case Gaussian(mu2):
            return mu2 >= 0
        case DiscreteLaplace(scale, keys):
            return scale > 0 and keys >= 1
        case Pure(epsilon):
            return epsilon >= 0
        case Generic(epsilon, delta):
            return epsilon >= 0 and 0 <= delta <= 1


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
    """A float not below the square root of x."""
    return math.nextafter(math.sqrt(round_up(x)), math.inf)


def _with_slack(epsilon: float) -> float:
    return epsilon * (1 + SLACK) + SLACK


# ------------------------------------------------------------------ losses as text


def loss_record(loss: Loss) -> dict[str, object]:
    """A loss for JSON, exactly: numbers are text, fractions stay fractions."""
    atoms = [{"atom": type(atom).__name__} | {k: str(v) for k, v in vars(atom).items()} for atom in loss.atoms]
    return {"epsilon": repr(loss.epsilon), "delta": repr(loss.delta), "tv": repr(loss.tv), "atoms": atoms}


def read_loss(record: Mapping[str, Any]) -> Loss:
    """The loss that `loss_record` wrote; ValueError, KeyError, TypeError or ArithmeticError for anything else."""
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
