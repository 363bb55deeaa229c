"""Zhang, Yang, Singh, Xiong: Safelog, Supporting Web Search and Mining by Differentially-Private Query Logs (2016).

Queries are counted over a pool that does not come from the log, so that a query nobody asked may be released as well.

`strict` takes the pool as the whole domain, limits each user by her own data (q_f queries and c_f listed clicks of the
pool's, c_t transitions between its queries) and publishes the very values that passed: pure ε = q_f/b + c_f/b_c +
c_t/b_t, no δ. On a closed domain a threshold protects nobody; it keeps down the rows that stand for nobody.
`published` is Algorithm 1: a filter on rare queries first, queries outside the pool too, a secret random pool (p_g).
Nothing is proven of it. The rule on integers is `>= T`; the paper's "> K" is T = ⌊K⌋ + 1.

    paper      equation (2), turning points, Table 3        measure   exact counts over the pool
    calibrate  raw parameters from ε, thresholds from N     perturb   noise and thresholds
    absent     keys that nobody holds, without a draw each
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import EPSILON, Bound, Parameter, Tables, Value
from hubbub.mechanisms.laplace import SCALE, LaplaceMechanism
from hubbub.mechanisms.noisy import Noisy
from hubbub.mechanisms.safelog import measure as measuring
from hubbub.mechanisms.safelog import paper, words
from hubbub.mechanisms.safelog.calibrate import settle
from hubbub.mechanisms.safelog.perturb import published, strict
from hubbub.privacy.account import Domain, Step
from hubbub.privacy.existence import Cause
from hubbub.privacy.guarantee import Claim, Definition, Guarantee, Neighbours
from hubbub.steps.keys import CLICKS, QUERIES, TRANSITIONS

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode

PROOF = "docs/proofs/safelog.md"


def _limit(name: str, meaning: str) -> Parameter:
    return Parameter(name, "integer", meaning, default=10, low=1, high=10_000)


def _scale(name: str, meaning: str) -> Parameter:
    return Parameter(name, "number", meaning, low=SCALE, high=1_000_000)


class Safelog(LaplaceMechanism, register=True):
    """Noisy counts over a public pool of queries: pure ε."""

    name = "safelog"
    paper = "Zhang et al. 2016"
    about = "queries of a public pool, clicks on public result lists, transitions between released queries; pure ε"
    offers = {"queries": QUERIES, "clicks": CLICKS, "transitions": TRANSITIONS}  # noqa: RUF012
    default_tables = ("queries", "transitions")
    proof = PROOF
    estimator = "hubbub.look.estimate.safelog:estimate"
    takes_pool = True
    parameters = (
        EPSILON,
        _limit("q_f", "queries kept of each user"),
        _limit("c_f", "clicks kept of each user"),
        _limit("c_t", "transitions kept of each user (strict)"),
        _scale("b", "noise scale of the selection"),
        _scale("b_q", "noise scale of the query counts (published)"),
        _scale("b_c", "noise scale of the click counts"),
        _scale("b_t", "noise scale of the transition counts"),
        Parameter("K", "number", "a query is released if its noisy count is above K", low=1, high=10**9),
        Parameter(
            "K_t", "number", "a transition is released if its noisy count is above K_t (strict)", low=1, high=10**9
        ),
        Parameter("tau", "integer", "τ: queries asked fewer times are removed first (published)", 5, low=1, high=10**9),
        Parameter(
            "p_g",
            "number",
            "chance of each pool query to be in the secret pool (published)",
            1,
            low=0,
            open_low=True,
            high=1,
        ),
    )

    def __init__(self, *, delta: object = None, **given: Any) -> None:
        if delta is not None:
            what = "The guarantee of safelog is pure: it takes no δ."
            raise ParameterError(what, given=f"delta = {delta}", next="leave --delta out")
        super().__init__(**given)

    def _default_tables(self) -> tuple[str, ...]:
        clicks = ("clicks",) if self.serp is not None or self.variant == "published" else ()
        return (*self.default_tables, *clicks)

    # ------------------------------------------------------------------ parameters

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """Raw parameters as given, or calibrated from ε; every table is about released queries."""
        if self.pool is None:
            raise ParameterError(
                "safelog counts over a public pool of queries, and there is none.",
                given="no --pool",
                next="make one with `hubbub pool build --out pool.parquet`, then say --pool pool.parquet",
            )
        if "queries" not in self.tables:
            what = "Clicks and transitions are those of released queries: the queries are needed too."
            raise ParameterError(what, given=",".join(self.tables), allowed="queries and any of clicks, transitions")
        if self.variant == "published":
            if self.neighbours is not Neighbours.ADD_REMOVE:
                raise ParameterError(
                    "The paper has add-remove only.", given=self.neighbours.value, allowed="add-remove"
                )
            if self.serp is not None:
                raise ParameterError("The published mechanism has no result list.", given="--serp", next="use strict")
        elif ("clicks" in self.tables) != (self.serp is not None):
            raise ParameterError(
                "Clicks are released on a public result list, and only there.",
                given=f"tables {', '.join(self.tables)}; " + ("no --serp" if self.serp is None else "--serp"),
                next="give --serp FILE (Parquet or TSV with query, url), or leave clicks out of --tables",
            )
        return settle(self, given, self.pool.size)

    # ------------------------------------------------------------------ what is stated

    def steps(self) -> tuple[Step, ...]:
        """Strict: one noise for each table, over a closed domain. Published: as drawn, whatever its filter does."""
        q_f, repeats = self._whole("q_f"), self.variant == "published"
        linf, domain = (q_f, Domain.OPEN) if repeats else (1, Domain.CLOSED)
        steps = [Step("queries", self._number("b"), self._threshold("K"), q_f, q_f, linf, domain, PROOF)]
        if repeats:
            steps.append(Step("query counts", self._number("b_q"), None, q_f, q_f, linf, Domain.CLOSED, PROOF))
        if "clicks" in self.tables:
            c_f, domain = self._whole("c_f"), Domain.SEEN if repeats else Domain.CLOSED
            steps.append(Step("clicks", self._number("b_c"), None, c_f, c_f, c_f if repeats else 1, domain, PROOF))
        if "transitions" in self.tables:
            most = max(1, q_f - 1) if repeats else self._whole("c_t")
            threshold = None if repeats else self._threshold("K_t")
            linf = most if repeats else 1
            steps.append(Step("transitions", self._number("b_t"), threshold, most, most, linf, Domain.CLOSED, PROOF))
        return tuple(steps)

    def bounds(self) -> tuple[Bound, ...]:
        """Strict: by the user's own data. Published: the first, of what the filter left."""
        limits: list[Bound] = []
        for table, name in (("queries", "q_f"), ("clicks", "c_f"), ("transitions", "c_t")):
            if table in self.tables and name in self.settings:
                limit, first = self._whole(name), "the first by time, of "
                if self.variant == "published":
                    limits.append(Bound(f"{table} per user", "l1", limit, first + "what the filter left"))
                else:
                    limits += self._distinct(table, limit, first + "the public domain")
        return tuple(limits)

    def claimed(self) -> Claim:
        """Equation (2) of the paper, for the parameters that run; strict is ours, and claims what is proven."""
        if self.variant == "strict":
            return self._ours()
        raw = {
            name: float(self._number(name)) for name in ("b", "K", "b_q", "p_g", "b_c", "b_t") if name in self.settings
        }
        limits = {name: self._whole(name) for name in ("q_f", "c_f") if name in self.settings}
        epsilon = paper.epsilon(**limits, **raw)  # type: ignore[arg-type]
        return Claim(f"{self.paper}, Theorem 1 and equation (2)", epsilon, 0.0, False, words.FALSE)

    def proven(self) -> Guarantee:
        """Strict: pure, from the steps. Published: nothing."""
        if self.variant == "strict":
            return super().proven()
        return Guarantee(
            Definition.NONE, None, None, self.neighbours, scope=words.NOTHING, proof=PROOF, caveats=self.caveats()
        )

    def stops(self) -> tuple[Cause, ...]:
        """The paper lists every pair of released queries."""
        return (Cause.PAIRS,) if self.variant == "published" and "transitions" in self.tables else ()

    def caveats(self) -> tuple[str, ...]:
        """Conditions of strict; of published, every way in which its claim fails."""
        lists = [words.POOL] + ([words.SERP] if self.serp is not None else [])
        return tuple(lists) if self.variant == "strict" else words.published(self)

    def missing(self) -> tuple[str, ...]:
        """Keys below a threshold, and whatever the public pool does not hold."""
        return (*super().missing(), words.OUTSIDE) if self.variant == "strict" else super().missing()

    def spurious(self) -> str:
        """How many rows stand for nobody is known beforehand, and falls with K."""
        return words.spurious(self)

    # ------------------------------------------------------------------ what runs

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """Algorithm 1, lines 3 to 5, as each variant has them."""
        q_f, c_f = self._whole("q_f"), int(self.settings.get("c_f", 0))
        assert self.pool is not None  # resolve refuses
        if self.variant == "published":
            return measuring.published(log, mode, self.pool, self._whole("tau"), q_f, c_f, "transitions" in self.tables)
        return measuring.strict(log, mode, self.pool, self.serp, q_f, c_f, int(self.settings.get("c_t", 0)))

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        """Algorithm 1, lines 6 to 8, as each variant has them."""
        queries = Noisy("queries", self._number("b"), self._threshold("K"))
        clicks = Noisy("clicks", Fraction(self.settings.get("b_c", 1)))
        transitions = Noisy("transitions", Fraction(self.settings.get("b_t", 1)))
        if self.variant == "published":
            again = Noisy("query counts", self._number("b_q"))
            return published(counts, noise, self._number("p_g"), queries, again, clicks, transitions)
        if "transitions" in self.tables:
            transitions = Noisy("transitions", transitions.scale, self._threshold("K_t"))
        return strict(counts, noise, queries, clicks, transitions)

    def owner_notes(self, counts: Mapping[str, Any]) -> tuple[str, ...]:
        """What the owner should know of her log: not a word of it is public."""
        if counts["queries"].somebody():
            return ()
        return (
            "no query of the log is in the pool: whatever was released stands for nobody; take a pool like the log",
        )
