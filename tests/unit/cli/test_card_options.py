"""Defaults and statements on the command line: crowd, --period, --title, --licence; names that are nearly right."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Hubbub, document

from hubbub.errors import nearest
from hubbub.look.compare.choices import choose
from hubbub.mechanisms import Mechanism, mechanisms, not_private, private

pytestmark = pytest.mark.usefixtures("no_report")

BUDGET = ("--epsilon", "2", "--delta", "1e-5", "--set", "language=none")


def test_crowd_runs_where_nothing_else_is_named_and_the_card_has_what_was_said(
    hubbub: Hubbub, log_file: Path, own_ledger: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    said = ("--period", "2006-03..2006-05", "--title", "Spring", "--licence", "CC0-1.0")
    hubbub("release", log_file, "--format", "aol", *BUDGET, *said, "--out", out, "--allow-empty")
    card = json.loads((out / "public" / "card.json").read_text(encoding="utf-8"))
    assert card["mechanism"]["name"] == "crowd"
    text = json.dumps(card)
    assert "Spring" in text and "CC0-1.0" in text and "2006-03-01" in text and "2006-05-31" in text
    run = tomllib.loads((out / "owner-only" / "run.toml").read_text(encoding="utf-8"))
    assert run["mechanism"] == "crowd" and run["card"]["title"] == "Spring"
    hubbub("card", out, "--check")


def test_a_look_at_a_period(hubbub: Hubbub, log_file: Path, own_ledger: Path) -> None:
    week: Any = document(hubbub("inspect", log_file, "--format", "aol", "--period", "2006-03-01..2006-03-07", "--json"))
    whole: Any = document(hubbub("inspect", log_file, "--format", "aol", "--json"))
    assert 0 < week["owner_only"]["users"] < whole["owner_only"]["users"]


def test_saying_it_twice_is_no_mistake_unless_it_differs(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    config = tmp_path / "owner.toml"
    config.write_text('[card]\ntitle = "Autumn"\nperiod = "2006-03"\n', encoding="utf-8")
    asked = ("estimate", log_file, "--format", "aol", *BUDGET, "--config", config)
    hubbub(*asked, "--period", "2006-03-01..2006-03-31")
    told = hubbub(*asked, "--period", "2006-04", code=2)
    assert "--period and the [card] table say different things" in told.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--mechanism", "crwd"), "There is no such mechanism. Did you mean crowd?"),
        (("--format", "aoll"), "The log's format is unknown. Did you mean aol?"),
        (("--set", "epsilom=2"), "crowd has no such parameter. Did you mean epsilon?"),
        (("--engine", "duckbd"), "There is no such engine. Did you mean duckdb?"),
        (
            ("--format", "table", "--columns", "user=AnnonID,query=Query"),
            "AnnonID (for the user). Did you mean AnonID?",
        ),
        (("--period", "spring"), "a day (2006-03-01)"),
        (("--title", " "), "--title is empty"),
    ],
)
def test_what_is_nearly_right_is_told(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    given = () if "epsilom=2" in arguments else BUDGET
    told = hubbub("release", log_file, *given, *arguments, "--out", tmp_path / "out", code=2)
    assert message in " ".join(told.stderr.split())


def test_commands_and_options_that_are_nearly_right(hubbub: Hubbub) -> None:
    assert "Did you mean 'release'" in hubbub("relase", code=2).stderr
    assert "--epsilon" in hubbub("release", "--epsiln", "1", code=2).stderr


@pytest.mark.parametrize(
    ("given", "allowed", "meant"),
    [
        ("crwd", "crowd, zealous; not private: k-core", "crowd"),
        ("kcore", "crowd, zealous; not private: k-core", "k-core"),
        ("anonid", "AnonID, Query", "AnonID"),
        ("crowd", "crowd, zealous", ""),
        ("weather", "crowd, zealous", ""),
        ("0.5", "0.05, 0.55", ""),
        ("all", "0% to 100%, e.g. 5%", ""),
        (None, "crowd", ""),
        (7, "crowd", ""),
    ],
)
def test_only_names_are_guessed(given: object, allowed: str, meant: str) -> None:
    assert nearest(given, allowed) == meant


def test_what_is_listed_as_private_proves_something_and_the_rest_does_not() -> None:
    rows = choose(None, {"epsilon": "1", "delta": "1e-6"})
    assert {row.mechanism for row in rows} == set(private())
    assert {*private(), *not_private()} == set(mechanisms()) and not {*private()} & {*not_private()}
    assert Mechanism.registry.listing() == f"{', '.join(private())}; not private: {', '.join(not_private())}"
