"""One parameter of a mechanism as data: type, range, meaning and default; values are exact fractions, never floats."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from hubbub.errors import ParameterError
from hubbub.privacy import delta

Value = int | Fraction | str
DIGITS = 400  # the longest number a parameter may be


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name in the paper, its type and range, what it means, its default."""

    name: str
    kind: str
    """"integer", "number" or "choice"."""
    meaning: str
    default: Value | None = None
    low: Fraction | int | None = None
    high: Fraction | int | None = None
    open_low: bool = False
    open_high: bool = False
    choices: tuple[str, ...] = ()
    fact: bool = False
    """Whether it states a fact about the log rather than a choice."""

    @property
    def declared_users(self) -> bool:
        """Whether it is the number of users that the owner declares (--users-public)."""
        return self.fact and self.name == "users"

    @property
    def range(self) -> str:
        """What is allowed, in words."""
        if self.kind == "choice":
            return ", ".join(self.choices)
        kind = "a whole number" if self.kind == "integer" else "a number"
        low = "" if self.low is None else f" {'above' if self.open_low else 'from'} {self.low}"
        high = "" if self.high is None else f" {'below' if self.open_high else 'up to'} {self.high}"
        return kind + low + high

    def parse(self, given: object) -> Value:
        """The value, exactly; text such as "0.1" becomes the fraction 1/10, never a rounded float."""
        if self.kind == "choice":
            if str(given) not in self.choices:
                raise self._error(given)
            return str(given)
        try:
            value = given if isinstance(given, Fraction) else _exactly(str(given))
        except (ArithmeticError, ValueError):
            raise self._error(given) from None
        if self.kind == "integer" and value.denominator != 1:
            raise self._error(given)
        if self.low is not None and (value < self.low or (self.open_low and value == self.low)):
            raise self._error(given)
        if self.high is not None and (value > self.high or (self.open_high and value == self.high)):
            raise self._error(given)
        return int(value) if self.kind == "integer" else value

    def _error(self, given: object) -> ParameterError:
        allowed = self.range if self.kind == "choice" else f"{self.range}, at most {DIGITS} digits"
        return ParameterError(
            f"Parameter {self.name} ({self.meaning}) is out of its range.", given=given, allowed=allowed
        )


def _exactly(text: str) -> Fraction:
    """A number as it is written: "0.1", "1e-6" or "1/3". Its size is bounded, or 1e-999999999 would fill the memory."""
    if "/" in text:
        return Fraction(text)
    number = Decimal(text)
    if abs(number.adjusted()) > DIGITS:
        raise ValueError(text)
    return Fraction(number)


EPSILON = Parameter("epsilon", "number", "privacy loss, the factor is e^ε", low=0, open_low=True, high=1000)
DELTA = Parameter("delta", "number", delta.SHORT, low=0, open_low=True, high=1, open_high=True)
