"""Why a threshold is as high as it is, and what would lower it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.errors import UserError
from hubbub.privacy.account import Domain, Step
from hubbub.privacy.gaussian import GaussianStep
from hubbub.privacy.guarantee import number

if TYPE_CHECKING:
    from hubbub.mechanisms import Mechanism
    from hubbub.mechanisms.base import Value

WORTH = 0.95
"""A change is worth telling if it lowers the threshold to this much of it."""


@dataclass(frozen=True)
class Why:
    """One threshold: its value in users or counts, the sentence that takes it apart, and lower ones."""

    step: str
    threshold: float
    sentence: str
    lower: tuple[tuple[str, float], ...]

    def record(self) -> dict[str, object]:
        """The explanation as it stands in the JSON document."""
        lower = [{"change": change, "threshold": threshold} for change, threshold in self.lower]
        return {"step": self.step, "threshold": self.threshold, "why": self.sentence, "lower": lower}


def explain(mechanism: Mechanism) -> tuple[Why, ...]:
    """Every threshold of a mechanism."""
    here = _thresholds(mechanism)
    others = [(change, _thresholds(other)) for change, other in _alternatives(mechanism)]
    return tuple(
        Why(
            name,
            threshold,
            sentence,
            tuple((change, at[name][0]) for change, at in others if name in at and at[name][0] < WORTH * threshold),
        )
        for name, (threshold, sentence) in here.items()
    )


def _thresholds(mechanism: Mechanism) -> dict[str, tuple[float, str]]:
    found: dict[str, tuple[float, str]] = {}
    for step in mechanism.steps():
        if isinstance(step, GaussianStep):
            if step.tests:
                found[step.name] = _gaussian(step)
        elif isinstance(step, Step) and step.threshold is not None:
            found[step.name] = (float(step.threshold), _laplace(step))
    for name, threshold in mechanism.thresholds().items():
        found.setdefault(name, (float(threshold), "; ".join(mechanism.missing())))
    return found


def _laplace(step: Step) -> str:
    """T = what one user may put on a key + what the noise needs."""
    from hubbub.privacy.account import release_probability

    if step.domain is Domain.CLOSED:
        alone = float(release_probability(step.scale, step.threshold or 0, 0))
        return (
            f"it protects nobody, for the keys are known beforehand: with noise of scale b = {step.l1}/ε = "
            f"{number(float(step.scale))} (ε = {number(float(step.epsilon))} for this step), a key that nobody holds "
            f"gets there with probability {alone:.2g}"
        )
    enters = max(step.linf, step.floor)
    if step.threshold is None or enters >= step.threshold:
        return f"{step.threshold} is what one user alone can reach: every key shows"
    own = "1 (a user herself)" if step.linf == 1 else f"{step.linf} (all one user may put on one key)"
    if step.floor > 1:
        own = f"{step.floor} (fewer are dropped before the noise: one user more, and a key is new)"
    alone = float(release_probability(step.scale, step.threshold, enters))
    keys = f"a user may have {step.l0} of them" if step.l0 > 1 else "a user has one of them at most"
    return (
        f"{step.threshold} = {own} + {step.threshold - enters}: with noise of scale b = {step.l1}/ε = "
        f"{number(float(step.scale))} (ε = {number(float(step.epsilon))} for this step), a key that "
        f"{'only one user holds' if step.floor == 1 else 'is new'} gets there with probability {alone:.2g}; {keys}, "
        f"which makes δ = {float(step.delta):.2g}"
    )


def _gaussian(step: GaussianStep) -> tuple[float, str]:
    """The last test, in users who put all their weight on the key."""
    test = step.tests[-1]
    threshold, sd = test.threshold / test.mean, math.sqrt(test.variance) / test.mean
    rounds = f"in any of {len(step.tests)} rounds " if len(step.tests) > 1 else ""
    return threshold, (
        f"{threshold:.1f} = 1 (a user herself) + {threshold - 1:.1f}: {(threshold - 1) / sd:.1f} standard deviations "
        f"of the noise, {sd:.2f} each, so that a key that only one user holds gets there {rounds}with probability "
        f"{step.per_key:.2g}; a user may have {step.keys} of them, which makes at most {step.keys * step.per_key:.2g}"
    )


def _alternatives(mechanism: Mechanism) -> Iterator[tuple[str, Mechanism]]:
    """The same mechanism with one parameter changed: ε doubled, δ tenfold, or a whole number halved."""
    given = dict(mechanism.given)
    changes: list[tuple[str, Value]] = []
    if "epsilon" in given:
        changes.append(("epsilon", 2 * Fraction(given["epsilon"])))
    if "delta" in given:
        changes.append(("delta", 10 * Fraction(given["delta"])))
    for parameter in mechanism.parameters:
        value = mechanism.settings.get(parameter.name)
        if parameter.kind == "integer" and isinstance(value, int) and value > 1 and not parameter.fact:
            changes.append((parameter.name, value // 2))
    for name, value in changes:
        try:
            other = mechanism.remade({**given, name: value})
        except UserError:
            continue
        greek = {"epsilon": "ε", "delta": "δ"}.get(name, name)
        yield f"{greek} = {number(float(value))}", other
