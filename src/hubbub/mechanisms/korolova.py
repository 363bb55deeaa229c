"""Korolova, Kenthapadi, Mishra, Ntoulas: Releasing Search Queries and Clicks Privately (WWW 2009).

Keep each user's first d queries and first d_c clicks; publish the queries whose noisy count passes a
threshold, with noisy counts; for each, the noisy clicks on its public result list (Algorithm 1).

`published` counts occurrences, draws fresh noise for the counts, and keeps "> K", as the paper does.
`strict` counts distinct users and publishes the very value that passed the threshold, so that
the counts cost nothing more; without a result list, clicks are (query, url) keys with a threshold of their own. The
paper's graph also has edges from a query to the one it was reformulated to (§1.1), which Algorithm 1 leaves out: in
strict they are the table `transitions`, pairs of queries with a threshold of their own.
The rule on integers is `>= T`; the paper's "> K" is T = ⌊K⌋ + 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Parameter, Tables, Value
from hubbub.mechanisms.laplace import SCALE, LaplaceMechanism
from hubbub.mechanisms.noisy import Noisy
from hubbub.privacy.account import Domain, Step, smallest_threshold
from hubbub.privacy.guarantee import Claim, Neighbours
from hubbub.steps import bound
from hubbub.steps.keys import CLICKS, QUERIES, TRANSITIONS, base_of

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.counts import Counts
    from hubbub.steps.mode import RunMode

PROOF = "docs/proofs/korolova.md"
NAMES = {"queries": ("d", "b", "K"), "clicks": ("d_c", "b_c", "K_c"), "transitions": ("d_t", "b_t", "K_t")}
"""Of each table: its limit on a user, its scale, its threshold."""
RAW = ("b", "b_q", "b_c", "b_t", "K", "K_c", "K_t")


class Korolova(LaplaceMechanism, register=True):
    """Thresholded noisy counts of queries, and clicks on a public result list."""

    name = "korolova"
    paper = "Korolova et al. 2009"
    about = "queries asked by many, with noisy counts; clicks on public result lists or above a threshold; query pairs"
    offers = {"queries": QUERIES, "clicks": CLICKS, "transitions": TRANSITIONS}  # noqa: RUF012
    default_tables = ("queries",)
    proof = PROOF
    estimator = "hubbub.look.estimate.laplace:estimate"
    limiting = "d"
    divides, instead = ("queries", "clicks"), True
    raw = (*RAW, "d_t")
    parameters = (
        EPSILON,
        DELTA,
        Parameter("d", "integer", "queries kept of each user", default=1, low=1, high=10_000),
        Parameter("d_c", "integer", "clicks kept of each user", default=1, low=1, high=10_000),
        Parameter("d_t", "integer", "transitions kept of each user (strict)", default=1, low=1, high=10_000),
        Parameter("b", "number", "noise scale of the selection", low=SCALE, high=1_000_000),
        Parameter("b_q", "number", "noise scale of the query counts (published only)", low=SCALE, high=1_000_000),
        Parameter("b_c", "number", "noise scale of the click counts", low=SCALE, high=1_000_000),
        Parameter("b_t", "number", "noise scale of the transition counts (strict)", low=SCALE, high=1_000_000),
        Parameter("K", "number", "a query is released if its noisy count is above K", low=0, high=10**9),
        Parameter("K_c", "number", "a click is released if its noisy count is above K_c (strict)", low=0, high=10**9),
        Parameter("K_t", "number", "a transition is released if its noisy count is above K_t (strict)", None, 0, 10**9),
        Parameter("keep", "choice", "which of a user's keys stay (strict)", "first", choices=("first", "random")),
    )

    def _default_tables(self) -> tuple[str, ...]:
        return ("queries", "clicks") if self.serp is not None else self.default_tables

    # ------------------------------------------------------------------ parameters

    @property
    def _tables(self) -> dict[str, str]:
        """What is released, by what it is a table of: `queries`, or `queries_by_country` in its place."""
        return {base_of(table): table for table in self.tables}

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """Raw parameters as given, or calibrated from (ε, δ), split equally over what is released."""
        if self.variant == "published" and self.neighbours is not Neighbours.ADD_REMOVE:
            raise ParameterError("The paper proves add-remove only.", given=self.neighbours.value, allowed="add-remove")
        if "clicks" in self.tables and self.serp is None and self.variant == "published":
            raise ParameterError(
                "The published mechanism releases clicks on a public result list only.",
                given="--tables with clicks, no --serp",
                next="give --serp FILE, or use the strict variant, which thresholds (query, url) keys",
            )
        if self.variant == "published" and "transitions" in self.tables:
            raise ParameterError(
                "The paper describes edges between queries (section 1.1), and its algorithm releases none.",
                given="--tables with transitions, --variant published",
                next="use the strict variant, in which a pair of queries has a threshold of its own",
            )
        if self.by and (self.serp is not None or self.variant == "published"):
            raise ParameterError(
                "The paper has no groups: (group, key) is the key of the strict variant, without a result list.",
                given="--by with --serp or --variant published",
            )
        if self.serp is not None and not {"queries", "clicks"} <= set(self.tables):
            raise ParameterError(
                "A result list releases clicks of released queries: both tables are needed.",
                given="--tables " + ",".join(self.tables),
                allowed="queries,clicks, and in strict transitions",
            )
        needed = self._raw_names()
        raw = self._is_raw(given, RAW, needed)
        settings: dict[str, Value] = {"d": given.get("d", 1)}
        for table in ("clicks", "transitions"):
            limit = NAMES[table][0]
            if table in self._tables:
                settings[limit] = given.get(limit, 1)
            elif limit in given:
                raise ParameterError(f"{limit} limits {table}, and no {table} are released.", given=given[limit])
        if self.variant == "strict":
            settings["keep"] = given.get("keep", "first")
        elif "keep" in given:
            raise ParameterError("The published mechanism keeps the first queries.", given=f"keep={given['keep']}")
        if raw:
            return settings | {name: given[name] for name in needed}
        return settings | self._calibrate(settings, Fraction(given["epsilon"]), Fraction(given["delta"]))

    def _raw_names(self) -> tuple[str, ...]:
        names = ["b", "K"] if "queries" in self._tables else []
        if self.variant == "published":
            names.append("b_q")
        if "clicks" in self._tables:
            names.append("b_c")
            if self.serp is None:
                names.append("K_c")
        if "transitions" in self._tables:
            names += ["b_t", "K_t"]
        return tuple(names)

    def _calibrate(self, settings: Mapping[str, Value], epsilon: Fraction, delta: Fraction) -> dict[str, Value]:
        """Scales from ε, thresholds from δ; every rounding goes towards privacy."""
        limits = {name: int(settings.get(limit, 1)) for limit, *others in NAMES.values() for name in others}
        limits["b_q"] = d = limits["b"]
        names = self._raw_names()
        scales = [name for name in names if name.startswith("b")]
        thresholds = [name for name in names if name.startswith("K")]
        part = epsilon / len(scales)
        raw: dict[str, Value] = {name: self.factor * limits[name] / part for name in scales}
        for name in scales:
            self.drawable(name, raw[name], epsilon, "the limits on a user")
        share = Decimal(delta.numerator) / Decimal(delta.denominator) / len(thresholds)
        for name in thresholds:
            scale, l0 = raw[name.replace("K", "b")], limits[name]
            if self.variant == "strict":
                raw[name] = smallest_threshold(Fraction(scale), share, l0, l0, 1) - 1
            else:
                raw[name] = self._published_threshold(Fraction(scale), float(share), d)
        return raw

    @staticmethod
    def _published_threshold(b: Fraction, delta: float, d: int) -> int:
        """The least integer K >= d for which Theorem 1 gives this δ and α's first branch.

        An integer K makes the discrete law that runs at most as likely to pass as the paper's.
        """
        for_delta = d + b * math.log(d / (2 * delta))  # δ_alg = (d/2) e^((d−K)/b)
        for_alpha = 1 + b * math.log(1 / (-2 * math.expm1(-1 / b)))  # 1/(1 − ½e^((1−K)/b)) <= e^(1/b)
        return max(d, math.ceil(max(for_delta, for_alpha) * (1 + 1e-12)))

    # ------------------------------------------------------------------ what is stated

    def steps(self) -> tuple[Step, ...]:
        """Strict: one noise per table. Published: selection, counts and clicks each draw their own."""
        steps = []
        repeats = self.variant == "published"
        if "queries" in self._tables:
            d = int(self.settings["d"])
            linf = d if repeats else 1
            steps.append(
                Step(self._tables["queries"], self._number("b"), self._threshold("K"), d, d, linf, Domain.OPEN, PROOF)
            )
            if repeats:
                steps.append(Step("query counts", self._number("b_q"), None, d, d, linf, Domain.CLOSED, PROOF))
        if "clicks" in self._tables:
            d_c = int(self.settings["d_c"])
            linf = d_c if repeats else 1
            threshold, domain = (None, Domain.CLOSED) if self.serp else (self._threshold("K_c"), Domain.OPEN)
            steps.append(Step(self._tables["clicks"], self._number("b_c"), threshold, d_c, d_c, linf, domain, PROOF))
        if "transitions" in self._tables:
            d_t, threshold = int(self.settings["d_t"]), self._threshold("K_t")
            steps.append(Step("transitions", self._number("b_t"), threshold, d_t, d_t, 1, Domain.OPEN, PROOF))
        return tuple(steps)

    def bounds(self) -> tuple[Bound, ...]:
        """First d, d_c and d_t, by the user's own data."""
        limits: list[Bound] = []
        for base, (name, *_) in NAMES.items():
            table = self._tables.get(base, "")
            if table and self.variant == "published":
                how = "the first by time, repeats included"
                limits.append(Bound(f"{table} per user", "l1", self._whole(name), how))
            elif table:
                limits += self._distinct(table, self._whole(name))
        return tuple(limits)

    def claimed(self) -> Claim:
        """Theorem 1 of the paper, for the parameters that run; strict is ours, and claims what is proven."""
        if self.variant == "strict":
            return self._ours()
        by = f"{self.paper}, Theorem 1"
        d, b, K = int(self.settings["d"]), float(self._number("b")), float(self._number("K"))
        if d > K:  # then α can be infinite, too
            return Claim(by, None, None, True, "the theorem needs K >= d, and claims nothing here")
        alpha = max(math.exp(1 / b), 1 / (1 - 0.5 * math.exp((1 - K) / b)))
        epsilon = d * math.log(alpha) + d / float(self._number("b_q"))
        delta = d / 2 * math.exp((d - K) / b)
        if "b_c" in self.settings:
            epsilon += int(self.settings["d_c"]) / float(self._number("b_c"))
        if delta >= 1:
            return Claim(by, None, None, True, "the theorem's δ reaches 1, which allows any output at all")
        loss = self.loss()
        holds = loss.epsilon <= epsilon * (1 + 1e-12) and loss.delta <= delta * (1 + 1e-12)
        return Claim(by, epsilon, delta, holds)

    def caveats(self) -> tuple[str, ...]:
        """Conditions a reader must know."""
        notes = []
        if self.serp is not None:
            notes.append("The result list must not have been learned from this log.")
        if self.variant == "published" and not self.claimed().holds:
            notes.append(
                "The paper's numbers are for real-valued noise; the integer law that runs is proven separately."
            )
        return tuple(notes)

    # ------------------------------------------------------------------ what runs

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Counts]:
        """Algorithm 1, lines 2 and 3: limit each user, then count."""
        from hubbub.steps.count import count, count_under

        counts: dict[str, Counts] = {}
        for table in self.tables:
            bounded = self._bounded(table, mode.secret)
            if table == "clicks" and self.serp is not None:
                log.engine.register("serp", self.serp.rows)
                counts[table] = count_under(log, CLICKS, bounded, mode, counts["queries"].keys, "serp")
            else:
                counts[table] = count(log, self.offers[table], bounded, mode)
        return counts

    def _bounded(self, table: str, secret: bytes) -> str:
        keys, most = self.offers[table], int(self.settings[NAMES[base_of(table)][0]])
        if self.variant == "published":
            return bound.first_events(keys, most)
        if self.settings["keep"] == "random":
            return bound.random_keys(keys, most, secret)
        return bound.first_keys(keys, most)

    def perturb(self, counts: Mapping[str, Counts], noise: NoiseSource) -> Tables:
        """Algorithm 1, lines 4 to 6; transitions as thresholded clicks."""
        released: Tables = {}
        again = Noisy("query counts", self._number("b_q")) if self.variant == "published" else None
        for table in self.tables:
            _, scale, least = NAMES[base_of(table)]
            if table == "clicks" and self.serp is not None:  # line 6: every listed URL of a released query
                listed = counts[table].under(released["queries"].ids)
                released[table] = Noisy(table, self._number(scale)).every(noise, *listed)
            else:  # line 4: Select-Queries; line 5: Get-Query-Counts
                drawn = again if table == "queries" else None
                select = Noisy(table, self._number(scale), self._threshold(least), drawn, self.passes)
                released[table] = counts[table].test(select, noise)
        return released
