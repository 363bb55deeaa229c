"""Broken series: each wrong in one way that the proof forbids (docs/proofs/series.md, requirements on code)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from hubbub.audit.checks import series as checks
from hubbub.audit.checks import series_joint, series_kept, series_tables
from hubbub.audit.mutants.fault import Fault, Planted
from hubbub.audit.protocols import QUICK, AuditRow, Effort, Subject
from hubbub.mechanisms.series import Series
from hubbub.mechanisms.series.constants import DELTA_TESTS, SeriesConstants
from hubbub.mechanisms.series.rounds import ArraySeriesPools, SeriesRound, SeriesSums, roots
from hubbub.mechanisms.series.tables import TABLES
from hubbub.noise import NoiseSource, SeededNoise
from hubbub.privacy.gaussian import threshold_for
from hubbub.series.kept import KeptTable
from hubbub.steps.counts import Flags, Integers

ROUNDS, CONSTANTS = "hubbub.mechanisms.series.rounds", "hubbub.mechanisms.series.constants:SeriesConstants"
RECORDS, COUNTS = "hubbub.series.records:SeriesRecords", "hubbub.mechanisms.series.counts:CountConstants"
TABLE_PARTS, FURTHER = "hubbub.mechanisms.series.tables", "hubbub.series.further:FurtherRecords"
KEPT = "hubbub.series.kept:KeptTable"
ERASED = "hubbub.series.erase:_erased"
FEW = replace(QUICK, runs=20_000)


def small() -> list[Series]:
    """A δ at which a violation would show; one at which novel keys can be counted; and all tables."""
    days: dict[str, Any] = {"first": "2020-01-01", "length": "day"}
    return [
        Series(epsilon="0.5", delta="0.1", periods=2, D=2, counts=0, **days),
        Series(epsilon=1, delta="0.001", periods=4, longest=5, D=1, schedule="front", **days),
        Series(epsilon=1, delta="0.01", periods=3, longest=4, tables=[*TABLES], **days),
    ]


def detector(*names: str) -> Callable[[], Iterator[AuditRow]]:
    """Some of the checks, on both subjects, as they are made then."""

    def look() -> Iterator[AuditRow]:
        for series in small():
            subject = Subject(series, series.measure, series.draw)
            for name in names:
                yield from _called(getattr(checks, name), subject, series)

    return look


def _called(check: Callable[..., Iterable[AuditRow]], subject: Subject, series: Series) -> Iterable[AuditRow]:
    if check in (checks.transcript, checks.novel):
        if len(series.table_constants) > 1:
            return ()
        effort: Effort = FEW
        return check(subject, series, effort)
    return check(subject, series)


def _chance(factor: Callable[[SeriesConstants], float]) -> Callable[[Any], Any]:
    """Thresholds for another chance than the one that adds up to δ."""

    def broken(_: Any) -> Any:
        return lambda self, t, mass: threshold_for(self.mean(t, mass), mass * self.variance, factor(self))

    return broken


def _entries(plan: SeriesConstants, longest: int, weight: Callable[[int], int]) -> float:
    return float(DELTA_TESTS * plan.delta) / sum(weight(t) for t in range(longest) for _ in plan.windows(t))


def _first_sight(play: Any) -> Any:
    """A key that is new to everybody starts at level 0, whatever noise it has."""

    def broken(
        plan: SeriesConstants, t: int, j: int, pools: Any, before: SeriesRound, out: Flags, noise: NoiseSource
    ) -> SeriesRound:
        if not isinstance(pools, ArraySeriesPools) or j or not t:
            return play(plan, t, j, pools, before, out, noise)  # type: ignore[no-any-return]
        old = np.zeros(pools.keys, np.bool_)
        old[pools.key[~pools.new]] = True
        g = before.gathered
        blank = SeriesSums(g.before * old, tuple(x * old for x in g.recent), g.now * old)
        after = play(plan, t, j, pools, replace(before, gathered=blank), out, noise)
        return SeriesRound(g.plus(after.gathered.now - blank.now), after.left)

    return broken


class _SameDraw(SeededNoise):
    """The first draw again and again, scaled to the variance that is asked for."""

    def __init__(self, source: NoiseSource) -> None:
        super().__init__(0)
        self.source = source

    first: tuple[Integers, int] | None = None

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        fresh = self.source.gaussian(step, variance, size)
        if _SameDraw.first is None or _SameDraw.first[0].size != size:
            _SameDraw.first = fresh, int(variance)
            return fresh
        drawn, of = _SameDraw.first
        again: Integers = drawn * isqrt(10**6 * int(variance) // of) // 1000
        return again


def _noise(wrap: Callable[[NoiseSource], NoiseSource]) -> Callable[[Any], Any]:
    def broken(play: Any) -> Any:
        return lambda plan, t, j, pools, before, out, noise: play(plan, t, j, pools, before, out, wrap(noise))

    return broken


def _live_only(play: Any) -> Any:
    """Noise for keys that somebody counts for, and for no other."""

    def broken(
        plan: SeriesConstants, t: int, j: int, pools: Any, before: SeriesRound, out: Flags, noise: NoiseSource
    ) -> SeriesRound:
        after = play(plan, t, j, pools, before, out, noise)
        silent = play(plan, t, j, pools, before, out, checks.SilentNoise())
        added = silent.gathered.now - before.gathered.now
        noisy = np.where(added > 0, after.gathered.now - before.gathered.now, 0)
        return SeriesRound(before.gathered.plus(noisy), after.left)

    return broken


def _all_if_one(passing: Any) -> Any:
    def broken(plan: SeriesConstants, t: int, gathered: SeriesSums) -> Flags:
        found: Flags = passing(plan, t, gathered)
        return np.full(found.size, bool(found.any()))

    return broken


def _lower(passing: Any) -> Any:
    """A deviation and a half below every threshold."""

    def broken(plan: SeriesConstants, t: int, gathered: SeriesSums) -> Flags:
        lift = isqrt(9 * sum(plan.multiples(t)) * plan.variance // 4)
        return passing(plan, t, gathered.plus(np.full(gathered.now.size, lift)))  # type: ignore[no-any-return]

    return broken


def _unseen(erased: Any) -> Any:
    """After an erasure only keys that still stand in a pool count as seen."""

    def broken(held: Any, engine: Any, secret: bytes, user: str, series: Series) -> None:
        erased(held, engine, secret, user, series)
        from hubbub.series.arrays import write_arrays
        from hubbub.series.records import SeriesRecords

        SeriesRecords(engine, held.path, held.state.files, secret)
        kids = engine.fetch("SELECT DISTINCT kid FROM series_pool").column("kid").to_numpy()
        gone = [name for name in held.state.files if name.startswith("seen-")]
        held.commit(held.state, [write_arrays(held.path / "seen-000-again.parquet", {"kid": kids})], gone)

    return broken


def _textless(erased: Any) -> Any:
    """After an erasure keys that nobody holds any more have no text, though they were seen."""

    def broken(held: Any, engine: Any, secret: bytes, user: str, series: Series) -> None:
        erased(held, engine, secret, user, series)
        from hubbub.series.records import SeriesRecords

        SeriesRecords(engine, held.path, held.state.files, secret)
        engine.save("still_held", "SELECT * FROM series_keys WHERE kid IN (SELECT kid FROM series_held)")
        gone = [name for name in held.state.files if name.startswith("keys-")]
        engine.write("still_held", held.path / "keys-000-again.parquet")
        held.commit(held.state, ["keys-000-again.parquet"], gone)

    return broken


def _no_filter(spend: Any) -> Any:
    return lambda plan, t, j, left, n2: (spend(plan, t, j, np.full_like(left, plan.budget), n2)[0], left)


def _all_of_it_for_clicks(spend: Any) -> Any:
    """Every round of clicks may spend all that a user had at first."""

    def broken(plan: SeriesConstants, t: int, j: int, left: Integers, n2: Integers) -> tuple[Integers, Integers]:
        if not plan.of:
            return spend(plan, t, j, left, n2)  # type: ignore[no-any-return]
        most = plan.budget * plan.multiples(t)[j] // (plan.common * np.maximum(n2, 1))
        return np.where(n2 > 0, roots(most), 0), left

    return broken


def joint() -> Iterator[AuditRow]:
    """Queries and clicks together, with few copies."""
    return series_joint.tests(FEW)


def _wide(fill: Any) -> Any:
    return lambda self, t, limit, out: fill(self, t, 9 * limit, out)


def _full(write: Any) -> Any:
    """What users had at first is written in place of what they have left."""
    budget = series_kept.small_series().constants.budget
    return lambda path, purses: write(path, replace(purses, selection=np.full_like(purses.selection, budget)))


def _full_again(write: Any) -> Any:
    """What users had for the clicks is written in place of what they have left."""
    budget = series_tables.small_series().table_constants["clicks"].budget
    return lambda path, purses: write(path, replace(purses, selection=np.full_like(purses.selection, budget)))


def _whole(shares: Any) -> Any:
    return lambda tables: tuple(dict.fromkeys(part, Fraction(1)) for part in shares(tables))


def _wide_fill(fill: Any) -> Any:
    return lambda self, t, limit, size, out: fill(self, t, 9 * limit, size, out)


def _forgotten(erased: Any) -> Any:
    """After an erasure only clicks that still stand in a pool are known."""

    def broken(held: Any, engine: Any, secret: bytes, user: str, series: Series) -> None:
        erased(held, engine, secret, user, series)
        from hubbub.series.further import FurtherRecords

        FurtherRecords(engine, held.path, held.state.files, secret, "clicks")
        still = "SELECT * FROM series_clicks_keys WHERE kid IN (SELECT kid FROM series_clicks_pool)"
        engine.save("still_pooled", still)
        gone = [name for name in held.state.files if name.startswith("clicks.keys-")]
        engine.write("still_pooled", held.path / "clicks.keys-000-again.parquet")
        held.commit(held.state, ["clicks.keys-000-again.parquet"], gone)

    return broken


def _held_only(_: Any) -> Any:
    """Only keys of pools count as seen, listed or not."""

    def broken(self: KeptTable) -> list[Integers]:
        return [pq.read_table(path).column("kid").to_numpy() for path in self.paths("pool")]

    return broken


def _cheap(price: Any) -> Any:
    """As if the series could be one run shorter than it may."""
    return lambda self, t: price(self, min(t + 1, self.longest - 1))


class _EveryHash(str):
    """A hash that is every hash."""

    def __new__(cls) -> _EveryHash:
        return super().__new__(cls, "")

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


def _any_state(last: Any) -> Any:
    return lambda book, entry: _EveryHash() if last(book, entry) else None


FAULTS: tuple[Planted, ...] = (
    ("tests are not key by key", detector("novel"), {f"{ROUNDS}:passing": _all_if_one}),
    ("a new key starts at level 0", detector("without_her"), {f"{ROUNDS}:play": _first_sight}),
    (
        "noise only from first sight on",
        detector("draws"),
        {f"{ROUNDS}:late": lambda late: lambda plan, t, size, noise: late(plan, t, size, checks.SilentNoise())},
    ),
    ("more keys of a run than D", series_kept.of_pools, {f"{RECORDS}._fill_pools": _wide}),
    ("no filter", detector("spending"), {f"{ROUNDS}:spend": _no_filter}),
    ("no filter, seen in the transcript", detector("transcript"), {f"{ROUNDS}:spend": _no_filter}),
    ("what is left is not kept", series_kept.of_state, {"hubbub.series.arrays:write_purses": _full}),
    (
        "a threshold that follows what users have spent",
        detector("constants"),
        {f"{CONSTANTS}.threshold": lambda f: lambda self, t, mass: f(self, t, mass) - self.mean(t, mass) // 2},
    ),
    (
        "Θ without the mean",
        detector("constants"),
        {f"{CONSTANTS}.threshold": lambda f: lambda self, t, mass: f(self, t, mass) - self.mean(t, mass)},
    ),
    (
        "D not counted in p",
        detector("constants"),
        {f"{CONSTANTS}.threshold": _chance(lambda plan: min(0.1, plan.chance * plan.limit * 2))},
    ),
    (
        "tests not counted in p",
        detector("constants"),
        {f"{CONSTANTS}.threshold": _chance(lambda plan: min(0.1, float(DELTA_TESTS * plan.delta) / plan.limit))},
    ),
    (
        "the longest extension ignored in p",
        detector("constants"),
        {f"{CONSTANTS}.threshold": _chance(lambda plan: _entries(plan, plan.periods, lambda t: t + 1) / plan.limit)},
    ),
    ("every table takes the whole budget", detector("constants"), {f"{TABLE_PARTS}:shares": _whole}),
    ("no filter for clicks, seen in the transcript", joint, {f"{ROUNDS}:spend": _all_of_it_for_clicks}),
    ("more clicks of a run than D_c", series_tables.tests, {f"{FURTHER}.fill": _wide_fill}),
    ("clicks that nobody has in a pool any more are forgotten", series_tables.tests, {ERASED: _forgotten}),
    ("a listed query comes out only if somebody holds it", series_tables.of_list, {f"{KEPT}.seen": _held_only}),
    ("what is left for clicks is not kept", series_tables.tests, {"hubbub.series.arrays:write_purses": _full_again}),
    ("pairs of later runs priced for the planned end", detector("counts"), {f"{COUNTS}.price": _cheap}),
    ("noise for keys in the running only", detector("draws"), {f"{ROUNDS}:play": _live_only}),
    ("noise of one round reused", detector("draws"), {f"{ROUNDS}:play": _noise(_SameDraw)}),
    (
        "a key forgotten and drawn anew",
        detector("draws"),
        {f"{ROUNDS}:SeriesSums.next_run": lambda f: lambda self: replace(f(self), before=np.zeros_like(self.before))},
    ),
    ("thresholds a deviation and a half lower", detector("novel"), {f"{ROUNDS}:passing": _lower}),
    ("seen recomputed from the pools that are left", series_kept.of_state, {ERASED: _unseen}),
    ("keys that were seen lose their text", series_kept.of_state, {ERASED: _textless}),
    (
        "two copies of a series go on",
        series_kept.of_state,
        {"hubbub.series.state:StateFolder.refuse_fork": lambda _: lambda self: None},
    ),
    ("an older state accepted", series_kept.of_state, {"hubbub.series.state:last_booked": _any_state}),
)


SERIES_MUTANTS = tuple(Fault(*planted) for planted in FAULTS)
