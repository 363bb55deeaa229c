"""Adaptive selection in two or four rounds, pruned (after Chen, Cohen-Addad, Epasto, Zadimoghaddam 2025).

Keys that were found leave, and so do keys whose noisy weight is far below the last threshold, so that users put
their weight where it can still help; each test looks at fresh noise only. This is our reconstruction with plain
weights, the strongest rival we could build, not the authors' own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from hubbub.mechanisms.base import DELTA, EPSILON, Parameter, Value
from hubbub.mechanisms.baselines.selectors import BOUND, PooledBaseline

SHARES = {2: (1, 9), 4: (1, 2, 3, 14)}


class Adaptive(PooledBaseline, register=True):
    """Rounds of fresh noise with pruning."""

    name = "adaptive"
    paper = "Chen et al. 2025"
    about = "baseline: two or four rounds of fresh noise, hopeless keys pruned"
    parameters = (
        EPSILON,
        DELTA,
        BOUND,
        Parameter("rounds", "choice", "rounds of the selection", "2", choices=("2", "4")),
        Parameter("margin", "number", "sd below the last threshold a key may be and stay", Fraction(1), low=0, high=10),
    )

    def prepare(self, settings: Mapping[str, Value], epsilon: float, delta: float) -> None:
        """Calibrate rounds with shares of 10/90, or of 5/10/15/70, of the budget."""
        shares, margin = SHARES[int(settings["rounds"])], Fraction(settings["margin"])
        self.selection = self.calibrated(epsilon, delta, int(settings["d"]), shares, margin)
