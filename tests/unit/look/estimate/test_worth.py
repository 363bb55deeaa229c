"""Users → rows at three ε: more of either gives more; what is printed is what is stored, and what the estimate says."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from tests.conftest import Hubbub, document

from hubbub.look.estimate import estimate_users
from hubbub.look.estimate.worth import DELTA, EPSILONS, PRESET, interpolated, reference
from hubbub.mechanisms import build


def test_more_users_and_more_epsilon_give_more_rows() -> None:
    for row in reference().values():
        assert [one.epsilon for one in row] == list(EPSILONS)
        assert all(a.rows < b.rows and a.searches < b.searches for a, b in pairwise(row))
    for smaller, larger in pairwise(reference().values()):
        assert all(a.rows < b.rows for a, b in zip(smaller, larger, strict=True))


def test_between_two_sizes_and_beyond_them() -> None:
    sizes = list(reference())
    assert [one.rows for one in interpolated(sizes[1])] == pytest.approx([one.rows for one in reference()[sizes[1]]])
    between = interpolated((sizes[1] + sizes[2]) // 2)
    for low, here, high in zip(reference()[sizes[1]], between, reference()[sizes[2]], strict=True):
        assert low.rows < here.rows < high.rows
    assert [one.rows for one in interpolated(1)] == pytest.approx([one.rows for one in reference()[sizes[0]]])


def test_users_alone_are_answered_at_once(hubbub: Hubbub) -> None:
    result = hubbub("estimate", "--users", 25_000)
    assert "→     25,000" in result.stdout and "ε = 0.5" in result.stdout and "1,000,000" in result.stdout
    told: Any = document(hubbub("estimate", "--users", 25_000, "--json"))
    assert [one["epsilon"] for one in told["worth"]["by_epsilon"]] == list(EPSILONS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--users", "3000", "--preset", "gotz"), "known for one shape"),
        (("--users", "0"), "--users must be a whole number"),
        (("--users", "3000", "--period", "2006"), "--period does not go with the rest"),
    ],
)
def test_what_is_not_known_is_refused(hubbub: Hubbub, arguments: tuple[str, ...], message: str) -> None:
    assert message in hubbub("estimate", *arguments, code=2).stderr


@pytest.mark.slow
def test_the_estimate_gives_what_is_stored() -> None:
    """The smallest size, at the largest ε; within a factor of two, since synth may change its words."""
    users = min(reference())
    settings = {"epsilon": EPSILONS[-1], "delta": DELTA, "language": "none", "users": str(users)}
    found = estimate_users(build("crowd", settings, tables=["queries"]), users, preset=PRESET)
    stored = reference()[users][-1].rows
    assert stored / 2 < found.tables["queries"].rows < stored * 2
