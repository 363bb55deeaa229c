"""Audits of code that switches on by size: both sides of every switch, on logs of a few hundred rows.

`hubbub.switches` lowers the sizes at which a path begins. Reading a file, counting and writing must then give the same
bytes; what is drawn must have the same law, here of the counts and subsets behind keys that nobody holds
(`independence` has the draws of the noise itself).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub import ingest
from hubbub.audit.books import scratch
from hubbub.audit.checks import logs, taint
from hubbub.audit.checks.independence import distance
from hubbub.audit.checks.statistical import LEVEL, lower, upper
from hubbub.audit.protocols import AuditRow, Kind, Subject, shared_faults, shared_row
from hubbub.mechanisms import Mechanism, build
from hubbub.noise import Exits, SecureNoise
from hubbub.noise.absent import Rounds
from hubbub.noise.source import Integers
from hubbub.privacy.account import release_probability
from hubbub.steps import profile
from hubbub.switches import Beyond, Switch, lowered

# ------------------------------------------------------------------ the same bytes


LONG_LINE = taint.OddFile(
    "a line above the longest allowed",
    "log.csv",
    "table",
    (taint.HEADER,),
    tuple(b"user%d,query %d,%d" % (i, i % 7, 1000 + i) for i in range(90)),
    (b"victim," + b"x" * ((1 << 20) + 7) + b",5", b"victim,short,6"),
    taint.BY_NAME,
)


def _same(each: Switch) -> bool:
    return each.beyond is Beyond.NOTHING


def _post(each: Switch) -> bool:
    return each.beyond is not Beyond.DRAWS or ".noise." not in each.module


def records() -> Iterator[AuditRow]:
    """What is read of a file with one user's odd lines in it, a line above the longest allowed too, in small pieces."""
    for lines in (*taint.FILES, LONG_LINE):
        with scratch() as folder:
            usual, _ = lines.records(folder / "usual", with_her=False)
            with lowered(_same):
                pieces, lost = lines.records(folder / "pieces", with_her=True)
        wrong = float(_sorted(usual) != _sorted(pieces)) + lost
        check = f"byte difference of records, read in pieces: {lines.name}"
        yield shared_faults(check, wrong, f"{len(usual)} and {len(pieces)} records of others", Kind.BYTES)
    yield from _parquet()


def _parquet() -> Iterator[AuditRow]:
    """The same of Parquet: a table, and events of which clicks are joined to searches."""
    rows = [{"user": f"u{i}", "query": f"query {i % 7}", "time": 1000 + i} for i in range(90)]
    events = [
        {"client_id": f"u{i}", "query_id": f"q{i}", "user_query": f"query {i % 7}", "timestamp": 1_715_862_000_000 + i}
        for i in range(90)
    ]
    files = (("table", rows, taint.BY_NAME), ("ubi", events, {"user": "client_id"}))
    for format, content, columns in files:
        read = []
        with scratch() as folder:
            file = folder / "log.parquet"
            pq.write_table(pa.Table.from_pylist(content), file)
            for name, which in (("usual", lambda _: False), ("pieces", _same)):
                with lowered(which):
                    made = ingest.ingest(file, folder / name, format=format, columns=columns)
                read.append((made.read, made.kept, _sorted(pq.read_table(made.log).to_pylist())))
        wrong = float(read[0] != read[1] or read[0][1] != len(content))
        yield shared_faults(f"byte difference of records, read in pieces: Parquet, {format}", wrong, kind=Kind.BYTES)


def _sorted(rows: Sequence[dict[str, object]]) -> list[str]:
    return sorted(repr(tuple(row.items())) for row in rows)


def limits() -> Iterator[AuditRow]:
    """Where less is made of what was released as it grows: every byte of `public/`, without and with her, at low sizes.

    That larger paths change no byte is looked at where bytes are (`taint.public`).
    """
    settings = {"crowd": {"epsilon": 8, "delta": "1e-3"}, "optimal": {"epsilon": 4, "delta": "1e-3"}}
    for mechanism in (build(name, given) for name, given in settings.items()):
        one, other = taint.on_one_day(lambda folder, m=mechanism: _both(folder, m))  # type: ignore[misc]
        yield taint.same_bytes(f"byte difference of public/, low limits: {mechanism.name}", one, other)


def _both(folder: Path, mechanism: Mechanism) -> list[dict[str, bytes]]:
    with lowered(_post):
        return [taint.public_bytes(taint.release(folder / str(her), mechanism, with_her=her)) for her in (False, True)]


def made_up() -> Iterator[AuditRow]:
    """A synthetic log made in blocks and cut short still shows nothing but released strings."""
    mechanism = build("crowd", {"epsilon": 8, "delta": "0.05", "D": 3, "D_c": 3}, tables=["queries", "log"])
    with lowered(_post):
        for row in logs.strings(Subject.of(mechanism)):
            yield replace(row, check=f"{row.check}, in blocks and cut short")


def shares() -> Iterator[AuditRow]:
    """One user's share of the histograms, when a user is busier than is counted of anybody."""
    mechanism = build("crowd", {"epsilon": 8, "delta": "0.05", "D": 3, "D_c": 3}, tables=["queries", "log"])
    with lowered(_same):
        for row in logs.user_share(Subject.of(mechanism)):
            yield replace(row, check=f"{row.check}, counted up to {profile.MOST}")


# ------------------------------------------------------------------ the same law

ROUNDS = Rounds((1, 1, 2), 10**6, (3900, 5400, 7500), (-2000, -1000))
"""Multiples, variance, thresholds and drops: few enough keys of nobody pass to be counted first, in any round."""


def nobody() -> Iterator[AuditRow]:
    """Keys of nobody, drawn one by one, in chunks, and by counting them first: as many, as late, as far, anywhere."""
    keys, calls = 300_000, 4
    usual = [SecureNoise().absent("keys", keys, ROUNDS) for _ in range(calls)]
    with lowered(lambda each: each.name == "CHUNK"):
        chunks = [SecureNoise().absent("keys", keys, ROUNDS) for _ in range(calls)]
    with lowered(lambda each: each.module == "hubbub.noise.absent"):
        counted = [SecureNoise().absent("keys", keys, ROUNDS) for _ in range(calls)]
    for name, found in (("in chunks", chunks), ("counted first", counted)):
        yield from _alike(name, usual, found, keys)


def _alike(name: str, usual: list[Exits], found: list[Exits], keys: int) -> Iterator[AuditRow]:
    trials, worst = keys * len(found), 0.0
    for r in range(len(ROUNDS.multiples)):
        one, other = (int(sum((e.rounds == r).sum() for e in exits)) for exits in (usual, found))
        worst = max(worst, lower(one, trials) - upper(other, trials), lower(other, trials) - upper(one, trials))
    detail = f"{sum(e.ranks.size for e in usual)} and {sum(e.ranks.size for e in found)} of {trials} keys"
    yield shared_row(
        f"sampled: how many keys of nobody pass, {name}", 0.0, max(0.0, worst), 1e-3, detail, Kind.STATISTICAL
    )
    least = np.array(ROUNDS.thresholds)
    far = [np.concatenate([e.accumulators - least[e.rounds] for e in exits]) for exits in (usual, found)]
    apart, allowed = _between(*far)
    yield shared_row(f"sampled: how far keys of nobody pass, {name}", allowed, apart, allowed, kind=Kind.STATISTICAL)
    ranks = np.concatenate([e.ranks for e in found])
    allowed = math.sqrt(math.log(2 / LEVEL) / (2 * ranks.size))
    off = distance(ranks, lambda at: np.clip((at + 1) / keys, 0.0, 1.0))
    yield shared_row(f"sampled: where keys of nobody pass, {name}", allowed, off, allowed, kind=Kind.STATISTICAL)
    twice = sum(e.ranks.size - np.unique(e.ranks).size for e in found)
    same = sum(np.array_equal(a.ranks, b.ranks) for i, a in enumerate(found) for b in found[:i])
    yield shared_faults(f"no key of nobody passes twice, no two draws alike, {name}", twice + same)


def _between(one: Integers, other: Integers) -> tuple[float, float]:
    """The distance of two samples, and how far each may be from their law, added up."""
    at = np.unique(np.concatenate([one, other]))
    upto = [np.searchsorted(np.sort(values), at, side="right") / values.size for values in (one, other)]
    allowed = sum(math.sqrt(math.log(2 / LEVEL) / (2 * values.size)) for values in (one, other))
    return float(np.abs(upto[0] - upto[1]).max()), allowed


def counted() -> Iterator[AuditRow]:
    """How many of n draws pass: digit by digit, in blocks of bits, and in groups; at usual sizes and at low ones."""
    scale, threshold = Fraction(10), 60
    for trials, calls in (((1 << 20) - 5, 40), ((1 << 20) + 5, 200), (20_000, 150)):
        yield from _binomial(f"{trials} draws", trials, scale, threshold, calls)
    with lowered(lambda each: each.module == "hubbub.noise.binomial" and each.name != "FEW_TRIALS"):
        yield from _binomial("20000 draws, in blocks", 20_000, scale, threshold, 40)
    with lowered(lambda each: each.module == "hubbub.noise.binomial"):
        yield from _binomial("300000 draws, in groups", 300_000, scale, threshold, 200)


def _binomial(name: str, trials: int, scale: Fraction, threshold: int, calls: int) -> Iterator[AuditRow]:
    from scipy.stats import binom

    noise, chance = SecureNoise(), float(release_probability(scale, threshold, 0))
    drawn = np.array([noise.binomial_tail("keys", scale, threshold, trials) for _ in range(calls)], np.int64)
    whole, all_trials = int(drawn.sum()), trials * calls
    off = max(0.0, lower(whole, all_trials) - chance, chance - upper(whole, all_trials))
    width = upper(whole, all_trials) - lower(whole, all_trials)
    detail = f"{whole} of {all_trials}, expected {chance:.4g}"
    yield shared_row(f"sampled: how many pass, {name}", 0.0, off, width, detail, Kind.STATISTICAL)
    allowed = math.sqrt(math.log(2 / LEVEL) / (2 * calls))
    far = distance(drawn, lambda at: np.asarray(binom.cdf(at, trials, chance), np.float64))
    yield shared_row(f"sampled law: how many pass, {name}", allowed, far, allowed, f"{calls} draws", Kind.STATISTICAL)


def subsets() -> Iterator[AuditRow]:
    """Which keys: any place is as likely, when few are chosen, when most are, and when there are many of them."""
    for population, size, calls in ((2000, 300, 20), (2000, 1700, 20), (1 << 20, 1 << 18, 1)):
        noise = SecureNoise()
        chosen = [noise.choose("keys", population, size) for _ in range(calls)]
        wrong = sum(c.size != size or np.unique(c).size != size or bool((np.diff(c) < 0).any()) for c in chosen)
        wrong += sum(np.array_equal(a, b) for i, a in enumerate(chosen) for b in chosen[:i])
        name = f"{size} of {population}"
        yield shared_faults(f"as many different keys as asked for: {name}", wrong)
        places = np.concatenate(chosen)
        allowed = math.sqrt(math.log(2 / LEVEL) / (2 * places.size))  # without repeats it is narrower still
        off = distance(places, lambda at, top=population: np.clip((at + 1) / top, 0.0, 1.0))  # type: ignore[misc]
        yield shared_row(f"sampled: which keys are chosen: {name}", allowed, off, allowed, kind=Kind.STATISTICAL)


Test = Callable[[], Iterator[AuditRow]]
TESTS: tuple[Test, ...] = (records, limits, made_up, shares, nobody, counted, subsets)


def tests() -> Iterator[AuditRow]:
    """Every check of both sides of a switch."""
    for test in TESTS:
        yield from test()
