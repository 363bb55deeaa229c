"""What several releases cost together if all of them were decided before the first output.

Two bounds hold at once, so the smaller one does. Basic: the ε and the δ of the releases add.
Tight: all noisy draws of all releases are composed as one, at what is left of δ after the
thresholds' own δ (`tv`) is taken off. Add-remove neighbours only; proofs in docs/proofs/composition.md.
Releases that were chosen after seeing earlier ones need an envelope (envelope.py) or an odometer (odometer.py).

A float here stands for the decimal it prints as, which is what a card shows and the ledger
stores: three releases at 0.1 cost 0.3. Everything else rounds up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from hubbub.errors import OurBug
from hubbub.privacy.account import Atom, DiscreteLaplace, Gaussian, Generic, Loss, Pure, round_up

SLACK = 1e-9  # of ε: far above what double precision loses here
FFT_SLACK = 1e-12, 1e-15  # of δ, at all and per draw: dp-accounting's transforms lose about 4e-17 per draw
WIDEST = 100.0  # deviation of the loss beyond which only the basic sum is tried: e^ε leaves the floats


@dataclass(frozen=True)
class Cap:
    """What all releases of a population may cost together."""

    epsilon: float
    delta: float


def compose(losses: Sequence[Loss], delta: float) -> float:
    """The smallest ε proven at this δ for all these releases, decided in advance; infinity if there is none."""
    losses = checked(losses, delta)
    return min(_basic(losses, delta), _tight(losses, delta))


def basic_sums(losses: Sequence[Loss]) -> tuple[float, float]:
    """The sum of the ε and the sum of the δ."""
    losses = checked(losses)
    epsilon = math.inf if _hopeless(losses) else float_up(sum((written(x.epsilon) for x in losses), Fraction(0)))
    return epsilon, float_up(sum((written(x.delta) for x in losses), Fraction(0)))


# ------------------------------------------------------------------ the two bounds


def _basic(losses: Sequence[Loss], delta: float) -> float:
    epsilon, needed = basic_sums(losses)
    return epsilon if needed <= delta else math.inf


def _tight(losses: Sequence[Loss], delta: float) -> float:
    if _hopeless(losses):
        return math.inf
    total = Cost()
    for loss in losses:
        total += cost_of(loss)
    return product_epsilon(total, written(delta))


@dataclass(frozen=True)
class Cost:
    """What releases are charged: μ² of Gaussian noise, randomised responses {ε: how many}, and δ that only adds."""

    gaussian: Fraction = Fraction(0)
    responses: Mapping[Fraction, int] = field(default_factory=dict)
    threshold: Fraction = Fraction(0)

    def __add__(self, other: Cost) -> Cost:
        responses = Counter(self.responses) + Counter(other.responses)
        return Cost(self.gaussian + other.gaussian, responses, self.threshold + other.threshold)


def cost_of(loss: Loss) -> Cost:
    """The cost of one release by its atoms; one without atoms is known by its (ε, δ) alone."""
    gaussian, responses, threshold = Fraction(0), Counter[Fraction](), Fraction(loss.tv) if loss.atoms else Fraction(0)
    for atom in loss.atoms or (Generic(written(loss.epsilon), Decimal(repr(loss.delta))),):
        match atom:
            case Gaussian(more):
                gaussian += more
            case DiscreteLaplace(scale, keys):  # a count moved by one: randomised response at 1/scale
                responses[1 / scale] += keys
            case Pure(epsilon):
                responses[epsilon] += 1
            case Generic(epsilon, own):  # randomised response at ε but for an event of mass δ
                responses[epsilon] += 1
                threshold += Fraction(own)
    del responses[Fraction(0)]
    return Cost(gaussian, responses, threshold)


def product_epsilon(cost: Cost, delta: Fraction) -> float:
    """The smallest ε at which the hockey stick of the product of all these draws is within what is left of δ."""
    room = delta - cost.threshold
    if room < 0:
        return math.inf
    if not cost.responses:
        return gaussian_epsilon(float_down(room), cost.gaussian)
    return _by_loss_distribution(cost.gaussian, tuple(sorted(cost.responses.items())), float_down(room))


@lru_cache(maxsize=256)
def _by_loss_distribution(mu2: Fraction, draws: tuple[tuple[Fraction, int], ...], delta: float) -> float:
    """ε at δ of Gaussian noise beside randomised responses: privacy loss distributions, rounded up throughout."""
    room = delta - FFT_SLACK[0] - FFT_SLACK[1] * sum(count for _, count in draws)
    deviation = math.sqrt(mu2 + sum(count * epsilon**2 for epsilon, count in draws))
    if room <= 0 or deviation > WIDEST:
        return math.inf
    from dp_accounting.pld import privacy_loss_distribution as pld

    # a power of two that only grows with more draws: grids are nested, so ε never falls with one more
    grid = 2.0 ** (math.ceil(math.log2(deviation * (1 + deviation / 8))) - 13)
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
        return _with_slack(0.0)  # a difference of two halves: its last digits are lost
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


def checked(losses: Sequence[Loss], delta: float = 0.0) -> Sequence[Loss]:
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


def written(x: float) -> Fraction:
    """The decimal a float prints as."""
    return Fraction(repr(float(x)))


def float_up(x: Fraction) -> float:
    """The smallest float that prints as no less than x."""
    nearest = float(x)
    return nearest if written(nearest) >= x else math.nextafter(nearest, math.inf)


def written_down(x: Fraction) -> float:
    """The largest float that prints as no more than x."""
    nearest = float(x)
    return nearest if written(nearest) <= x else math.nextafter(nearest, -math.inf)


def float_down(x: Fraction) -> float:
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
