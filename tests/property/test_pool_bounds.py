"""Whatever a user does, her pools and recounts stay within the lengths the proof of crowd uses.

Any log, any live keys, any λ and C²: docs/proofs/crowd.md, conditions 1 to 3 and the clip of the recount.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.pools_by_hand import ByHand, asks, measured_pools

from hubbub.steps.array_pools import ArrayPools, amount
from hubbub.steps.holdings import MOST

KEYS = [f"k{i}" for i in range(12)]
people = st.dictionaries(st.sampled_from(["a", "b", "ü", "A", "'"]), st.sets(st.sampled_from(KEYS), min_size=1))
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
few = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def square(one: dict[str, int], two: dict[str, int]) -> int:
    return sum((two.get(k, 0) - one.get(k, 0)) ** 2 for k in one.keys() | two.keys())


@quick
@given(
    people,
    st.sets(st.sampled_from(KEYS), min_size=1),
    st.integers(1, 6),
    st.integers(0, 20),
    st.sets(st.sampled_from(KEYS)),
)
def test_weights_of_one_user(
    others: dict[str, set[str]], hers: set[str], limit: int, bits: int, live: set[str]
) -> None:
    small = ByHand(asks(others), limit, bits)
    large = ByHand(asks({**others, "victim": hers}), limit, bits)
    assert all(large.pool[user] == small.pool[user] for user in others), "nobody else's pool changes"
    novel = large.keys - small.keys
    assert len(novel) <= limit
    assert square(small.weights(live), large.weights(live)) <= 4**bits
    assert all(w <= 2**bits for w in large.weights(live | novel).values() if not others)
    known = small.keys
    first = square(small.weights(known), {k: w for k, w in large.weights(large.keys).items() if k in known})
    assert first <= 4**bits * (1 - Fraction(len(novel), limit)), "theorem 2: round 1 on the keys others hold too"


@quick
@given(people, st.sets(st.sampled_from(KEYS), min_size=1), st.data())
def test_recount_and_kept_total_of_one_user(others: dict[str, set[str]], hers: set[str], data: st.DataObject) -> None:
    small, large = ByHand(asks(others), 3, 8), ByHand(asks({**others, "victim": hers}), 3, 8)
    released = data.draw(st.dictionaries(st.sampled_from(sorted(large.keys)), st.integers(1, 5000)))
    cap2 = data.draw(st.integers(1, 10**9))
    assert square(small.recount(released, cap2), large.recount(released, cap2)) <= cap2
    most = data.draw(st.integers(1, 5))
    assert 0 <= large.kept(set(released), most) - small.kept(set(released), most) <= most


@quick
@given(st.lists(st.integers(1, 1 << 31), min_size=1, max_size=40), st.integers(1, 1 << 62))
def test_the_clip_in_integers(lam: list[int], cap2: int) -> None:
    """Σ isqrt(λ² C² // n2)² <= C², and no further below than rounding: at least (√(C²/n2) λ − 2) each."""
    n2 = sum(x * x for x in lam)
    clipped = lam if n2 <= cap2 else [isqrt(x * x * cap2 // n2) for x in lam]
    assert sum(x * x for x in clipped) <= cap2
    if n2 > cap2:
        assert all((y + 1) ** 2 * n2 > x * x * cap2 - n2 for x, y in zip(lam, clipped, strict=True))


@quick
@given(st.integers(0, 30), st.integers(1, 5000))
def test_amount(bits: int, n: int) -> None:
    assert n * amount(bits, n) ** 2 <= 4**bits < n * (amount(bits, n) + 1) ** 2
    assert amount(bits, n + 1) <= amount(bits, n), "more keys never get more each"


@pytest.mark.slow
@few
@given(people, st.integers(1, 4), st.integers(1, 3), st.booleans(), st.data())
def test_the_engine_agrees_on_any_log(
    held: dict[str, set[str]], limit: int, threads: int, ordered: bool, data: st.DataObject
) -> None:
    events = data.draw(st.permutations(asks(held)))
    hand = ByHand(events, limit, 12)
    ordered = ordered or any(len(keys) > limit for keys in held.values())  # by hand there is one hash only
    with measured_pools(events, limit, 12, threads=threads, ordered=ordered) as (engine, arrays):
        assert set(engine.keys) == hand.keys
        live = hand.keys
        for _ in range(3):
            assert engine.weights(live) == arrays.weights(live) == hand.weights(live)
            live = data.draw(st.sets(st.sampled_from(sorted(live)))) if live else live
        lam = {key: data.draw(st.integers(1, 4096)) for key in sorted(live)}
        for cap2 in (data.draw(st.integers(1, 10**4)), data.draw(st.integers(1, MOST // 4096**2 - 1))):
            assert engine.recount(lam, cap2) == arrays.recount(lam, cap2) == hand.recount(lam, cap2)
        assert engine.kept(live, 2) == arrays.kept(live, 2) == hand.kept(live, 2)


@quick
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=30, unique=True), st.permutations(range(10)))
def test_numbering_of_keys_is_of_no_account(rows: list[tuple[int, int]], renamed: list[int]) -> None:
    table = np.array(rows, np.int64).reshape(-1, 2)
    other = np.stack([table[:, 0], np.array(renamed)[table[:, 1]]], axis=1)
    one, two = ArrayPools(table, table, 10, 16), ArrayPools(other, other, 10, 16)
    at = np.argsort(renamed)
    everything = np.arange(10)
    assert one.weights(everything).tolist() == two.weights(everything)[np.array(renamed)].tolist()
    lam = np.arange(1, 11)
    assert one.recount(everything, lam, 50).tolist() == two.recount(everything, lam[at], 50)[np.array(renamed)].tolist()
