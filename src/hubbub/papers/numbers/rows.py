"""A number of a paper beside the same number computed: the row, its verdict, and the list of papers.

`expected` is what the paper prints, to its digits; `computed` is unrounded; the verdict follows from the two. Beside
both stands what our own study of the papers found (`noted`, to the digits found): a row that computes something else is
wrong, whatever its verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

Verdict = Literal["match", "holds", "differs", "impossible"]
VERDICTS: tuple[Verdict, ...] = ("match", "holds", "differs", "impossible")
CLOSE = 1e-9
"""Relative: formulas that are equal differ by far less, printed digits by far more."""


def agrees(value: float, digits: str) -> bool:
    """Whether a value rounds to these digits: at most half a unit of the last one away."""
    printed = Decimal(digits)
    unit = Decimal(1).scaleb(int(printed.as_tuple().exponent))
    return abs(Decimal(value) - printed) <= unit / 2 * (1 + Decimal(CLOSE))


def like(value: float, digits: str) -> str:
    """A value with as many digits as these."""
    mantissa, e, _ = digits.partition("e")
    places = len(mantissa.partition(".")[2])
    if not e:
        return f"{value:.{places}f}"
    number, _, exponent = f"{value:.{places}e}".partition("e")
    return f"{number}e{int(exponent)}"


@dataclass(frozen=True)
class Number:
    """A computed number inside a sentence, shown to the digits that our study of the papers found."""

    value: float
    noted: str

    def __str__(self) -> str:
        return like(self.value, self.noted)

    def wrong(self) -> list[str]:
        """In what the number differs from what our study of the papers found."""
        return [] if agrees(self.value, self.noted) else [f"{self.value!r} where our study found {self.noted}"]


@dataclass(frozen=True)
class NumberRow:
    """One printed number or claim."""

    id: str
    paper: str
    part: str
    """The table, figure or theorem, with what its rows have in common."""
    expected: str | float
    computed: float
    verdict: Verdict
    why: str
    wrong: tuple[str, ...]
    """Where this computation and our study of the papers disagree; empty unless something is broken."""

    def record(self) -> dict[str, object]:
        """The row as `--json` prints it."""
        return {
            "id": self.id,
            "paper": self.paper,
            "expected": number(self.expected),
            "computed": self.computed,
            "verdict": self.verdict,
            "why": self.why,
        }

    @property
    def printed(self) -> str:
        """What the paper prints, as a person reads it."""
        return self.expected if isinstance(self.expected, str) else shown(self.expected)


def number(text: str | float) -> str | float:
    """Printed digits as a number; a claim in words stays words."""
    try:
        return text if isinstance(text, float) else float(Decimal(text))
    except InvalidOperation:
        return text


def shown(value: float) -> str:
    """A computed number for a person; `--json` has all digits."""
    text = f"{value:.6g}" if abs(value) < 1e6 else f"{value:.5e}"
    number, e, exponent = text.partition("e")
    return f"{number}e{int(exponent)}" if e else number


@dataclass(frozen=True)
class PaperPart:
    """A table, figure or theorem; makes its rows."""

    paper: str
    id: str
    title: str
    ours: bool = False
    """What is expected is our own statement, to be kept."""

    def printed(
        self, name: str, expected: str, computed: float, why: str, *numbers: Number, noted: str | None = None
    ) -> NumberRow:
        """A printed number: it matches if the computed one rounds to it."""
        verdict: Verdict = "match" if agrees(computed, expected) else "differs"
        return self._row(name, expected, computed, verdict, why, numbers, expected if self.ours else noted)

    def claim(
        self, name: str, expected: str | float, computed: float, why: str, *numbers: Number, noted: str | None = None
    ) -> NumberRow:
        """A claimed upper bound: it holds if what was found is not above it."""
        stands = computed <= float(expected) * (1 + CLOSE)
        return self._row(name, expected, computed, "holds" if stands else "differs", why, numbers, noted)

    def fits(
        self, name: str, expected: str | float, computed: float, why: str, *numbers: Number, noted: str | None = None
    ) -> NumberRow:
        """A printed result, and the most that the paper's own constraints allow."""
        possible = float(expected) <= computed * (1 + CLOSE)
        return self._row(name, expected, computed, "holds" if possible else "impossible", why, numbers, noted)

    def stated(
        self,
        name: str,
        expected: str,
        computed: float,
        true: bool,
        why: str,
        *numbers: Number,
        noted: str | None = None,
        otherwise: Verdict = "differs",
        inequality: bool = False,
    ) -> NumberRow:
        """A statement in words, with the number that settles it; an inequality holds, anything else matches."""
        verdict: Verdict = otherwise if not true else "holds" if inequality else "match"
        return self._row(name, expected, computed, verdict, why, numbers, noted)

    def _row(
        self,
        name: str,
        expected: str | float,
        computed: float,
        verdict: Verdict,
        why: str,
        numbers: tuple[Number, ...],
        noted: str | None,
    ) -> NumberRow:
        checked = (*numbers, Number(computed, noted)) if noted is not None else numbers
        wrong = tuple(message for n in checked for message in n.wrong())
        text = why.format(*numbers) if numbers else why
        return NumberRow(f"{self.id}/{name}", self.paper, self.title, expected, computed, verdict, text, wrong)


# ------------------------------------------------------------------ the papers


@dataclass(frozen=True)
class Paper:
    """A paper whose numbers are computed."""

    key: str
    """What its ids begin with."""
    title: str
    rows: Callable[[], Iterator[NumberRow]]


PAPERS: dict[str, Paper] = {}


def register(paper: Paper) -> None:
    """Papers are shown in the order in which they register."""
    PAPERS[paper.key] = paper
