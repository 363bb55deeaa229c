"""How a row is decided, once for all: what counts as higher, as falling, as comparable.

A `DrawSample` is one number, draw by draw; two samples are compared draw by draw, as both saw the same log, split
and noise of the same seed. `b` is *higher* than `a` if the mean of the differences is above zero by more than its 95 %
interval (Student's t). Then

    higher, lower   of two samples
    rises, falls    over a series: the last is higher than the first, and no step goes the other way
    peaks           over a series: some inner one is higher than the first and than the last
    close           of two samples: the whole interval of the difference is within ±10 % of the larger mean
    near, times     a printed number, or ratio: the mean is within a stated distance of it, or within a factor
    always          of one sample: something holds in every draw; it *differs* if it holds in none

What goes the other way *differs*; what is neither is *not shown*. Draws that differ by nothing at all have an interval
of width zero: then any difference counts.

Every decision that is a test has a p-value, and a second verdict that allows for how many statements are tested:
*shown* and *differs* then need p <= 5 % divided by their number (Bonferroni). Whatever the statements have to do with
each other, the chance that any one of these second verdicts is there by chance is at most 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

Verdict = Literal["shown", "not shown", "differs", "impossible"]
VERDICTS: tuple[Verdict, ...] = ("shown", "not shown", "differs", "impossible")
LEVEL = 0.05
CLOSE = 0.1
"""Comparable means: within so large a part of the larger one."""


@dataclass(frozen=True)
class DrawSample:
    """One number in every draw; None where a draw has none."""

    values: tuple[float | None, ...]

    @property
    def known(self) -> tuple[float, ...]:
        """Every value, or nothing if one is missing: a mean over some draws would compare different logs."""
        found = tuple(value for value in self.values if value is not None)
        return found if len(found) == len(self.values) else ()

    @property
    def mean(self) -> float | None:
        """The mean over all draws."""
        return math.fsum(self.known) / len(self.known) if self.known else None

    @property
    def error(self) -> float | None:
        """The standard error of the mean; infinite for a single draw."""
        n, mean = len(self.known), self.mean
        if mean is None:
            return None
        return math.sqrt(math.fsum((value - mean) ** 2 for value in self.known) / (n - 1) / n) if n > 1 else math.inf

    @property
    def half(self) -> float | None:
        """Half the width of the 95 % interval of the mean; infinite for a single draw."""
        error = self.error
        return error if error is None or math.isinf(error) else quantile(len(self.known) - 1) * error

    def above(self, edge: float) -> float:
        """The p-value of "the mean is above this", by Student's t over the draws; 1 where there is nothing to test."""
        mean, error = self.mean, self.error
        if mean is None or error is None or math.isinf(error):
            return 1.0
        if error == 0:
            return 0.0 if mean > edge else 1.0
        from scipy.stats import t

        return float(t.sf((mean - edge) / error, len(self.known) - 1))

    def with_other(self, other: DrawSample, what: Callable[[float, float], float]) -> DrawSample:
        """A function of two samples, draw by draw."""
        pairs = zip(self.values, other.values, strict=True)
        return DrawSample(tuple(None if a is None or b is None else what(a, b) for a, b in pairs))

    def __sub__(self, other: DrawSample) -> DrawSample:
        return self.with_other(other, lambda a, b: a - b)

    def record(self) -> dict[str, object]:
        """The sample as `--json` prints it, with all digits; an interval only where there is one."""
        mean, half = self.mean, self.half
        low = high = None
        if mean is not None and half is not None and math.isfinite(half):
            low, high = mean - half, mean + half
        return {"mean": mean, "low": low, "high": high, "draws": list(self.values)}


def average(samples: Iterable[DrawSample]) -> DrawSample:
    """The mean of several numbers, draw by draw."""
    columns = (DrawSample(column) for column in zip(*(sample.values for sample in samples), strict=True))
    return DrawSample(tuple(column.mean for column in columns))


@lru_cache
def quantile(degrees: int) -> float:
    """The 97.5 % point of Student's t."""
    from scipy.stats import t

    return float(t.ppf(0.975, degrees))


@dataclass(frozen=True)
class Decision:
    """A verdict and the reason, in words."""

    verdict: Verdict
    why: str
    p: float | None = None
    """Of the test behind the verdict, two-sided; None where the verdict is no test."""

    def corrected(self, statements: int) -> Verdict:
        """The verdict that allows for so many statements being tested."""
        return self.verdict if self.p is None or self.p * statements <= LEVEL else "not shown"

    def chosen_from(self, candidates: int) -> Decision:
        """The same where what was compared is the best of several: p allows for the choice."""
        return self if self.p is None else replace(self, p=_at_most_1(self.p * candidates))

    def __post_init__(self) -> None:
        """A reason begins like a sentence; a symbol such as ε or m stays as it is."""
        if self.why.startswith("the "):
            object.__setattr__(self, "why", "T" + self.why[1:])


NAMES = ("the first", "the second")
NOTHING = Decision("not shown", "Nothing to evaluate: in at least one draw there is no such number.")


def direction(a: DrawSample, b: DrawSample) -> int:
    """1 where b is higher than a, −1 where it is lower, 0 where the interval of the difference holds zero."""
    apart = b - a
    mean, half = apart.mean, apart.half
    if mean is None or half is None or abs(mean) <= half:
        return 0
    return 1 if mean > 0 else -1


def apart_by_chance(a: DrawSample, b: DrawSample) -> float:
    """The two-sided p-value of a difference."""
    apart = b - a
    return _at_most_1(2 * min(apart.above(0), _negative(apart).above(0)))


def higher(a: DrawSample, b: DrawSample, names: tuple[str, str] = NAMES) -> Decision:
    """Decide whether b is higher than a."""
    if a.mean is None or b.mean is None:
        return NOTHING
    found, (first, second), p = direction(a, b), names, apart_by_chance(a, b)
    if found > 0:
        return Decision("shown", f"{second} is higher than {first}.", p)
    if found < 0:
        return Decision("differs", f"{second} is lower than {first}.", p)
    return Decision("not shown", f"{second} and {first} are not apart by more than the 95 % interval.", p)


def lower(a: DrawSample, b: DrawSample, names: tuple[str, str] = NAMES) -> Decision:
    """Decide whether b is lower than a."""
    return _turned(higher(_negative(a), _negative(b), names))


def rises(series: Mapping[str, DrawSample]) -> Decision:
    """Decide whether the last is higher than the first, with no step that falls."""
    names, samples = list(series), list(series.values())
    if any(sample.mean is None for sample in samples):
        return NOTHING
    ends = direction(samples[0], samples[-1])
    against = [f"{names[i]} to {names[i + 1]}" for i, (a, b) in enumerate(pairwise(samples)) if direction(a, b) < 0]
    span, p = f"from {names[0]} to {names[-1]}", apart_by_chance(samples[0], samples[-1])
    if ends > 0 and not against:
        return Decision("shown", f"It rises {span}; no step falls.", p)
    if ends > 0:
        return Decision("not shown", f"It rises {span}, but falls from {', from '.join(against)}.", p)
    if ends < 0:
        return Decision("differs", f"It falls {span}.", p)
    return Decision("not shown", f"The ends, {span}, are not apart by more than the 95 % interval.", p)


def falls(series: Mapping[str, DrawSample]) -> Decision:
    """Decide whether the last is lower than the first, with no step that rises."""
    return _turned(rises({name: _negative(sample) for name, sample in series.items()}))


def peaks(series: Mapping[str, DrawSample]) -> Decision:
    """Decide whether the inner sample with the highest mean is higher than the first and than the last."""
    if any(sample.mean is None for sample in series.values()):
        return NOTHING
    at, (first, *_, last) = best(series), series
    if at == last:
        return Decision("not shown", f"The highest is the last, {last}: no turning point up to there.", 1.0)
    if at == first:
        found = direction(series[last], series[first])
        return Decision(
            "differs" if found > 0 else "not shown",
            f"The highest is the first, {first}: it falls from there.",
            apart_by_chance(series[last], series[first]),
        )
    p = max(apart_by_chance(series[end], series[at]) for end in (first, last))
    if direction(series[first], series[at]) > 0 and direction(series[last], series[at]) > 0:
        return Decision("shown", f"The highest is {at}, above both ends.", p).chosen_from(len(series) - 2)
    return Decision("not shown", f"The highest is {at}, but not above both ends by more than the 95 % interval.", p)


def best(series: Mapping[str, DrawSample]) -> str:
    """The name of the highest mean; the first of equals."""
    return max(series, key=lambda name: -math.inf if (mean := series[name].mean) is None else mean)


def close(a: DrawSample, b: DrawSample, names: tuple[str, str] = NAMES, within: float = CLOSE) -> Decision:
    """Decide whether the difference, with its interval, stays within a part of the larger mean."""
    apart = b - a
    if a.mean is None or b.mean is None or apart.mean is None or apart.half is None:
        return NOTHING
    room = within * max(abs(a.mean), abs(b.mean))
    low, high = apart.mean - apart.half, apart.mean + apart.half
    first, second = names
    inside = _at_most_1(2 * max(apart.above(-room), _negative(apart).above(-room)))  # two one-sided tests
    if -room <= low and high <= room:
        return Decision("shown", f"{second} is within {within:.0%} of {first}.", inside)
    if low > room or high < -room:
        way = "higher" if low > room else "lower"
        outside = _at_most_1(2 * min(apart.above(room), _negative(apart).above(room)))
        return Decision("differs", f"{second} is {way} than {first} by more than {within:.0%}.", outside)
    return Decision(
        "not shown", f"The 95 % interval of the difference is neither within ±{within:.0%} nor outside it.", inside
    )


def near(found: DrawSample, printed: float, distance: float) -> Decision:
    """Decide whether the mean is within a distance of the printed number."""
    if found.mean is None:
        return NOTHING
    apart = found.mean - printed
    if abs(apart) <= distance:
        return Decision("shown", f"Within {distance:g} of the printed {printed:.4g}.")
    return Decision("differs", f"{abs(apart):.3g} {'above' if apart > 0 else 'below'} the printed {printed:.4g}.")


def times(a: DrawSample, b: DrawSample, printed: float, factor: float, names: tuple[str, str] = NAMES) -> Decision:
    """Decide whether b is the printed number of times a, within a factor, by the mean of the logarithms."""
    positive = all(value is not None and value > 0 for value in (*a.values, *b.values))
    mean = b.with_other(a, lambda x, y: math.log(x / y)).mean if positive else None
    if mean is None:
        return NOTHING
    verdict: Verdict = "shown" if abs(mean - math.log(printed)) <= math.log(factor) else "differs"
    return Decision(verdict, f"{names[1]} is {math.exp(mean):.3g} times {names[0]}.")


def always(sample: DrawSample, holds: Callable[[float], bool], what: str) -> Decision:
    """Decide whether something holds in every draw; `what` says it."""
    if not sample.known:
        return NOTHING
    many, draws = sum(map(holds, sample.known)), len(sample.known)
    verdict: Verdict = "shown" if many == draws else "not shown" if many else "differs"
    return Decision(verdict, f"{what} in {many} of {draws} draws.")


def every(decisions: Sequence[Decision]) -> Decision:
    """Several decisions as one: shown if all are, differs if one does; with the reasons of those that are not shown."""
    wrong = [decision for decision in decisions if decision.verdict != "shown"]
    weakest = max((decision.p for decision in decisions if decision.p is not None), default=None)
    if not wrong:
        return Decision("shown", " ".join(dict.fromkeys(decision.why for decision in decisions)), weakest)
    reasons = " ".join(dict.fromkeys(decision.why for decision in wrong))
    against = [decision.p for decision in wrong if decision.verdict == "differs" and decision.p is not None]
    if any(decision.verdict == "differs" for decision in wrong):
        return Decision("differs", reasons, min(against) if against else None).chosen_from(len(decisions))
    return Decision("not shown", reasons, weakest)


def _negative(sample: DrawSample) -> DrawSample:
    return DrawSample(tuple(None if value is None else -value for value in sample.values))


def _at_most_1(p: float) -> float:
    return min(1.0, p)


def _turned(decision: Decision) -> Decision:
    """A reason with its words of direction exchanged: higher for lower, rises for falls."""
    words = [("higher", "lower"), ("rises", "falls"), ("highest", "lowest")]
    text = decision.why
    for up, down in words:
        text = text.replace(up, "\0").replace(down, up).replace("\0", down)
    return replace(decision, why=text)
