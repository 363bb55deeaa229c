"""What a report is made from, as small files in `owner-only/`: it can be rebuilt without the log.

facts.json      numbers of the run          exact.json     keys by users and released or not, laws, the ledger
scores.json     by `hubbub evaluate`        exact.parquet  points to draw, with their keys' text
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.errors import InputError
from hubbub.files import write_whole
from hubbub.show.exact import ErrorParts, Exact, Sampled, UsersHistogram
from hubbub.show.group_facts import GroupFacts
from hubbub.show.law import SurvivalLine

EXACT, POINTS = "exact.json", "exact.parquet"


@dataclass(frozen=True)
class Tried:
    """What another ε would have given, for one table: rows, the share of searches they stand for, the error."""

    table: str
    epsilon: float
    rows: float
    searches: float
    rms: float | None
    by_law: bool = False
    """Whether the law of survival told it, and not an estimate on the log."""


@dataclass(frozen=True)
class Spending:
    """One entry of the population's ledger, and what all entries up to it cost together (none: not private)."""

    entry: int
    time: str
    dataset: str
    mechanism: str
    epsilon: float | None
    spent: float | None


@dataclass(frozen=True)
class LedgerSnapshot:
    """The ledger of a population as it stood when the release was made."""

    population: str
    entry: int
    """The entry of this release."""
    cap: float | None
    spendings: tuple[Spending, ...]


@dataclass(frozen=True)
class Gathered:
    """What was gathered from the log and the ledger for the report; empty where nothing was."""

    tables: tuple[Exact, ...] = ()
    laws: Mapping[str, SurvivalLine] = field(default_factory=dict)
    tried: tuple[Tried, ...] = ()
    book: LedgerSnapshot | None = None
    groups: tuple[GroupFacts, ...] = ()
    """Of tables by group: each group, the smallest first."""


def write(folder: Path, kept: Gathered) -> None:
    """Write `exact.json` and `exact.parquet`, each whole or not at all."""
    tables = {
        exact.table: {
            "value": exact.value,
            "sampled": None if exact.sampled is None else asdict(exact.sampled),
            "nobodys": exact.nobodys,
            "by_rows": exact.by_rows,
            "error": None if exact.error is None else asdict(exact.error),
        }
        | {"held": {column: values.tolist() for column, values in vars(exact.held).items()}}
        for exact in kept.tables
    }
    document = {
        "tables": tables,
        "laws": {table: asdict(law) for table, law in kept.laws.items()},
        "tried": [asdict(tried) for tried in kept.tried],
        "book": None if kept.book is None else asdict(kept.book),
        "groups": [asdict(group) for group in kept.groups],
    }
    points = [e.points.add_column(0, "table", pa.repeat(pa.scalar(e.table), e.points.num_rows)) for e in kept.tables]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.concat_tables(points) if points else pa.table({"table": pa.array([], pa.string())}), sink)
    write_whole(folder / POINTS, sink.getvalue().to_pybytes())
    write_whole(folder / EXACT, json.dumps(document, allow_nan=False) + "\n")


def read(folder: Path) -> Gathered:
    """Read both files again; empty if there are none."""
    if not (folder / EXACT).is_file():
        return Gathered()
    try:
        document: dict[str, Any] = json.loads((folder / EXACT).read_text(encoding="utf-8"))
        points = pq.read_table(folder / POINTS)
        tables = tuple(_exact(name, facts, points) for name, facts in document["tables"].items())
        book = document["book"]
        return Gathered(
            tables,
            {table: SurvivalLine(**law) for table, law in document["laws"].items()},
            tuple(Tried(**tried) for tried in document["tried"]),
            None
            if book is None
            else LedgerSnapshot(**book | {"spendings": tuple(Spending(**s) for s in book["spendings"])}),
            tuple(GroupFacts(**group) for group in document.get("groups", ())),  # not in facts of older releases
        )
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise InputError(
            "The exact facts of this release cannot be read.",
            given=f"{folder / EXACT}: {error}",
            next=f"move {EXACT} and {POINTS} away; hubbub report RELEASE --log LOG counts them again",
        ) from error


def _exact(table: str, facts: Mapping[str, Any], points: pa.Table) -> Exact:
    import pyarrow.compute as pc

    mine = points.filter(pc.equal(points.column("table"), table)).drop_columns(["table"])
    held = UsersHistogram(**{column: np.array(values, np.int64) for column, values in facts["held"].items()})
    error = None if facts["error"] is None else ErrorParts(**facts["error"])
    sampled = None if facts["sampled"] is None else Sampled(**facts["sampled"])
    by_rows = facts.get("by_rows", False)  # not in facts of older releases
    return Exact(table, facts["value"], sampled, held, facts["nobodys"], error, mine, by_rows)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON document of `owner-only/`; empty if it is missing or cannot be read."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def merged(before: Sequence[Exact], now: Sequence[Exact]) -> tuple[Exact, ...]:
    """The newer facts of each table, with the older error where only the run that drew the noise could know it."""
    old = {exact.table: exact for exact in before}
    found = []
    for exact in now:
        known = old.pop(exact.table, None)
        if known is not None and known.error is not None and known.error.bounding is not None:
            exact = replace(exact, error=known.error)
        found.append(exact)
    return (*found, *old.values())
