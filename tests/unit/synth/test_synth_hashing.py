"""Hashes: splitmix64's own numbers, ranges, and independence of neighbouring places."""

from __future__ import annotations

import numpy as np

from hubbub.synth.hashing import STEP, Purpose, below, child, draw, mix, normal, root, salted, unit

N = 200_000
KEYS = child(root(7), np.arange(N))


def test_the_finaliser_is_splitmix64s() -> None:
    """The first outputs of the reference generator for the seed 1234567."""
    state = np.array([1234567 + (n + 1) * STEP & (1 << 64) - 1 for n in range(3)], np.uint64)
    assert mix(state).tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_numbers_are_strictly_between_0_and_1() -> None:
    ends = unit(np.array([0, (1 << 64) - 1], np.uint64))
    assert 0 < ends[0] < 2**-52 and 1 - 2**-52 < ends[1] < 1


def test_places_purposes_and_seeds_give_other_keys() -> None:
    found = [child(root(seed), np.arange(1000)) for seed in (0, 1, 1 << 62)]
    found += [salted(found[0], purpose) for purpose in Purpose]
    found += [child(found[0], np.full(1000, place)) for place in range(5)]
    assert len(np.unique(np.concatenate(found))) == 1000 * len(found)


def test_numbers_are_uniform_and_uncorrelated() -> None:
    first, second = draw(KEYS, Purpose.MOVE), draw(KEYS, Purpose.GAP)
    inner = draw(child(KEYS, np.zeros(N, np.int64)), Purpose.MOVE)
    for values in (first, second, inner):
        cells = np.bincount((values * 64).astype(int), minlength=64)
        assert ((cells - N / 64) ** 2 / (N / 64)).sum() < 63 + 5 * np.sqrt(2 * 63)
    for left, right in ((first, second), (first, inner), (first[1:], first[:-1])):
        assert abs(np.corrcoef(left, right)[0, 1]) < 5 / np.sqrt(N)


def test_whole_numbers_stay_below_their_bound() -> None:
    found = below(KEYS, Purpose.SPELLING, 3)
    assert np.abs(np.bincount(found, minlength=3) - N / 3).max() < 5 * np.sqrt(N * 2 / 9)


def test_normal_numbers_have_a_normal_tail() -> None:
    found = normal(KEYS, Purpose.HEAD, Purpose.HEAD_TOO)
    assert abs(found.mean()) < 5 / np.sqrt(N) and abs(found.std() - 1) < 5 / np.sqrt(2 * N)
    assert abs((np.abs(found) > 3).sum() - 0.0027 * N) < 5 * np.sqrt(0.0027 * N)
