"""Hong, Vaidya, Lu, Wu: Differentially Private Search Log Sanitization with Optimal Output Utility (EDBT 2012).

A log in, a log out. Algorithm 1 computes how many rows of each (query, url) pair come out, as an optimum under one
constraint per user, and then draws a user for every row.

    problem     the constraints, from the engine's counts          size, diverse, frequent   the three goals
    linear, upper, branch       relaxation and proven bound        rounding, search          whole numbers of rows
    cuts, strengthen, facets    rows that only fractions violate   exact                     bounds nobody has to trust
    spe         the paper's heuristic                              frontier                  the paper's future work
    sample      users for the rows                                 certificate               what a solution is worth
    histograms, strict          the variant that is private end to end

`published` is private only with the output counts held fixed, which they are not: it needs `--not-private`.
`strict` measures two noisy histograms and makes synthetic users of them.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Mechanism, Parameter, Rows, Tables, Value
from hubbub.mechanisms.optimal import words
from hubbub.mechanisms.optimal.histograms import PROOF, STRICT, Histograms
from hubbub.mechanisms.optimal.noise import NOISE
from hubbub.mechanisms.pairs import Draw
from hubbub.privacy.account import Loss, Step
from hubbub.privacy.existence import Cause
from hubbub.privacy.guarantee import Claim, Definition, Guarantee, Neighbours
from hubbub.steps.keys import CLICKS, LOG
from hubbub.steps.mode import Say, quiet

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.mechanisms.optimal.published.certificate import Certificate
    from hubbub.mechanisms.optimal.published.pack import Solved
    from hubbub.mechanisms.optimal.published.problem import Integers, Limit, Problem
    from hubbub.noise import NoiseSource
    from hubbub.steps.mode import RunMode

GOALS = ("size", "frequent", "diverse", "queries")


@dataclass(frozen=True)
class Solution:
    """`published`: the problem of a log, its optimum, and what else was asked for."""

    problem: Problem
    solved: Solved
    more: Mapping[str, object]
    scale: Fraction | None = None
    """Section 4.2: the scale of noise on the optimal counts."""


@dataclass(frozen=True)
class WrittenLog(Rows):
    """A log, and what its optimum is worth."""

    certificate: Certificate
    whose: pa.Table | None = None

    @staticmethod
    def by(rows: Rows, certificate: Certificate, whose: pa.Table | None = None) -> WrittenLog:
        """These rows."""
        return WrittenLog(rows.ids, None, None, rows.rows, certificate, whose)


class Optimal(Mechanism, register=True):
    """The log with the most utility, in the input's own schema."""

    name = "optimal"
    paper = "Hong et al. 2012"
    about = "a log in the input's schema with the most rows, the most pairs or the most faithful frequent pairs"
    offers = {"log": LOG}  # noqa: RUF012
    default_tables = ("log",)
    proof = PROOF
    in_studio = False
    logged = CLICKS
    parameters = (
        EPSILON,
        DELTA,
        Parameter("goal", "choice", "what is maximised", "size", choices=GOALS),
        Parameter("O", "integer", "|O|: rows of the output (goal frequent)", low=1, high=10**9),
        Parameter("s", "number", "a pair is frequent from this share of all clicks", Fraction(1, 500), low=0, high=1),
        Parameter("cap", "choice", "frequent: keep other pairs below s·|O|, at a cost", "no", choices=("no", "yes")),
        Parameter("seconds", "integer", "time for the optimisation (published)", 45, low=1, high=86_400),
        Parameter("solver", "choice", "diverse: search, or the paper's heuristic", "best", choices=("best", "spe")),
        Parameter("target", "integer", "the least ε for so many rows or pairs, instead of ε and δ", low=1, high=10**9),
        Parameter("frontier", "integer", "compromises between size and diversity to list", 0, low=0, high=50),
        *NOISE,
        *STRICT,
    )

    # ------------------------------------------------------------------ parameters

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """The goal, and what each variant needs for it."""
        goal = str(given.get("goal", "size"))
        settings: dict[str, Value] = {"goal": goal}
        if "O" in given:
            if goal != "frequent":
                raise ParameterError("|O| is given for the goal frequent.", given=f"O with goal = {goal}")
            settings["O"] = given["O"]
        return settings | (self._strict(given) if self.variant == "strict" else self._published(given, goal))

    def _strict(self, given: dict[str, Value]) -> dict[str, Value]:
        published = ("s", "cap", "seconds", "solver", "target", "frontier", *(p.name for p in NOISE))
        self._refuse(given, published, "strict optimises a released histogram")
        if given.get("goal") == "queries":
            what = "The goal queries belongs to the published variant."
            raise ParameterError(what, given="goal = queries", allowed="size, frequent, diverse")
        known = {p.name for p in Histograms.parameters}
        chosen = {name: value for name, value in given.items() if name in known}
        self.histograms = Histograms(neighbours=self.neighbours, **chosen)  # type: ignore[arg-type]
        return dict(self.histograms.settings)

    def _published(self, given: dict[str, Value], goal: str) -> dict[str, Value]:
        """ε and δ are rounded up to 12 digits, and stated so: a tie is not decided by the last digit of a float."""
        from hubbub.mechanisms.optimal.published.problem import rounded_up

        self._refuse(given, tuple(p.name for p in STRICT), "published draws no noise")
        if self.neighbours is not Neighbours.ADD_REMOVE:
            raise ParameterError("The paper adds or removes a user.", given=self.neighbours.value, allowed="add-remove")
        settings: dict[str, Value] = {"seconds": given.get("seconds", 45)}
        if goal == "frequent":
            settings |= {"s": given.get("s", Fraction(1, 500)), "cap": given.get("cap", "no")}
        if goal == "diverse":
            settings["solver"] = given.get("solver", "best")
        for name, its in (("s", "frequent"), ("cap", "frequent"), ("solver", "diverse")):
            if name in given and goal != its:
                raise ParameterError(f"{name} belongs to the goal {its}.", given=f"{name} with goal = {goal}")
        if given.get("frontier"):
            settings["frontier"] = given["frontier"]
        if "noise" in given:
            settings |= {"noise": given["noise"], "difference": given.get("difference", 1)}
            settings["remove"] = given.get("remove", "no")
        elif found := [p.name for p in NOISE if p.name in given]:
            raise ParameterError(
                "This belongs to noise on the optimal counts.", given=", ".join(found), next="add noise=ε′"
            )
        if "target" in given:
            if goal in ("frequent", "queries") or {"epsilon", "delta"} & given.keys() or "noise" in given:
                raise ParameterError(
                    "A target replaces ε and δ, for the goals size and diverse.",
                    given=f"target with goal = {goal}" + (" and ε or δ" if {"epsilon", "delta"} & given.keys() else ""),
                )
            return settings | {"target": given["target"]}
        if not {"epsilon", "delta"} <= given.keys():
            raise ParameterError("optimal needs a privacy budget.", allowed="--epsilon and --delta, or --set target=N")
        epsilon, delta = (rounded_up(Fraction(given[name])) for name in ("epsilon", "delta"))
        return settings | {"epsilon": epsilon, "delta": delta if delta < 1 else given["delta"]}

    def _refuse(self, given: Mapping[str, Value], names: tuple[str, ...], why: str) -> None:
        if found := [name for name in names if name in given]:
            raise ParameterError(f"This is no parameter of {self.variant}: {why}.", given=", ".join(found))

    # ------------------------------------------------------------------ what is stated

    def steps(self) -> tuple[Step, ...]:
        """Strict: the two histograms. Published draws users, not noise."""
        return self.histograms.steps() if self.variant == "strict" else ()

    def bounds(self) -> tuple[Bound, ...]:
        """Strict bounds a user before counting; published bounds nobody."""
        return self.histograms.bounds() if self.variant == "strict" else ()

    def loss(self) -> Loss:
        """Published: nothing is proven, so everything may be lost."""
        return super().loss() if self.variant == "strict" else Loss(math.inf, 1.0, (), 1.0)

    def claimed(self) -> Claim:
        """Theorem 1 and Lemmas 1 to 3 of the paper."""
        if self.variant == "strict":
            return self.histograms.claimed()
        by = f"{self.paper}, Lemmas 1 to 3"
        if "target" in self.settings:
            return Claim(by, None, None, False, "ε and δ follow from the target and the log")
        epsilon, delta = Fraction(self.settings["epsilon"]), float(self.settings["delta"])
        if "noise" in self.settings:
            total = float(epsilon + Fraction(self.settings["noise"]))
            return Claim(f"{self.paper}, section 4.2 and Lemmas 1 to 3", total, delta, False, words.NOISE_FALSE)
        return Claim(by, float(epsilon), delta, False, words.WHY_FALSE)

    def proven(self) -> Guarantee:
        """Strict: from its steps, end to end. Published: nothing."""
        if self.variant == "strict":
            return super().proven()
        scope = words.HELD_FIXED
        return Guarantee(Definition.NONE, None, None, self.neighbours, scope=scope, proof=PROOF, caveats=self.caveats())

    def stops(self) -> tuple[Cause, ...]:
        """The paper's problems may have no solution on a log."""
        return (Cause.SOLVED,) if self.variant == "published" else ()

    def caveats(self) -> tuple[str, ...]:
        """What a reader must know: what is lost (strict), or why it is not private (published)."""
        return words.STRICT_CAVEATS if self.variant == "strict" else words.PUBLISHED_CAVEATS

    def missing(self) -> tuple[str, ...]:
        """Which pairs a reader must not expect."""
        if self.variant == "strict":
            return super().missing()
        return ("log: a pair that one user alone holds never comes out, and most others do not either",)

    def spurious(self) -> str:
        """Strict rows are nobody's."""
        if self.variant == "strict":
            return "every row: users are synthetic, pairs and their shares are from noisy counts"
        return "none: every row is a true click of a real user"

    def post_processing(self) -> tuple[str, ...]:
        """How the log is made from the two noisy histograms."""
        if self.variant == "strict":
            return (f"rows of each pair by the goal {self.settings['goal']}; synthetic users; rows sorted by user",)
        return ("users renumbered at random; rows sorted by user",)

    # ------------------------------------------------------------------ what runs

    def limit(self) -> Limit:
        """The limit B = min{ε, ln 1/(1−δ)} for these parameters."""
        from hubbub.mechanisms.optimal.published.problem import Limit

        return Limit(Fraction(self.settings["epsilon"]), Fraction(self.settings["delta"]))

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """Strict: bounded counts. Published: Algorithm 1, line 1, before anything is spent.

        `text` and `people` answer what is asked once pairs and users have been drawn: how they read.
        """
        if self.variant == "strict":
            counts = self.histograms.measure(log, mode)
            return {**counts, "text": partial(counts["clicks"].text, log.engine, CLICKS)}
        from hubbub.mechanisms.optimal.published.highs import installed
        from hubbub.mechanisms.optimal.published.problem import PAIRS, read, uids
        from hubbub.steps.counts import texts

        installed()  # before the log is read
        problem = self._kept(read(log, mode))
        mode.say(words.seconds_ahead(problem.counts.size, *problem.shape, float(self.settings["seconds"])))
        solved, more = self.optimise(problem, mode.say)
        solution = Solution(problem, solved, more, self._scale)
        return {"log": solution, "text": partial(texts, log.engine, PAIRS, CLICKS), "people": partial(uids, log.engine)}

    @property
    def _scale(self) -> Fraction | None:
        """Lap(d/ε′) of section 4.2, if it is asked for."""
        named = self.settings
        return Fraction(named["difference"]) / Fraction(named["noise"]) if "noise" in named else None

    def _kept(self, problem: Problem) -> Problem:
        """Section 4.2: the problem without the users who move a count by more than d, if that is asked for."""
        from hubbub.mechanisms.optimal.published.end_to_end import kept

        if self.settings.get("remove") != "yes" or not problem.shape[1]:
            return problem
        limit, goal = self.limit(), str(self.settings["goal"])
        each = float(self.settings["seconds"]) / (2 * problem.shape[0])
        d = Fraction(self.settings["difference"])
        return kept(problem, lambda p: self._solve(p, limit, goal, each, quiet).x, d)

    def optimise(self, problem: Problem, say: Say = quiet) -> tuple[Solved, dict[str, object]]:
        """The goal's optimum, and what else was asked for."""
        from hubbub.mechanisms.optimal.published import frontier
        from hubbub.mechanisms.optimal.published.pack import pack

        goal, seconds = str(self.settings["goal"]), float(self.settings["seconds"])
        more: dict[str, object] = {}
        if not problem.shape[1]:
            what = "No pair of this log is held by two users: nothing can come out."
            raise ParameterError(what, given="0 pairs", because=Cause.SOLVED)
        if "target" in self.settings:
            least = frontier.least_loss(problem, goal, int(self.settings["target"]), 0.7 * seconds)
            limit = frontier.limit_of(least.bound)
            more["least_loss"] = least.record()
            say(f"B = {least.bound:.4g} reaches the target; none below {least.none_below:.4g} can, as is proven")
            solved = pack(problem, limit, goal, 0.3 * seconds, say, start=least.x)
        else:
            limit = self.limit()
            solved = self._solve(problem, limit, goal, seconds, say)
        if points := int(self.settings.get("frontier", 0)):
            found = frontier.frontier(problem, limit, points, seconds)
            more["frontier"] = [{"rows": p.rows, "pairs": p.pairs} for p in found]
        say(str(solved.certificate))
        return solved, more

    def _solve(self, problem: Problem, limit: Limit, goal: str, seconds: float, say: Say) -> Solved:
        from hubbub.mechanisms.optimal.published.diverse import most_pairs, most_queries
        from hubbub.mechanisms.optimal.published.size import largest

        if goal == "size":
            return largest(problem, limit, seconds, say)
        if goal == "diverse":
            return most_pairs(problem, limit, seconds, say, spe=self.settings["solver"] == "spe")
        if goal == "queries":
            return most_queries(problem, limit, seconds, say)
        return self._frequent(problem, limit, seconds, say)

    def _frequent(self, problem: Problem, limit: Limit, seconds: float, say: Say) -> Solved:
        """|O| is checked first: the largest output is V(B) = B·V(1), at most users·B."""
        from hubbub.mechanisms.optimal.published.frequent import keep_frequent, no_such_size
        from hubbub.mechanisms.optimal.published.size import optimum

        largest = limit.bound * optimum(problem, seconds / 3).bound
        wanted = int(self.settings.get("O", max(1, math.floor(largest / 2))))
        if wanted > largest:
            raise no_such_size(wanted, math.floor(largest), problem, limit)
        say(f"frequent: |O| = {wanted}, and at most {math.floor(largest)} rows could come out")
        s, cap = Fraction(self.settings["s"]), self.settings["cap"] == "yes"
        return keep_frequent(problem, limit, wanted, s, seconds, say, cap=cap)

    def pairs(self, measured: Mapping[str, Any]) -> Generator[Draw, Any, Tables]:
        """What is drawn, and then the rows, once the text of what was drawn has been asked for."""
        return (yield from (self._synthetic if self.variant == "strict" else self._sampled)(measured))

    def _sampled(self, measured: Mapping[str, Any]) -> Generator[Draw, Any, Tables]:
        """Published: Algorithm 1, line 2."""
        from hubbub.mechanisms.optimal.sample import as_log, sampled

        solution: Solution = measured["log"]
        pairs, users, fresh = yield Draw(solution, sampled)
        rows = as_log(fresh, measured["text"](pairs))
        seen, first = np.unique(users, return_index=True)
        whose = measured["people"](seen).add_column(0, "user", pa.array(fresh[first]).cast(pa.string()))
        return {"log": WrittenLog.by(Rows.of(rows), solution.solved.certificate, whose)}

    def _synthetic(self, measured: Mapping[str, Any]) -> Generator[Draw, Any, Tables]:
        """Strict: noisy histograms; then a function of them and of more randomness."""
        from hubbub.mechanisms.optimal.sample import as_log

        counts = {table: measured[table] for table in self.histograms.tables}
        noisy: Tables = yield Draw(counts, self.histograms.perturb)
        ids, users, certificate = yield Draw(noisy, self._dealt)
        return {"log": WrittenLog.by(Rows.of(as_log(users, measured["text"](ids))), certificate)}

    def _dealt(self, noisy: Tables, noise: NoiseSource) -> tuple[Integers, Integers, Certificate]:
        """The pair and the user of every row, and what the log is worth."""
        from hubbub.mechanisms.optimal.sample import shuffled
        from hubbub.mechanisms.optimal.strict import deal, solve_released, synthetic_users

        pairs = noisy["clicks"]
        order = shuffled(pairs.ids.size, "order of pairs", noise)  # ties must not follow the engine's ids
        ids = pairs.ids[order]
        weights = np.asarray(pairs.values, np.int64)[order]
        activity = synthetic_users(noisy["activity"], int(self.settings["bins"]), noise)
        size = int(self.settings["O"]) if "O" in self.settings else None
        x, certificate = solve_released(str(self.settings["goal"]), weights, int(activity.sum()), size)
        place, users = deal(x, activity, noise)
        return ids[place], users, certificate

    # ------------------------------------------------------------------ for the owner

    def certificate(self, counts: Mapping[str, Any], tables: Tables) -> dict[str, object] | None:
        """Objective, upper bound and gap; for published also how many real users to expect in the output."""
        from hubbub.mechanisms.optimal.sample import expected_users

        written = tables["log"]
        found = written.certificate.record() if isinstance(written, WrittenLog) else {}
        if self.variant == "published":
            held: Solution = counts["log"]
            if held.scale is not None:
                found["noise"] = (
                    f"the counts that came out have noise of scale {held.scale}: users' limits may be broken"
                )
            found |= {"expected_real_users": expected_users(held.problem, held.solved.x)} | dict(held.more)
        return found

    def whose(self, tables: Tables) -> pa.Table | None:
        """Published: the number of every real user in the output, and who that is."""
        written = tables["log"]
        return written.whose if isinstance(written, WrittenLog) else None

    def owner_notes(self, counts: Mapping[str, Any]) -> tuple[str, ...]:
        """How many real users to expect in the output; for the owner alone."""
        if self.variant == "strict":
            return ()
        from hubbub.mechanisms.optimal.sample import expected_users

        held: Solution = counts["log"]
        expected = expected_users(held.problem, held.solved.x)
        noise = "" if held.scale is None else ", before the noise on the numbers of rows"
        return (f"true clicks of about {expected:.0f} of {held.problem.shape[0]} real users are in this log{noise}",)
