"""One vote each: the engine's votes are those by hand, and one user more moves one number by one."""

from __future__ import annotations

import numpy as np
import pytest

from hubbub.audit.checks.ballots import counted, votes_by_hand
from hubbub.audit.protocols import Event
from hubbub.steps.ballots import share

LEVEL = 7000


def users(seed: int) -> tuple[Event, ...]:
    """Twelve users of one to five of eight keys, the first keys more often."""
    dice = np.random.default_rng(seed)
    rows: list[Event] = []
    for u in range(12):
        keys = {f"k{min(dice.integers(8), dice.integers(8))}" for _ in range(dice.integers(1, 6))}
        rows += [(f"u{u}", t, key, None) for t, key in enumerate(sorted(keys))]
    return tuple(rows)


@pytest.mark.parametrize("seed", range(4))
def test_one_user_more_moves_one_vote(seed: int) -> None:
    whole = users(seed)
    seats, passes = 1 + seed % 3, 2 + seed % 2
    votes, wrong = counted(whole, seed, seats, LEVEL, passes)
    assert not wrong and sum(votes.values()) == 12
    for user in ("u0", "u5"):
        fewer, wrong = counted(tuple(e for e in whole if e[0] != user), seed, seats, LEVEL, passes)
        assert not wrong
        assert sorted((votes - fewer).values()) == [1] and not fewer - votes


def test_the_rule_in_a_case_worked_out() -> None:
    """Two seats: three ask for the rare key of prospect first, the third goes on; one without a seat counts at home."""
    held = {name: frozenset(keys) for name, keys in (("a", "xy"), ("b", "xy"), ("c", "xy"), ("d", "x"), ("e", "z"))}
    looks = {"x": 9, "y": 8, "z": 1}
    votes = votes_by_hand(held, looks, level=5, seats=2, passes=2)
    assert votes == {"y": 2, "x": 2, "z": 1}  # y, the rarest of prospect, is asked first; one of a, b, c goes on to x
    assert votes_by_hand(held, looks, level=5, seats=2, passes=1) == {"y": 3, "x": 1, "z": 1}  # and is at home without


@pytest.mark.parametrize(("held", "each"), [(1, 16), (3, 16), (4, 12), (48, 1), (49, 0), (10**6, 0)])
def test_shares_of_a_look(held: int, each: int) -> None:
    assert share(16, 3, held) == each and held * each <= 48
