"""What an attack is given, what it states about itself, and how its success is counted.

An attack answers yes or no about a target. It is tried where the answer is yes (trials) and where it is no (controls):
an attacker who always says yes is right about every target and has learned nothing. Differential privacy bounds the one
rate by the other, P(yes | in) ≤ e^ε P(yes | out) + δ.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import pyarrow as pa

    from hubbub.log import SearchLog
    from hubbub.mechanisms import Mechanism
    from hubbub.privacy.account import Loss
    from hubbub.worth.evidence import Evidence
    from hubbub.worth.tasks.base import Truth

LEVEL = 0.95
TARGETS = 200
SUCCEEDS, FAILS = "succeeds", "not shown to succeed"
WITHIN, BEYOND = "within the guarantee", "BEYOND THE GUARANTEE"


class NotAttackable(Exception):
    """Why an attack makes no sense for this release or this log."""


@dataclass(frozen=True)
class AttackSetup:
    """Everything an attack is given."""

    mechanism: Mechanism
    """What made the release, to be run again in memory."""
    log: SearchLog
    released: Evidence
    truth: Truth | None = None
    other: str | Path | None = None
    """Another log, for what an attacker may know of people in general."""
    targets: int = TARGETS
    seed: int = 0
    memory: str = "2GB"
    threads: int | None = None
    say: Callable[[str], None] = lambda _: None

    @property
    def canaries(self) -> pa.Table | None:
        """Who was given which canary; None where the log has none."""
        table = None if self.truth is None else self.truth.table("canaries")
        return table if table is not None and table.num_rows else None

    @property
    def secret(self) -> bytes:
        """What decides, for this seed, who is a target."""
        return self.seed.to_bytes(16, "big")


@dataclass(frozen=True)
class Rate:
    """Hits among tries, with the Clopper–Pearson interval of 95 %."""

    hits: int
    tries: int

    @property
    def rate(self) -> float | None:
        """The share of successes."""
        return self.hits / self.tries if self.tries else None

    @property
    def low(self) -> float:
        """The lower end of the confidence interval of the rate."""
        from scipy.stats import beta

        return 0.0 if not self.hits else float(beta.ppf((1 - LEVEL) / 2, self.hits, self.tries - self.hits + 1))

    @property
    def high(self) -> float:
        """The upper end of the confidence interval of the rate."""
        from scipy.stats import beta

        missed = self.tries - self.hits
        return 1.0 if not missed else float(beta.isf((1 - LEVEL) / 2, self.hits + 1, missed))

    def record(self) -> dict[str, object]:
        """For JSON."""
        return {"hits": self.hits, "tries": self.tries, "rate": self.rate, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        return "–" if self.rate is None else f"{self.rate:.3f} ({self.low:.3f} to {self.high:.3f}, {self.tries} tries)"


@dataclass(frozen=True)
class Outcome:
    """How often an attack said yes where that was true, and where it was not."""

    success: Rate
    false_alarms: Rate
    how: str
    """What the attacker knew and did, in one sentence."""
    loss: Loss | None = None
    """The (ε, δ) that bounds success by false alarms; None where there is no such bound."""

    @property
    def allowed(self) -> float | None:
        """e^ε·(false alarms) + δ with the upper end of their interval; None where nothing is proven."""
        if self.loss is None or not math.isfinite(self.loss.epsilon):
            return None
        return min(1.0, math.exp(min(self.loss.epsilon, 700.0)) * self.false_alarms.high + self.loss.delta)

    @property
    def verdict(self) -> str:
        """What the intervals allow to say."""
        if self.allowed is not None:
            return WITHIN if self.success.low <= self.allowed else BEYOND
        return SUCCEEDS if self.success.low > self.false_alarms.high else FAILS

    def record(self) -> dict[str, object]:
        """For JSON."""
        return {
            "success": self.success.record(),
            "false_alarms": self.false_alarms.record(),
            "allowed": self.allowed,
            "verdict": self.verdict,
            "how": self.how,
        }


class Attack(ABC):
    """Base of all attacks."""

    name: ClassVar[str]
    """As the command line says it, e.g. "hash-inversion"."""
    about: ClassVar[str]
    paper: ClassVar[str]

    @abstractmethod
    def run(self, setup: AttackSetup) -> Outcome:
        """Try it on every target; NotAttackable where it makes no sense."""
