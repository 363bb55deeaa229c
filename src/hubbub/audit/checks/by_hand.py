"""Selections in rounds done again by hand, from the log's rows and what was drawn, beside what the engine added up.

The engine's sums are SQL. Here users, pools and weights are sets and Python's integers: in round r a user with n live
keys of her pool adds ⌊2^k/√n⌋ to each of them, whatever others hold, and no key beyond her pool gets anything. Whoever
is released, with which sum and in which round, follows from these and from the draws, exactly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.audit.checks.pooled import first_selection
from hubbub.audit.protocols import AuditRow, Event, Kind, Subject, shared_faults, shared_row
from hubbub.audit.tiny import MODE, Tiny, tiny_log
from hubbub.engines.base import Engine
from hubbub.mechanisms import build
from hubbub.mechanisms.pairs import drawn
from hubbub.mechanisms.rounds import Selection, select
from hubbub.noise import SecureNoise
from hubbub.noise.source import Integers
from hubbub.steps.keys import CLICKS, QUERIES, Keys
from hubbub.steps.pools import EnginePools
from hubbub.switches import Switch, lowered

BITS = 16
Held = Mapping[str, frozenset[str]]
"""User -> texts of keys."""
Make = Callable[..., Engine]

# ------------------------------------------------------------------ pools and weights


def held_by(events: Iterable[Event], kind: Keys) -> Held:
    """What each user holds, found from the rows of the log in plain Python."""
    found: dict[str, set[str]] = defaultdict(set)
    for user, _, query, url in events:
        if kind.columns == ("query",):
            found[user].add(query)
        elif url is not None:
            found[user].add(_text((query, url)))
    return {user: frozenset(keys) for user, keys in found.items()}


def _text(columns: Iterable[object]) -> str:
    return " | ".join(map(str, columns))


@dataclass(frozen=True)
class Read:
    """Pools as they lie in the engine: whose they are, and the text of every key by its id."""

    pools: Held
    texts: list[str]
    repeated: int
    """Rows that say the same of a user again."""

    @staticmethod
    def of(pools: EnginePools) -> Read:
        """The pools as they are before the first round."""
        kind, engine = pools.kind, pools.log.engine
        found: dict[str, set[str]] = defaultdict(set)
        rows = engine.fetch(f"SELECT uid, {kind.list()} FROM pool_{kind.name}").to_pylist()
        for row in rows:
            found[row["uid"]].add(_text(row[c] for c in kind.columns))
        keys = engine.fetch(f"SELECT kid, {kind.list()} FROM {pools.keys}").sort_by("kid").to_pylist()
        texts = [_text(row[c] for c in kind.columns) for row in keys]
        repeated = len(rows) - sum(map(len, found.values()))
        return Read({user: frozenset(keys) for user, keys in found.items()}, texts, repeated)

    def wrong(self, held: Held, limit: int, first: frozenset[str] = frozenset()) -> int:
        """Pools that are not as many of a user's own keys as allowed, listed ones first; keys of no pool."""
        wrong = int(set(self.texts) != set().union(*self.pools.values())) + abs(len(self.texts) - len(set(self.texts)))
        for user, keys in held.items():
            pool = self.pools.get(user, frozenset())
            wrong += not pool <= keys or len(pool) != min(limit, len(keys))
            wrong += len(pool & first) != min(limit, len(keys & first))
        return wrong + len(self.pools.keys() - held.keys()) + self.repeated

    def weights(self, live: Iterable[str], bits: int = BITS) -> dict[str, int]:
        """What users add to each live key in a round, by the text of the key."""
        alive = frozenset(live)
        sums: dict[str, int] = defaultdict(int)
        for pool in self.pools.values():
            still = pool & alive
            for key in still:
                sums[key] += isqrt(4**bits // len(still))
        return sums


# ------------------------------------------------------------------ one user's share, round by round

LIMITS = (1, 2, 5)
SHARED_KEYS = tuple(f"k{i}" for i in range(12))
LISTED = ("k3", "k7", "k11", "her 1", "nobody's")


def others() -> tuple[Event, ...]:
    """Users of one to twelve keys, some of them too many for any pool, with clicks."""
    rows: list[Event] = []
    for u in range(12):
        for i, key in enumerate(SHARED_KEYS[: u + 1]):
            rows += [(f"u{u}", 10 * i + u, key, f"{key}.example")] * (1 + (u + i) % 2)
    return tuple(rows)


def hers() -> tuple[Event, ...]:
    """One user who holds all of these, keys of her own besides, each many times."""
    keys = [*SHARED_KEYS[::2], *(f"her {i}" for i in range(4))]
    return tuple(("victim", 1000 + t, key, f"{key}.example") for t, key in enumerate(keys * 3))


class Tied(Tiny):
    """An engine whose own hash is the same for every key: whom a full pool takes is a tie."""

    def shuffle(self, columns: str) -> str:
        """The same hash for every key."""
        return "0"


def shares(make: Make = Tiny, limits: Iterable[int] = LIMITS) -> Iterator[AuditRow]:
    """What one user adds in each round, in the engine: her own keys, length at most 1, and nobody else moves."""
    for kind in (QUERIES, CLICKS):
        for limit in limits:
            for how, repeatable, listed in (("", True, False), (", any order", False, False), (", a list", True, True)):
                if kind is QUERIES or not listed:
                    yield share(make, kind, limit, how, repeatable, listed)


def _rows(each: Switch) -> bool:
    """The size from which rounds are added up in the engine."""
    return each.module == EnginePools.__module__ and each.name == "ROWS"


def rounds_of(pools: EnginePools, texts: list[str]) -> Iterator[tuple[dict[str, int], ...]]:
    """The weights of shrinking rounds: on arrays, where one machine has all rows, and as the engine adds them up."""
    ways = []
    for in_engine in (True,) if pools.log.engine.distributed else (False, True):
        with lowered(_rows) if in_engine else nullcontext():
            found = []
            for live in shrinking(texts):
                ids = np.array([i for i, text in enumerate(texts) if text in live], np.int64)
                found.append(dict(zip([texts[i] for i in ids], pools.weights(ids).tolist(), strict=True)))
        pools.again()
        ways.append(found)
    yield from zip(*ways, strict=True)


def share(make: Make, kind: Keys, limit: int, how: str, repeatable: bool, listed: bool) -> AuditRow:
    """One kind of keys, one bound: with others, with her, and alone."""
    first = frozenset(LISTED) if listed else frozenset()
    crowd, wrong, largest = others(), 0, 0
    runs = []
    for events in (crowd, crowd + hers(), hers()):
        with tiny_log(events, make) as log:
            log.engine.register("public_list", pa.table({"query": list(LISTED)}))
            pools = EnginePools(
                log, kind, limit, BITS, replace(MODE, repeatable=repeatable), "public_list" if listed else None
            )
            read, held = Read.of(pools), held_by(events, kind)
            wrong += read.wrong(held, limit, first)
            rounds = []
            for found in rounds_of(pools, read.texts):
                by_hand = read.weights(found[0])
                wrong += sum(way[text] != by_hand[text] for way in found for text in way)
                rounds.append(found[-1])
            runs.append((read, rounds))
    (without, before), (added, after), (_, alone) = runs
    wrong += sum(added.pools[user] != pool for user, pool in without.pools.items())
    for small, large, own in zip(before, after, alone, strict=True):
        moved = {key: large.get(key, 0) - small.get(key, 0) for key in large.keys() | small.keys()}
        wrong += {k: v for k, v in moved.items() if v} != {k: v for k, v in own.items() if v}
        largest = max(largest, sum(v * v for v in moved.values()))
    share = float(Fraction(largest, 4**BITS)) + 2.0 * wrong
    detail = f"{wrong} sums or pools other than by hand, in {len(before)} rounds"
    if largest > 4**BITS:  # as integers: a float would round it away
        share = max(share, 1.001)
    return shared_row(
        f"one user's share of a round, in the engine: {kind.name}, D = {limit}{how}",
        1.0,
        share,
        1e-9,
        detail,
        Kind.EXACT,
    )


def shrinking(texts: Iterable[str]) -> list[frozenset[str]]:
    """What is live in each of four rounds: by the keys' names, the same with and without her."""
    names = frozenset(texts)
    gone = [
        frozenset[str](),
        frozenset({"k0", "k4", "her 2"}),
        frozenset({"k1", "k2", "k8"}),
        frozenset({"k6", "her 0"}),
    ]
    rounds, live = [], names
    for out in gone:
        live = frozenset(t for t in live if t.partition(" | ")[0] not in out)
        rounds.append(live)
    return rounds


# ------------------------------------------------------------------ whole selections


class KeptNoise(SecureNoise):
    """Real noise, written down as it was handed out."""

    def __init__(self) -> None:
        self.drawn: dict[str, list[Integers]] = defaultdict(list)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """Draw real noise, and keep it."""
        values = super().gaussian(step, variance, size)
        self.drawn[step].append(values)
        return values


def rounds_by_hand(
    read: Read,
    plan: Selection,
    noise: KeptNoise,
    step: str,
    known: Mapping[str, Selection] = MappingProxyType({}),
) -> dict[str, tuple[int, int]]:
    """Text of a released key -> (what it had gathered, in which round); a remark if there is not one draw per key.

    `known` has the levels of keys that are known beforehand.
    """
    live, gathered, out = list(read.texts), dict.fromkeys(read.texts, 0), {}
    for r, multiple in enumerate(plan.multiples):
        weights = read.weights(live, plan.bits)
        drawn = np.concatenate([np.zeros(0, np.int64), *noise.drawn[f"{step} round {r + 1}"]])
        if drawn.size != len(live):
            return {f"{drawn.size} draws for {len(live)} keys": (0, r)}
        stay = []
        for key, x in zip(live, drawn.tolist(), strict=True):
            levels = known.get(key, plan)
            gathered[key] = multiple * weights[key] + x + (gathered[key] if plan.recycled else 0)
            if gathered[key] >= levels.thresholds[r]:
                out[key] = gathered[key], r
            elif r < len(plan.multiples) - 1 and gathered[key] >= levels.drops[r]:
                stay.append(key)
        live = stay
    return out


def selections(make: Make = Tiny) -> Iterator[AuditRow]:
    """The rounds of every mechanism that has them, with real noise, against the same by hand."""
    budget = {"epsilon": 4, "delta": "0.05"}
    for mechanism in (
        build("crowd", budget | {"D": 5, "rounds": 4, "language": "none"}, tables=["queries"]),
        build("adaptive", budget | {"d": 5, "rounds": 4}),
        build("sips", budget | {"d": 5}),
        build("gaussian", budget | {"d": 5, "weights": "sqrt"}),
    ):
        yield selected(Subject.of(mechanism), others() + hers(), make)


def selected(subject: Subject, events: tuple[Event, ...], make: Make = Tiny) -> AuditRow:
    """One selection: who is released, with what, when."""
    plan = first_selection(subject)
    with tiny_log(events, make) as log:
        pools: Any = subject.measure(log, MODE)["queries"]
        read, noise = Read.of(pools), KeptNoise()
        found = drawn(select(pools, plan, "queries"), noise)
    by_id = zip(found.ids.tolist(), found.accumulators.tolist(), found.rounds.tolist(), strict=True)
    released = {read.texts[i]: (a, r) for i, a, r in by_id}
    right = rounds_by_hand(read, plan, noise, "queries")
    wrong = sum(released.get(key) != right.get(key) for key in released.keys() | right.keys())
    wrong += read.wrong(held_by(events, QUERIES), plan.limit)
    check = f"exact rounds, as by hand: {subject.mechanism.name}"
    return shared_faults(check, wrong, f"{len(right)} of {len(read.texts)} keys released", Kind.EXACT)


# ------------------------------------------------------------------ counting again


def recounts(make: Make = Tiny) -> Iterator[AuditRow]:
    """Released keys counted over all that users hold: each scaled down by hand, the kept total clipped."""
    events = others() + hers()
    held = held_by(events, QUERIES)
    with tiny_log(events, make) as log:
        pools = EnginePools(log, QUERIES, 2, BITS, MODE)
        texts = Read.of(pools).texts
        ids = np.array([i for i in range(len(texts)) if i % 4], np.int64)[::-1]
        lam = 900 + 37 * np.arange(ids.size)
        weight = dict(zip([texts[i] for i in ids], lam.tolist(), strict=True))
        for cap2 in (10**6, 4 * 10**6 + 1, 10**9):
            found = pools.recount(ids, lam, cap2).tolist()
            kept = pools.kept(ids, 3)
            right: dict[str, int] = defaultdict(int)
            for keys in held.values():
                own = keys & weight.keys()
                length2 = sum(weight[key] ** 2 for key in own)
                for key in own:
                    square = weight[key] ** 2
                    right[key] += isqrt(square if length2 <= cap2 else square * cap2 // length2)
            wrong = sum(right[texts[i]] != y for i, y in zip(ids, found, strict=True))
            wrong += kept != sum(min(3, len(keys & weight.keys())) for keys in held.values())
            check = f"exact recount in the engine, as by hand: C² = {cap2}"
            yield shared_faults(check, wrong, f"{ids.size} keys", Kind.EXACT)


def tests() -> Iterator[AuditRow]:
    """Shares, whole selections and recounts on DuckDB; tests/spark runs them on Spark."""
    yield from shares()
    yield share(Tied, QUERIES, 2, ", every hash alike", repeatable=False, listed=False)
    yield from selections()
    yield from recounts()
