"""Selection baselines from the literature: queries alone, to compare with."""

from hubbub.mechanisms.baselines.adaptive import Adaptive
from hubbub.mechanisms.baselines.gaussian import GaussianThreshold
from hubbub.mechanisms.baselines.geometric import Geometric
from hubbub.mechanisms.baselines.sips import Sips

__all__ = ["Adaptive", "GaussianThreshold", "Geometric", "Sips"]
