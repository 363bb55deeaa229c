"""Three protocols: what is tested, on which neighbouring logs, and by which property."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
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
    """Every pair in turn, from what `measure` gave: `Mechanism.draw`."""
    arrange: Callable[[pa.Table], pa.Table] = sort_rows

    @staticmethod
    def of(mechanism: Mechanism) -> Subject:
        """The installed mechanism itself."""
        return Subject(mechanism, mechanism.measure, mechanism.draw)


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


class Kind(StrEnum):
    """By which means a check looks for a violation."""

    RECOMPUTED = "recomputed"
    """A certificate, by another formula than the code's own."""
    EXACT = "exact"
    """Every value the noise can take, or exact counts of two logs."""
    STATISTICAL = "statistical"
    """Sampled: it can refute sound code by chance, with a probability that is stated."""
    BYTES = "byte difference"
    """What others see, with one user and without her."""
    STATIC = "static check"
    """What is asked of the noise source, of a rule or of the ledger, without a law."""


@dataclass(frozen=True)
class Effort:
    """How hard an audit looks: how often it samples, and how many logs it tries."""

    runs: int
    """Sampled runs per log."""
    copies: int
    """Copies of a log that runs whole in the engine."""
    tries: int
    """Neighbouring logs that the search for bad ones tries."""
    seeded: bool
    """Whether pairs are sampled on many seeds as well."""


QUICK = Effort(runs=40_000, copies=150, tries=8, seeded=False)
FULL = Effort(runs=400_000, copies=600, tries=200, seeded=True)


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
    kind: Kind = field(default=Kind.STATIC, compare=False)

    @property
    def refuted(self) -> bool:
        """Whether the check found a violation."""
        return self.verdict == "refuted"

    def record(self) -> dict[str, object]:
        """The row as the command prints it; infinity is no number there, but null."""
        document = {name: finite(x) if isinstance(x, float) else x for name, x in self.__dict__.items()}
        del document["epsilon"], document["tests"], document["kind"]
        return document | {"empirical": self.empirical or None}


class Neighbouring(Protocol):
    """Makes neighbouring logs that are bad for a mechanism with these parameters."""

    def __call__(self, mechanism: Mechanism, /) -> Iterable[Pair]:
        """The pairs of neighbouring logs."""
        ...


class Tester(Protocol):
    """Tests one property of a subject on one pair of neighbouring logs."""

    def __call__(self, subject: Subject, pair: Pair, /) -> Iterable[AuditRow]:
        """What was found, one row per property."""
        ...


def counting_steps(mechanism: Mechanism) -> tuple[AnyStep, ...]:
    """The steps over exact counts: Laplace or Gaussian noise, or a coin for each key."""
    return () if mechanism.selections else mechanism.steps()


def row(
    subject: Subject,
    check: str,
    against: str,
    bound: float,
    observed: float,
    power: float,
    detail: str = "",
    kind: Kind = Kind.STATIC,
) -> AuditRow:
    """A row, refuted if what was observed exceeds the bound by more than rounding."""
    verdict = "refuted" if observed > bound * (1 + 1e-9) + 1e-15 else "not refuted"
    name, variant = subject.mechanism.name, subject.mechanism.variant
    return AuditRow(name, variant, check, against, bound, observed, power, verdict, detail, kind=kind)


def faults(subject: Subject, check: str, wrong: float, detail: str = "", kind: Kind = Kind.STATIC) -> AuditRow:
    """A row that counts what is wrong, where nothing may be."""
    return row(subject, check, "proven", 0.0, float(wrong), 1.0, detail, kind)


def to_the_end(mechanism: str, variant: str, rows: Iterable[AuditRow]) -> Iterator[AuditRow]:
    """These rows; code that ends with an error on logs made for it keeps no promise, and is not taken for sound."""
    try:
        yield from rows
    except Exception as error:
        detail = f"{type(error).__name__}: {error}".replace("\n", " ")
        yield AuditRow(mechanism, variant, f"runs to its end: {detail}", "proven", 0.0, 1.0, 1.0, "refuted", detail)


SHARED = "shared"
"""Stands for a mechanism in rows about code that all of them use: reading, writing, booking, noise."""


def shared_row(
    check: str, bound: float, observed: float, power: float, detail: str = "", kind: Kind = Kind.STATIC
) -> AuditRow:
    """A row about shared code: what is proven of any mechanism rests on it."""
    verdict = "refuted" if observed > bound * (1 + 1e-9) + 1e-15 else "not refuted"
    return AuditRow(SHARED, "both", check, "proven", bound, observed, power, verdict, detail, kind=kind)


def shared_faults(check: str, wrong: float, detail: str = "", kind: Kind = Kind.STATIC) -> AuditRow:
    """A row that counts what is wrong in shared code, where nothing may be."""
    return shared_row(check, 0.0, float(wrong), 1.0, detail, kind)
