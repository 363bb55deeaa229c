"""crowd: hubbub's own mechanism. The most queries a log can give, with counts, from one budget.

    calibrate   (ε, δ) → shares, grid, variances, thresholds     rounds    selection in rounds, beside this folder
    recount     released keys counted again, users scaled        combine   both estimates of a count, weighed

Theory and integer form: docs/proofs/crowd.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.errors import ParameterError
from hubbub.gaussian import GaussianStep
from hubbub.guarantee import Claim, Neighbours
from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Mechanism, Parameter, Released, Tables, Value
from hubbub.mechanisms.crowd import calibrate
from hubbub.mechanisms.crowd.combine import combine
from hubbub.mechanisms.crowd.recount import recount
from hubbub.mechanisms.rounds import Selection, select
from hubbub.steps.keys import QUERIES

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.pools import Pools

PROOF = "docs/proofs/crowd.md"


class Crowd(Mechanism, register=True):
    """Selection in rounds, then counts of what was selected."""

    name = "crowd"
    paper = "hubbub"
    about = "the most queries a log can give, with counts, from one (ε, δ)"
    offers = {"queries": QUERIES}  # noqa: RUF012
    default_tables = ("queries",)
    variants = ("strict",)
    proof = PROOF
    parameters = (
        EPSILON,
        DELTA,
        Parameter("D", "integer", "distinct keys of a user that take part in the selection", 100, low=1, high=1000),
        Parameter("rounds", "integer", "rounds of the selection", 4, low=1, high=32),
    )

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """ε and δ are all it needs."""
        if self.neighbours is not Neighbours.ADD_REMOVE:
            raise ParameterError("crowd is proven for add-remove only.", given="replace", allowed="add-remove")
        if self.serp is not None:
            raise ParameterError("crowd takes no result list.", given="--serp")
        missing = [name for name in ("epsilon", "delta") if name not in given]
        if missing:
            raise ParameterError("crowd needs a privacy budget.", given="no " + ", ".join(missing), next="set both")
        settings: dict[str, Value] = {"D": 100, "rounds": 4} | given
        plan = calibrate.StagePlan(**(vars(calibrate.QUERIES) | {"limit": int(settings["D"])}))
        self.stage = calibrate.calibrate(
            [plan], Fraction(settings["epsilon"]), Fraction(settings["delta"]), int(settings["rounds"]), PROOF
        )[0]
        return settings

    @property
    def selection(self) -> Selection:
        """The integers of the selection."""
        return self.stage.selection

    def steps(self) -> tuple[GaussianStep, ...]:
        """Selection, recount, kept total."""
        return self.stage.steps(PROOF, tightened=True)

    def bounds(self) -> tuple[Bound, ...]:
        """One user's share of the selection and of the counts."""
        limit = int(self.settings["D"])
        return (
            Bound("distinct queries per user in the selection", "l0", limit, "sample by a secret hash"),
            Bound("a user's weights in each round", "l2", 1, "1/√n on each of her n live queries, rounded down"),
            Bound("a user's released queries in the recount", "l2", 1, "scaled down together, none dropped"),
            Bound("a user's released queries in the kept total", "l1", self.stage.recount.most, "clipped"),
        )

    def claimed(self) -> Claim:
        """There is no paper: what is claimed is what is proven."""
        loss = self.loss()
        return Claim("hubbub", loss.epsilon, loss.delta, holds=True, why="hubbub's own mechanism: no paper claims it")

    def thresholds(self) -> dict[str, int]:
        """The last round's threshold in whole users who hold nothing else, rounded up."""
        return {"queries": -int(-self.stage.selection.users(-1) // 1)}

    def missing(self) -> tuple[str, ...]:
        """Weights, not counts, pass the threshold: users who hold many queries count less."""
        users = self.stage.selection.users(-1)
        return (
            f"queries: released at a weight of {users:.1f} users, where a user's weight is shared by the queries of "
            "hers that are still in the running; below that a query is more likely absent than present",
        )

    def spurious(self) -> str:
        """Only keys of some pool are ever tested."""
        return "none: every released key was held by at least one user"

    def measure(self, log: SearchLog, secret: bytes) -> dict[str, Pools]:
        """Pools, fixed and kept before the first noise."""
        from hubbub.steps.pools import EnginePools

        selection = self.stage.selection
        return {"queries": EnginePools(log, QUERIES, selection.limit, selection.bits, secret)}

    def perturb(self, pools: Mapping[str, Pools], noise: NoiseSource) -> Tables:
        """Select, count again, combine."""
        held, stage = pools["queries"], self.stage
        chosen = select(held, stage.selection, noise, "queries")
        counted = recount(held, chosen, stage.selection, stage.recount, noise, "queries")
        result = combine(chosen, stage.selection, counted)
        return {"queries": Released(chosen.ids, result.users, result.noise_sd)}
