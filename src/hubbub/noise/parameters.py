"""Checks shared by everything that takes a parameter from outside: clear refusals, never a rounded parameter."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational

from hubbub.errors import ParameterError
from hubbub.privacy.existence import Cause


def rational(name: str, value: Fraction | int) -> Fraction:
    """A positive rational, or a refusal; a float is refused because the proof is about the exact number."""
    if not isinstance(value, Rational):
        raise ParameterError(
            f"The noise {name} must be an exact number.",
            given=repr(value),
            allowed="an int or a fractions.Fraction above 0",
            next=f"write it as a fraction, rounded up: a larger {name} is the private side",
            because=Cause.ENDED,
        )
    if value <= 0:
        what = f"The noise {name} must be positive."
        raise ParameterError(what, given=value, allowed="above 0", because=Cause.ENDED)
    return Fraction(int(value.numerator), int(value.denominator))


def whole(name: str, value: int, *, at_least: int = 0, below: int = 1 << 62) -> int:
    """An integer in its range, or a refusal."""
    if not at_least <= value < below:
        allowed = f"{at_least} to {below - 1}"
        raise ParameterError(f"{name} is out of range.", given=value, allowed=allowed, because=Cause.ENDED)
    return int(value)
