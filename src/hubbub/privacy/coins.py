"""Selection by coins: a key held by n users is released with probability π_n, and nothing else is said about it.

The truncated geometric rule (Desfontaines, Voss, Gipson, Mandayam 2020) is the best π for one key of one
user: π_0 = 0, π_{n+1} = min(e^ε₀ π_n + δ₀, 1 − e^−ε₀ (1 − π_n − δ₀), 1). Here π is a multiple of 2^−64, rounded down
at every step, so the coin that is thrown is exactly the coin that is proven (docs/proofs/crowd.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hubbub.errors import OurBug, ParameterError
from hubbub.privacy.account import SLACK, Domain, Generic, Loss, round_up

WHOLE = 1 << 64
MOST_STEPS = 5_000_000


@dataclass(frozen=True)
class CoinStep:
    """Coins for keys that one user moves by 1 on at most `l0` of them; (ε₀, δ₀) for each."""

    name: str
    epsilon0: Fraction
    delta0: Fraction
    l0: int
    proof: str
    noise: str = "coins"

    def __post_init__(self) -> None:
        """Refuse what cannot be accounted for."""
        if self.noise != "coins" or self.epsilon0 <= 0 or not 0 < self.delta0 < 1 or self.l0 < 1:
            raise OurBug(f"step {self.name}: no accountant for these coins")

    @property
    def l1(self) -> int:
        """One for each key."""
        return self.l0

    @property
    def linf(self) -> int:
        """One for each key."""
        return 1

    @property
    def domain(self) -> Domain:
        """Keys are learned from the data."""
        return Domain.OPEN

    @property
    def loss(self) -> Loss:
        """ε = d ε₀, δ = 1 − (1 − δ₀)^d, rounded up: with as many digits more as δ₀ has zeros."""
        with localcontext(Context(prec=60 + len(str(int(1 / self.delta0))))):
            miss = 1 - Decimal(self.delta0.numerator) / Decimal(self.delta0.denominator)
            delta = min((1 - miss**self.l0) * (1 + SLACK), Decimal(1))
        epsilon = self.l0 * self.epsilon0
        return Loss(round_up(epsilon), round_up(delta), (Generic(epsilon, delta),), 0.0)

    @cached_property
    def chances(self) -> npt.NDArray[np.uint64]:
        """π_0, π_1, … as multiples of 2^−64, up to certainty (written as 2^64 − 1)."""
        with localcontext(Context(prec=60)):
            up = (Decimal(self.epsilon0.numerator) / Decimal(self.epsilon0.denominator)).exp()
            delta = Decimal(self.delta0.numerator) / Decimal(self.delta0.denominator)
            up, down = up * (1 - Decimal(10) ** -50), (1 / up) * (1 + Decimal(10) ** -50)
            chances, pi = [0], 0
            while pi < WHOLE - 1:
                p = Decimal(pi) / WHOLE
                better = min(up * p + delta, 1 - down * max(1 - p - delta, Decimal(0)))
                pi = min(int(better * WHOLE), WHOLE - 1)
                if pi <= chances[-1] or len(chances) > MOST_STEPS:
                    raise ParameterError("This ε and δ release nothing.", next="raise epsilon or delta")
                chances.append(pi)
        return np.array(chances, np.uint64)

    @property
    def threshold(self) -> int:
        """The number of users from which a key is more likely shown than not."""
        return int(np.searchsorted(self.chances, np.uint64(WHOLE // 2)))

    def chance(self, count: int) -> float:
        """π_n: the chance that a key held by n users is released."""
        return int(self.chances[min(count, self.chances.size - 1)]) / WHOLE

    def record(self) -> dict[str, object]:
        """The step as the card prints it."""
        loss = self.loss
        return {
            "name": self.name,
            "mechanism": "truncated-geometric",
            "noise": self.noise,
            "scale": None,
            "threshold": self.threshold,
            "keeps": "a key by a coin whose chance grows with its users; even at the threshold",
            "sensitivity": {"l0": self.l0, "l1": self.l1, "linf": self.linf},
            "epsilon": loss.epsilon,
            "delta": loss.delta,
            "domain": self.domain.value,
            "proof": self.proof,
            "composes": "sequential",
            "law": {"epsilon0": str(self.epsilon0), "delta0": str(self.delta0)},
        }


def read_coins(record: dict[str, object]) -> CoinStep:
    """A step from a card."""
    law, sensitivity = record["law"], record["sensitivity"]
    if not isinstance(law, dict) or not isinstance(sensitivity, dict):
        raise ValueError("the law of a coin step is not a table")
    chance = Fraction(law["epsilon0"]), Fraction(law["delta0"])
    return CoinStep(str(record["name"]), *chance, int(sensitivity["l0"]), str(record["proof"]))
