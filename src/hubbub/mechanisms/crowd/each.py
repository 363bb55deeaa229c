"""One guarantee per user and period: plain crowd each period, and what that is for a user who is in all of them.

The mechanism is crowd's own, with one parameter more, the number of planned periods. It changes no number of the noise;
it is there so that the claim of every card states the total of a user who is in all periods beside the one of a period.
"""

from __future__ import annotations

from dataclasses import replace
from math import isinf

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Parameter, Value
from hubbub.mechanisms.crowd import Crowd
from hubbub.privacy.compose import basic_sums, compose
from hubbub.privacy.guarantee import Guarantee, factor, small


class CrowdPerPeriod(Crowd):
    """crowd for one period of a series whose unit is a user in a period."""

    name = "crowd-per-period"
    about = "crowd for each period of a series; the claim states what a user in all periods has, too"
    in_studio = False
    parameters = (*Crowd.parameters, Parameter("periods", "integer", "planned periods", low=1, high=400))

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """crowd's own settings, and the number of periods."""
        if "periods" not in given:
            raise ParameterError("The number of periods is missing.", next="set periods")
        own = {name: value for name, value in given.items() if name != "periods"}
        return super().resolve(own) | {"periods": given["periods"]}

    def all_periods(self) -> tuple[float, float]:
        """(ε, δ) of a user who is in all periods, each with its own part."""
        periods, loss = int(self.settings["periods"]), self.loss()
        delta = min(1.0, basic_sums([loss] * periods)[1])
        return compose([loss] * periods, delta), delta

    def proven(self) -> Guarantee:
        """crowd's guarantee for a period, with the total of all periods in the same breath."""
        epsilon, delta = self.all_periods()
        of_all = f"for a user who is in all {self.settings['periods']} planned periods"
        total = (
            f"This is for one period; {of_all} nothing is proven."
            if isinf(epsilon)
            else f"This is for one period. F{of_all[1:]} it is a factor {factor(epsilon)}, plus {small(delta)}, over "
            "all of them together."
        )
        return replace(super().proven(), besides=total)
