"""What the page says of a release beside its parameters, and how the log is read: as the command has them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from tests.unit.studio.asking import QUESTION, Client, get, post

from hubbub.card.owner import Owner, card_of, read_owner, texts_of
from hubbub.cli.card_options import CardOptions
from hubbub.cli.config import read_configuration
from hubbub.cli.options import OwnerOptions
from hubbub.errors import ParameterError, UserError
from hubbub.log import Period, read_log
from hubbub.studio.asked import Question
from hubbub.studio.said import Said
from hubbub.studio.state import Studio

OWNER = Owner(title="Ours", curator=("A", "B"), licence="CC0-1.0", period=Period(date(2006, 3, 1), date(2006, 3, 31)))


def test_an_owner_goes_through_texts_and_back() -> None:
    assert texts_of(OWNER)["period"] == "2006-03-01..2006-03-31" and texts_of(OWNER)["curator"] == "A; B"
    assert read_owner(card_of(texts_of(OWNER))) == OWNER and texts_of(Owner()) == {}


def test_the_command_line_states_what_a_card_says() -> None:
    stated = CardOptions(facts=["contact=A = B", "curator=A; B"]).added_to(read_configuration(None))
    assert stated.owner.contact == "A = B" and stated.owner.curator == ("A", "B")
    wrong = {"contact": "--card needs", "title=a": "an option of its own", "x=y": "unknown field"}
    for fact, said in wrong.items():
        with pytest.raises(UserError, match=said):
            CardOptions(facts=[fact]).added_to(read_configuration(None))
    with pytest.raises(UserError, match="stated twice"):
        CardOptions(facts=["region=a", "region=b"]).added_to(read_configuration(None))


def test_the_page_wins_over_the_command_line_and_may_take_back() -> None:
    said = Said.read(
        {"card": {"title": "  New  title ", "licence": ""}, "users_public": "1,200"}, OWNER, OwnerOptions()
    )
    assert said.owner == replace(OWNER, title="New title", licence=Owner().licence)
    assert said.options.users_public == 1200 and said.review is False
    assert Said.read({}, OWNER, OwnerOptions(users_public=7)) == Said(OWNER, OwnerOptions(users_public=7))
    assert Said.read({"users_public": ""}, OWNER, OwnerOptions(users_public=7)).options.users_public is None


@pytest.mark.parametrize(
    "given",
    [{"card": {"title": "x" * 1001}}, {"card": {"title": "a\x00b"}}, {"users_public": "many"}, {"users_public": "0"}],
)
def test_what_cannot_stand_on_a_card_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        Said.read(given, OWNER, OwnerOptions())


def test_the_command_says_what_the_page_says(client: Client, studio: Studio) -> None:
    asked = QUESTION | {"card": {"title": "Ours", "contact": "me"}, "users_public": "400", "review": True}
    command = post(client, "/api/plan", asked)["command"]
    for words in ("--title Ours", "--card contact=me", "--users-public 400", "--review"):
        assert words in command
    assert "--config" not in command
    assert Question.read(QUESTION, 400).build().settings["users"] == 400
    assert "is a whole number" in post(client, "/api/plan", QUESTION | {"users_public": "x"})["refused"]


def test_days_and_rules_are_read_anew(client: Client, studio: Studio, log_path: Path) -> None:
    looked: list[object] = []

    def read(log: object, period: object, progress: object) -> object:
        looked.append((studio.log.screen, period))
        return read_log(log_path, format="aol", period=studio.owner.period, screen=studio.log.screen)

    studio.read = read  # type: ignore[assignment]
    studio.begin = lambda: studio.look(lambda progress: read(studio.log, studio.owner.period, progress))  # type: ignore
    asked = {"first": "2006-03-01", "last": "2006-03-31", "rules": ["email", "card", "nonsense"]}
    assert post(client, "/api/read", asked) == {"reading": True}
    assert looked == [("email,card", Period(date(2006, 3, 1), date(2006, 3, 31)))]
    command = post(client, "/api/plan", QUESTION)["command"]
    assert "--screen email,card" in command and "--period 2006-03-01..2006-03-31" in command
    assert "screened by email, card" in get(client, "/").text
    for wrong, said in (
        ({"first": "2006-03-02", "last": "2006-03-01"}, "ends before"),
        ({"first": "x"}, "cannot be read"),
    ):
        assert said in post(client, "/api/read", wrong)["refused"]
    assert studio.opened is not None and studio.opened.ready and len(looked) == 1
