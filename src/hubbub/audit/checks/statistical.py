"""Statistical audits: N independent runs in one call, by N copies of a tiny log.

The best event is searched on one half of the runs and tested on the other, with Clopper–Pearson
bounds; `power` is the smallest excess over δ that this number of runs would have shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import count, permutations

import numpy as np
import numpy.typing as npt

from hubbub.audit.checks.exact import stated
from hubbub.audit.checks.pooled import PooledLog, pooled
from hubbub.audit.protocols import AuditRow, Kind, Pair, Subject, row
from hubbub.audit.recompute import halved
from hubbub.audit.tiny import MeasuredLog, measured
from hubbub.noise import NoiseSource, SecureNoise, SeededNoise
from hubbub.steps.counts import LocalCounts

LEVEL = 1e-6
"""One-sided error of each bound: a sound mechanism is refuted by chance at most twice this often per row."""
ABSENT = np.iinfo(np.int64).min
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SampledRuns:
    """Values of N runs: one array per (table, key), ABSENT where the key was not released."""

    values: dict[tuple[str, ...], npt.NDArray[np.int64]]
    runs: int

    def part(self, chosen: slice) -> SampledRuns:
        """The same sample with some of the runs only."""
        values = {key: v[chosen] for key, v in self.values.items()}
        return SampledRuns(values, len(range(*chosen.indices(self.runs))))

    def of(self, key: tuple[str, ...]) -> npt.NDArray[np.int64]:
        """The values of a key, ABSENT in every run if the log does not hold it."""
        return self.values.get(key, np.full(self.runs, ABSENT))


Source = Callable[[], NoiseSource]


def sample(subject: Subject, log: MeasuredLog, runs: int, noise: Source = SecureNoise) -> SampledRuns:
    """N runs of `perturb` in one call: keys of copy r have ids from r times the number of keys."""
    tiled = {}
    for table, counted in log.counts.items():
        n = np.tile(counted.n, runs)
        parent = None
        if counted.parent is not None:
            offset = np.repeat(np.arange(runs) * log.counts["queries"].n.size, counted.n.size)
            parent = np.tile(counted.parent, runs) + offset
        tiled[table] = LocalCounts(n, parent=parent)
    released = subject.perturb(tiled, noise())
    values = {}
    for table, out in released.items():
        size = len(log.keys[table])
        grid = np.full(runs * size, ABSENT)
        grid[out.ids] = 0 if out.values is None else out.values
        for i, key in enumerate(log.keys[table]):
            values[(table, *key)] = grid.reshape(runs, size)[:, i]
    return SampledRuns(values, runs)


def sample_pools(subject: Subject, log: PooledLog, runs: int, noise: Source = SecureNoise) -> SampledRuns:
    """The same for a selection in rounds: N copies of the pools."""
    out = subject.perturb({"queries": log.pools.tiled(runs)}, noise())["queries"]
    grid = np.full(runs * len(log.keys), ABSENT)
    grid[out.ids] = 0  # whether a key shows; the counts of all copies share one fit, so values are not compared
    shown = grid.reshape(runs, len(log.keys))
    return SampledRuns({("queries", key): shown[:, i] for i, key in enumerate(log.keys)}, runs)


def sampled_pools(runs: int, noise: Source = SecureNoise) -> Callable[[Subject, Pair], Iterable[AuditRow]]:
    """A tester of selections in rounds with this many runs per log."""

    def test(subject: Subject, pair: Pair) -> Iterable[AuditRow]:
        small, large = (sample_pools(subject, pooled(subject, log), runs, noise) for log in (pair.smaller, pair.larger))
        yield compare(subject, pair, small, large)

    return test


Test = Callable[[SampledRuns], Flags]


def events(one: SampledRuns, other: SampledRuns) -> dict[str, Test]:
    """Events worth trying: a key shows, all show, none shows, values are high, two values agree."""
    keys = sorted(set(one.values) | set(other.values))
    tests: dict[str, Test] = {}
    middles: dict[tuple[str, ...], int] = {}

    def everywhere(use: Callable[[list[Flags]], Flags], chosen: list[tuple[str, ...]]) -> Test:
        return lambda s: use([s.of(k) != ABSENT for k in chosen])

    for key in keys:
        tests[f"{key} shows"] = lambda s, k=key: s.of(k) != ABSENT  # type: ignore[misc]
        tests[f"{key} is absent"] = lambda s, k=key: s.of(k) == ABSENT  # type: ignore[misc]
        shown = np.concatenate([x.of(key)[x.of(key) != ABSENT] for x in (one, other)])
        for cut in np.unique(np.quantile(shown, [0.1, 0.5, 0.9], method="lower")) if shown.size else []:
            tests[f"{key} >= {cut}"] = lambda s, k=key, c=cut: s.of(k) >= c  # type: ignore[misc]
        if shown.size:
            middles[key] = int(np.quantile(shown, 0.5, method="lower"))
    tests["all show, none below its median"] = lambda s: np.logical_and.reduce(
        [np.ones(s.runs, bool), *(s.of(k) >= middle for k, middle in middles.items())]
    )
    tests["all show"] = everywhere(lambda f: np.logical_and.reduce(f), keys)
    tests["none shows"] = everywhere(lambda f: ~np.logical_or.reduce(f), keys)
    new = [k for k in keys if k not in one.values or k not in other.values]
    if new:
        tests["a new key shows"] = everywhere(lambda f: np.logical_or.reduce(f), new)
    for first, second in permutations(keys, 2):
        tests[f"{first} shows, {second} does not"] = lambda s, a=first, b=second: (  # type: ignore[misc]
            (s.of(a) != ABSENT) & (s.of(b) == ABSENT)
        )
    for i, first in enumerate(keys):
        for second in keys[i + 1 :]:
            for gap in (-1, 0, 1):
                tests[f"{first} - {second} = {gap}"] = lambda s, a=first, b=second, g=gap: (  # type: ignore[misc]
                    (s.of(a) != ABSENT) & (s.of(b) != ABSENT) & (s.of(a) - s.of(b) == g)
                )
    return tests


def lower(hits: int, runs: int) -> float:
    """Clopper–Pearson lower bound of a probability."""
    from scipy.stats import beta

    return 0.0 if hits == 0 else float(beta.ppf(LEVEL, hits, runs - hits + 1))


def upper(hits: int, runs: int) -> float:
    """Clopper–Pearson upper bound of a probability."""
    from scipy.stats import beta

    return 1.0 if hits == runs else float(beta.ppf(1 - LEVEL, hits + 1, runs - hits))


def sampled(runs: int, noise: Source = SecureNoise) -> Callable[[Subject, Pair], Iterable[AuditRow]]:
    """A tester with this many runs per log."""

    def test(subject: Subject, pair: Pair) -> Iterable[AuditRow]:
        small = sample(subject, measured(subject, pair.smaller), runs, noise)
        large = sample(subject, measured(subject, pair.larger), runs, noise)
        for against in stated(subject.mechanism):
            yield compare(subject, pair, small, large, against)

    return test


SEEDS = 20


def seeds(test: Callable[[Source], Iterable[AuditRow]]) -> AuditRow:
    """The same sampled test on twenty seeds: the row that saw most, and how often all of them alarm by chance."""
    rows = []
    for seed in range(SEEDS):
        streams = count(1000 * seed)  # each log of a pair has a stream of its own
        rows.append(next(iter(test(lambda streams=streams: SeededNoise(next(streams))))))  # type: ignore[misc]
    worst = max(rows, key=lambda r: r.observed - r.bound)
    check = worst.check.replace("sampled δ(ε)", f"sampled δ(ε) on {SEEDS} seeds", 1)
    detail = f"a false alarm has probability at most {2 * LEVEL * SEEDS:.0e}; {worst.detail}"
    return replace(worst, check=check, detail=detail, tests=SEEDS)


def compare(
    subject: Subject, pair: Pair, small: SampledRuns, large: SampledRuns, held: tuple[str, float, float] | None = None
) -> AuditRow:
    """Search the best event on one half of the runs, test it on the other; against what is proven, or what is held."""
    half = small.runs // 2
    search, rest = slice(0, half), slice(half, small.runs)
    against, epsilon, delta = held or next(stated(subject.mechanism))
    factor = math.exp(epsilon)
    tests = events(small, large)
    best, direction, gain = "", (small, large), -math.inf
    for name, event in tests.items():
        for p, q in ((small, large), (large, small)):
            excess = float(event(p.part(search)).mean()) - factor * float(event(q.part(search)).mean())
            if excess > gain:
                best, direction, gain = name, (p, q), excess
    p, q = (s.part(rest) for s in direction)
    hits_p, hits_q = int(tests[best](p).sum()), int(tests[best](q).sum())
    low, high = lower(hits_p, p.runs), upper(hits_q, q.runs)
    seen = low - factor * high
    found = row(
        subject,
        f"sampled δ(ε): {pair.name}",
        against,
        delta,
        max(0.0, seen),
        smallest_visible(delta, factor, half),
        f"event: {best}; {hits_p} and {hits_q} of {half} runs",
        Kind.STATISTICAL,
    )
    refuted = math.log((low - delta) / high) if low > delta + high else 0.0
    return replace(found, epsilon=epsilon, empirical=refuted)


def smallest_visible(delta: float, factor: float, runs: int) -> float:
    """The smallest excess over δ a test of this size would have refuted, if the other log never shows the event."""
    margin = factor * upper(0, runs)
    return halved(lambda seen: lower(math.floor(seen * runs), runs) - margin <= delta, delta, 1.0)[1] - delta
