"""series: one guarantee for a whole year of releases. Queries that are asked steadily come out after some periods.

    constants   (ε, δ) → noise, thresholds, what a user may spend       rounds     one round, on arrays
    counts      users to date and in a period: noise and prices         calendar   periods and their labels
    tables      queries and what hangs on them: parts of the budget

What runs it, with the log, the state between periods and the folders, is the room `series`. Theory and integer form:
docs/proofs/series.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hubbub.errors import OurBug, ParameterError, Refused
from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Mechanism, Parameter, Value
from hubbub.mechanisms.series.calendar import ALLOWED, SeriesCalendar
from hubbub.mechanisms.series.constants import FOREVER
from hubbub.mechanisms.series.counts import SHOWN
from hubbub.mechanisms.series.tables import LIMITS, LISTED_FALSE, TABLE, TABLES, refuse_tables, table_constants, used
from hubbub.noise.laws import Law
from hubbub.privacy.existence import Cause
from hubbub.privacy.gaussian import GaussianStep, Test, certify, mu2_of
from hubbub.privacy.guarantee import Claim, Neighbours

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.public.lists import QueryPool
    from hubbub.steps.mode import RunMode

PROOF = "docs/proofs/series.md"
GREED = {"even": Fraction(1), "front": Fraction(2)}
"""How much faster than evenly a user's budget is spent."""
KNOWN, OTHER = "known", "other"
"""Ids of a log: a share of them had to be known, or the owner stated that these are other people."""


@dataclass(frozen=True)
class Worded(Parameter):
    """A parameter that is text, checked where it is used."""

    def parse(self, given: object) -> Value:
        """As it stands."""
        return str(given)

    @property
    def range(self) -> str:
        """What is allowed, in words."""
        return "text"


class Series(Mechanism):
    """A selection whose rounds go on from period to period; its counts; one budget for each user in all of them."""

    name = "series"
    paper = "hubbub"
    about = "periods under one guarantee: queries come out when a user's one budget for all periods allows"
    offers = {table: kind.released for table, kind in TABLES.items()}  # noqa: RUF012
    default_tables = (TABLE,)
    variants = ("strict",)
    takes_lists = True
    in_studio = False
    proof = PROOF
    parameters = (
        EPSILON,
        DELTA,
        Parameter("periods", "integer", "planned periods: they set the pace", low=1, high=400),
        Parameter("longest", "integer", "periods that the series may have at most (periods)", low=1, high=400),
        *LIMITS,
        LISTED_FALSE,
        Worded("schedule", "text", "even, front, or a whole weight for each period such as 1,1,3", "even"),
        Parameter(
            "counts",
            "number",
            "share of the noise budget for numbers beside the keys",
            Fraction(3, 10),
            low=0,
            high=Fraction(9, 10),
        ),
        Worded("first", "text", "the first day of the first period"),
        Worded("length", "text", f"the length of a period: {ALLOWED}", "month"),
        Parameter("run", "integer", "which run of the series this is", 1, low=1, high=400),
        Parameter("number", "integer", "which period of the calendar it is", 1, low=1, high=100_000),
        Parameter("since", "integer", "the first period it read: before `number` after a skip", low=1, high=100_000),
        Parameter("ids", "choice", "whether ids had to be known from earlier periods", KNOWN, choices=(KNOWN, OTHER)),
    )

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """Every constant of the whole series, whichever run this is."""
        if self.neighbours is not Neighbours.ADD_REMOVE:
            raise ParameterError("series is proven for add-remove only.", given="replace", allowed="add-remove")
        if self.serp is not None:
            raise ParameterError("series takes no result list.", given="--serp")
        missing = [name for name in ("epsilon", "delta", "periods", "first") if name not in given]
        if missing:
            raise ParameterError("A series is not fixed yet.", given="no " + ", ".join(missing), next="set all of them")
        settings = {p.name: p.default for p in self.parameters if p.default is not None} | given
        settings.setdefault("longest", settings["periods"])
        settings.setdefault("since", settings["number"])
        periods, longest = int(settings["periods"]), int(settings["longest"])
        if longest < periods:
            raise ParameterError(
                "The longest extension is shorter than the plan.", given=longest, allowed=f"{periods} or more"
            )
        if int(settings["since"]) > int(settings["number"]):
            raise ParameterError(
                "A run reads no later period.", given=settings["since"], allowed=f"up to {settings['number']}"
            )
        if int(settings["run"]) > longest:
            raise ParameterError("The series has no such run.", given=settings["run"], allowed=f"1 to {longest}")
        self.calendar = calendar_of(str(settings["first"]), str(settings["length"]))
        weights, greed = _schedule(str(settings["schedule"]), periods)
        refuse_tables(self.tables, settings)
        if len(self.public_lists) + (self.previous is not None) > 1:
            raise ParameterError("A series takes one list of known queries.", given="several", next="join them")
        optional = {p.name for p in (*LIMITS, LISTED_FALSE)}
        idle = optional - used(self.tables) - ({LISTED_FALSE.name} if self.known_queries else set())
        if idle & given.keys():
            raise ParameterError(
                "Nothing that is released depends on this parameter.",
                given=", ".join(sorted(idle & given.keys())) + " with --tables " + ",".join(self.tables),
            )
        listed = 0 if self.known_queries is None else self.known_queries.size
        self.table_constants, self.table_counts = table_constants(self.tables, settings, weights, greed, listed)
        self.constants, self.counts = self.table_constants[TABLE], self.table_counts.get(TABLE)
        if certify(self._steps(), float(Fraction(settings["epsilon"]))) > float(Fraction(settings["delta"])):
            raise OurBug("the constants of a series do not meet δ")
        return {name: settings[name] for name in (p.name for p in self.parameters) if name not in idle}

    @property
    def known_queries(self) -> QueryPool | None:
        """The list of queries that anybody may know beforehand."""
        return next(iter(self.public_lists), None) if self.previous is None else self.previous

    def derived(self) -> dict[str, object]:
        """What this code makes of the parameters, the same for every run: some numbers, and a hash of all of them."""
        by_table: dict[str, dict[str, object]] = {}
        for part in (self.table_constants, self.table_counts):
            for table, numbers in part.items():
                by_table[table] = by_table.get(table, {}) | numbers.everything()
        everything = by_table.pop(TABLE) | by_table
        told = json.dumps(everything, sort_keys=True).encode()
        plain = {name: value for name, value in everything.items() if isinstance(value, int)}
        return plain | {"sha256": hashlib.sha256(told).hexdigest()}

    @property
    def needs_times(self) -> bool:
        """No: a row without a time lies in no period, and is not read."""
        return False

    @property
    def run(self) -> int:
        """Which run this is, from 0."""
        return int(self.settings["run"]) - 1

    @property
    def label(self) -> str:
        """The period that this run is of."""
        return self.calendar.label(int(self.settings["number"]) - 1)

    @property
    def inside(self) -> str:
        """The periods whose records this run reads: its own, and those before it that were skipped."""
        since, number = (int(self.settings[name]) - 1 for name in ("since", "number"))
        if since == number:
            return f"the period {self.label}"
        return f"the periods {self.calendar.label(since)} to {self.label}, of which earlier ones were skipped"

    def at(self, run: int, number: int, since: int | None = None, *, other_ids: bool = False) -> Series:
        """The same series at another run and period, each from 0; what it read, and whether ids had to be known."""
        read = {"since": (number if since is None else since) + 1, "ids": OTHER if other_ids else KNOWN}
        return self.remade(dict(self.settings) | {"run": run + 1, "number": number + 1} | read)

    def steps(self) -> tuple[GaussianStep, ...]:
        """All noise of the series, whichever run this is: one clock of μ², and the tests of every period."""
        return self._steps()

    def _steps(self) -> tuple[GaussianStep, ...]:
        found: list[GaussianStep] = []
        for table, plan in self.table_constants.items():
            found.append(GaussianStep(f"{_of(table)}selection, all periods", (plan.mu2,), PROOF))
            found += self._tests(table)
        for table, counts in self.table_counts.items():
            of = _of(table)
            found += [
                GaussianStep(f"{of}users to date", (mu2_of(counts.budget, counts.to_date_variance),), PROOF),
                GaussianStep(f"{of}users in a period", (mu2_of(counts.entries, counts.in_period_variance),), PROOF),
            ]
        return tuple(found)

    def _tests(self, table: str) -> list[GaussianStep]:
        """The tests of a table, run by run."""
        plan, found = self.table_constants[table], []
        for t in range(plan.longest):
            masses = [plan.window_mass(t, w, len(plan.multiples(t))) for w in plan.windows(t)]
            tests = tuple(Test(plan.mean(t, m), m * plan.variance, plan.threshold(t, m)) for m in masses)
            name, entries = f"{_of(table)}tests of run {t + 1}", plan.limit * (t + 1)
            found.append(GaussianStep(name, (Fraction(0),), PROOF, tests, entries))
        return found

    def laws(self) -> tuple[Law, ...]:
        """The law of every draw."""
        drawn = []
        for table, plan in self.table_constants.items():
            multiples = sorted({m for t in range(plan.periods) for m in plan.multiples(t)})
            drawn += [Law(f"{table} selection, multiple {m}", "variance", m * plan.variance) for m in multiples]
        for table, counts in self.table_counts.items():
            drawn.append(Law(f"{table}: users to date", "variance", counts.to_date_variance))
            drawn.append(Law(f"{table}: users in a period", "variance", counts.in_period_variance))
        return tuple(drawn)

    def bounds(self) -> tuple[Bound, ...]:
        """What one user may do in the whole series."""
        found, filtered = [], "her own filter; further ones are not counted"
        for table, plan in self.table_constants.items():
            found += [
                Bound(f"new {table} of a user in a period's selection", "l0", plan.limit, "sample by a secret hash"),
                Bound(
                    f"a user's weights in all rounds of {table} of all periods",
                    "l2",
                    1,
                    "her own filter: she adds no more once it is used up",
                ),
            ]
        for table, counts in self.table_counts.items():
            found += [
                Bound(f"({table}, user) pairs of a user in users to date", "l2", counts.pairs, filtered),
                Bound(f"({table}, period) entries of a user in users in a period", "l2", counts.entries, filtered),
            ]
        return tuple(found)

    def claimed(self) -> Claim:
        """There is no paper: what is claimed is what is proven."""
        loss = self.loss()
        return Claim("hubbub", loss.epsilon, loss.delta, holds=True, why="hubbub's own mechanism: no paper claims it")

    def thresholds(self) -> dict[str, int]:
        """Of the longest window after this run, in whole users who spend all they have on one key, rounded up."""
        t, found = self.run, {}
        for table, plan in self.table_constants.items():
            mass = plan.window_mass(t, FOREVER, len(plan.multiples(t)))
            found[table] = -(-plan.threshold(t, mass) // plan.mean(t, mass))
        return found

    def missing(self) -> tuple[str, ...]:
        """Weights, not counts, pass the thresholds."""
        listed = [] if self.known_queries is None else ["queries of the list named on this card come out sooner"]
        return (
            *(
                f"{table}: a key comes out once its noisy weight over one of several windows of periods reaches a "
                f"threshold: after this run that of {users} users who hold nothing else, fewer the longer it is asked"
                for table, users in self.thresholds().items()
            ),
            *listed,
        )

    def intervals(self) -> dict[str, str]:
        """Of both numbers."""
        shown = "value +/- 1.96 noise_sd (95 % of the noise; users whose filter was used up come on top)"
        return {table: shown if table in self.table_counts else "no counts are published" for table in self.tables}

    def values(self) -> str:
        """What the numbers count."""
        return (
            "`users` counts each user once, in the first period in which the key was out and she had held it; "
            f"`users_in_period` those of {self.inside}; without noise both are at most the exact number, and late in a "
            f"series below it; a number below {SHOWN} of its noise_sd is left out"
        )

    def stops(self) -> tuple[Cause, ...]:
        """A log whose ids are not those of earlier periods is refused, unless its owner says that they are others."""
        return (Cause.IDS,) if self.run and self.settings["ids"] == KNOWN else ()

    def caveats(self) -> tuple[str, ...]:
        """One guarantee for all periods, and what has been used of it."""
        plan, t = self.constants, self.run
        spent = float(plan.spent(t))
        tested = sum(s.keys * s.per_key for table in self.table_constants for s in self._tests(table)[: t + 1])
        of = "the selection" if len(self.table_constants) == 1 else "each selection"
        return (
            f"This is one guarantee for all periods of the series together, planned {plan.periods} and at most "
            f"{plan.longest}: every period's release, this one and those to come, is part of the one output that it "
            "speaks of.",
            f"Used so far, after run {t + 1} ({self.label}): at most {100 * spent:.3g} % of what one user may add to "
            f"{of}, and {tested:.2g} of δ for thresholds. The rest is reserved for later periods.",
            "It rests on user ids that stay the same over all periods: a person whose id changes counts as two.",
            *self._about_the_list(),
        )

    def _about_the_list(self) -> tuple[str, ...]:
        if self.previous is not None:
            return (
                f"Queries of an earlier release ({self.previous.name}) were used as known: a user who is in both has "
                "spent both budgets, and the ledger adds them up.",
            )
        return ("The public list must not have been learned from these logs.",) if self.public_lists else ()

    def spurious(self) -> str:
        """Only keys of pools are released, and listed queries, which noise alone may release."""
        held = "every released key was held by at least one user"
        if self.known_queries is None:
            return f"none: {held}"
        false = float(Fraction(self.settings["F_list"]))
        return f"queries: at most {false:g} listed ones of nobody are expected, in all periods; otherwise none: {held}"

    def post_processing(self) -> tuple[str, ...]:
        """What happens to noisy numbers."""
        return (
            "users to date: a linear combination of the noisy measurements of a key, in floating point, rounded",
            f"a number below {SHOWN} of its noise_sd is left out",
            *super().post_processing(),
        )

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """A series is not one release."""
        raise Refused(
            "A series is run period by period.", next="hubbub series plan DIR, then hubbub series add DIR LOG"
        )


def _of(table: str) -> str:
    """How the steps of a table begin; those of the queries have no word of their own."""
    return "" if table == TABLE else f"{table}: "


def calendar_of(first: str, length: str) -> SeriesCalendar:
    """The periods of this length from a day on; refused where there are none."""
    return SeriesCalendar(_day(first), length).checked()


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ParameterError(
            "The first day of a series is not a day.", given=text, allowed="such as 2026-01-01"
        ) from None


def _schedule(text: str, periods: int) -> tuple[tuple[int, ...], Fraction]:
    """The weights of the periods, and the greed."""
    if text in GREED:
        return (1,) * periods, GREED[text]
    weights = tuple(int(part) if part.strip().isdecimal() else 0 for part in text.split(","))
    if len(weights) != periods or not all(1 <= weight <= 100 for weight in weights):
        raise ParameterError(
            "The schedule cannot be read.", given=text, allowed=f"even, front, or {periods} whole weights from 1 to 100"
        )
    return weights, GREED["even"]


def settings_text(series: Series) -> Mapping[str, str]:
    """The parameters of a series as text that makes it again."""
    return {name: str(value) for name, value in series.settings.items()}
