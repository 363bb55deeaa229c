"""Intervals, Pareto front, finding, notes and words of a comparison: by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from hubbub.look.compare.charts import charts, names_beside
from hubbub.look.compare.finding import EVERY, PRECISION, SESSIONS, finding
from hubbub.look.compare.summary import Comparison, Mean, Row, front, less_is_better, notes
from hubbub.look.compare.words import aligned, columns, lines, text

PRIVATE = {"definition": "approximate", "epsilon": 1.0, "delta": 1e-6, "neighbours": "add-remove", "private": True}


def row(label: str, **metrics: float | Mean) -> Row:
    """A private row with these metrics."""
    means = {name: m if isinstance(m, Mean) else Mean(m, None, None, 1) for name, m in metrics.items()}
    return Row(label, label, "strict", {}, {}, PRIVATE | {"scope": "end-to-end"}, False, "users", ("queries",), means)


def asked(**more: Any) -> dict[str, Any]:
    """What a comparison was asked for."""
    log = {"rows": 10, "users": 3}
    return {"tasks": ["counts"], "draws": 5, "seed": 0, "plot": ["volume", "error"], "log": log} | more


def test_a_t_interval_by_hand() -> None:
    """Mean 3, s² = 2.5, t(0.975, 4) = 2.776: 3 ± 2.776 √(2.5/5)."""
    found = Mean.of([1, 2, 3, 4, 5], original=7)
    assert found.mean == 3 and found.draws == 5 and found.original == 7
    assert found.high == pytest.approx(3 + 2.7764451 * (2.5 / 5) ** 0.5)
    assert found.low == pytest.approx(3 - 2.7764451 * (2.5 / 5) ** 0.5)


def test_one_draw_has_no_interval_and_equal_draws_have_none_to_speak_of() -> None:
    assert Mean.of([4.0]) == Mean(4, None, None, 1)
    assert Mean.of([4.0, 4.0]) == Mean(4, 4, 4, 2)


def test_a_choice_that_ran_in_some_draws_is_averaged_over_those() -> None:
    from hubbub.look.compare.choices import choose

    choice = choose(["korolova"], {"epsilon": "1", "delta": "1e-6"})[0]
    draws = [{"error": {"original": 0, "release": x}} for x in (None, 0.5, 0.7)]
    tasks: list[dict[str, Any]] = [{"not_evaluable": "too small"}, {"x": {"original": 1.0, "release": 2.0}}]
    found = Row.of(choice, {"basics": draws, "fears": tasks})
    assert found.metrics["error"].draws == 2 and found.metrics["error"].mean == pytest.approx(0.6)
    assert found.metrics["fears.x"].draws == 1 and found.not_evaluable == {"fears": "too small"}


def test_the_pareto_front_knows_which_way_is_better() -> None:
    rows = [row("a", volume=0.9, error=0.5), row("b", volume=0.5, error=0.1), row("c", volume=0.5, error=0.5)]
    assert front(rows, "volume", "error") == {"a", "b"}
    assert front([*rows, row("d", volume=0.9, error=0.1)], "volume", "error") == {"d"}
    assert front([*rows, row("e", volume=0.9)], "volume", "error") == {"a", "b"}  # no error, no place
    assert front([row("a", volume=1), row("b", volume=1)], "volume", "epsilon") == {"a", "b"}  # ties stay
    assert less_is_better("counts.queries.kl@100") and not less_is_better("suggestion.precision@5")


def suggestion(label: str, precision: Mean, every: Mean, sessions: float) -> Row:
    """A row that was scored on suggestion."""
    return row(label, **{PRECISION: precision, EVERY: every, SESSIONS: Mean(sessions, None, None, 5, 100)})


HIGH, AROUND, LOW = (Mean(m, m - 0.1, m + 0.1, 5, 0.5) for m in (0.7, 0.55, 0.3))


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ([HIGH, HIGH], "shown"),
        ([HIGH, LOW], "mixed"),
        ([HIGH, AROUND], "mixed"),
        ([LOW, LOW], "refuted"),
        ([LOW, AROUND], "not shown"),
    ],
)
def test_the_finding_is_decided_by_intervals(scores: list[Mean], verdict: str) -> None:
    rows = [suggestion(f"r{i}", score, LOW, 10 + i) for i, score in enumerate(scores)]
    found = finding(rows)
    assert found is not None and found.verdict == verdict
    assert found.smaller == ("r0", "r1") and not found.every_higher


def test_the_finding_looks_at_smaller_private_logs_that_answer_something() -> None:
    rows = [suggestion("larger", HIGH, HIGH, 200), suggestion("mute", LOW, LOW, 0)]
    found = finding(rows)
    assert found is not None and found.verdict == "not decided" and not found.smaller
    assert finding([row("a", volume=1)]) is None


def test_notes_say_what_does_not_compare() -> None:
    users, searches = row("a", error=0.1), Row(**(vars(row("b", error=0.1)) | {"counts": "count"}))
    said = " ".join(notes([users, searches]))
    assert "distinct users: a" in said and "occurrences: b" in said
    assert not list(notes([users]))
    assert "no error: c" in " ".join(notes([row("c", volume=1)]))
    weak = Row(**(vars(users) | {"proven": PRIVATE | {"private": False, "definition": "none"}, "label": "w"}))
    assert "Nothing is proven end to end of w" in " ".join(notes([users, weak]))
    raw = Row(**(vars(users) | {"raw": True, "label": "r"}))
    assert "of their own, not the common ones: r" in " ".join(notes([users, raw]))


def test_numbers_as_people_write_them() -> None:
    assert text("rows.queries", Mean(1234.4, 1220.1, 1248.7, 5)) == "1,234 ± 14"
    assert text("rows.clicks", Mean(12.34, None, None, 1)) == "12.3"
    assert text("volume", Mean(0.1234, 0.12, 0.1268, 5)) == "12.3 ± 0.3 %"
    assert text("suggestion.precision@5", Mean(0.01234, 0.0120, 0.01268, 5)) == "0.0123 ± 0.0003"


def test_a_wide_table_goes_on_below() -> None:
    rows = [["", "one", "two", "three"], ["a", "1", "2", "3"]]
    assert list(aligned(rows, 80)) == ["   one  two  three", "a  1    2        3"]
    assert list(aligned(rows, 9)) == ["   one", "a  1", "", "   two", "a  2", "", "   three", "a      3"]


def test_terminal_and_charts_of_a_sweep() -> None:
    at = [row(f"zealous(m={m})", volume=Mean(m / 10, m / 10 - 0.01, m / 10 + 0.01, 5), error=0.5) for m in (1, 2)]
    at = [Row(**(vars(r) | {"at": {"m": str(m)}, "mechanism": "zealous"})) for m, r in zip((1, 2), at, strict=True)]
    stuck = Row("safelog", "safelog", reason="no pool")
    found = Comparison((*at, stuck), asked())
    assert [column.metric for column in columns(found)] == ["volume", "error"]
    said = "\n".join(lines(found))
    assert "zealous(m=2) *" in said and "20.0 ± 1.0 %" in said and "safelog did not run: no pool" in said
    drawn = charts(found)
    assert [chart.title for chart in drawn] == ["volume and median error", "volume by m", "median error by m"]
    line = drawn[1].spec["data"]["values"]
    assert [(p["mechanism"], p["x"], p["y"]) for p in line] == [("zealous", 1, 0.1), ("zealous", 2, 0.2)]
    assert all(chart.svg().startswith("<svg") for chart in drawn)


def test_stars_are_given_within_one_epsilon() -> None:
    """More ε buys more: a row of ε = 1 is not beaten by one of ε = 4, nor by what proves nothing."""
    one = replace(row("one", volume=0.3, error=0.3), asked="1")
    beaten = replace(row("beaten", volume=0.2, error=0.4), asked="1.0")
    four = replace(row("four", volume=0.9, error=0.1), asked="4")
    bare = replace(row("bare", volume=1.0, error=0.0), proven=PRIVATE | {"private": False})
    found = Comparison((one, beaten, four, bare), asked())
    assert found.front() == {"one", "four"}
    plotted = Comparison((one, beaten, four), asked(plot=["epsilon", "volume"]))
    assert plotted.front() == front(plotted.rows, "epsilon", "volume")
    chart = charts(found)[0]
    kinds = {point["name"]: point["kind"] for point in chart.spec["layer"][1]["data"]["values"]}
    assert kinds["bare"] == "proves nothing end to end" and kinds["beaten"].startswith("another row of its ε")


def test_axes_end_at_what_can_be() -> None:
    """A share ends at 100 %, and an interval by Student's t with it; an error may be larger, never below nothing."""
    wide = row("a", volume=Mean(0.97, 0.8, 1.2, 5), error=Mean(1.5, -0.2, 3.0, 5))
    spec = charts(Comparison((wide, row("b", volume=0.5, error=0.1)), asked()))[0].spec["layer"][1]
    axes = spec["layer"][2]["encoding"]
    assert axes["x"]["scale"]["domain"] == [0, 1]
    assert axes["y"]["scale"]["domain"][0] == 0 and axes["y"]["scale"]["domain"][1] > 3
    drawn = spec["data"]["values"][0]
    assert drawn["x_high"] == 1 and drawn["y_low"] == 0 and drawn["y_high"] == 3


def test_names_stand_beside_each_other_and_points_in_one_place_share_a_line() -> None:
    places = [(0.1, 0.5), (0.2, 0.5), (0.1, 0.5), (0.3, 0.49), (0.4, 0.0), (0.5, 0.01)]
    data = [{"name": f"n{i}", "x": x, "y": y} for i, (x, y) in enumerate(places)]
    found = names_beside(data, {"domain": [0.0, 1.0]}, 200)
    assert [one["text"] for one in found] == ["n0, n2", "n1", "n3", "n5", "n4"]
    slots = [one["slot"] for one in found]
    assert all(b - a >= 16 for a, b in pairwise(slots)) and min(slots) >= 8 and max(slots) <= 192
    assert found[0]["at"] == 100 and found[0]["slot"] == 100  # beside its point where there is room
