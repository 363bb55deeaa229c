"""Mechanisms that treat (group, key) as the key: the contract holds, and what has no groups is refused."""

from typing import Any

import pytest

from hubbub.audit.tiny import MODE, tiny_log
from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.noise import SeededNoise
from hubbub.public.groups import DAY, group_by
from hubbub.release.rows import named_rows
from hubbub.testing import check_mechanism

WEEKDAY = group_by("weekday", values=["monday", "tuesday"])
BUDGET = {"epsilon": 1, "delta": "0.05"}
MADE: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "gaussian": ("gaussian", {"d": 2, "grid": 2}, ["queries"]),
    "gaussian sqrt": ("gaussian", {"d": 2, "weights": "sqrt"}, ["queries"]),
    "sips": ("sips", {"d": 2}, ["queries"]),
    "geometric": ("geometric", {"d": 1}, ["queries"]),
    "korolova": ("korolova", {"d": 2}, ["queries", "clicks"]),
    "zealous": ("zealous", {"m": 2}, ["queries", "clicks"]),
}


@pytest.mark.parametrize(("name", "settings", "tables"), MADE.values(), ids=list(MADE))
def test_the_group_is_part_of_the_key(name: str, settings: dict[str, Any], tables: list[str]) -> None:
    made = build(name, {"epsilon": 30, "delta": "0.05", **settings}, tables=tables, by=[WEEKDAY])
    assert made.tables == tuple(f"{table}_by_weekday" for table in tables)
    plain = build(name, {"epsilon": 30, "delta": "0.05", **settings}, tables=tables)
    assert made.loss() == plain.loss(), "the same budget"
    events = [(f"u{i}", DAY * (4 + i % 3), "q", "page") for i in range(90)]
    with tiny_log(events) as log:
        measured = made.measure(log, MODE)
        found = made.draw(measured, SeededNoise(1))
        for table in made.tables:
            rows = named_rows(log, made, table, measured, found).to_pylist()
            assert {row["weekday"]: row["query"] for row in rows} == dict.fromkeys(("monday", "tuesday", "other"), "q")


@pytest.mark.slow
@pytest.mark.parametrize("which", ["korolova", "zealous"])
def test_the_contract(which: str) -> None:
    name, settings, _ = MADE[which]
    check_mechanism(build(name, {**BUDGET, **settings}, tables=["queries"], by=[WEEKDAY]))


@pytest.mark.parametrize(("name", "bound"), [("gaussian", "d"), ("korolova", "d"), ("zealous", "m")])
def test_a_users_bound_is_over_all_groups_together(name: str, bound: str) -> None:
    made = build(name, {"epsilon": 30, "delta": "0.05", bound: 1}, tables=["queries"], by=[WEEKDAY])
    events = [(f"u{i}", DAY * day, "q", None) for i in range(90) for day in (4, 5, 6)]
    with tiny_log(events) as log:
        found = made.draw(made.measure(log, MODE), SeededNoise(1))["queries_by_weekday"]
    assert found.values is not None and 80 < found.values.sum() < 100, "90 users with one cell each, not three"


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "two groupings": ("gaussian", {"by": [WEEKDAY, group_by("hour")]}, "one grouping"),
    "a table without groups": ("korolova", {"by": [WEEKDAY], "tables": ["queries", "transitions"]}, "only tables that"),
    "as published": ("korolova", {"by": [WEEKDAY], "variant": "published"}, "no groups"),
    "another as published": ("zealous", {"by": [WEEKDAY], "variant": "published", "U": 1000}, "no groups"),
    "none at all": ("optimal", {"by": [WEEKDAY]}, "no tables by group"),
}


@pytest.mark.parametrize(("name", "more", "words"), REFUSED.values(), ids=list(REFUSED))
def test_what_cannot_be_divided_is_refused(name: str, more: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        build(name, BUDGET, **more)
