"""The studio by group: what the page says becomes --by and --values, and no file of values is read for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.studio.asking import QUESTION, Client, get, post

from hubbub.errors import ParameterError
from hubbub.studio.asked import Question
from hubbub.studio.state import Studio

GROUPS = [["weekday", ""], ["country=Land", "DE, FR"], ["", "ignored"]]


def test_groups_become_options_and_tables() -> None:
    asked = Question.read(QUESTION | {"groups": GROUPS})
    words = asked.options()
    assert words[-8:-2] == ["--by", "weekday", "--by", "country=Land", "--values", "country=DE, FR"]
    built = asked.build()
    assert {"queries_by_weekday", "clicks_by_country"} <= set(built.tables) and built.loss().delta <= 1e-4
    assert Question.read(QUESTION | {"groups": []}) == Question.read(QUESTION)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([["country=Land", "DE"]], "cannot be read"),
        ([["country=Land", ""]], "not declared"),
        ([["country", "DE,FR"]], "which column"),
        ([["hour", ""], ["hour", ""]], "twice"),
        ([["hour"]], "no pairs"),
        ([[1, 2]], "no pairs"),
    ],
)
def test_what_is_no_group_is_refused(groups: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Question.read(QUESTION | {"groups": groups}).build()


def test_no_file_of_values_is_read_for_the_page(tmp_path: Path) -> None:
    secret = tmp_path / "values.txt"
    secret.write_text("DE\nFR\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="cannot be read") as refused:
        Question.read(QUESTION | {"groups": [["country=Land", str(secret)]]})
    assert "FR" not in str(refused.value)


@pytest.mark.slow
def test_the_page_plans_a_release_by_group(client: Client, studio: Studio) -> None:
    page = get(client, "/").text
    assert 'id="by-1"' in page and '<option value="weekday">' in page
    body = QUESTION | {"groups": GROUPS[:1]}
    found = post(client, "/api/estimate", body)
    assert found["later"] == ["queries_by_weekday", "clicks_by_weekday"]
    plan = post(client, "/api/plan", body)
    assert "--by weekday" in plan["command"] and not plan["refusal"]
