"""Whatever a prior says and whatever is live, one user's weights have length at most U, in integers."""

from __future__ import annotations

from math import isqrt

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.steps.array_pools import ArrayPools

KEYS = 8
said = st.lists(st.tuples(st.integers(1, 1000), st.integers(-1, 1), st.booleans()), min_size=KEYS, max_size=KEYS)
held = st.sets(st.integers(0, KEYS - 1), min_size=1)


def rounds(pools: ArrayPools, live: list[set[int]]) -> list[dict[int, int]]:
    """What is added to each live key in each round, the first over all keys."""
    found = []
    for keys in ({*range(KEYS)}, *live):
        ids = np.array(sorted(keys), np.int64)
        found.append(dict(zip(ids.tolist(), pools.weights(ids).tolist(), strict=True)))
    return found


def pools(users: list[set[int]], prior: list[tuple[int, int, bool]], bits: int) -> ArrayPools:
    """Users who hold these keys, under a prior."""
    rows = np.array([(u, k) for u, keys in enumerate(users) for k in sorted(keys)], np.int64).reshape(-1, 2)
    return ArrayPools(rows, rows, KEYS, bits, np.array(prior, np.int64).T)


@settings(max_examples=60, deadline=None)
@given(st.lists(held, max_size=3), held, said, st.lists(held, min_size=1, max_size=2), st.sampled_from([4, 16]))
def test_one_user_adds_a_vector_of_length_u_and_moves_nobody(
    others: list[set[int]], hers: set[int], prior: list[tuple[int, int, bool]], live: list[set[int]], bits: int
) -> None:
    without, added, alone = (rounds(pools(users, prior, bits), live) for users in (others, [*others, hers], [hers]))
    for small, large, own in zip(without, added, alone, strict=True):
        moved = {key: large[key] - small[key] for key in large}
        assert moved == own and sum(v * v for v in moved.values()) <= 4**bits


@settings(max_examples=60, deadline=None)
@given(held, said, held)
def test_weights_are_shares_of_the_prior(hers: set[int], prior: list[tuple[int, int, bool]], live: set[int]) -> None:
    first, second = rounds(pools([hers], prior, 16), [live])
    still = hers & live
    fits = sum(prior[key][1] for key in still) >= 0
    total = sum(prior[key][0] for key in still) if fits else len(still)
    assert {k: v for k, v in first.items() if v} == dict.fromkeys(hers, isqrt(4**16 // len(hers)))
    right = {key: isqrt(4**16 * (prior[key][0] if fits else 1) // total) for key in still}
    assert {key: second[key] for key in still} == right
