"""Audits of the first half: exact counts of neighbouring logs, row order, and where the noise comes from."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.audit.protocols import AuditRow, Event, Kind, Pair, Subject, counting_steps, faults, row
from hubbub.audit.tiny import MODE, SECRET, MeasuredLog, measured, tiny_log
from hubbub.noise import Exits
from hubbub.noise.absent import Rounds
from hubbub.noise.source import Integers
from hubbub.release.rows import named_rows


def sensitivity(subject: Subject, pair: Pair) -> Iterable[AuditRow]:
    """One user may move the counts of each step by no more than it says: the largest share of L0, L1, L∞."""
    return shares(subject, f": {pair.name}", measured(subject, pair.smaller), measured(subject, pair.larger))


def shares(subject: Subject, what: str, one: MeasuredLog, other: MeasuredLog, most: float = 1.0) -> Iterable[AuditRow]:
    """How far the counts of each step are apart, as a share of what one user may move."""
    for step in counting_steps(subject.mechanism):
        name = step.name.partition(":")[0]  # "sessions: counts" is a step of the table sessions
        table = name if name in one.counts else "queries"
        before, after = one.by_key(table), other.by_key(table)
        moved = [abs(after.get(k, 0) - before.get(k, 0)) for k in before.keys() | after.keys()]
        moved = [m for m in moved if m]
        norms = (
            (len(moved) / step.l0, f"l0 {len(moved)} of {step.l0}"),
            (sum(moved) / step.l1, f"l1 {sum(moved)} of {step.l1}"),
            (max(moved, default=0) / step.linf, f"linf {max(moved, default=0)} of {step.linf}"),
        )
        share, detail = max(share for share, _ in norms), ", ".join(text for _, text in norms)
        check = f"one user's share of {step.name}{what}"
        yield row(subject, check, "proven", most, share, 1 / step.l1, detail, Kind.EXACT)


class NoNoise:
    """A source of zeros: what still varies does not come from the noise source."""

    private = False

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        """Zeros."""
        return np.zeros(size, np.int64)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """Zeros."""
        return np.zeros(size, np.int64)

    def binomial_tail(self, step: str, scale: Fraction, at_least: int, trials: int) -> int:
        """Zero."""
        return 0

    def choose(self, step: str, population: int, size: int) -> Integers:
        """The first few."""
        return np.arange(size)

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        """Noise of zero passes no threshold."""
        return Exits(*(np.zeros(0, np.int64) for _ in range(3)))

    def below(self, step: str, limits: Integers) -> Integers:
        """Zeros."""
        return np.zeros(limits.size, np.int64)

    def coins(self, step: str, chances: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Heads where heads is certain."""
        certain: npt.NDArray[np.bool_] = chances == np.iinfo(np.uint64).max
        return certain

    def secret(self, step: str) -> bytes:
        """A constant."""
        return SECRET


def noise_source(subject: Subject, pair: Pair) -> Iterable[AuditRow]:
    """With a source of zeros the values are the exact counts, as integers: no other randomness, no floats."""
    log = measured(subject, pair.larger)
    wrong = 0
    for table, out in subject.perturb(log.counts, NoNoise()).items():
        if out.values is None:
            continue
        held, values = log.by_key(table), np.asarray(out.values)
        exact = np.array([held.get(key, 0) for key in log.text(table, out.ids.tolist())], np.int64)
        integers = np.issubdtype(values.dtype, np.integer)
        wrong += int(np.count_nonzero(values != exact)) + (0 if integers else max(1, out.ids.size))
    yield faults(subject, f"noise only from the source, integers: {pair.name}", wrong)


def row_order(subject: Subject, pair: Pair) -> Iterable[AuditRow]:
    """The order of released rows is a function of what is released: the log's order must not show."""
    if len({(q, u) for _, _, q, u in pair.larger}) < 2 or pair.counting:
        return  # nothing to put in order, or looked at elsewhere
    orders = []
    for events in (pair.larger, tuple(reversed(retimed(pair.larger)))):
        with tiny_log(events) as log:
            counts = subject.measure(log, MODE)
            tables = subject.perturb(counts, NoNoise())
            orders.append(
                {
                    table: _keys(subject.arrange(named_rows(log, subject.mechanism, table, counts, tables)))
                    for table in tables
                }
            )
    shared = [t for t in orders[0] if sorted(orders[0][t]) == sorted(orders[1][t])]
    wrong = sum(orders[0][t] != orders[1][t] for t in shared)
    yield faults(subject, f"row order: {pair.name}", wrong, kind=Kind.BYTES)


def retimed(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """The same rows in the opposite order of time."""
    last = max((t for _, t, _, _ in events if t is not None), default=0)
    return tuple((user, None if time is None else last - time, query, url) for user, time, query, url in events)


def _keys(rows: pa.Table) -> list[tuple[object, ...]]:
    return [tuple(r.values()) for r in rows.to_pylist()]
