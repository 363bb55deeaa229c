"""The transcript of two tables of a tiny series: clicks take part once their query is out, and both share one budget.

Everything that is drawn is looked at, in both tables, with her and without: what theorem 2 of docs/proofs/series.md
bounds. The rounds are those that run (`mechanisms/series/rounds.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from hubbub.audit.checks.series import CHANCE, SilentNoise
from hubbub.audit.protocols import AuditRow, Effort, Kind, Subject, row
from hubbub.mechanisms.series import Series, rounds
from hubbub.mechanisms.series.constants import SeriesConstants
from hubbub.mechanisms.series.rounds import ArraySeriesPools, SeriesRound, SeriesSums
from hubbub.noise import NoiseSource, SeededNoise
from hubbub.privacy.compose import gaussian_delta
from hubbub.steps.counts import Flags, Integers

USERS = 13
"""Others ask one query, and click its one page; she, the last, does, too, and asks and clicks what nobody else does."""
NOT_YET = -1


def two_tables() -> Series:
    """A δ at which a violation would show."""
    few: dict[str, Any] = {"D": 2, "D_c": 2, "tables": ["queries", "clicks"], "counts": 0}
    return Series(epsilon="0.5", delta="0.1", periods=2, first="2020-01-01", length="day", **few)


class TinyTable:
    """One table of many copies of a tiny series side by side: what is gathered, what is left, who holds what."""

    def __init__(self, plan: SeriesConstants, held: list[tuple[int, int]], keys: int, copies: int) -> None:
        self.plan, self.held, self.keys, self.copies = plan, held, keys, copies
        size = keys * copies
        self.now = SeriesRound(SeriesSums.nothing(size), np.full(USERS * copies, plan.budget, np.int64))
        self.hers = self.now.left
        self.out: Flags = np.zeros(size, np.bool_)

    def pools(self, since: Integers, t: int, *, hers: bool) -> ArraySeriesPools:
        """The pools of others, or hers, in the copies in which the table has begun."""
        at = np.flatnonzero((since != NOT_YET) & (since <= t))
        pairs = np.array([pair for pair in self.held if (pair[0] == USERS - 1) == hers], np.int64)
        user, key = (at[:, None] * USERS + pairs[:, 0]).ravel(), (at[:, None] * self.keys + pairs[:, 1]).ravel()
        entered = np.repeat(since[at] == t, len(pairs))
        return ArraySeriesPools(user, key, entered, USERS * self.copies, self.keys * self.copies)

    def run(self, t: int, since: Integers, world: int, noise: NoiseSource) -> np.ndarray:
        """All rounds of a run, and what they add to the log likelihood ratio of each copy."""
        known, own = (self.pools(since, t, hers=hers) for hers in (False, True))
        loss, silent = np.zeros(self.copies), SilentNoise()
        for j, m in enumerate(self.plan.multiples(t)):
            others = rounds.play(self.plan, t, j, known, self.now, self.out, silent)
            her = rounds.play(self.plan, t, j, own, SeriesRound(self.now.gathered, self.hers), self.out, silent)
            added = (her.gathered.now - self.now.gathered.now).reshape(self.copies, -1)
            drawn = noise.gaussian(f"{self.plan.of}{t} {j}", m * self.plan.variance, added.size)
            x = drawn.reshape(self.copies, -1) + world * added
            loss += ((2 * x - added) * added).sum(1) / (2 * m * self.plan.variance)
            self.now = SeriesRound(others.gathered.plus(x.ravel()), others.left)
            self.hers = her.left
        seen = np.zeros(self.out.size, np.bool_)
        seen[known.key] = True
        self.out = self.out | (rounds.passing(self.plan, t, self.now.gathered) & seen)
        self.now = SeriesRound(self.now.gathered.next_run(), self.now.left)
        return loss


def losses(series: Series, world: int, copies: int, noise: NoiseSource) -> tuple[np.ndarray, float]:
    """The log likelihood ratio of the whole transcript, drawn in one world; and how often clicks took part."""
    plans = series.table_constants
    held = [*((u, 0) for u in range(USERS)), (USERS - 1, 1)]
    queries, clicks = (TinyTable(plans[table], held, 2, copies) for table in ("queries", "clicks"))
    loss, always = np.zeros(copies), np.zeros(copies, np.int64)
    since = np.full(copies, NOT_YET, np.int64)
    for t in range(series.constants.longest):
        loss += queries.run(t, always, world, noise)
        since = np.where((since == NOT_YET) & queries.out.reshape(copies, -1)[:, 0], t, since)
        loss += clicks.run(t, since, world, noise)
    return loss, float((since != NOT_YET).mean())


def tests(effort: Effort) -> Iterator[AuditRow]:
    """The hockey stick of both tables together, in both orders."""
    series, copies = two_tables(), effort.runs
    subject = Subject(series, series.measure, series.draw)
    epsilon = float(series.constants.epsilon)
    mu2 = sum(float(plan.mu2) for plan in series.table_constants.values())
    allowed, margin = gaussian_delta(epsilon, math.sqrt(mu2)), math.sqrt(math.log(1 / CHANCE) / (2 * copies))
    for world, sign, words in ((1, 1, "with her against without"), (0, -1, "without her against with")):
        loss, part = losses(series, world, copies, SeededNoise(copies + world))
        seen = float(-np.expm1(np.minimum(0.0, epsilon - sign * loss)).mean())
        name = f"transcript of queries and clicks of a tiny series, {words}"
        detail = f"clicks took part in {part:.0%} of the copies"
        yield row(subject, name, "proven", allowed, seen - margin, margin, detail=detail, kind=Kind.STATISTICAL)
