"""Audits of selections in rounds: the pools, the draws, the tests at their thresholds, and sampled runs.

The pools come from the engine; from there the mechanism's own `perturb` runs on arrays, N copies of a tiny log
in one call. Nothing is enumerated here: the accumulators have too many values. What the proof needs is
looked at piece by piece instead, and the whole by sampling at a δ that can be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pyarrow as pa

from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.neighbours import crowd_of, one_user
from hubbub.audit.protocols import AuditRow, Event, Kind, Pair, Subject, faults, row
from hubbub.audit.tiny import MODE, Measure, tiny_log
from hubbub.mechanisms.rounds import Selection
from hubbub.noise.source import Integers
from hubbub.privacy.gaussian import GaussianStep, mu2_of
from hubbub.steps.array_pools import ArrayPools, LocalPools
from hubbub.steps.counts import Flags


@dataclass(frozen=True)
class PooledLog:
    """Pools of a tiny log as arrays, and the text of every key by its id."""

    pools: ArrayPools
    keys: list[str]


def pooled(subject: Subject, events: Iterable[Event]) -> PooledLog:
    """Measure a tiny log with the subject's own code; several tests look at the same log."""
    return _pooled(subject.measure, tuple(events))


@lru_cache(maxsize=64)
def _pooled(measure: Measure, events: tuple[Event, ...]) -> PooledLog:
    with tiny_log(events) as log:
        pools = measure(log, MODE)["queries"]
        rows = log.engine.fetch(f"SELECT query FROM {pools.keys} ORDER BY kid")
        return PooledLog(pools.arrays(), rows.column("query").to_pylist())


def first_selection(subject: Subject) -> Selection:
    """The integers that the mechanism states for its first selection."""
    return next(iter(subject.mechanism.selections.values()))


def _beside_the_known(subject: Subject, name: str, keys: Iterable[str], repeats: int = 1) -> Pair:
    """One user of these keys beside two crowds near the threshold."""
    near = max(1, int(first_selection(subject).users(-1)))
    known = crowd_of(near, "known") + crowd_of(near, "other")
    return Pair(name, known, known + one_user(((key, None) for key in keys), repeats))


def one_known(subject: Subject) -> Pair:
    """She moves one key that others hold."""
    return _beside_the_known(subject, "one known key near the threshold", ["known"])


def too_many(subject: Subject) -> Pair:
    """She holds more keys of her own than a pool takes."""
    most = 3 * first_selection(subject).limit + 2
    return _beside_the_known(subject, "more keys than the pool", (f"own{i}" for i in range(most)))


def pairs(subject: Subject) -> Iterator[Pair]:
    """Neighbours that are bad for pools: novel keys up to the bound and beyond, one known key, repeats."""
    own = [f"own{i}" for i in range(first_selection(subject).limit)]
    yield _beside_the_known(subject, "all her keys are her own", own)
    yield _beside_the_known(subject, "one key of her own", ["own"])
    yield one_known(subject)
    yield _beside_the_known(subject, "one known key and one of her own", ["known", "own"])
    yield too_many(subject)
    yield _beside_the_known(subject, "a key repeated a thousand times", ["known"], 1000)


class Recorder(NoNoise):
    """A source of zeros that writes down what was asked of it."""

    def __init__(self, constant: int = 0) -> None:
        self.constant = constant
        self.asked: list[tuple[str, Fraction, int]] = []

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """The constant, for every key; what was asked is written down."""
        self.asked.append((step, Fraction(variance), size))
        return np.full(size, self.constant, np.int64)


@dataclass
class Staged(LocalPools):
    """Pools whose weights are written down beforehand: a key's sum in each round, whatever is live."""

    sums: Integers
    keys: str = ""
    seen: list[Integers] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Every key is in some pool."""
        self.size = int(self.sums.size)

    def weights(self, live: Integers) -> Integers:
        """The planned sums."""
        self.seen.append(live)
        return self.sums[live]

    def recount(self, ids: Integers, lam: Integers, cap2: int) -> Integers:
        """Nothing."""
        return np.zeros(ids.size, np.int64)

    def kept(self, ids: Integers, most: int) -> int:
        """Nothing."""
        return 0

    def holds(self, rows: pa.Table) -> Flags:
        """Known keys are nobody's."""
        return np.zeros(rows.num_rows, np.bool_)

    def adopt(self, rows: pa.Table) -> Integers:
        """Ids behind the others; nobody asks for their names."""
        return self.size + np.arange(rows.num_rows)


def user_share(subject: Subject, pair: Pair) -> Iterable[AuditRow]:
    """One user's length in each sum, as a share of what the noise is made for."""
    small, large = pooled(subject, pair.smaller), pooled(subject, pair.larger)
    limit, bits = first_selection(subject).limit, large.pools.bits
    hers = [k for k in large.keys if k not in small.keys]
    shares = [len(hers) / limit, _length2(_weights(small), _weights(large)) / 4**bits]
    ids = np.arange(len(large.keys))
    lam = np.full(ids.size, 1000, np.int64)
    for cap2 in (10**6, 10**6 * 5, 10**9):
        both = [
            _by_key(log, log.pools.recount(np.arange(len(log.keys)), lam[: len(log.keys)], cap2))
            for log in (small, large)
        ]
        shares.append(_length2(*both) / cap2)
    for most in (1, 7):
        counted = [log.pools.kept(np.arange(len(log.keys)), most) for log in (small, large)]
        shares.append(abs(counted[1] - counted[0]) / most)
    detail = "new keys, round 1, recount at three scales, kept total: " + ", ".join(f"{s:.3f}" for s in shares)
    yield row(subject, f"one user's share: {pair.name}", "proven", 1.0, max(shares), 1 / limit, detail, Kind.EXACT)


def _weights(log: PooledLog) -> dict[str, int]:
    return _by_key(log, log.pools.weights(np.arange(log.pools.size)))


def _by_key(log: PooledLog, values: Integers) -> dict[str, int]:
    return dict(zip(log.keys, values.tolist(), strict=True))


def _length2(one: dict[str, int], two: dict[str, int]) -> float:
    return float(sum((two.get(k, 0) - one.get(k, 0)) ** 2 for k in one.keys() | two.keys()))


def draws(subject: Subject, pair: Pair) -> Iterable[AuditRow]:
    """Every draw the stated steps have, no other, and none weaker: μ² by the variances that were asked for."""
    log = pooled(subject, pair.larger)
    noise = Recorder()
    subject.perturb({"queries": log.pools}, noise)
    selection = first_selection(subject)
    stated = [s for s in subject.mechanism.steps() if isinstance(s, GaussianStep)]
    rounds = [variance for step, variance, _ in noise.asked if "round" in step]
    spent = sum(
        (Fraction(m * m * 4**selection.bits) / (v - 4) for m, v in zip(selection.multiples, rounds, strict=False)),
        Fraction(0),
    )
    shares = [_apart(len(noise.asked), sum(len(s.mu2) for s in stated)), float(spent / stated[0].total)]
    kept = next((v for step, v, _ in noise.asked if "kept" in step), None)
    if kept is not None:
        recount = subject.mechanism.stage.recount  # type: ignore[attr-defined]
        shares.append(float(mu2_of(recount.most**2, int(kept)) / stated[2].total))
    shares.append(_apart(noise.asked[0][2], len(log.keys)))
    detail = "draws, selection μ², kept μ², keys in round 1, as shares of what is stated: " + ", ".join(
        f"{s:.6f}" for s in shares
    )
    yield row(subject, f"draws: {pair.name}", "proven", 1.0, max(shares), 1e-9, detail)


def _apart(one: float, other: float) -> float:
    """How many times the smaller the larger is: a draw that is left out is as wrong as one too many."""
    return max(one, other) / max(min(one, other), 1e-9) if one != other else 1.0


def thresholds(subject: Subject) -> Iterable[AuditRow]:
    """A key exactly at a round's threshold is released in that round, one unit below is not."""
    selection = first_selection(subject)
    wrong, looked = 0, 0
    for r, threshold in enumerate(selection.thresholds):
        for off in (-1, 0):
            noise = landing(selection, r, threshold + off)
            released = subject.perturb({"queries": Staged(np.zeros(1, np.int64))}, noise)["queries"]
            wrong += (released.ids.size == 1) != (off == 0)
            looked += 1
    yield faults(subject, "released at the threshold, not below", wrong, f"{looked} tests")


class Steered(Recorder):
    """Noise that lands the sum of one key on a goal in every round, beside what its own weight adds; then far below."""

    def __init__(self, plan: Selection, goals: Sequence[int], weight: int = 0) -> None:
        super().__init__()
        self.plan, self.goals, self.weight, self.at, self.sum = plan, goals, weight, 0, 0

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """What is missing to the goal."""
        if "round" not in step:
            return np.zeros(size, np.int64)
        goal = self.goals[self.at] if self.at < len(self.goals) else -(1 << 50)
        added = sum(self.plan.multiples[self.at : self.at + 1]) * self.weight  # nothing, where a round is one too many
        there = added + (self.sum if self.plan.recycled else 0)
        self.sum, self.at = goal, self.at + 1
        return np.full(size, goal - there, np.int64)


def landing(plan: Selection, r: int, value: int, weight: int = 0) -> Steered:
    """Noise that keeps one key in the running until round r, and lands it there on a value."""
    before = [min(max(drop, 0), level - 1) for drop, level in zip(plan.drops[:r], plan.thresholds, strict=False)]
    return Steered(plan, [*before, value], weight)


def presence(subject: Subject) -> Iterable[AuditRow]:
    """A key in some pool is tested whatever its weight: noise is drawn for it even where the weight is 0."""
    noise = Recorder()
    subject.perturb({"queries": Staged(np.zeros(5, np.int64))}, noise)
    missing = 5 - noise.asked[0][2]
    yield faults(subject, "present keys are tested whatever their weight", abs(missing))


def fixed_pools(subject: Subject) -> Iterable[AuditRow]:
    """A user's keys over all rounds are the pool of the first: counted while every key is kept in the running."""
    plan, touched = first_selection(subject), set[int]()
    alive = Steered(plan, [*(max(drop, 0) for drop in plan.drops), 0])
    with tiny_log(one_user((f"own{i}", None) for i in range(4 * plan.limit + 3))) as log:
        pools = subject.measure(log, MODE)["queries"]
        watched = _WatchedPools(pools, touched)
        subject.perturb({"queries": watched}, alive)
    yield row(
        subject,
        "one user's keys over all rounds",
        "proven",
        float(plan.limit),
        float(len(touched)),
        1.0,
        kind=Kind.EXACT,
    )


class _WatchedPools(LocalPools):
    """Pools that note which keys ever carry weight."""

    def __init__(self, pools: ArrayPools, touched: set[int]) -> None:
        self.pools, self.touched, self.keys, self.size = pools, touched, pools.keys, pools.size

    def weights(self, live: Integers) -> Integers:
        weights = self.pools.weights(live)
        self.touched.update(live[weights > 0].tolist())
        return weights

    def recount(self, ids: Integers, lam: Integers, cap2: int) -> Integers:
        return self.pools.recount(ids, lam, cap2)

    def kept(self, ids: Integers, most: int) -> int:
        return self.pools.kept(ids, most)


def transcript(subject: Subject, pair: Pair) -> Iterable[AuditRow]:
    """What is drawn after the selection may depend on released keys only, not on the keys a user adds in vain."""
    scales = []
    for events in (pair.smaller, pair.larger):
        noise = Recorder()
        log = pooled(subject, events)
        released = subject.perturb({"queries": log.pools}, noise)["queries"]
        names = sorted(log.keys[i] for i in released.ids.tolist())
        scales.append((names, [(s, v) for s, v, _ in noise.asked if "round" not in s]))
    differs = scales[0][0] == scales[1][0] and scales[0][1] != scales[1][1]
    yield faults(subject, f"later draws follow from released keys: {pair.name}", differs)
