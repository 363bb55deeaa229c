"""Two stages in a row, by quadrature: the worst user of a chain whose second pool depends on the first stage.

She asked a known query and clicked twice. If the query is released (its noisy weight reaches some cut), her one place
in the pool of clicks goes to a known click, which costs μ; if not, to a click of her own, which costs the threshold's
δ. So she has no click of her own exactly where the first stage said much about her, and a split of the tightening over
both stages (a product over fixed numbers of new keys) is wrong: at δ = .02 it loses .0250.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hubbub.audit.protocols import AuditRow, Kind, shared_row
from hubbub.mechanisms.crowd import calibrate

Floats = npt.NDArray[np.float64]
POINTS = 200
CUTS = np.linspace(-2, 10, 121)
SETTINGS = (("1", "0.02"), ("1", "1e-6"), ("4", "1e-7"))


def stick(epsilon: Floats, mu: float) -> Floats:
    """G(ε, μ), the Gaussian hockey stick, for any real ε."""
    from scipy.special import log_ndtr

    if mu == 0:
        return np.maximum(0.0, -np.expm1(np.minimum(epsilon, 0)))
    upper = log_ndtr(mu / 2 - epsilon / mu)
    lower = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    result: Floats = -np.exp(upper) * np.expm1(np.minimum(0.0, lower - upper))
    return result


def density(x: Floats, sd: float) -> Floats:
    """The normal density."""
    result: Floats = np.exp(-np.square(x / sd) / 2) / (sd * math.sqrt(2 * math.pi))
    return result


def two_stages(epsilon: float, first: float, second: float, rest: float, novel: float) -> float:
    """δ(ε) of that user: μ of the first and of the second selection and of all the rest, p of one novel click."""
    worst = 0.0
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    for cut in CUTS:
        total = 0.0
        for low, high, released in ((-10.0, cut, False), (cut, 12.0 + first, True)):
            y = low + (nodes + 1) * (high - low) / 2
            mass = density(y - first, 1.0) * weights * (high - low) / 2
            loss = first * y - first**2 / 2
            if released:
                total += float(mass @ stick(epsilon - loss, math.hypot(second, rest)))
            else:
                total += float(mass @ (novel + (1 - novel) * stick(epsilon - loss - math.log1p(-novel), rest)))
        worst = max(worst, total)
    return worst


def calibrated(epsilon: str, delta: str) -> float:
    """δ(ε) of a chain of two selections of one key each, with the integers that the calibration gives."""
    plans = [calibrate.StagePlan(name, 1, 1, (850, 140, 10), 1, 1) for name in ("queries", "clicks")]
    stages = calibrate.calibrate(plans, Fraction(epsilon), Fraction(delta), 1, "")
    one, two = (stage.steps("", tightened=i == 0) for i, stage in enumerate(stages))
    rest = math.sqrt(sum(float(s.total) for s in (*one[1:], *two[1:])))
    return two_stages(float(epsilon), math.sqrt(one[0].total), math.sqrt(two[0].total), rest, two[0].per_key)


def tests() -> Iterator[AuditRow]:
    """What runs stays within δ, whatever the second stage's pool makes of the first."""
    for epsilon, delta in SETTINGS:
        seen = calibrated(epsilon, delta)
        check = f"exact δ(ε) of two stages: the second pool follows from the first, ε = {epsilon}, δ = {delta}"
        yield shared_row(check, float(delta), seen, 1e-6 * float(delta), f"{seen / float(delta):.4f} of δ", Kind.EXACT)
