"""Checks of a series: its constants by another road, its filter, its transcript, its novel keys, its independence.

They call the very functions that run (`mechanisms/series/rounds.py`), on arrays of many tiny series side by side. A
series is no single release, so none of the checks of one applies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hubbub.audit.protocols import AuditRow, Effort, Kind, Subject, faults, row
from hubbub.mechanisms.series import Series, rounds
from hubbub.mechanisms.series.constants import FOREVER, STEPS, WINDOWS, SeriesConstants
from hubbub.mechanisms.series.rounds import ArraySeriesPools, SeriesRound, SeriesSums
from hubbub.noise import NoiseSource, SeededNoise
from hubbub.privacy.compose import gaussian_delta
from hubbub.steps.counts import Flags, Integers

CHANCE = 1e-6
"""How often a sampled check may refute sound code."""
VISIBLE = Fraction(1, 100)
"""A δ that can be seen by sampling a transcript."""


def tests(subject: Subject, effort: Effort) -> Iterator[AuditRow]:
    """Every check of one series, the cheap ones first."""
    series = subject.mechanism
    if not isinstance(series, Series):
        raise TypeError("these are checks of a series")
    for check in (constants, counts, draws, spending, without_her):
        yield from check(subject, series)
    if len(series.table_constants) > 1:  # the rounds of further tables are those of the queries
        return
    yield from transcript(subject, series, effort)
    yield from novel(subject, series, effort)


# ------------------------------------------------------------------ constants


def constants(subject: Subject, series: Series) -> Iterator[AuditRow]:
    """δ of the theorem from V and Θ as they run, with every other number computed here again."""
    epsilon, delta = float(series.constants.epsilon), float(series.constants.delta)
    mu2 = sum(float(step.total) for step in series.steps() if "users" in step.name)
    novel_keys = 0.0
    for plan in series.table_constants.values():
        shift, chance = _recomputed(plan)
        mu2, novel_keys = mu2 + shift, novel_keys + chance
    found = gaussian_delta(epsilon, math.sqrt(mu2)) + novel_keys
    yield row(subject, "the theorem's δ from V and Θ", "proven", delta, found, 0.0, kind=Kind.RECOMPUTED)
    stated = series.loss().delta
    yield row(subject, "the stated δ is the theorem's", "proven", stated * (1 + 1e-6), found, 0.0, kind=Kind.RECOMPUTED)


def _recomputed(plan: SeriesConstants) -> tuple[float, float]:
    """μ² of a selection, and the chance that a key of one user's own passes any test of it."""
    multiples = [[w * s for s in STEPS] for w in plan.weights]
    mass = sum(map(sum, multiples))
    unit, found = 2.0**plan.bits, 0.0
    flat = [(t, m) for t, each in enumerate(multiples) for m in each]
    left, spent = 1.0, {}
    for n, (t, m) in enumerate(flat):
        left *= 1 - min(1.0, float(plan.greed) * m / sum(x for _, x in flat[n:]))
        spent[t] = 1 - left
    for t in range(plan.longest):
        runs = [multiples[min(i, plan.periods - 1)] for i in range(t + 1)]
        for window in WINDOWS:
            if window == FOREVER or window <= t:
                inside = sum(map(sum, runs if window == FOREVER else runs[t + 1 - window :]))
                mean = unit * math.sqrt((spent[t] if t < plan.periods else 1.0) * mass * inside)
                gap = (plan.threshold(t, inside) - mean - 0.5) / math.sqrt(inside * plan.variance)
                found += plan.limit * (t + 1) * 0.5 * math.erfc(gap / math.sqrt(2))
    return mass * unit**2 / (plan.variance - 4 / min(map(min, multiples))), found


def counts(subject: Subject, series: Series) -> Iterator[AuditRow]:
    """What a pair costs once the series is as long as it may become, against what it is charged."""
    longest = series.constants.longest
    column = [1024 * math.comb(2 * j, j) // 4**j for j in range(longest)]
    for table, numbers in series.table_counts.items():
        of = "" if table == "queries" else f"{table}: "
        wrong = sum(numbers.price(t) < sum(column[i - t] ** 2 for i in range(t, longest)) for t in range(longest))
        yield faults(
            subject, f"{of}users to date: a pair pays for every later measurement", wrong, kind=Kind.RECOMPUTED
        )
        shares = [Fraction(numbers.budget, numbers.to_date_variance - 4) / numbers.to_date]
        shares.append(Fraction(numbers.entries, numbers.in_period_variance - 4) / numbers.in_period)
        over = sum(x > 1 for x in shares)
        yield faults(subject, f"{of}counts stay within their share of μ²", over, kind=Kind.RECOMPUTED)


# ------------------------------------------------------------------ draws


class Told(SeededNoise):
    """Noise that is told by heart: a number of its own for every draw, and a record of what was asked for."""

    def __init__(self) -> None:
        super().__init__(0)
        self.asked: list[tuple[int, int]] = []

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """The n-th draw is n·10^7 and the place of the key."""
        self.asked.append((int(variance), size))
        return np.arange(size, dtype=np.int64) + 10**7 * len(self.asked)


def draws(subject: Subject, series: Series) -> Iterator[AuditRow]:
    """Every known key gets noise of its own in every round, of the stated variance, and none of it twice."""
    plan, keys, noise = series.constants, 5, Told()
    runs = min(3, plan.longest)
    start = SeriesRound(SeriesSums.nothing(keys), np.full(1, plan.budget, np.int64))
    pools = ArraySeriesPools(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.bool_), 1, keys)
    out, wrong = np.arange(keys) == 3, 0
    for t in range(runs):
        before = np.zeros(keys, np.int64)
        for j, m in enumerate(plan.multiples(t)):
            start = rounds.play(plan, t, j, pools, start, out, noise)
            n = len(noise.asked)
            drawn = np.arange(keys) + 10**7 * n
            wrong += noise.asked[-1] != (m * plan.variance, keys) or bool((start.gathered.now - before != drawn).any())
            before = start.gathered.now
        start = SeriesRound(start.gathered.next_run(), start.left)
    yield faults(subject, "fresh noise of the stated law on every known key in every round", wrong, kind=Kind.BYTES)
    early, noise = noise.asked, Told()
    late = rounds.late(plan, runs, keys, noise)
    expected = [10**7 * sum(range(1 + 5 * t, 6 + 5 * t)) + 5 * np.arange(keys) for t in range(runs)]
    found = [*reversed(late.recent)]
    wrong = int(noise.asked != early) + int(len(found) != runs)
    wrong += sum(bool((a != b).any()) for a, b in zip(found, expected, strict=False))
    wrong += int(bool((late.before != sum(expected)).any()))
    yield faults(subject, "noise of rounds before a key was seen is as if seen from the start", wrong, kind=Kind.BYTES)


# ------------------------------------------------------------------ spending


def spending(subject: Subject, series: Series) -> Iterator[AuditRow]:
    """Scores that an adversary chooses round by round: nobody passes her budget, nor what a threshold counts on."""
    for table, plan in series.table_constants.items():
        of = "" if table == "queries" else f"{table}: "
        worst, mean = _adversary(plan)
        name = f"{of}a user's weights over the whole series"
        yield row(subject, name, "proven", 1.0, worst, 0.0, kind=Kind.EXACT)
        name = f"{of}what one user alone gives a key, over every window"
        yield row(subject, name, "proven", 1.0, mean, 0.0, kind=Kind.EXACT)


def _adversary(plan: SeriesConstants) -> tuple[float, float]:
    """The largest part of her budget that a user spends, and the largest of what a threshold counts on for a key."""
    rng, users = np.random.default_rng(1), 300
    left, sums = np.full(users, plan.budget, np.int64), SeriesSums.nothing(users)
    spent, worst, mean = np.zeros(users), 0.0, 0.0
    for t in range(plan.longest):
        for j, m in enumerate(plan.multiples(t)):
            score = rng.integers(0, 21, users) * rng.integers(0, 2, users)
            score[0], score[1] = 20, 20 * (t > 0)
            unit, left = rounds.spend(plan, t, j, left, score**2)
            sums = sums.plus(score * unit)
            spent += (score * unit).astype(float) ** 2 / m
        worst = max(worst, float(spent.max()) / (plan.mass * 4**plan.bits))
        for window in plan.windows(t):
            inside = plan.window_mass(t, window, len(STEPS))
            part = float(plan.spent(t))
            mean = max(mean, float(sums.window(window).max()) / (2**plan.bits * math.sqrt(part * plan.mass * inside)))
        sums = sums.next_run()
    return worst, mean


# ------------------------------------------------------------------ tiny series, many at once


@dataclass(frozen=True)
class TinySeries:
    """Users and the runs in which they first hold keys; v is the last user. `others` are (how many, {key: run})."""

    name: str
    others: tuple[tuple[int, dict[int, int]], ...]
    v: dict[int, int]
    keys: int

    def rows(self, *, with_v: bool) -> list[tuple[int, int, int]]:
        """(user, key, run), v being the last user."""
        found, user = [], 0
        for count, held in self.others:
            for _ in range(count):
                found += [(user, key, run) for key, run in held.items()]
                user += 1
        return found + [(user, key, run) for key, run in self.v.items() if with_v]

    @property
    def users(self) -> int:
        """With v."""
        return sum(count for count, _ in self.others) + 1


CASES = (
    TinySeries("only her own keys", (), {0: 0, 1: 1}, 2),
    TinySeries("a key of four others", ((4, {0: 0}),), {0: 0}, 1),
    TinySeries("she first, six others later", ((6, {0: 1}),), {0: 0}, 1),
    TinySeries("own and known keys", ((5, {0: 0}), (4, {1: 1})), {0: 0, 1: 0, 2: 1}, 3),
)


def tiled(rows: list[tuple[int, int, int]], t: int, users: int, keys: int, copies: int) -> ArraySeriesPools:
    """The pools by run t, for many copies side by side."""
    known = np.array([r for r in rows if r[2] <= t], np.int64).reshape(-1, 3)
    at = np.arange(copies, dtype=np.int64)[:, None]
    user, key = (at * users + known[:, 0]).ravel(), (at * keys + known[:, 1]).ravel()
    return ArraySeriesPools(user, key, np.tile(known[:, 2] == t, copies), users * copies, keys * copies)


def losses(plan: SeriesConstants, case: TinySeries, world: int, copies: int, noise: NoiseSource) -> np.ndarray:
    """The log likelihood ratio of the whole transcript, with her and without, drawn in one of the two worlds."""
    size, loss = case.keys * copies, np.zeros(copies)
    out: Flags = np.zeros(size, np.bool_)
    others = SeriesRound(SeriesSums.nothing(size), np.full(case.users * copies, plan.budget, np.int64))
    hers = others.left
    for t in range(plan.longest):
        known = tiled(case.rows(with_v=False), t, case.users, case.keys, copies)
        own = tiled([r for r in case.rows(with_v=True) if r[0] == case.users - 1], t, case.users, case.keys, copies)
        seen = np.zeros(size, np.bool_)
        seen[known.key] = True
        for j, m in enumerate(plan.multiples(t)):
            silent = rounds.play(plan, t, j, known, others, out, SilentNoise())
            her = rounds.play(plan, t, j, own, SeriesRound(others.gathered, hers), out, SilentNoise())
            added = (her.gathered.now - others.gathered.now).reshape(copies, -1)
            x = noise.gaussian(f"{t} {j}", m * plan.variance, size).reshape(copies, -1) + world * added
            loss += ((2 * x - added) * added).sum(1) / (2 * m * plan.variance)
            others = SeriesRound(silent.gathered.plus(x.ravel()), silent.left)
            hers = her.left
        out = out | (rounds.passing(plan, t, others.gathered) & seen)
        others = SeriesRound(others.gathered.next_run(), others.left)
    return loss


class SilentNoise(SeededNoise):
    """None at all."""

    def __init__(self) -> None:
        super().__init__(0)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """Zeros."""
        return np.zeros(size, np.int64)


def transcript(subject: Subject, series: Series, effort: Effort) -> Iterator[AuditRow]:
    """The hockey stick of everything that is drawn, unreleased keys included, on tiny series; both orders."""
    plan, copies = series.constants, effort.runs
    if plan.delta < VISIBLE:
        return
    epsilon = float(plan.epsilon)
    allowed = gaussian_delta(epsilon, math.sqrt(float(plan.mu2)))
    margin = math.sqrt(math.log(1 / CHANCE) / (2 * copies))
    for case in CASES:
        for world, sign, words in ((1, 1, "with her against without"), (0, -1, "without her against with")):
            loss = sign * losses(plan, case, world, copies, SeededNoise(copies + world))
            seen = float(-np.expm1(np.minimum(0.0, epsilon - loss)).mean())
            yield row(
                subject,
                f"transcript of a tiny series: {case.name}, {words}",
                "proven",
                allowed,
                seen - margin,
                margin,
                kind=Kind.STATISTICAL,
            )


def novel(subject: Subject, series: Series, effort: Effort) -> Iterator[AuditRow]:
    """Keys of one user each, thousands of them, released so far after each run: a chance that the theorem bounds."""
    from scipy.stats import poisson

    plan, size, noise = series.constants, 2 * effort.runs, SeededNoise(effort.runs)
    pairs = np.arange(size, dtype=np.int64)
    start = SeriesRound(SeriesSums.nothing(size), np.full(size, plan.budget, np.int64))
    out, bound = np.zeros(size, np.bool_), 0.0
    for t in range(plan.longest):
        pools = ArraySeriesPools(pairs, pairs, np.full(size, t == 0), size, size)
        *_, start = rounds.run_rounds(plan, t, pools, start, out, noise)
        out |= rounds.passing(plan, t, start.gathered)
        start = SeriesRound(start.gathered.next_run(), start.left)
        bound += size * plan.chance * len(plan.windows(t))
        enough = float(poisson.isf(CHANCE, bound))
        yield row(
            subject,
            f"keys of one user that come out by run {t + 1}, of {size:,}",
            "proven",
            enough,
            float(out.sum()),
            enough - bound,
            detail=f"at most {bound:.3g} expected",
            kind=Kind.STATISTICAL,
        )


# ------------------------------------------------------------------ she changes nothing but sums


def without_her(subject: Subject, series: Series) -> Iterator[AuditRow]:
    """Her rule without effect is the run without her, byte by byte, though she saw keys before others did."""
    plan = series.constants
    keys = 40
    case = TinySeries("", ((3, dict.fromkeys(range(keys), 1)), (3, {1: 0})), dict.fromkeys(range(0, keys, 2), 0), keys)
    found = [_others(plan, case, with_v) for with_v in (False, True)]
    wrong = sum(bool((a != b).any()) for a, b in zip(*found, strict=True))
    yield faults(subject, "a key that she alone held is to others what it is without her", wrong, kind=Kind.BYTES)


def _others(plan: SeriesConstants, case: TinySeries, with_v: bool) -> list[Integers]:
    """What others have left after every round, if v adds nothing: she stands in the pools, her purse is empty."""
    found = []
    left = np.full(case.users, plan.budget, np.int64)
    left[-1] = 0
    now = SeriesRound(SeriesSums.nothing(case.keys), left)
    noise, out = SeededNoise(9), np.zeros(case.keys, np.bool_)
    for t in range(min(2, plan.longest)):
        pools = tiled(case.rows(with_v=with_v), t, case.users, case.keys, 1)
        for now in rounds.run_rounds(plan, t, pools, now, out, noise):  # noqa: B020
            found += [now.left[:-1], now.gathered.now]
        now = SeriesRound(now.gathered.next_run(), now.left)
    return found
