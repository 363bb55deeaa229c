"""The nouns of a privacy claim: frozen values, each with one plain sentence.

A mechanism states two of them. `Claim` is what its paper says; `Guarantee` is what we can
prove for the discrete law that runs. Only the second is ever a headline.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum


class Definition(StrEnum):
    """Which definition a guarantee satisfies."""

    PURE = "pure"
    APPROXIMATE = "approximate"
    PROBABILISTIC = "probabilistic"
    K_ANONYMITY = "k-anonymity"
    NONE = "none"


class Neighbours(StrEnum):
    """Which two logs must be hard to tell apart."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    @property
    def sentence(self) -> str:
        """What the relation does to one user."""
        if self is Neighbours.ADD_REMOVE:
            return "adding or removing everything one user did"
        return "exchanging everything one user did for anything else"


class Unit(StrEnum):
    """What one neighbour is. Never guessed, and there is only one."""

    USER = "user"


END_TO_END = "end-to-end"
SEEDED = "drawn from a fixed seed, which anybody can repeat"
ANYTHING = "δ reaches 1, which allows any output at all"


def number(x: float) -> str:
    """A number as people write it: 1, 0.5, 1e-06; ∞ for infinity."""
    return "∞" if math.isinf(x) else f"{x:.6g}"


def at_most(x: float) -> str:
    """The same, never below x: what follows the sixth digit rounds up, but for the last bits of a float."""
    if float(shown := number(x)) >= x * (1 - 1e-12) or not math.isfinite(x):
        return shown
    exact = Decimal(repr(x))
    return number(float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 5), rounding=ROUND_CEILING)))


SUPERSCRIPT = str.maketrans("0123456789.-", "⁰¹²³⁴⁵⁶⁷⁸⁹·⁻")
POWER = re.compile(r"(?<=\d)e([+-])0*(\d+)\b")


def raised(text: str) -> str:
    """A text for people: what programs write as 1e-06 is 1 × 10⁻⁶."""
    return POWER.sub(lambda found: f" × 10{(found[1].strip('+') + found[2]).translate(SUPERSCRIPT)}", text)


def typeset(x: float) -> str:
    """A number for people, who do not type it in again: 1, 0.5, 1 × 10⁻⁶."""
    return raised(number(x))


def factor(epsilon: float) -> str:
    """e to the power ε as people write it, ε never below what it is: e², e⁰·⁷."""
    shown = at_most(epsilon)
    return f"e^({shown})" if "e" in shown else f"e{shown.translate(SUPERSCRIPT)}"


def small(x: float) -> str:
    """A number as people write it, never below x: 0.05; below a thousandth three digits, as in 8.41 × 10⁻⁷."""
    if x == 0 or x >= 1e-3 or not math.isfinite(x):
        return at_most(x)
    exact = Decimal(at_most(x))
    digits, _, power = f"{exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding=ROUND_CEILING):e}".partition(
        "e"
    )
    return f"{Decimal(digits).normalize():f} × 10{power.translate(SUPERSCRIPT)}"


def finite(x: float | None) -> float | None:
    """A number for JSON: infinity and what is not a number are null."""
    return x if x is not None and math.isfinite(x) else None


@dataclass(frozen=True)
class Claim:
    """What a paper says of its mechanism, and whether that holds; None where it says nothing, with the reason why."""

    by: str
    epsilon: float | None
    delta: float | None
    holds: bool
    why: str = ""


@dataclass(frozen=True)
class Guarantee:
    """What is proven: the definition, its numbers, for whom, and on what condition."""

    definition: Definition
    epsilon: float | None
    delta: float | None
    neighbours: Neighbours
    unit: Unit = Unit.USER
    scope: str = END_TO_END
    proof: str = ""
    caveats: tuple[str, ...] = field(default=())
    besides: str = ""
    """What must be said in the same breath."""

    @property
    def private(self) -> bool:
        """Whether something is proven end to end."""
        something = finite(self.epsilon) is not None and (self.delta is None or self.delta < 1)
        return something and self.scope == END_TO_END and self.definition is not Definition.NONE

    def of_run(self, *, seeded: bool) -> Guarantee:
        """What one run may state of it: nothing if its noise can be repeated, or if δ allows everything."""
        why = SEEDED if seeded else ANYTHING if self.delta is not None and self.delta >= 1 else ""
        return replace(self, definition=Definition.NONE, epsilon=None, delta=None, scope=why) if why else self

    def sentence(self, period: str = "") -> str:
        """The guarantee in one plain sentence."""
        if self.epsilon is None or math.isinf(self.epsilon) or self.definition is Definition.NONE or self.delta == 1:
            return "Nothing is proven about what this release tells of any one user."
        during = f" {period}" if period else ""
        change = self.neighbours.sentence
        change = change[0].upper() + change[1:]
        plus = "" if self.definition is Definition.PURE else f", plus {small(self.delta or 0.0)}"
        condition = "" if self.scope == END_TO_END else f" This holds only {self.scope}."
        return (
            f"{change}{during} changes the probability of any output by at most a factor "
            f"{factor(self.epsilon)}{plus}.{condition}" + (f" {self.besides}" if self.besides else "")
        )

    def _repr_html_(self) -> str:
        """The claim for a notebook."""
        from html import escape

        return f"<p><b>{escape(self.definition.value)} differential privacy.</b> {escape(self.sentence())}</p>"
