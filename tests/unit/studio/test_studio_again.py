"""The studio's page "Once or again": the estimate of a series beside a few lists and one, and its refusals."""

from __future__ import annotations

import pytest
from tests.unit.studio.asking import Client, get, post

from hubbub.errors import ParameterError
from hubbub.studio.again import again

ASKED = {"users": "1,500", "epsilon": "8", "delta": "1e-4", "length": "week", "periods": "2"}


@pytest.mark.slow
def test_three_ways_by_period() -> None:
    found = again(ASKED, room=14 * 600)
    assert found["users"] == 1500 and found["sample"] == 600 and found["periods"] == ["week 1", "week 2"]
    ways = found["ways"]
    assert isinstance(ways, list) and [len(way["out"]) for way in ways] == [2, 2, 2]
    assert "1,734 queries of 1,827" in " ".join(found["advice"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [{"users": "many"}, {"users": "0"}, {"length": "year"}, {"periods": "61"}, {"periods": "-1"}, {"epsilon": "x"},
     {"delta": "2"}],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ParameterError):
        again(ASKED | wrong)


def test_the_page_and_a_refusal_through_the_studio(client: Client) -> None:
    page = get(client, "/again").text
    assert "this page reads no log" in page and "again.js" in page
    assert "Making up users" in get(client, "/static/again.js").text
    assert "whole number" in post(client, "/api/again", ASKED | {"users": ""})["refused"]
