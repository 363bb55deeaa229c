"""crowd: hubbub's own mechanism. The most a log can give, with counts, from one budget.

    stages      which tables, which share of the budget          calibrate   (ε, δ) → noise and thresholds
    rounds      selection in rounds, beside this folder          chain       what follows from released queries
    recount     released keys counted again, users scaled        combine     both estimates of a count, weighed
    known       queries that anybody knows beforehand             stated      what the owner states, and what follows
    histograms  how busy users are, and when                     synthetic   a log of users that never were (walks)
    items       one vote each, where users hold few items        groups      tables by country, device, hour
    said        what a card says of it besides its numbers

Theory and integer form: docs/proofs/crowd.md.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hubbub.errors import ParameterError
from hubbub.mechanisms import measured
from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Mechanism, Parameter, Released, Rows, Tables, Value
from hubbub.mechanisms.crowd import calibrate, histograms, stages
from hubbub.mechanisms.crowd import known as of_known
from hubbub.mechanisms.crowd.cells import GroupSizes
from hubbub.mechanisms.crowd.chain import Chain, CodedDomain, count, select_known, sessions, text_of
from hubbub.mechanisms.crowd.common import noise_in_common
from hubbub.mechanisms.crowd.groups import by_group
from hubbub.mechanisms.crowd.hierarchy import ONE_GROUP
from hubbub.mechanisms.crowd.known import FALSE_KEYS, KNOWN_FALSE, KNOWN_WORDS, LANGUAGE, LISTED, URLS, of_these
from hubbub.mechanisms.crowd.said import bounds, processed
from hubbub.mechanisms.crowd.stated import STATED, ByStatement, defaults, reasons
from hubbub.mechanisms.crowd.synthetic import synthesise
from hubbub.mechanisms.crowd.walks import Public
from hubbub.mechanisms.pairs import Draw
from hubbub.mechanisms.rounds import Selection
from hubbub.mechanisms.survival import RoundsTest
from hubbub.noise.laws import Law
from hubbub.privacy.gaussian import GaussianStep
from hubbub.privacy.guarantee import Claim, Neighbours
from hubbub.public.prior import Prior
from hubbub.public.words import NONE, vocabulary
from hubbub.steps.chosen import LONGEST, SESSIONS
from hubbub.steps.counts import Integers
from hubbub.steps.keys import CLICKS, KEYWORDS, LOG, QUERIES, TRANSITIONS
from hubbub.steps.pools import fixed
from hubbub.steps.profile import profile
from hubbub.steps.sessions import require_times

if TYPE_CHECKING:
    from hubbub.log import Period, SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.public.lists import QueryPool
    from hubbub.steps.mode import RunMode

PROOF = "docs/proofs/crowd.md"
TYPICAL = 5
"""On made-up logs a key had an even chance near that of users with so many in the running, or sooner (measured)."""


NOT_USERS = (
    "log.parquet is a randomised function of the noised tables and histograms listed in the steps. Its users are not "
    "users: no statement about a single row, or about one synthetic user's mixture of interests, is supported. What "
    "was too rare to be released is not in it, so it over-represents the head; how often users repeat themselves is "
    "modelled, not measured. Its times lie in the stated period, or in 52 weeks from 1970-01-05 if none is stated."
)


class Crowd(ByStatement, Mechanism, register=True):
    """Selection in rounds, then counts of what was selected; then the same for what hangs on it."""

    name = "crowd"
    paper = "hubbub"
    about = "the most a log can give, with counts: queries, clicks, transitions, sessions, keywords from one (ε, δ)"
    offers = {  # noqa: RUF012
        "queries": QUERIES,
        "clicks": CLICKS,
        "transitions": TRANSITIONS,
        "sessions": SESSIONS,
        "keywords": KEYWORDS,
        "log": LOG,
    }
    default_tables = ("queries", "clicks", "transitions", "sessions", "keywords")
    variants = ("strict",)
    takes_lists = True
    divides = ("queries", "clicks")
    proof = PROOF
    parameters = (
        EPSILON,
        DELTA,
        Parameter("rounds", "integer", "rounds of each selection", 5, low=1, high=32),
        *stages.LIMITS,
        *stages.WEIGHTS,
        *stages.PARTS,
        FALSE_KEYS,
        LANGUAGE,
        KNOWN_WORDS,
        KNOWN_FALSE,
        URLS,
        ONE_GROUP,
        *STATED,
    )

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        """Calibrate every stage from ε and δ; everything else has a default."""
        if self.neighbours is not Neighbours.ADD_REMOVE:
            raise ParameterError("crowd is proven for add-remove only.", given="replace", allowed="add-remove")
        if self.tables == ("clicks",) and self.listed:
            raise ParameterError("A list of queries helps the queries, and none are selected.", given="clicks alone")
        if self.serp is not None:
            raise ParameterError("crowd takes no result list.", given="--serp")
        missing = [name for name in ("epsilon", "delta") if name not in given]
        if missing:
            raise ParameterError("crowd needs a privacy budget.", given="no " + ", ".join(missing), next="set both")
        by_default = {p.name: p.default for p in self.parameters if p.default is not None}
        all_settings = by_default | defaults(given) | given
        if "keywords" in self.tables and Fraction(all_settings["queries_weight"]) <= Fraction(
            all_settings["keywords_weight"]
        ):
            raise ParameterError(
                "Keywords take their weight from that of the queries.",
                given=f"keywords_weight = {all_settings['keywords_weight']}",
                allowed=f"below queries_weight = {all_settings['queries_weight']}",
            )
        plans = stages.plans(self.tables, all_settings)
        used = stages.used(self.tables) | {p.name for p in STATED} & given.keys()
        used |= of_known.used(stages.running(self.tables), all_settings, listed=bool(self.listed))
        unused = [name for name in given if name not in used]
        if unused:
            raise ParameterError(
                "Nothing that is released depends on this parameter.",
                given=", ".join(unused) + " with --tables " + ",".join(self.tables),
            )
        self.stages = calibrate.calibrate(
            plans, Fraction(given["epsilon"]), Fraction(given["delta"]), int(all_settings["rounds"]), PROOF
        )
        self.histograms = histograms.histograms(self.stages)
        self.prior = self._prior(str(all_settings["language"]), known=all_settings["known_words"] == "yes")
        return {name: value for name, value in all_settings.items() if name in used}

    def _prior(self, language: str, *, known: bool) -> Prior | None:
        """What is known of queries: it says something from the second round on."""
        if self.stage.name != "queries" or len(self.selection.multiples) == 1:
            if self.own_prior is not None:
                given = f"--prior with --tables {','.join(self.tables)}, rounds = {len(self.selection.multiples)}"
                allowed = "tables that need queries, two rounds or more"
                raise ParameterError("Nothing that is released depends on the prior.", given=given, allowed=allowed)
            return None
        if language == NONE:
            return None if self.own_prior is None else Prior(None, self.own_prior)
        return Prior(self.vocabulary or vocabulary(language), self.own_prior, known=known)

    @property
    def stage(self) -> calibrate.Stage:
        """The first stage, the one that learns its keys before any noise."""
        return self.stages[0]

    @property
    def selection(self) -> Selection:
        """The integers of the first selection."""
        return self.stage.rounds

    @property
    def selections(self) -> dict[str, Selection]:
        """The integers of the selection of every stage that selects."""
        return {stage.name: stage.selection for stage in self.stages if stage.selection is not None}

    def steps(self) -> tuple[GaussianStep, ...]:
        """Every stage as the accountant sees it, with all its draws."""
        return tuple(s for i, stage in enumerate(self.stages) for s in stage.steps(PROOF, tightened=i == 0))

    def laws(self) -> tuple[Law, ...]:
        """The law of every draw of every stage; counts are drawn for the longest vector that a user may have."""
        drawn = [law for s in self.stages if s.selection is not None for law in s.selection.laws(s.name)]
        counted = [(s.name, s.recount) for s in self.stages if s.recount is not None]
        drawn += [Law(f"{name} recount", "variance", recount.widest()) for name, recount in counted]
        drawn += [Law(f"{name} kept total", "variance", recount.kept_variance) for name, recount in counted]
        drawn += [Law(sizes.name, "variance", sizes.variance) for sizes in map(self._sizes, self.divided)]
        return (*drawn, *(Law(h.name, "variance", h.variance) for h in histograms.histograms(self.stages)))

    def _sizes(self, table: str) -> GroupSizes:
        """The draw that says how large the groups of a table are."""
        name = stages.sizes_of(table)
        return GroupSizes.of(name, next(s.histogram for s in self.stages if s.name == name and s.histogram is not None))

    def bounds(self) -> tuple[Bound, ...]:
        """One user's share of every selection and of the counts."""
        return bounds(self.stages)

    def claimed(self) -> Claim:
        """There is no paper: what is claimed is what is proven."""
        loss = self.loss()
        return Claim("hubbub", loss.epsilon, loss.delta, holds=True, why="hubbub's own mechanism: no paper claims it")

    def _open(self) -> list[calibrate.Stage]:
        """The stages that learn their keys from the log."""
        return [stage for stage in self.stages if stage.selection is not None and stage.selection.thresholds]

    def thresholds(self) -> dict[str, int]:
        """The last round's threshold in whole users who hold nothing else, rounded up."""
        return {stage.name: -int(-stage.rounds.users(-1) // 1) for stage in self._open()}

    def missing(self) -> tuple[str, ...]:
        """Weights, not counts, pass the threshold: users who hold many keys count less."""
        open_stages = [RoundsTest(stage.rounds).words(stage.name, TYPICAL) for stage in self._open()]
        if self.listed:
            open_stages.append("queries of the lists named on this card are released at lower weights")
        rest = [t for t in ("transitions", "sessions", *self.divided) if t in self.tables]
        return (*open_stages, *(f"{t}: the level depends on how many keys of its kind could be released" for t in rest))

    def survival(self) -> dict[str, RoundsTest]:
        """Of every stage that selects."""
        false = Fraction(self.settings.get("F", 0))
        selecting = ((stage, stage.selection) for stage in self.stages)
        return {stage.name: RoundsTest(plan, stage.recount, false=false) for stage, plan in selecting if plan}

    noise_in_common = staticmethod(noise_in_common)

    def intervals(self) -> dict[str, str]:
        """By table: what was measured, for rows have noise in common and a model behind them."""
        seen = {table: covered.sentence() for table, covered in measured.CROWD.items()}
        seen |= dict.fromkeys(self.divided, measured.BY_GROUP.sentence())
        few = "was not measured: there were too few rows"
        counted = [table for table in self.tables if not self.offers[table].rows]
        return {table: f"{measured.HALF_WIDTH} {seen.get(table, few)}" for table in counted}

    def values(self) -> str:
        """Users are scaled down, not cut, and the counts raised again."""
        low, high = measured.TOTALS
        return (
            "a value estimates how many users hold the key: what limiting busy users takes is made up for on average, "
            f"not key by key (totals of a table were {low:g} to {high:g} of the exact ones on made-up logs)"
        )

    def chosen(self) -> tuple[str, ...]:
        """By the rule of `stated`."""
        return reasons(self.settings)

    def nobodys(self) -> dict[str, float]:
        """Of the tables whose keys are known beforehand, all or some."""
        found = {}
        if self.listed or (self.prior is not None and self.prior.known):
            found["queries"] = of_known.expected(self.listed, self.prior, self._false, self.selection)
        selections = {"transitions": 1, "sessions": len(stages.SEQUENCES), "clicks": int("urls" in self.settings)}
        selections |= dict.fromkeys(self.divided, 1)
        found |= {table: n * float(Fraction(self.settings.get("F", 0))) for table, n in selections.items() if n}
        return {table: n for table, n in found.items() if table in self.tables}

    def spurious(self) -> str:
        """Before the tables are made."""
        return self.spurious_among({})

    def spurious_among(self, rows: Mapping[str, int]) -> str:
        """Open stages test keys of pools only; known keys are tested whether or not anybody holds them."""
        expected = self.nobodys()
        said = [of_these(n, rows.get(table), table) for table, n in expected.items() if rows.get(table) != 0]
        if "log" in self.tables:
            said.append("log: every row, its users are made up")
        none = "every released key was held by at least one user"
        return "; ".join([*said, f"otherwise none: {none}"]) if said else f"none: {none}"

    def post_processing(self) -> tuple[str, ...]:
        """Everything that happens to released numbers."""
        return (
            *processed(self.stages, self.tables, one_group="one_group" in self.settings),
            *super().post_processing(),
        )

    @property
    def listed(self) -> tuple[QueryPool, ...]:
        """The public lists of queries that were given, each with where it came from."""
        return (*self.public_lists, *(() if self.previous is None else (self.previous,)))

    @property
    def _false(self) -> Fraction:
        """Queries of nobody to expect at most."""
        return Fraction(self.settings.get("F_known", 0))

    def public_records(self) -> list[dict[str, str]]:
        """The lists it was given, and what it knows of words."""
        return super().public_records() + ([] if self.prior is None else self.prior.records())

    def _domains(self) -> list[tuple[CodedDomain, Fraction]]:
        """Queries that are tested whether or not anybody holds them, each once, and how many of nobody are expected."""
        return of_known.domains(self.listed, self.prior, self._false)

    @property
    def needs_times(self) -> bool:
        """Where transitions are looked for, be it on the way to sessions or to a synthetic log."""
        return self.by_time or any(stage.name == "transitions" for stage in self.stages)

    def caveats(self) -> tuple[str, ...]:
        """What the guarantee rests on besides the noise."""
        notes = []
        if self.prior is not None and self.prior.vocabulary is not None:
            notes.append(
                "Weights of queries follow public words and their forms, never this log; they were read off the "
                "published shares of a web search log of 2006, and are no prior for that log itself."
            )
        if self.own_prior is not None:
            notes.append("The owner's weights of queries must not have been learned from this log.")
        if self.public_lists:
            lists = "The public list" if len(self.public_lists) == 1 else "The public lists, each of them,"
            notes.append(f"{lists} must not have been learned from this log.")
        if self.previous is not None:
            notes.append(
                f"Queries of an earlier release ({self.previous.name}) were used as known: a user who is in both has "
                "spent both budgets, and the ledger adds them up."
            )
        if "log" in self.tables:
            notes.append(NOT_USERS)
        return tuple(notes)

    def measure(self, log: SearchLog, mode: RunMode) -> dict[str, Any]:
        """Pools of the first stage, fixed and kept before the first noise; later ones wait for what it releases."""
        first, limit = self.stage.name, self.selection.limit
        if self.needs_times:
            require_times(log)  # here, or a log without times would end a run that has drawn noise
        for grouping in self.by:
            grouping.ready(log)
        if self.listed:
            log.engine.register(LISTED, of_known.table_of(self.listed))
        ahead = LISTED if self.listed else None
        pools = fixed(log, self.offers[first], limit, self.selection.bits, mode, ahead, self.prior)
        found: dict[str, Any] = {first: pools}
        if self.histograms:
            found["log"] = profile(log, {h.name: h.bits for h in self.histograms})
        return found

    def pairs(self, measured: Mapping[str, Any]) -> Generator[Draw, Any, Tables]:
        """Select, count again, combine; then the stages that follow from it, where there is a log to ask."""
        first, pools = self.stage, measured[self.stage.name]
        found = yield from select_known(pools, first, *self._domains())
        released = {first.name: (yield from count(pools, first, found, few=True))}
        onward = pools.onward()
        if len(self.stages) > 1 and onward is not None:
            log, mode = onward
            text = pools.text(log.engine, self.offers[first.name], found.ids)
            released[first.name] = replace(released[first.name], text=text)
            yield from self._follow(Chain(log, mode), released)
            if "log" in self.tables:
                noisy = yield Draw(measured["log"], partial(histograms.draw, self.histograms))
                released["log"] = yield Draw(self._public(released, noisy, log.period), made_up)
        return {table: released[table] for table in self.tables if table in released}

    def _follow(self, chain: Chain, released: dict[str, Released]) -> Generator[Draw, Any, None]:
        """Every later stage, in the order of the budget; none is skipped because of what another released."""
        queries, false = released["queries"], Fraction(self.settings.get("F", 1))
        chain.choose(queries)
        levels: list[Released] = []
        for stage in self.stages[1:]:
            if stage.name == "clicks":
                begins, asked = self.settings.get("urls"), text_of(queries).column("query")
                own = [] if begins is None else [(of_known.own_domains(asked, str(begins)), false)]
                released["clicks"] = yield from chain.clicks(stage, queries, *own)
            elif stage.name == "transitions":
                longest = LONGEST if any(s.name in stages.SEQUENCES for s in self.stages) else 2
                released["transitions"] = yield from chain.transitions(stage, queries, false, longest=longest)
            elif stage.name in stages.SEQUENCES:
                shorter = levels[-1] if levels else released["transitions"]
                levels.append((yield from chain.sequences(stage, stages.SEQUENCES[stage.name], shorter, false)))
            elif stage.name == "keywords":
                released["keywords"] = yield from chain.keywords(stage, queries)
            elif stage.name in self.divided:
                base, grouping = self.divided[stage.name]
                keys = self.offers[base]
                once = "one_group" in self.settings and bool(grouping.column)
                drawn = stage, self._sizes(stage.name)
                cells = by_group(chain, *drawn, keys, grouping, released[base], false, one_group=once)
                released[stage.name] = yield from cells
        if levels:
            released["sessions"] = sessions(levels)

    def _public(self, released: Mapping[str, Released], noisy: Mapping[str, Integers], period: Period | None) -> Public:
        """All that the synthetic log is made of: texts and counts of released keys, noisy bins, the stated period."""
        tables = {}
        for name in ("queries", "clicks", "transitions", "sessions"):
            table = released[name]
            users = pa.nulls(table.ids.size, pa.int64()) if table.values is None else pa.array(table.values)
            tables[name] = text_of(table).append_column("users", users)
        sds = {h.name: h.variance**0.5 for h in self.histograms}
        return Public(**tables, histograms=noisy, noise_sd=sds, period=period)


def made_up(public: Public, noise: NoiseSource) -> Rows:
    """A synthetic log: a function of what was released and of a random seed."""
    return Rows.of(synthesise(public, noise.secret("synthetic log")))
