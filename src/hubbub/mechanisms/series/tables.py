"""The tables of a series: what their keys are, their part of the budget, and what one user may bring to each.

Queries come first: they are selected by rounds over all periods. Clicks and transitions are selected in the same way,
by rounds, filters and tests of their own; a pair takes part from the run on in which its queries are out. Keywords are
the words of queries that are out: nothing is selected, they are counted. docs/proofs/series.md, section 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from hubbub.errors import ParameterError
from hubbub.mechanisms.base import Parameter, Value
from hubbub.mechanisms.series.constants import SeriesConstants, selection_constants
from hubbub.mechanisms.series.counts import PAIRS, CountConstants
from hubbub.steps.keys import CLICKS, KEYWORDS, QUERIES, TRANSITIONS, Keys

TABLE = "queries"
BESIDE = ("period", "users_in_period", "noise_sd_in_period")
SMALL = Fraction(1, 10**6)
TO_DATE, IN_PERIOD = Fraction(2, 3), Fraction(1, 3)
"""Parts of what a table has for its numbers."""


@dataclass(frozen=True)
class SeriesTable:
    """One table: its keys, its weight in the budget, and how much of one user counts in it."""

    keys: Keys
    weight: int
    """Its part of μ² and of what δ has for tests, by the weights of the tables that are asked for."""
    pairs: int
    """(key, user) pairs of a user in users to date, if all are counted in the first run."""
    limit: str | None
    """The parameter that says how many new keys of a user take part in a run; None where nothing is selected."""
    made_of: tuple[str, ...] = ()
    """Columns of the key that are queries, all of which must be out before it takes part."""

    @property
    def released(self) -> Keys:
        """Its keys with the columns of a released table."""
        return replace(self.keys, beside=BESIDE)


TABLES = {
    TABLE: SeriesTable(QUERIES, 45, PAIRS, "D"),
    "clicks": SeriesTable(CLICKS, 30, PAIRS, "D_c", ("query",)),
    "transitions": SeriesTable(TRANSITIONS, 20, PAIRS // 2, "D_t", ("query", "next_query")),
    "keywords": SeriesTable(KEYWORDS, 5, 2 * PAIRS, None),
}
LIMITS = (
    Parameter("D", "integer", "queries that enter a user's pool in a period", 40, low=1, high=1000),
    Parameter("D_c", "integer", "clicks that enter a user's pool in a period", 20, low=1, high=1000),
    Parameter("D_t", "integer", "transitions that enter a user's pool in a period", 20, low=1, high=1000),
)

LISTED_FALSE = Parameter(
    "F_list", "number", "listed queries of nobody to expect at most, in all periods", 1, low=SMALL, high=100_000
)


def refuse_tables(tables: tuple[str, ...], settings: Mapping[str, Value]) -> None:
    """Refuse tables that cannot stand, and parameters on which none depends."""
    if TABLE not in tables:
        raise ParameterError(
            "Every table of a series rests on its queries.", given=",".join(tables), next=f"name {TABLE}, too"
        )
    if "keywords" in tables and not Fraction(settings["counts"]):
        raise ParameterError("Keywords are nothing but numbers.", given="counts = 0", next="leave one of both out")


def used(tables: tuple[str, ...]) -> set[str]:
    """The limits on which something depends when these tables are asked for."""
    return {limit for table in tables if (limit := TABLES[table].limit) is not None}


def shares(tables: tuple[str, ...]) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """By table: its part of μ², and, where it selects, its part of what δ has for tests."""
    weights = {table: Fraction(TABLES[table].weight) for table in tables}
    selecting = {table: weight for table, weight in weights.items() if TABLES[table].limit is not None}
    both = weights, selecting
    first, second = ({table: weight / sum(part.values()) for table, weight in part.items()} for part in both)
    return first, second


def table_constants(
    tables: tuple[str, ...], settings: Mapping[str, Value], weights: tuple[int, ...], greed: Fraction, listed: int
) -> tuple[dict[str, SeriesConstants], dict[str, CountConstants]]:
    """The selections and the numbers of these tables, each within its part of the whole; so many queries are listed."""
    budget, tests = shares(tables)
    counted, longest = Fraction(settings["counts"]), int(settings["longest"])
    selections: dict[str, SeriesConstants] = {}
    numbers: dict[str, CountConstants] = {}
    for table, share in budget.items():
        kind = TABLES[table]
        if kind.limit is not None:
            selections[table] = selection_constants(
                Fraction(settings["epsilon"]),
                Fraction(settings["delta"]),
                weights,
                longest,
                greed,
                int(settings[kind.limit]),
                share * (1 - counted),
                tests[table],
                "" if table == TABLE else f"{table} ",
                listed if table == TABLE else 0,
                Fraction(settings["F_list"]),
            )
        if counted:
            mu2 = selections[TABLE].mu2_all * share * (1 if kind.limit is None else counted)
            entries = -(-kind.pairs * len(weights) // 8)
            numbers[table] = CountConstants(mu2 * TO_DATE, mu2 * IN_PERIOD, longest, entries, kind.pairs)
    return selections, numbers
