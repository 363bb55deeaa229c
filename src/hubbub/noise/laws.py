"""What a mechanism is going to draw, said beforehand: what cannot be drawn is refused before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hubbub.errors import ParameterError
from hubbub.noise.cells import Cells
from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.laplace import discrete_laplace

SAMPLERS = {"scale": discrete_laplace, "variance": discrete_gaussian}


@dataclass(frozen=True)
class Law:
    """One law of integer noise: discrete Laplace by its scale, discrete Gaussian by its variance."""

    step: str
    parameter: str
    """"scale" or "variance"."""
    value: Fraction | int

    def sampler(self) -> Cells:
        """What draws it; not every fraction can be drawn exactly."""
        try:
            return SAMPLERS[self.parameter](self.value)
        except ParameterError as error:
            raise ParameterError(
                f"The noise of step {self.step} cannot be drawn exactly.",
                given=f"{self.parameter} {self.value}",
                allowed=error.allowed,
                next="raise epsilon or delta, write them with fewer digits, or give a scale of smaller numbers",
            ) from None
