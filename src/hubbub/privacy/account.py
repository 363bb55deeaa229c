"""What a mechanism costs: each noisy step as a value, and the accountant that adds them up.

A `Step` describes one round of noise exactly (law, scale as a fraction, threshold, how far one
user can move the counts). Everything else follows from it: its ε and δ, its atom for composition,
the card's numbers, and the check of that card years later. Nothing here draws noise or reads a log.

Numbers are exact fractions or 60-digit decimals, and become floats only by rounding up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal, localcontext
from enum import StrEnum
from fractions import Fraction

from hubbub.errors import OurBug, ParameterError

DIGITS = 60
SMALLEST = math.ulp(0.0)
MOST = 1 << 62  # users: there are not that many
SLACK = Decimal(10) ** (10 - DIGITS)  # more than all rounding errors below together


class Domain(StrEnum):
    """Where the keys of a step come from."""

    OPEN = "unknown keys (learned from the data through the threshold)"
    CLOSED = "keys known without this step (a public list, or keys already released)"
    UNSEEN = "keys of the log, none of which shows by this step (its noise only steers a later one)"
    SEEN = "keys that show because the log holds them (nothing limits what that tells)"


@dataclass(frozen=True)
class Step:
    """One round of discrete Laplace noise: law, threshold and sensitivity. `>=` is the rule."""

    name: str
    scale: Fraction
    threshold: int | None
    l0: int
    l1: int
    linf: int
    domain: Domain
    proof: str
    noise: str = "discrete-laplace"
    floor: int = 1
    """Keys with a smaller exact count are dropped before the noise, so a new key enters with this count."""

    def __post_init__(self) -> None:
        """Refuse what cannot be accounted for."""
        if self.noise != "discrete-laplace":
            raise OurBug(f"step {self.name}: no accountant for noise {self.noise!r}")
        if self.scale <= 0 or min(self.l0, self.l1, self.linf) < 1 or self.l1 > self.l0 * self.linf:
            raise OurBug(f"step {self.name}: inconsistent scale or sensitivity")
        if self.domain is Domain.UNSEEN and self.threshold is not None:
            raise OurBug(f"step {self.name}: what nobody sees passes no threshold")
        if self.domain is Domain.OPEN and self.threshold is None:
            raise OurBug(f"step {self.name}: an open domain without a threshold has no guarantee")
        if self.floor < 1 or (self.floor > 1 and (self.linf > 1 or self.domain is Domain.CLOSED)):
            raise OurBug(f"step {self.name}: no proof for this filter before the noise")

    @property
    def epsilon(self) -> Fraction:
        """ε under add-remove: L1 sensitivity over scale, exact."""
        return self.l1 / self.scale

    @property
    def delta(self) -> Decimal:
        """δ under add-remove, rounded up: the chance that a key only this user holds is released."""
        if self.domain is Domain.SEEN:
            return Decimal(1)
        if self.domain in (Domain.CLOSED, Domain.UNSEEN) or self.threshold is None:
            return Decimal(0)
        return threshold_delta(self.scale, self.threshold - (self.floor - 1), self.l0, self.l1, self.linf)

    def chance(self, count: int) -> float:
        """P(a key with this count passes the filter and the threshold)."""
        if count < self.floor:
            return 0.0
        return 1.0 if self.threshold is None else float(release_probability(self.scale, self.threshold, count))

    @property
    def atom(self) -> Atom:
        """What the ledger composes."""
        if self.linf == 1:
            return DiscreteLaplace(self.scale, self.l0)
        return Pure(self.epsilon)  # repeats on one key compose no better than their sum

    def record(self) -> dict[str, object]:
        """The step as the card prints it; `read_step` reads it back."""
        filtered = f"exact count >= {self.floor}, then " if self.floor > 1 else ""
        return {
            "name": self.name,
            "mechanism": "laplace-threshold" if self.threshold is not None else "laplace",
            "noise": self.noise,
            "scale": str(self.scale),
            "threshold": self.threshold,
            "keeps": "every key" if self.threshold is None else filtered + "noisy count >= threshold",
            "sensitivity": {"l0": self.l0, "l1": self.l1, "linf": self.linf},
            "epsilon": round_up(self.epsilon),
            "delta": round_up(self.delta),
            "domain": self.domain.value,
            "proof": self.proof,
            "composes": "sequential",
            "law": {"floor": self.floor} if self.floor > 1 else None,
        }


def read_step(record: dict[str, object]) -> Step:
    """A step from a card; anything unknown or missing is an error."""
    sensitivity = record["sensitivity"]
    if not isinstance(sensitivity, dict):
        raise ValueError("sensitivity is not a table")
    law = record["law"]
    if not (law is None or (isinstance(law, dict) and law.keys() == {"floor"})):
        raise ValueError(f"unknown law {law!r}")
    threshold = record["threshold"]
    return Step(
        name=str(record["name"]),
        scale=Fraction(str(record["scale"])),
        threshold=None if threshold is None else int(str(threshold)),
        l0=int(sensitivity["l0"]),
        l1=int(sensitivity["l1"]),
        linf=int(sensitivity["linf"]),
        domain=Domain(str(record["domain"])),
        proof=str(record["proof"]),
        noise=str(record["noise"]),
        floor=1 if law is None else int(law["floor"]),
    )


# ------------------------------------------------------------------ one thresholded key


def fewest(chance: Callable[[int], float], at_least: float) -> int:
    """The smallest count with at least this chance of being released, where more is never less."""
    low, high = 0, 1
    while chance(high) < at_least and high < MOST:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if chance(middle) < at_least else (low, middle)
    return high


def _exactly(rounding: str = ROUND_HALF_EVEN) -> Context:
    """Decimals of many digits whose exponents never underflow."""
    return Context(prec=DIGITS, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)


def release_probability(scale: Fraction, threshold: int, count: int) -> Decimal:
    """P(count + Z >= threshold), Z discrete Laplace: a^(T-c)/(1+a) for c < T, a = e^(-1/scale)."""
    with localcontext(_exactly()):
        exponent = Decimal(scale.denominator) / Decimal(scale.numerator)
        a = (-exponent).exp()
        gap = threshold - count
        if gap >= 1:
            return (-exponent * gap).exp() / (1 + a)
        return 1 - (-exponent * (1 - gap)).exp() / (1 + a)


def half_width(scale: float, coverage: float = 0.95) -> int:
    """The smallest h with P(|Z| <= h) >= coverage, Z discrete Laplace: P(|Z| > h) = 2 a^(h+1)/(1+a)."""
    a = math.exp(-1 / scale)
    h = max(0, math.floor(-scale * math.log((1 - coverage) * (1 + a) / 2)) - 2)
    while 2 * a ** (h + 1) / (1 + a) > 1 - coverage:
        h += 1
    return h


def threshold_delta(scale: Fraction, threshold: int, l0: int, l1: int, linf: int) -> Decimal:
    """The largest chance that a user's own new keys show, over all ways to distribute L1 on them.

    δ* = max_k 1 - Π(1 - r(m_i)) over k keys with multiplicities m_i in [1, linf] and sum at most l1.
    -ln(1 - r) is convex, so for each k the extreme distribution is best: as many keys as fit at linf, one
    with the rest, the others at 1 (docs/proofs/korolova.md, lemma 4; linf = 1 gives 1 - (1 - r(1))^l0).
    Σ r(m_i) bounds it too: where r is below the last digit of 1, 1 - Π(1 - r) would be nothing at all.
    It is a probability: rounding up ends at 1.
    """
    with localcontext(_exactly()):
        best = Decimal(0)
        r = {m: release_probability(scale, threshold, m) for m in range(1, linf + 1)}
        for k in range(1, l0 + 1):
            extra = min(l1 - k, k * (linf - 1))
            if extra < 0:
                break
            full, rest = divmod(extra, linf - 1) if linf > 1 else (0, 0)
            none_shows, together = _power(1 - r[linf], full), r[linf] * full
            if full < k:
                none_shows *= (1 - r[1 + rest]) * _power(1 - r[1], k - full - 1)
                together += r[1 + rest] + r[1] * (k - full - 1)
            best = max(best, min(1 - none_shows + SLACK, together * (1 + SLACK)))
        return min(best, Decimal(1))


def _power(x: Decimal, n: int) -> Decimal:
    """x^n with 0^0 = 1, which decimals leave undefined: a threshold low enough rounds 1 - r to 0."""
    return x**n if n else Decimal(1)


def smallest_threshold(scale: Fraction, delta: Decimal, l0: int, l1: int, linf: int) -> int:
    """The smallest integer T whose `>= T` rule stays within delta."""
    if not 0 < delta < 1:
        raise ParameterError("delta must lie strictly between 0 and 1.", given=delta)
    low, high = 0, 1
    while threshold_delta(scale, high, l0, l1, linf) > delta:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if threshold_delta(scale, middle, l0, l1, linf) > delta:
            low = middle
        else:
            high = middle
    return high


def round_up(x: Fraction | Decimal | int) -> float:
    """The smallest float that is not below x, neither as it is nor as it prints: a ledger reads what is printed."""
    if isinstance(x, Decimal) and 0 < x < SMALLEST:
        return SMALLEST  # at once: the fraction of such a number can have a billion digits
    exact = Fraction(x)
    found = float(exact)
    while math.isfinite(found) and min(Fraction(found), Fraction(repr(found))) < exact:
        found = math.nextafter(found, math.inf)
    return found


# ------------------------------------------------------------------ composition over releases


@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise: total squared shift over variance, as an upper bound."""

    mu2: Fraction


@dataclass(frozen=True)
class DiscreteLaplace:
    """Discrete Laplace noise on `keys` keys, each moved by at most 1."""

    scale: Fraction
    keys: int


@dataclass(frozen=True)
class Pure:
    """A step known only by its ε."""

    epsilon: Fraction


@dataclass(frozen=True)
class Generic:
    """A step known only by its (ε, δ)."""

    epsilon: Fraction
    delta: Decimal


Atom = Gaussian | DiscreteLaplace | Pure | Generic


@dataclass(frozen=True)
class Loss:
    """What one release cost under add-remove: its own (ε, δ), its atoms, and the additive threshold δ.

    `tv` is the part of δ that no composition of the atoms can shrink: the thresholds' own.
    """

    epsilon: float
    delta: float
    atoms: tuple[Atom, ...]
    tv: float


def total_delta(steps: Iterable[Step]) -> Decimal:
    """The δ of all thresholds together, rounded up, and at most 1."""
    with localcontext(_exactly(ROUND_CEILING)):
        return min(sum((s.delta for s in steps), Decimal(0)), Decimal(1))


def loss_of(steps: Iterable[Step]) -> Loss:
    """The add-remove cost of a mechanism that runs these steps once each."""
    steps = tuple(steps)
    if not steps:
        raise OurBug("a mechanism without steps has no guarantee")
    tv = total_delta(steps)
    return Loss(
        epsilon=round_up(sum((s.epsilon for s in steps), Fraction(0))),
        delta=round_up(tv),
        atoms=tuple(s.atom for s in steps),
        tv=round_up(tv),
    )
