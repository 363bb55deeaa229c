"""DP-SIPS (Swanberg, Desfontaines, Haney 2023): simple iterations of a weighted Gaussian threshold.

Three rounds with shares 1:3:9 of the budget; keys that were found leave, so later rounds distribute each user's
weight over fewer keys. We have the ratio second hand, and did not check it against the paper's text.
"""

from __future__ import annotations

from collections.abc import Mapping

from hubbub.mechanisms.base import Value
from hubbub.mechanisms.baselines.selectors import PooledBaseline


class Sips(PooledBaseline, register=True):
    """Rounds of fresh noise without pruning."""

    name = "sips"
    paper = "Swanberg et al. 2023"
    about = "baseline: three rounds of a weighted Gaussian threshold, found keys leave"

    def prepare(self, settings: Mapping[str, Value], epsilon: float, delta: float) -> None:
        """Calibrate three rounds with shares 1:3:9 of the budget."""
        self.selection = self.calibrated(epsilon, delta, int(settings["d"]), (1, 3, 9), None)
