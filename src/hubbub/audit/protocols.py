"""Three protocols: what is tested, on which neighbouring logs, and by which property."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from hubbub.log import SearchLog
from hubbub.mechanisms.base import Mechanism, Tables
from hubbub.noise import NoiseSource
from hubbub.privacy.gaussian import AnyStep
from hubbub.privacy.guarantee import finite
from hubbub.release.rows import sort_rows
from hubbub.steps.mode import RunMode

Event = tuple[str, int | None, str, str | None]
"""One row of a tiny log: user, time, query, url."""


@dataclass(frozen=True)
class Subject:
    """A mechanism as it runs: the three functions an audit calls, replaceable one by one by a mutant.

    What is promised stays the mechanism's own, so a mutant breaks its promise.
    """

    mechanism: Mechanism
    measure: Callable[[SearchLog, RunMode], dict[str, Any]]
    perturb: Callable[[Mapping[str, Any], NoiseSource], Tables]
    arrange: Callable[[pa.Table], pa.Table] = sort_rows

    @staticmethod
    def of(mechanism: Mechanism) -> Subject:
        """The installed mechanism itself."""
        return Subject(mechanism, mechanism.measure, mechanism.perturb)


@dataclass(frozen=True)
class Pair:
    """Two neighbouring logs: `larger` is `smaller` with one more user."""

    name: str
    smaller: tuple[Event, ...]
    larger: tuple[Event, ...]
    enumerable: bool = True
    """Few enough keys to enumerate every run."""
    counting: bool = False
    """Bad for counting alone: exact counts of both logs say all there is, and the noise is not sampled for it."""


@dataclass(frozen=True)
class AuditRow:
    """What one check found. "not refuted" is the best a check can say."""

    mechanism: str
    variant: str
    check: str
    against: str
    bound: float
    observed: float
    power: float
    verdict: str
    detail: str = field(default="", compare=False)
    epsilon: float | None = field(default=None, compare=False)
    """The ε that the check was made at."""
    empirical: float = field(default=0.0, compare=False)
    """The largest ε it refutes at that δ: a lower bound of the true one; 0 where the check sees none."""
    tests: int = field(default=1, compare=False)
    """How many tests it stands for, each with a chance of a false alarm of its own."""

    @property
    def refuted(self) -> bool:
        """Whether the check found a violation."""
        return self.verdict == "refuted"

    def record(self) -> dict[str, object]:
        """The row as the command prints it; infinity is no number there, but null."""
        document = {name: finite(x) if isinstance(x, float) else x for name, x in self.__dict__.items()}
        del document["epsilon"], document["tests"]
        return document | {"empirical": self.empirical or None}


class Neighbouring(Protocol):
    """Makes neighbouring logs that are bad for a mechanism with these parameters."""

    def __call__(self, mechanism: Mechanism, /) -> Iterable[Pair]:
        """The pairs."""
        ...


class Tester(Protocol):
    """Tests one property of a subject on one pair of neighbouring logs."""

    def __call__(self, subject: Subject, pair: Pair, /) -> Iterable[AuditRow]:
        """The rows of what was found."""
        ...


def is_pooled(mechanism: Mechanism) -> bool:
    """Whether it selects from pools, rather than deciding about exact counts."""
    return hasattr(mechanism, "selection") and not getattr(mechanism, "unit", False)


def counting_steps(mechanism: Mechanism) -> tuple[AnyStep, ...]:
    """The steps over exact counts: Laplace or Gaussian noise, or a coin for each key."""
    return () if is_pooled(mechanism) else mechanism.steps()


def row(
    subject: Subject, check: str, against: str, bound: float, observed: float, power: float, detail: str = ""
) -> AuditRow:
    """A row, refuted if what was observed exceeds the bound by more than rounding."""
    verdict = "refuted" if observed > bound * (1 + 1e-9) + 1e-15 else "not refuted"
    mechanism = subject.mechanism
    return AuditRow(mechanism.name, mechanism.variant, check, against, bound, observed, power, verdict, detail)


def to_the_end(mechanism: str, variant: str, rows: Iterable[AuditRow]) -> Iterator[AuditRow]:
    """These rows; code that ends with an error on logs made for it keeps no promise, and is not taken for sound."""
    try:
        yield from rows
    except Exception as error:
        detail = f"{type(error).__name__}: {error}".replace("\n", " ")
        yield AuditRow(mechanism, variant, f"runs to its end: {detail}", "proven", 0.0, 1.0, 1.0, "refuted", detail)


SHARED = "shared"
"""Stands for a mechanism in rows about code that all of them use: reading, writing, booking, noise."""


def shared_row(check: str, bound: float, observed: float, power: float, detail: str = "") -> AuditRow:
    """A row about shared code: what is proven of any mechanism rests on it."""
    verdict = "refuted" if observed > bound * (1 + 1e-9) + 1e-15 else "not refuted"
    return AuditRow(SHARED, "both", check, "proven", bound, observed, power, verdict, detail)


KINDS = {
    "recomputed": ("certificate",),
    "exact": ("exact", "composed", "one user's share", "one user's keys", "a query outside"),
    "statistical": ("sampled", "a step that nobody", "where keys of nobody", "whole runs"),
    "byte difference": ("byte difference", "row order", "no trace", "only released strings"),
}


def kind_of(check: str) -> str:
    """By which means a check looks; what is asked of the noise source or of the ledger, without a law, is static."""
    return next((kind for kind, starts in KINDS.items() if check.startswith(starts)), "static check")
