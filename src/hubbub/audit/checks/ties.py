"""Audits of ids and ties: what comes out follows from keys' texts and fresh noise, never from how keys are numbered.

A release numbers its keys in any order (its mode is not `repeatable`), so ids follow whatever the engine met first: the
log. Under one noise for all keys, rows must be the same however they are numbered and in whatever order the log's rows
stand. Where ties are broken by fresh noise (`optimal` strict), who wins is counted under two numberings; each of these
bounds errs with probability LEVEL, and a row says how many of them it stands for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.checks.statistical import lower, upper
from hubbub.audit.protocols import AuditRow, Event, Kind, Subject, shared_faults, shared_row
from hubbub.audit.tiny import MODE, Tiny, tiny_log
from hubbub.engines.duckdb import DuckDB
from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.base import Rows
from hubbub.noise import SecureNoise
from hubbub.noise.source import Integers
from hubbub.release.rows import named_rows
from hubbub.steps.counts import LocalCounts
from hubbub.switches import Beyond, lowered

# ------------------------------------------------------------------ however keys are numbered


class _NumberedByHash(Tiny):
    """Tiny logs whose keys are numbered by a hash, where their order does not matter."""

    order = "ASC"

    def number(self, name: str, sql: str, by: Sequence[str], id: str) -> None:
        """In the order of a hash of the whole row, unless an order is asked for."""
        super().number(name, sql, by or (f"hash(numbered) {self.order}",), id)


class _Backwards(_NumberedByHash):
    """Tiny logs whose keys are numbered by that hash, in the opposite order."""

    order = "DESC"


NUMBERINGS: tuple[type[DuckDB], ...] = (Tiny, _NumberedByHash, _Backwards)
USERS, LETTERS = 70, "abcdef"


def even_crowd(pause: int = 60) -> tuple[Event, ...]:
    """Users who all ask the same six queries in one session and click after each: every count is a tie.

    Without a pause they ask all of them at one moment, and which of her keys are a user's first is a tie, too.
    """
    rows: list[Event] = []
    for u in range(USERS):
        rows += [(f"u{u:02d}", 86_400 * (u % 5) + pause * i + u, q, f"{q}.example") for i, q in enumerate(LETTERS)]
        rows.append((f"u{u:02d}", 86_400 * 9 + u, f"own {u}", None))
    return tuple(rows)


class Equal(NoNoise):
    """The same for every key of a step: whatever tells keys apart is not noise."""

    def laplace(self, step: str, scale: Any, size: int) -> Integers:
        """Two."""
        return np.full(size, 2, np.int64)

    def gaussian(self, step: str, variance: Any, size: int) -> Integers:
        """Two."""
        return np.full(size, 2, np.int64)


def mechanisms() -> list[Mechanism]:
    """One of each that may be private and has tables of keys; limits low, so that users hold too many of them."""
    budget = {"epsilon": 8, "delta": "1e-3"}
    return [
        build("korolova", {"d": 3, "d_c": 3, "b": 1, "K": 3, "b_c": 1, "K_c": 3}, tables=["queries", "clicks"]),
        build("korolova", {"d": 3, "b": 1, "K": 3, "keep": "random"}),
        build("zealous", {"m": 3, "lambda": 1, "tau": 2, "tau_prime": 5}, tables=["keywords", "queries"]),
        build("sessions", {"l_q": 3, "l_s": 1, "l": 3, "b": 1, "K": 4}),
        build("crowd", budget | {"D": 4}, tables=["queries", "clicks"]),
        build("crowd", budget | dict.fromkeys(("D", "D_t", "D_s"), 20), tables=["queries", "transitions", "sessions"]),
        *(build(name, budget | {"d": 4}) for name in ("gaussian", "geometric", "sips", "adaptive")),
    ]


def numbered() -> Iterator[AuditRow]:
    """The rows of a release under three numberings, and with the log's rows and users in the opposite order."""
    at_once = [m for m in mechanisms() if m.settings.get("keep") == "first"]
    for how, events, mechanism in (
        *(("", even_crowd(), m) for m in mechanisms()),
        *((", asked at one moment", even_crowd(0), m) for m in at_once),
    ):
        found = []
        for engine, rows in zip(NUMBERINGS, (events, tuple(reversed(events)), events), strict=True):
            with lowered(lambda each: each.beyond is Beyond.AMOUNT and ".optimal" not in each.module):
                found.append(_rows(Subject.of(mechanism), rows, engine))
        wrong = sum(one != found[0] for one in found[1:])
        detail = f"{sum(len(rows) for rows in found[0].values())} rows of {', '.join(mechanism.tables)}"
        check = f"row order: however keys are numbered, rows are the same: {mechanism.name}{how}"
        yield shared_faults(check, wrong, detail, Kind.BYTES)


def _rows(subject: Subject, events: tuple[Event, ...], engine: type[DuckDB]) -> dict[str, list[tuple[object, ...]]]:
    with tiny_log(events, engine) as log:
        counts = subject.measure(log, replace(MODE, repeatable=False))
        tables = subject.perturb(counts, Equal())
        return {
            table: [
                tuple(row.values())
                for row in subject.arrange(named_rows(log, subject.mechanism, table, counts, tables)).to_pylist()
            ]
            for table in tables
        }


# ------------------------------------------------------------------ ties that fresh noise breaks

PAIRS, EACH, RUNS = 40, 5, 30
GOALS: dict[str, tuple[dict[str, object], int]] = {"size": ({}, 130), "frequent": ({"O": 50}, 130), "diverse": ({}, 15)}
"""Settings, and how many clicks the noisy activity allows: never enough for all pairs alike."""


class _Fair(NoNoise):
    """Zeros where keys are tested; what chooses among equals is fresh."""

    def below(self, step: str, limits: Integers) -> Integers:
        """Fresh noise, as a release draws it."""
        return SecureNoise().below(step, limits)


def strict() -> Iterator[AuditRow]:
    """Which of equal pairs get a row more: the same chances for a pair, whatever its id."""
    for goal, (settings, clicks) in GOALS.items():
        raw = {"d": 1, "bins": 1, "b": 1, "b_a": 1, "T": 3}
        mechanism = build("optimal", {**raw, "goal": goal, **settings})
        usual, other = (_winners(mechanism, clicks, texts) for texts in (range(PAIRS), range(PAIRS)[::-1]))
        sets = [[i] for i in range(PAIRS)] + [list(range(PAIRS // 2)), list(range(0, PAIRS, 2))]
        worst, trials = 0.0, 2 * len(sets)
        for members in sets:
            hits = [int(sum(wins[i] for i in members)) for wins in (usual, other)]
            of = RUNS * len(members)
            bounds = [(lower(h, of), upper(h, of)) for h in hits]
            worst = max(worst, bounds[0][0] - bounds[1][1], bounds[1][0] - bounds[0][1])
        check = f"sampled: ties do not follow ids: optimal strict, {goal}"
        found = shared_row(
            check, 0.0, max(0.0, worst), 0.3, f"{RUNS} runs of {PAIRS} equal pairs, twice", Kind.STATISTICAL
        )
        yield replace(found, tests=trials)


def _winners(mechanism: Mechanism, clicks: int, texts: Sequence[int]) -> Counter[int]:
    """How often each pair has more rows than the least of them, by its text; texts[id] is the text of an id."""
    names = np.array(texts)

    def text(ids: Integers) -> pa.Table:
        return pa.table({"query": [f"{i:03d}" for i in names[ids]], "url": ["site"] * ids.size})

    wins: Counter[int] = Counter()
    counts: dict[str, Any] = {
        "clicks": LocalCounts(np.full(PAIRS, EACH, np.int64)),
        "activity": LocalCounts(np.array([clicks], np.int64)),
        "text": text,
    }
    for _ in range(RUNS):
        made = mechanism.draw(counts, _Fair())["log"]
        if not isinstance(made, Rows):
            raise TypeError("the table log is not rows")
        had = Counter(int(q) for q in made.rows.column("query").to_pylist())
        least = min(had[i] for i in range(PAIRS))
        wins.update(i for i in range(PAIRS) if had[i] > least)
    return wins


def tests() -> Iterator[AuditRow]:
    """Every check of ties."""
    yield from numbered()
    yield from strict()
