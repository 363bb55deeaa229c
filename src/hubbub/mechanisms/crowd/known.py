"""Queries known beforehand, as domains of the first selection: lists of the owner's, words of a language.

All of them share one number of rows of nobody, F: each list has an equal part of it, whatever its length, and known
words are one list. A query of several lists is one of the first of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.mechanisms.crowd.calibrate import expected_late
from hubbub.mechanisms.crowd.chain import CodedDomain
from hubbub.mechanisms.parameter import Parameter, Value
from hubbub.public.prior import SUFFIXES
from hubbub.public.words import ENGLISH, LANGUAGES, NONE
from hubbub.steps import weights
from hubbub.steps.keys import CLICKS

if TYPE_CHECKING:
    from hubbub.mechanisms.rounds import Selection
    from hubbub.public.lists import QueryPool
    from hubbub.public.prior import Prior

LISTED = "public_list"
"""The engine's table of the owner's lists."""
OWN_DOMAINS = "own_domains"
"""The engine's table of released queries' own domains."""
SMALL = Fraction(1, 10**6)
FALSE_KEYS = Parameter(
    "F", "number", "rows of nobody to expect at most in each table over a known domain", 1, low=SMALL, high=10**9
)
STARTS = {"http": "http://", "https": "https://", "host": ""}
"""How an address of the web may begin."""
SITE = re.compile(rf"^(?:www\.)?(.+?)(?:\.(?:{'|'.join(SUFFIXES)}))?$")
"""A query that is a domain itself; the group is its word."""
URLS = Parameter(
    "urls",
    "choice",
    "stated: clicked addresses are of the web and begin so; a query's own domains are then known clicks",
    choices=tuple(STARTS),
    fact=True,
)
LANGUAGE = Parameter(
    "language",
    "choice",
    "the language whose words are known; none: all queries weigh the same",
    ENGLISH,
    choices=LANGUAGES,
)
KNOWN_WORDS = Parameter(
    "known_words",
    "choice",
    "whether words, pairs and domains are known queries, or only weigh more",
    "yes",
    choices=("yes", "no"),
)
KNOWN_FALSE = Parameter(
    "F_known",
    "number",
    "queries of nobody to expect at most, of all lists and known words together",
    1,
    low=SMALL,
    high=100_000,
)


def used(running: Collection[str], settings: Mapping[str, Value], *, listed: bool) -> set[str]:
    """The parameters about known keys that something depends on, by the tables that run."""
    found = {"F_known"} if listed else set()
    if "queries" in running:
        found.add("language")
        if settings["language"] != NONE and int(settings["rounds"]) > 1:  # words say something from the second on
            found |= {"known_words", "F_known"} if settings["known_words"] == "yes" else {"known_words"}
        if "clicks" in running and "urls" in settings:
            found |= {"urls", "F"}
    return found


def table_of(listed: Sequence[QueryPool]) -> pa.Table:
    """The queries of all lists, each once, with the mark of the first list that names it."""
    marks = [pa.array(np.full(known.rows.num_rows, weights.LISTED + i)) for i, known in enumerate(listed)]
    rows = [known.rows.select(["query"]).append_column("mark", m) for known, m in zip(listed, marks, strict=True)]
    none = pa.table({"query": pa.array([], pa.string()), "mark": pa.array([], pa.int64())})
    once = pa.concat_tables([none, *rows]).group_by("query").aggregate([("mark", "min")])
    return once.rename_columns(["query", "mark"]).sort_by("query")


def domains(listed: Sequence[QueryPool], prior: Prior | None, false: Fraction) -> list[tuple[CodedDomain, Fraction]]:
    """Queries that are tested whether or not anybody holds them, each once, and how many of nobody are expected."""
    found, part = [], part_of(listed, prior, false)
    table = table_of(listed)
    for i in range(len(listed)):
        mark = weights.LISTED + i
        own = table.filter(pc.equal(table.column("mark"), mark)).select(["query"])
        called = "absent keys" if i == 0 else f"absent keys of list {i + 1}"
        found.append((CodedDomain(own.num_rows, own.take, LISTED, mark, called), part))
    if prior is not None and prior.known and prior.vocabulary is not None:
        words = prior.vocabulary.known
        if listed:  # a query of both is one of the owner's list
            words = words.filter(pc.invert(pc.is_in(words.column("query"), table.column("query"))))
        found.append((CodedDomain(words.num_rows, words.take, mark=weights.KNOWN, called="known words"), part))
    return found


def own_domains(queries: pa.ChunkedArray, begins: str) -> CodedDomain:
    """Every one-word query with the addresses that are its own: `weather` or `weather.com`, http://www.weather.com."""
    rows = []
    for query in queries.to_pylist():
        stem = SITE.sub(r"\1", query)
        if stem[:1].isalnum() and not set(" /:") & set(stem):
            hosts = (f"{start}{stem}.{suffix}" for start in ("", "www.") for suffix in SUFFIXES)
            rows += [(query, f"{STARTS[begins]}{host}{end}") for host in hosts for end in ("", "/")]
    table = pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(CLICKS.columns)})
    return CodedDomain(table.num_rows, table.take, OWN_DOMAINS, weights.LISTED, "own domains")


def part_of(listed: Sequence[QueryPool], prior: Prior | None, false: Fraction) -> Fraction:
    """The part of F that each list has, known words among them."""
    return false / max(1, len(listed) + int(prior is not None and prior.known))


def expected(listed: Sequence[QueryPool], prior: Prior | None, false: Fraction, plan: Selection) -> float:
    """How many queries of nobody to expect at most: F, unless the first round alone lets more known words pass."""
    part = part_of(listed, prior, false)
    found = float(part * len(listed))
    if prior is not None and prior.known and prior.vocabulary is not None:
        found += expected_late(plan, prior.vocabulary.size, part)
    return found


def of_these(expected: float, rows: int | None, table: str) -> str:
    """How many rows of a table may be nobody's, in the words of a card; rows are None before it is made."""
    among = f"the {table}" if rows is None else "this row" if rows == 1 else f"these {rows:,} {table}"
    return f"{table}: about {expected:.3g} of {among} may be nobody's (at most {expected:.3g} expected)"
