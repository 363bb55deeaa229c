"""What the selection baselines share: a budget, a bound, weighted pools and a selection without counts.

The baselines are here to be compared with, each calibrated as tightly as crowd: theorem 2 of
docs/proofs/crowd.md with its own tests. Keys only: no count is published.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from hubbub.errors import OurBug, ParameterError
from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Mechanism, Parameter, Released, Tables, Value
from hubbub.mechanisms.pairs import Draw
from hubbub.mechanisms.rounds import Selection, fresh, grid, select
from hubbub.mechanisms.survival import RoundsTest
from hubbub.noise.laws import Law
from hubbub.privacy.gaussian import DELTA_SLACK, SLACK, AnyStep, certify, mu2_of, mu_of, novel_delta
from hubbub.privacy.guarantee import Claim, Neighbours
from hubbub.steps.keys import QUERIES

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.steps.mode import RunMode

PROOF = "docs/proofs/crowd.md"
BOUND = Parameter("d", "integer", "distinct queries of a user that take part", 20, low=1, high=1000)


class Baseline(Mechanism):
    """A baseline from the literature: ε, δ, a bound d, add-remove, queries."""

    offers = {"queries": QUERIES}  # noqa: RUF012
    default_tables = ("queries",)
    variants = ("strict",)
    proof = PROOF
    limiting = "d"
    divides, instead = ("queries",), True
    parameters: ClassVar[tuple[Parameter, ...]] = (EPSILON, DELTA, BOUND)

    @property
    def table(self) -> str:
        """The one table that it releases."""
        return self.tables[0]

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """Fill in defaults, then calibrate."""
        if self.neighbours is not Neighbours.ADD_REMOVE or self.serp is not None:
            raise ParameterError(f"{self.name} is proven for add-remove, and takes no result list.")
        if not {"epsilon", "delta"} <= given.keys():
            raise ParameterError(f"{self.name} needs a privacy budget.", allowed="epsilon and delta together")
        settings = {p.name: p.default for p in self.parameters if p.default is not None} | given
        self.prepare(settings, float(Fraction(settings["epsilon"])), float(Fraction(settings["delta"])))
        return settings

    @abstractmethod
    def prepare(self, settings: Mapping[str, Value], epsilon: float, delta: float) -> None:
        """Calibrate what this baseline runs, from ε, δ and d."""

    def bounds(self) -> tuple[Bound, ...]:
        """How many keys of each user are sampled before the first noise."""
        limit = int(self.settings["d"])
        return (Bound(f"distinct {self.table} per user", "l0", limit, "sample by a secret hash"),)

    def claimed(self) -> Claim:
        """The calibration is ours, so what is claimed is what we prove."""
        loss = self.loss()
        why = "calibrated here for the integer law that runs, tighter than the paper"
        return Claim(f"{self.paper}, calibrated by hubbub", loss.epsilon, loss.delta, holds=True, why=why)

    def intervals(self) -> dict[str, str]:
        """None: keys are released without numbers."""
        return {self.table: "no counts are published"}

    def spurious(self) -> str:
        """Only keys somebody holds are tested."""
        return "none: every released key was held by at least one user"


class PooledBaseline(Baseline):
    """Weighted Gaussian selection in one or more rounds of fresh noise."""

    selection: Selection

    @property
    def selections(self) -> dict[str, Selection]:
        """The integers of its one selection."""
        return {self.table: self.selection}

    def calibrated(
        self, epsilon: float, delta: float, limit: int, shares: tuple[int, ...], margin: Fraction | None
    ) -> Selection:
        """Shares of μ² and of the threshold δ per round; found keys leave, others stay within `margin` sd."""
        mu2 = Fraction(mu_of(epsilon, delta * (1 - DELTA_SLACK))) ** 2
        whole = sum(shares)
        grids = [grid(mu2 * share / whole, (1,)) for share in shares]
        bits = min(b for b, _ in grids)
        variances = [-(-v // 4 ** (b - bits)) + 16 for b, v in grids]
        spent = [float(mu2_of(4**bits, v)) for v in variances]
        novel = novel_delta(epsilon, delta, sum(spent) * (1 + SLACK), spent[0] * (1 - SLACK), limit)
        chances = [novel * share / whole / limit for share in shares]
        selection = fresh(bits, variances, margin, limit, chances)
        if certify([selection.step(self.table, PROOF, tightened=True)], epsilon) > delta:
            raise OurBug("the calibrated constants do not meet δ")
        return selection

    def laws(self) -> tuple[Law, ...]:
        """The laws that its rounds draw from."""
        return self.selection.laws(self.table)

    def steps(self) -> tuple[AnyStep, ...]:
        """All rounds are one step."""
        return (self.selection.step(self.table, PROOF, tightened=True),)

    def thresholds(self) -> dict[str, int]:
        """The last round's threshold in whole users who hold nothing else, rounded up."""
        return {self.table: -int(-self.selection.users(-1) // 1)}

    def missing(self) -> tuple[str, ...]:
        """Weights, not counts, pass the threshold."""
        return (RoundsTest(self.selection).words(self.table),)

    def survival(self) -> dict[str, RoundsTest]:
        """Of its rounds."""
        return {self.table: RoundsTest(self.selection)}

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """Pools, fixed before the first noise."""
        from hubbub.steps.pools import fixed

        return {self.table: fixed(log, self.offers[self.table], self.selection.limit, self.selection.bits, mode)}

    def pairs(self, measured: Mapping[str, Any]) -> Generator[Draw, Any, Tables]:
        """Select keys in rounds; numbers are not released."""
        found = yield from select(measured[self.table], self.selection, self.table)
        return {self.table: Released(found.ids, None, None)}
