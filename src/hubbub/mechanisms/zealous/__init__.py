"""Götz, Machanavajjhala, Wang, Xiao, Gehrke: Privacy in Search Logs (arXiv:0904.0682, 2009; TKDE 2012).

ZEALOUS: keep at most m distinct items of each user; drop items of fewer than τ users; add noise of scale λ to the other
counts; publish those above τ′. Items are keywords, queries, clicks or query pairs (transitions). With a public result
list clicks are, as §5.1 has it, those on the listed pages of released queries: noise and no threshold. Itemsets (§9:
"all of our results apply") are sets of two or three keywords or queries of one user.

`published` states the paper's own guarantee, for replace neighbours: `analysis=probabilistic` (Theorem 2, whose proof
needs a repair, and a declared upper bound U on users) or `indistinguishability` (Theorem 1, whose equation (3) is
false as printed). `strict` needs no U: its δ is one user's alone. Both run the same law, and the same (ε, δ) is proven.
The rule on integers is `>= T`; the paper's "> τ′" is T = ⌊τ′⌋ + 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Parameter, Tables, Value
from hubbub.mechanisms.laplace import SCALE, LaplaceMechanism
from hubbub.mechanisms.noisy import Noisy
from hubbub.mechanisms.zealous import formulas
from hubbub.privacy.account import SLACK, Domain, Step, round_up, smallest_threshold, total_delta
from hubbub.privacy.guarantee import Claim, Definition, Guarantee, Neighbours, number
from hubbub.steps import bound
from hubbub.steps.keys import CLICKS, ITEMSETS, KEYWORDS, QUERIES, TRANSITIONS, itemsets

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.counts import Counts
    from hubbub.steps.mode import RunMode

PROOF = "docs/proofs/zealous.md"
ANALYSES = PROBABILISTIC, INDISTINGUISHABILITY = "probabilistic", "indistinguishability"
RAW = ("lambda", "tau_prime")
NOTHING = "the theorem's δ reaches 1, which allows any output at all"


class Zealous(LaplaceMechanism, register=True):
    """Thresholded noisy counts of items that enough users hold."""

    name = "zealous"
    paper = "Götz et al. 2009"
    about = "keywords, queries, clicks, query pairs or itemsets of many users, with noisy counts"
    offers = {  # noqa: RUF012
        "keywords": KEYWORDS,
        "queries": QUERIES,
        "clicks": CLICKS,
        "transitions": TRANSITIONS,
        "itemsets": ITEMSETS,
    }
    default_tables = ("queries",)
    proof = PROOF
    paper_counts = "users"
    estimator = "hubbub.look.estimate.zealous:estimate"
    limiting = "m"
    divides, instead = ("queries", "clicks"), True
    raw = (*RAW, "analysis", "U", "of", "size", "first")
    parameters = (
        EPSILON,
        DELTA,
        Parameter("m", "integer", "distinct items kept of each user, in each table", default=1, low=1, high=10_000),
        Parameter("lambda", "number", "noise scale λ", low=SCALE, high=1_000_000),
        Parameter("tau", "integer", "items of fewer users are dropped before the noise", low=1, high=10**9),
        Parameter("tau_prime", "number", "an item is released if its noisy count is above τ′", low=0, high=10**9),
        Parameter("analysis", "choice", "Theorem 2 or 1 (published)", ANALYSES[0], choices=ANALYSES),
        Parameter(
            "U",
            "integer",
            "declared upper bound on the number of users (published, probabilistic)",
            low=1,
            high=10**12,
            fact=True,
        ),
        Parameter("keep", "choice", "which of a user's items stay", "first", choices=("first", "random")),
        Parameter("of", "choice", "itemsets: what they are sets of", "keywords", choices=("keywords", "queries")),
        Parameter("size", "integer", "itemsets: items of a set", default=2, low=2, high=3),
        Parameter("first", "integer", "itemsets: items of a user that sets are made of", default=20, low=2, high=100),
    )

    def _default_tables(self) -> tuple[str, ...]:
        return ("queries", "clicks") if self.serp is not None else self.default_tables

    def __init__(self, *, lambda_: object = None, **given: object) -> None:
        if lambda_ is not None:
            given["lambda"] = lambda_  # `lambda` is a keyword of Python
        if given.get("variant") == "published" and given.get("neighbours") is None:
            given["neighbours"] = Neighbours.REPLACE  # Definition 2: one user's history exchanged
        super().__init__(**given)  # type: ignore[arg-type]

    # ------------------------------------------------------------------ parameters

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """Raw λ and τ′ as given, or calibrated from (ε, δ), split equally over the tables; τ is free in both."""
        if self.by and (self.serp is not None or self.variant == "published"):
            raise ParameterError(
                "The paper has no groups: (group, key) is the key of the strict variant, without a result list.",
                given="--by with --serp or --variant published",
            )
        if self.serp is not None and not {"queries", "clicks"} <= set(self.tables):
            raise ParameterError(
                "A result list releases clicks of released queries: both tables are needed.",
                given="--tables " + ",".join(self.tables),
                allowed="queries and clicks, and any other; or no --serp, and a click is an item of its own",
            )
        settings: dict[str, Value] = {"m": given.get("m", 1), "keep": given.get("keep", "first")}
        settings |= self._analysis(given) | self._itemsets(given)
        if self._is_raw(given, RAW, RAW):
            settings |= {"lambda": given["lambda"], "tau": given.get("tau", 1), "tau_prime": given["tau_prime"]}
        else:
            tau = None if given.get("tau") is None else int(given["tau"])
            settings |= self._calibrate(settings, Fraction(given["epsilon"]), Fraction(given["delta"]), tau)
        if Fraction(settings["tau_prime"]) < Fraction(settings["tau"]):
            raise ParameterError(
                "The threshold τ′ is below the raw filter τ: whatever passes the filter would mostly be published.",
                given=f"tau = {settings['tau']}, tau_prime = {number(float(settings['tau_prime']))}",
                allowed="tau_prime from tau on",
                next="raise tau_prime, or lower tau",
            )
        return settings

    def _itemsets(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """What sets are made of, if sets are asked for."""
        sets: dict[str, Value] = {"of": "keywords", "size": 2, "first": 20}
        chosen: dict[str, Value] = {name: given[name] for name in sets if name in given}
        if "itemsets" not in self.tables:
            if chosen:
                raise ParameterError("This is about itemsets, and none are released.", given=", ".join(chosen))
            return {}
        sets |= chosen
        made = itemsets(str(sets["of"]), int(sets["size"]), int(sets["first"]))
        self.offers = self.offers | {"itemsets": made}
        return sets

    def _analysis(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """What the published variant claims, and the U that it needs for it."""
        if self.variant == "strict":
            for name in ("analysis", "U"):
                if name in given:
                    raise ParameterError(
                        f"{name} belongs to the published variant: strict proves its δ without it.",
                        given=f"{name}={given[name]}",
                        next=f"leave {name} out, or add --variant published",
                    )
            return {}
        if self.neighbours is not Neighbours.REPLACE:
            raise ParameterError(
                "The paper proves replace neighbours only, with the number of users fixed.",
                given=self.neighbours.value,
                allowed="replace",
                next="use the strict variant for add-remove",
            )
        analysis = given.get("analysis", PROBABILISTIC)
        if (analysis == PROBABILISTIC) != ("U" in given):
            raise ParameterError(
                "The δ of Theorem 2 grows with the number of users, so a declared upper bound U is needed for it; "
                "nothing else uses U.",
                given=f"analysis={analysis}, " + (f"U={given['U']}" if "U" in given else "no U"),
                allowed="analysis=probabilistic with U, or analysis=indistinguishability without",
                next="add --set U=N with a public upper bound, never the exact number of the log; or use strict",
            )
        return {"analysis": analysis} | ({"U": given["U"]} if "U" in given else {})

    def _calibrate(
        self, settings: Mapping[str, Value], epsilon: Fraction, delta: Fraction, tau: int | None
    ) -> dict[str, Value]:
        """λ from ε, τ′ from δ; every rounding goes towards privacy, and an integer τ′ keeps the paper's claim true."""
        m, part, share = int(settings["m"]), epsilon / len(self.tables), delta / len(self._tested)
        lam = self.factor * m / part  # (1), (4)
        self.drawable("lambda", lam, epsilon, "m")
        if "U" in settings:
            users = int(settings["U"])
            tau = tau or formulas.best_tau(users, m, lam, share)
            real = formulas.theorem2_tau_prime(users, m, lam, tau, share)  # (5)
            tau_prime = max(tau, math.ceil(real * (1 + 1e-12)))
        else:  # one user's own δ: each step of τ raises τ′ by one, so 1 is best
            tau = tau or 1
            if self.variant == "published":
                first = math.ceil(formulas.corrected_tau_prime(m, lam, share) * (1 + 1e-12))  # (3), corrected
            else:
                first = smallest_threshold(lam, Decimal(share.numerator) / Decimal(share.denominator), m, m, 1) - 1
            tau_prime = max(tau, first + tau - 1)
        return {"lambda": lam, "tau": tau, "tau_prime": tau_prime}

    @property
    def _tested(self) -> tuple[str, ...]:
        """The tables with a threshold: all but clicks on a result list."""
        return tuple(table for table in self.tables if self.serp is None or table != "clicks")

    @property
    def _m(self) -> int:
        return int(self.settings["m"])

    @property
    def _lambda(self) -> Fraction:
        return Fraction(self.settings["lambda"])

    @property
    def _tau(self) -> int:
        return int(self.settings["tau"])

    @property
    def _tau_prime(self) -> Fraction:
        return Fraction(self.settings["tau_prime"])

    # ------------------------------------------------------------------ what is stated

    def steps(self) -> tuple[Step, ...]:
        """One noise for each table; a new item enters with τ users. Listed clicks have noise alone."""
        m, lam, threshold, tau = self._m, self._lambda, self._threshold("tau_prime"), self._tau
        return tuple(
            Step(table, lam, threshold, m, m, 1, Domain.OPEN, PROOF, floor=tau)
            if table in self._tested
            else Step(table, lam, None, m, m, 1, Domain.CLOSED, PROOF)
            for table in self.tables
        )

    def bounds(self) -> tuple[Bound, ...]:
        """At most m distinct items of each table, by the user's own data."""
        return tuple(limit for table in self.tables for limit in self._distinct(table, self._m))

    def claimed(self) -> Claim:
        """The paper's theorem for the parameters that run; strict is ours, and claims what is proven."""
        if self.variant == "strict":
            return self._ours()
        return self._theorem2() if self.settings["analysis"] == PROBABILISTIC else self._theorem1()

    def _theorem2(self) -> Claim:
        by, users, tables = f"{self.paper}, Theorem 2", int(self.settings["U"]), len(self.tables)
        m, lam, tau, tau_prime = self._m, self._lambda, self._tau, self._tau_prime
        if float(tau_prime - tau) < formulas.first_branch(lam) * (1 - 1e-12):
            return Claim(by, None, None, True, "the first branch of (5) is not met, and the theorem claims nothing")
        with localcontext(formulas.WIDE):
            epsilon = 2 * m / lam * tables
            delta = formulas.theorem2_delta(users, m, lam, tau, tau_prime) * len(self._tested)
            if delta >= 1:
                return Claim(by, None, None, True, NOTHING)
            found_epsilon, found_delta = self._probabilistic()
            holds = found_epsilon <= epsilon and found_delta <= delta * (1 + SLACK)
        why = "probabilistic differential privacy, with the exceptions of its proof repaired (at no cost in δ)"
        if not holds:
            why = "for real-valued noise only: on integers a fractional τ′ is easier to pass"
        return Claim(by, round_up(epsilon), round_up(delta), holds, why)

    def _theorem1(self) -> Claim:
        by, tables = f"{self.paper}, Theorem 1", len(self.tables)
        if self._tau != 1:
            return Claim(by, None, None, True, "the theorem needs τ = 1, and claims nothing here")
        epsilon = 2 * self._m / self._lambda  # the smallest that (1) allows
        with localcontext(formulas.WIDE):
            delta = formulas.theorem1_delta(self._m, epsilon, self._tau_prime) * len(self._tested)
            if delta >= 1:
                return Claim(by, None, None, True, NOTHING)
            holds = total_delta(self.steps()) <= delta * (1 + SLACK)
        why = (
            "(3) as printed is false: its exponent has m/ε' where the noise has scale λ; items of one user alone show "
            f"with probability {number(self.loss().delta)}, and never without her"
        )
        return Claim(by, round_up(epsilon * tables), round_up(delta), holds, "" if holds else why)

    def _probabilistic(self) -> tuple[Fraction, Decimal]:
        """Theorem 2 repaired, for the integer law: exceptions unite and factors multiply over the tables."""
        epsilon, delta = formulas.probabilistic(
            int(self.settings["U"]), self._m, self._lambda, self._tau, self._threshold("tau_prime")
        )
        tested = len(self._tested)
        with localcontext(formulas.WIDE):
            listed = (len(self.tables) - tested) * 2 * self._m / self._lambda
            return epsilon * tested + listed, min(delta * tested, Decimal(1))

    def also(self) -> tuple[tuple[Guarantee, str], ...]:
        """With U declared: probabilistic differential privacy."""
        if "U" not in self.settings:
            return ()
        epsilon, delta = (round_up(x) for x in self._probabilistic())
        how = (
            f"Theorem 2 with the exceptions of its proof repaired, if there are at most {self.settings['U']} users; "
            "not closed under post-processing, so quote the headline instead"
        )
        return ((Guarantee(Definition.PROBABILISTIC, epsilon, delta, self.neighbours), how),)

    def caveats(self) -> tuple[str, ...]:
        """Conditions a reader must know."""
        return () if self.serp is None else ("The result list must not have been learned from this log.",)

    # ------------------------------------------------------------------ what runs

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Counts]:
        """Steps 1 and 2: at most m distinct items per user, chosen by her own data; users of each item."""
        from hubbub.steps.count import count, count_under

        counts: dict[str, Counts] = {}
        for table in self.tables:
            keys = self.offers[table]
            first = self.settings["keep"] == "first"
            kept = bound.first_keys(keys, self._m) if first else bound.random_keys(keys, self._m, mode.secret)
            if table in self._tested:
                counts[table] = count(log, keys, kept, mode)
            elif self.serp is not None:
                log.engine.register("serp", self.serp.rows)
                counts[table] = count_under(log, keys, kept, mode, counts["queries"].keys, "serp")
        return counts

    def perturb(self, counts: Mapping[str, Counts], noise: NoiseSource) -> Tables:
        """Steps 3 to 6; then, of each released query, a noisy count for every listed page (§5.1)."""
        released: Tables = {}
        for table in self.tables:
            if table not in self._tested:
                listed = counts[table].under(released["queries"].ids)
                released[table] = Noisy(table, self._lambda).every(noise, *listed)
                continue
            frequent = partial(self.frequent, tau=self._tau)  # step 3
            threshold = self._threshold("tau_prime")
            noisy = Noisy(table, self._lambda, threshold, passes=self.passes, drawn=frequent)  # steps 4 and 5
            released[table] = counts[table].test(noisy, noise)
        return released

    @staticmethod
    def frequent(n: npt.NDArray[np.int64], tau: int) -> npt.NDArray[np.int64]:
        """Which items have at least τ users. Exact, before the noise: inside the proof."""
        return np.flatnonzero(n >= tau)
