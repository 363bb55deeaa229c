"""Defaults that follow from what the owner states, and what is set by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Hubbub

from hubbub.errors import ParameterError
from hubbub.mechanisms import CrowdOfItems, build
from hubbub.mechanisms.crowd.stated import FEW_USERS, defaults, reasons

pytestmark = pytest.mark.usefixtures("no_report")

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
        ({"each": 1000}, {}),
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


@pytest.mark.parametrize(
    ("also", "tables", "votes"),
    [
        ({}, ["queries"], True),
        ({"users": 900, "each": 2, "prefer": "rows"}, ["queries"], True),
        ({"prefer": "counts"}, ["queries"], False),
        ({"rounds": 5}, ["queries"], False),
        ({"language": "none"}, ["queries"], False),
        ({}, ["queries", "clicks"], False),
    ],
)
def test_users_vote_for_items_unless_rounds_are_asked_for(also: dict[str, Any], tables: list[str], votes: bool) -> None:
    mechanism = build("crowd", BUDGET | {"kind": "items"} | also, tables=tables)
    assert isinstance(mechanism, CrowdOfItems) == votes
    assert not isinstance(build("crowd", BUDGET | also, tables=tables), CrowdOfItems)


def test_nothing_stated_is_on_no_card() -> None:
    assert not {"kind", "users", "each", "prefer"} & build("crowd", BUDGET, tables=["queries"]).settings.keys()


@pytest.mark.parametrize("wrong", [{"kind": "baskets"}, {"prefer": "both"}, {"users": 0}, {"each": "1/2"}])
def test_what_cannot_be_stated_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="out of its range"):
        build("crowd", BUDGET | wrong, tables=["queries"])


def test_what_was_chosen_is_said_with_its_reason() -> None:
    stated = {"users": 900, "each": 5, "prefer": "rows"}
    assert build("crowd", BUDGET | stated, tables=["queries"]).chosen() == (
        "D = 20, because about 5 queries a user are stated",
        "rounds = 12, because rows are preferred",
    )
    assert build("crowd", BUDGET | {"users": 900}, tables=["queries"]).chosen() == (
        "D = 60 and rounds = 8, because about 900 users are stated, no more than 20,000",
    )
    assert reasons({"users": 900, "D": 7, "rounds": 8}) == (
        "rounds = 8, because about 900 users are stated, no more than 20,000",
    ), "what was set by name was not chosen"
    assert build("crowd", BUDGET, tables=["queries"]).chosen() == ()


def test_the_declared_number_of_users_decides(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    options = ("--mechanism", "crowd", "--epsilon", "4", "--delta", "1e-4", "--format", "aol", "--tables", "queries")
    why = "D = 60 and rounds = 8, because about 300 users are stated, no more than 20,000"
    said = hubbub("release", log_file, *options, "--users-public", "300", "--out", tmp_path / "r").stdout
    assert why in said
    card = json.loads((tmp_path / "r" / "public" / "card.json").read_text())
    assert card["mechanism"]["parameters"]["D"] == "60" and card["mechanism"]["chosen"] == [why]
    assert why in (tmp_path / "r" / "public" / "index.html").read_text()
    hubbub("card", tmp_path / "r", "--check")
    said = hubbub(
        "release", log_file, *options, "--users-public", "300", "--set", "D=9", "--out", tmp_path / "s"
    ).stdout
    assert "D = 60" not in said and "rounds = 8, because" in said
    hubbub("release", log_file, *options, "--users-public", "0", "--out", tmp_path / "x", code=2)
