"""A step of a card in plain words: its noise, and what it takes to be released."""

from __future__ import annotations

import math

from hubbub.card.schema import StepPart
from hubbub.errors import HubbubError
from hubbub.privacy.account import Step
from hubbub.privacy.gaussian import AnyStep, GaussianStep, read_any
from hubbub.privacy.guarantee import number


def noise_of(part: StepPart) -> str:
    """The law of the noise, with its width in what is counted where the step knows it."""
    step = _read(part)
    if step is None:
        return f"{part.noise}, which this version cannot read"
    if isinstance(step, Step):
        sd = math.sqrt(2 * math.exp(-1 / step.scale)) / -math.expm1(-1 / step.scale)
        return f"{step.noise}, scale {number(float(step.scale))}, sd {sd:.3g}"
    if isinstance(step, GaussianStep):
        law = f"{step.noise}, μ² = {number(float(step.total))}"
        if not step.tests:
            return law
        last = step.tests[-1]
        return f"{law}, sd {math.sqrt(last.variance) / last.mean:.3g} users at the last test"
    return f"{step.noise}, ε = {number(float(step.epsilon0))} and δ = {number(float(step.delta0))} for each key"


def rule_of(part: StepPart) -> str:
    """What it takes for a key to be released."""
    step = _read(part)
    if step is None:
        return part.keeps
    if isinstance(step, GaussianStep) and step.selects:
        return f"a key is released if its {part.keeps}"
    if step.threshold is None:
        return f"no threshold: {part.keeps}"
    if isinstance(step, Step):
        filtered = f"its exact count is at least {step.floor}, and " if step.floor > 1 else ""
        return f"a key is released if {filtered}its noisy count is at least {step.threshold}"
    if isinstance(step, GaussianStep):
        last = step.tests[-1]
        return f"a key is released if its noisy weight is at least that of {last.threshold / last.mean:.4g} users"
    return f"a coin releases a key, from {step.threshold} users on more likely than not"


def _read(part: StepPart) -> AnyStep | None:
    try:
        return read_any(part.model_dump())
    except (HubbubError, ValueError, TypeError, LookupError, ArithmeticError):
        return None
