"""Defaults that follow from what the owner states, and what is set by name."""

from __future__ import annotations

from typing import Any

import pytest

from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.crowd.stated import FEW_USERS, defaults

BUDGET = {"epsilon": 1, "delta": "1e-6"}


@pytest.mark.parametrize(
    ("given", "follows"),
    [
        ({}, {}),
        ({"users": FEW_USERS}, {"D": 60, "rounds": 8}),
        ({"users": FEW_USERS + 1}, {}),
        ({"kind": "searches"}, {}),
        ({"kind": "items"}, {"language": "none", "D": 20}),
        ({"each": 3}, {"D": 20}),
        ({"each": 10}, {"D": 40}),
        ({"each": 1000}, {"D": 100}),
        ({"each": 1000, "users": 5}, {"D": 60, "rounds": 8}),
        ({"prefer": "rows"}, {"rounds": 12}),
        ({"prefer": "counts", "users": 5}, {"D": 60, "rounds": 5, "recount": 200}),
        ({"users": 5, "D": 7}, {"rounds": 8}),
    ],
)
def test_the_rule(given: dict[str, Any], follows: dict[str, Any]) -> None:
    assert defaults(given) == follows


@pytest.mark.parametrize("stated", [{"users": 900}, {"kind": "items"}, {"prefer": "rows", "each": 5}])
def test_a_card_has_what_was_stated_and_what_followed(stated: dict[str, Any]) -> None:
    mechanism = build("crowd", BUDGET | stated, tables=["queries"])
    assert {name: mechanism.settings[name] for name in stated} == stated
    again = build("crowd", {k: str(v) for k, v in mechanism.settings.items()}, tables=["queries"])
    assert again.settings == mechanism.settings and again.steps() == mechanism.steps()


def test_nothing_stated_is_on_no_card() -> None:
    assert not {"kind", "users", "each", "prefer"} & build("crowd", BUDGET, tables=["queries"]).settings.keys()


@pytest.mark.parametrize("wrong", [{"kind": "baskets"}, {"prefer": "both"}, {"users": 0}, {"each": "1/2"}])
def test_what_cannot_be_stated_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="out of its range"):
        build("crowd", BUDGET | wrong, tables=["queries"])
