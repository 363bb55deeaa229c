"""Pools: the engine's integers are those of the arrays and those of plain Python, to the last unit."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from tests.pools_by_hand import ByHand, Named, Sums, asks, measured_pools

from hubbub.audit.protocols import Event
from hubbub.audit.tiny import tiny_log
from hubbub.errors import OurBug
from hubbub.steps.array_pools import ArrayPools, amount
from hubbub.steps.holdings import MOST
from hubbub.steps.keys import QUERIES
from hubbub.steps.mode import RunMode
from hubbub.steps.pools import EnginePools

LIMIT, BITS = 5, 16


def some_log(seed: int, users: int = 60, vocabulary: int = 40) -> list[Event]:
    """Users who hold few or many keys, popular ones and rare ones, with repeats."""
    random = np.random.default_rng(seed)
    chances = 1 / np.arange(1, vocabulary + 1)
    held = {
        f"user {u}": [f"query {k}" for k in random.choice(vocabulary, 1 + u % 17, p=chances / chances.sum())]
        for u in range(users)
    }
    return asks(held)


def shrinking(keys: set[str], rounds: int, seed: int) -> list[set[str]]:
    """Live sets, each part of the one before."""
    random = np.random.default_rng(seed)
    lives = [keys]
    for _ in range(rounds):
        lives.append({key for key in sorted(lives[-1]) if random.random() < 0.6})
    return lives


@pytest.mark.parametrize("seed", range(3))
def test_engine_arrays_and_plain_python_agree(seed: int) -> None:
    events = some_log(seed)
    hand = ByHand(events, LIMIT, BITS)
    assert max(len(keys) for keys in hand.held.values()) > LIMIT >= max(len(keys) for keys in hand.pool.values())
    random = np.random.default_rng(seed)
    with measured_pools(events, LIMIT, BITS) as (engine, arrays):
        assert set(engine.keys) == hand.keys, "present: in some pool"
        for live in shrinking(hand.keys, 4, seed):
            expected = hand.weights(live)
            assert engine.weights(live) == expected
            assert arrays.weights(live) == expected
        released = {key for key in sorted(hand.keys) if random.random() < 0.5}
        lam = {key: int(random.integers(1, 4097)) for key in sorted(released)}
        for cap2 in (1, 2, 1000, 4096**2, 3 * 10**7, 50 * 4096**2):
            expected = hand.recount(lam, cap2)
            assert engine.recount(lam, cap2) == expected
            assert arrays.recount(lam, cap2) == expected
            for most in (1, 3, 300):
                assert engine.kept(released, most) == arrays.kept(released, most) == hand.kept(released, most)


@pytest.mark.parametrize(("threads", "ordered"), [(1, True), (3, True), (1, False), (3, False)])
def test_neither_the_order_of_rows_nor_threads_nor_numbering_matter(threads: int, ordered: bool) -> None:
    events = some_log(7)
    mixed = [events[i] for i in np.random.default_rng(8).permutation(len(events))]
    with measured_pools(events, LIMIT, BITS, ordered=ordered) as (plain, _):  # ids may differ, sums by text may not
        expected = everything(plain)
    with measured_pools(mixed, LIMIT, BITS, threads=threads, ordered=ordered) as (engine, arrays):
        assert everything(engine) == expected
        assert everything(arrays) == expected


def everything(pools: Named) -> tuple[list[Sums], list[Sums], list[int]]:
    """All sums of one run, by the text of the keys."""
    lives = shrinking(set(pools.keys), 3, 1)
    lam = {key: 1 + len(key) * 37 % 4096 for key in sorted(lives[1])}
    sums = [pools.weights(live) for live in lives]
    counted = [pools.recount(lam, cap2) for cap2 in (10**4, 10**6)]
    return sums, counted, [pools.kept(lives[1], most) for most in (2, 100)]


def test_a_user_with_more_keys_than_the_bound_brings_that_many_and_holds_all() -> None:
    events = asks({"heavy": [f"q{i:02}" for i in range(30)], "light": ["q00"]})
    with measured_pools(events, LIMIT, BITS) as (engine, arrays):
        weights = engine.weights(set(engine.keys))
        hers = amount(BITS, LIMIT)
        assert LIMIT <= len(engine.keys) <= LIMIT + 1
        assert weights.pop("q00") in (2**BITS, 2**BITS + hers)
        assert set(weights.values()) == {hers}
        assert engine.recount(dict.fromkeys(engine.keys, 1), 10**6)["q00"] == 2, "the recount sees what is held"
        assert arrays.kept(set(engine.keys), 10**6) == len(engine.keys) + 1


# ------------------------------------------------------------------ quotients and roots in SQL


def one_user(keys: int) -> list[Event]:
    return asks({"she": [f"key {i}" for i in range(keys)]})


def both(events: list[Event], cases: list[tuple[Mapping[str, int], int]]) -> None:
    """The engine's recount of each case is that of plain Python."""
    hand = ByHand(events, 1000, 8)
    with measured_pools(events, 1000, 8) as (engine, arrays):
        for lam, cap2 in cases:
            expected = hand.recount(lam, cap2)
            assert engine.recount(lam, cap2) == expected, (lam, cap2)
            assert arrays.recount(lam, cap2) == expected, (lam, cap2)


def test_roots_at_perfect_squares_and_beside_them() -> None:
    """One user, one key, λ² above C²: what remains is isqrt(C²)."""
    roots = [1, 2, 3, 10, 255, 256, 4095, 4096, 30000, 46340]
    caps = [c for r in roots for c in (r * r - 1, r * r, r * r + 1) if 0 < c < 1 << 31]
    both(one_user(1), [({"key 0": 46341}, cap2) for cap2 in caps])


@pytest.mark.slow
def test_quotients_where_doubles_round() -> None:
    """λ² C² up to 2^62, far beyond the 53 bits of a double; divisors that divide it, and the ones beside them."""
    cases: list[tuple[Mapping[str, int], int]] = []
    for big in (2**15 - 1, 2**15, 32749, 30030):
        for cap2 in (2**31 - 1, 2**31, 2**31 - 19, 46340**2, 46340**2 + 1, big * big, big * big + 1):
            if big * big * cap2 < MOST:
                cases += [({"key 0": big, "key 1": big, "key 2": big - d}, cap2) for d in (0, 1, 2, 3)]
                cases += [({"key 0": big, "key 1": 1, "key 2": d}, cap2) for d in (1, 2)]
    for small, cap2 in ((1, 1), (1, 2), (3, 5), (7, 48), (7, 49), (2, 2**40)):
        cases.append((dict.fromkeys(("key 0", "key 1", "key 2"), small), cap2))
    both(one_user(3), cases)


@pytest.mark.parametrize(("y", "z"), [(577, 408), (3363, 2378), (19601, 13860)])
def test_a_quotient_that_a_double_rounds_to_the_next_square(y: int, z: int) -> None:
    """With y² − 2z² = 1 the quotient is y² − 1, the remainder two below the divisor: a double says y²."""
    lam, cap2 = {"key 0": 2 * z, "key 1": 1, "key 2": 1}, y * y + 1
    n2 = 4 * z * z + 2
    quotient, remainder = divmod(4 * z * z * cap2, n2)
    assert quotient == y * y - 1 and remainder == n2 - 2
    assert y < 19601 or int(float(4 * z * z * cap2) / n2) == y * y, "the double is wrong"
    with measured_pools(one_user(3), 5, 8) as (engine, arrays):
        assert engine.recount(lam, cap2) == arrays.recount(lam, cap2) == {"key 0": y - 1, "key 1": 0, "key 2": 0}


def test_a_user_far_above_the_bound_is_scaled_not_cut() -> None:
    events = one_user(900)
    with measured_pools(events, 1000, 8) as (engine, _):
        lam = dict.fromkeys(engine.keys, 4096)
        for cap2 in (1, 899, 900, 50 * 4096**2):
            sums = engine.recount(lam, cap2)
            assert sum(s * s for s in sums.values()) <= cap2
            assert len(set(sums.values())) == 1
        assert set(sums.values()) == {965}, "⌊4096 √(50/900)⌋"


def test_random_lambdas_in_one_call() -> None:
    """A thousand users at once, λ and C² at random over the whole range."""
    random = np.random.default_rng(3)
    events = asks({f"u{u}": [f"key {k}" for k in random.choice(25, 1 + u % 24, replace=False)] for u in range(1000)})
    cases: list[tuple[Mapping[str, int], int]] = []
    for top in (4, 12, 15, 20):
        lam = {f"key {k}": int(random.integers(1, 1 << top)) for k in range(25)}
        room = (MOST - 1) // max(lam.values()) ** 2
        cases += [(lam, int(cap2)) for cap2 in (1, room // 1000 + 1, room)]
    both(events, cases)


# ------------------------------------------------------------------ guards


def test_overflow_is_refused() -> None:
    with measured_pools(one_user(2), 5, 8) as (engine, _):
        assert engine.recount({"key 0": 2**15}, 2**31) == {"key 0": 2**15}
        for lam, cap2 in ((2**15, 2**32), (2**31, 1), (1, 2**62)):
            with pytest.raises(OurBug, match="overflow"):
                engine.recount({"key 0": lam}, cap2)
    with measured_pools(one_user(1), 5, 57) as (engine, arrays), pytest.raises(OurBug, match="too large"):
        engine.weights(set(engine.keys))
    with pytest.raises(OurBug, match="too large"):
        arrays.weights(set(arrays.keys))


def test_the_first_round_sees_every_key() -> None:
    with measured_pools(one_user(3), 5, 8) as (engine, _), pytest.raises(OurBug, match="every key"):
        engine.weights({"key 0"})


def test_nobody_and_nothing() -> None:
    with measured_pools([], LIMIT, BITS) as (engine, arrays):
        for pools in (engine, arrays):
            assert pools.keys == [] and pools.weights(set()) == {} and pools.recount({}, 1) == {}
            assert pools.kept(set(), 5) == 0
    with measured_pools(one_user(3), LIMIT, BITS) as (engine, arrays):
        for pools in (engine, arrays):
            pools.weights(set(pools.keys))
            assert pools.weights(set()) == {}, "nothing is live any more"
            assert pools.recount({}, 1) == {} and pools.kept(set(), 5) == 0


def test_copies_side_by_side() -> None:
    pool = np.array([[0, 0], [0, 1], [1, 1]])
    held = np.array([[0, 0], [0, 1], [1, 1], [1, 0]])
    one = ArrayPools(pool, held, 2, BITS)
    many = one.tiled(3)
    assert many.size == 6
    live = np.array([0, 1, 3, 4, 5])
    assert many.weights(live).tolist() == [
        *one.weights(np.array([0, 1])),
        *one.weights(np.array([1])),
        *one.weights(np.array([0, 1])),
    ]
    lam = np.array([3, 4])
    assert many.recount(np.arange(6), np.tile(lam, 3), 20).tolist() == 3 * one.recount(np.arange(2), lam, 20).tolist()
    assert many.kept(np.arange(6), 1) == 3 * one.kept(np.arange(2), 1) == 6


def test_weights_never_depend_on_other_users() -> None:
    """Taking away a user takes away exactly her own A(n)."""
    events = some_log(5)
    full, without = ByHand(events, LIMIT, BITS), ByHand([e for e in events if e[0] != "user 33"], LIMIT, BITS)
    for live in shrinking(full.keys, 3, 2):
        hers = full.pool["user 33"] & live
        before, after = without.weights(live), full.weights(live)
        moved = {key: after[key] - before[key] for key in live if after[key] != before[key]}
        assert moved.keys() <= hers and sum(m * m for m in moved.values()) <= 4**BITS
        for one, two in itertools.pairwise(moved.values()):
            assert one == two


def test_where_nothing_must_repeat_the_engine_orders_as_it_likes() -> None:
    """Still at most D of the user's own keys, the same for one secret, others for another."""
    events: list[Event] = [*(("heavy", 1, f"q{i}", None) for i in range(60)), ("light", 1, "q1", None)]
    found = []
    for secret in (bytes(16), bytes(16), bytes(range(16))):
        with tiny_log(events) as log:
            pools = EnginePools(log, QUERIES, 5, 16, RunMode(secret, repeatable=False))
            rows = log.engine.fetch("SELECT uid, query FROM pool_queries").to_pylist()
            found.append({(r["uid"], r["query"]) for r in rows})
            assert pools.size == len({q for _, q in found[-1]})
    assert found[0] == found[1] != found[2]
    for pool in found:
        assert len(pool) == 6 and ("light", "q1") in pool and pool <= {(u, q) for u, _, q, _ in events}
