"""The numbers behind each chart of the owner's report, computed by hand on a tiny log."""

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.show.tiny_exact import table

from hubbub.show.charts.counts import counts
from hubbub.show.charts.coverage import by_rank, by_volume, cumulated
from hubbub.show.charts.epsilon import epsilons, rows
from hubbub.show.charts.error import errors, parts
from hubbub.show.charts.ledger import spending
from hubbub.show.charts.parts import percent
from hubbub.show.charts.rejects import rejects
from hubbub.show.charts.scores import scores
from hubbub.show.charts.survival import binned, survival
from hubbub.show.charts.tradeoff import tradeoff
from hubbub.show.exact import ErrorParts, Sampled, UsersHistogram, _error
from hubbub.show.kept import LedgerSnapshot, Spending, Tried
from hubbub.show.law import AGAIN, SurvivalLine


def test_coverage_from_the_most_held_key_down() -> None:
    line = cumulated(table())
    assert line["rank"] == [1, 2, 4]
    assert line["keys"] == [1, 1 / 2, 1 / 4]
    assert line["events"] == pytest.approx([1, 10 / 14, 10 / 17])
    assert line["head"] == pytest.approx([10 / 17, 14 / 17, 1])
    chart = by_rank([table()])
    assert chart is not None and "; of everything: 25 % for queries" in chart.alt
    chart = by_rank([table(sampled=Sampled(20, 5, 0.2, 1.7))])
    assert chart is not None and "; of everything: about 25 % (± 2.5 %) for queries" in chart.alt  # 2 sd of 4 keys
    chart = by_volume([table(sampled=Sampled(20, 5, 0.2, 1.7))])
    assert chart is not None and "about 58.8 % (± 11.8 %) for queries" in chart.alt  # of 17 searches


def test_survival_by_users() -> None:
    assert binned(table()) == [
        {"users": 1.0, "keys": 2, "released": 0.0, "counted": "all"},
        {"users": 4.0, "keys": 1, "released": 0.0, "counted": "all"},
        {"users": 8.0, "keys": 1, "released": 1.0, "counted": "all"},
    ]
    assert [row["counted"] for row in binned(table(sampled=Sampled(20, 5, 1, 1)))] == ["one in 20", "one in 20", "all"]
    chart = survival([table()], {"queries": SurvivalLine(AGAIN, [1, 5, 8, 900], [0.0, 0.5, 1.0, 1.0], 5)})
    assert chart is not None and "queries from 8 users" in chart.alt
    assert f"{AGAIN}; an even chance: queries from 5 users." in chart.alt
    line = chart.spec["layer"][0]["data"]["values"]
    assert [point["users"] for point in line] == [1, 5, 8]  # no further than the log goes


def test_many_numbers_of_users_share_a_point() -> None:
    users = np.arange(1, 1001)
    held = UsersHistogram(users, np.ones(1000, np.int64), users, np.ones(1000, np.int64), users)
    found = binned(table(held=held))
    assert sum(row["keys"] for row in found) == 1000 and len(found) == 10 + 2 * 8
    assert all(row["released"] == 1 for row in found)


def test_the_parts_of_an_error_add_up() -> None:
    assert dict(parts(table())) == {"bounding": 4.0, "noise": 4.0, "threshold": -7.0}
    chart = errors([table(), table("clicks", error=ErrorParts(3, None, 2.0, 7.0, 0.0)), table("bare", error=None)])
    assert chart is not None
    assert {(row["table"], row["part"]): row["in units of noise"] for row in chart.rows} == {
        ("queries", "bounding"): 1.0,
        ("queries", "noise"): 1.0,
        ("queries", "threshold"): -1.75,
        ("clicks", "noise"): 1.0,
        ("clicks", "bounding and threshold"): 3.5,
    }
    assert "clicks: root mean square 3.0" in chart.alt
    assert errors([table(error=None)]) is None


def test_dots_inside_the_band_are_counted() -> None:
    points = pa.table(
        {
            "key": ["a", "b", "c", "d"],
            "exact": [100, 50, 10, 10],
            "bounded": pa.nulls(4, pa.int64()),
            "released": [103, 20, 12, None],
            "noise_sd": [2.0, 2.0, 2.0, 2.0],
        }
    )
    chart = counts(table(points=points, error=None), threshold=15)
    assert chart is not None
    assert "±3.9" in chart.alt and "66.7 % of the dots" in chart.alt and "3 released queries" in chart.alt
    assert any(layer.get("mark", {}).get("type") == "text" for layer in chart.spec["layer"])  # the threshold's words
    assert counts(table(points=points.slice(3))) is None  # keys without numbers


def test_values_below_zero_have_a_place() -> None:
    points = pa.table({"key": ["a"], "exact": [0], "bounded": [0], "released": [-3], "noise_sd": [2.0]})
    chart = counts(table(points=points))
    assert chart is not None
    assert chart.spec["layer"][2]["encoding"]["x"]["scale"]["type"] == "symlog" and "<svg" in chart.svg()


def test_three_words_on_one_axis() -> None:
    found = rows({"claimed": 8.0, "proven": 16.0, "audit": {"empirical": 1.5, "of_proven": 2.0}})
    assert [(row["about"], row["epsilon"]) for row in found] == [
        ("this release: claimed", 8.0),
        ("this release: proven", 16.0),
        ("as audited: proven", 2.0),
        ("as audited: empirical, at least", 1.5),
    ]
    assert epsilons({"claimed": None, "proven": None, "audit": None}) is None  # what is not known has no mark
    nothing = epsilons({"claimed": None, "proven": 0.0, "audit": None})
    assert nothing is not None and "<svg" in nothing.svg()


def test_scores_keep_to_what_can_be_compared() -> None:
    scored = {
        "counts": {f"queries.coverage@{n}": {"original": 1.0, "release": 0.5} for n in (10, 100, 1000, "all")}
        | {"queries.total": {"original": 90, "release": 80}, "queries.unknown": {"original": 0, "release": 1}},
        "fears": {"not_evaluable": "no truth"},
        "details": {"counts": {}},
    }
    chart = scores(scored)
    assert chart is not None and len(chart.rows) == 6
    drawn = [row["name"] for row in chart.spec["layer"][0]["data"]["values"]]
    assert drawn == ["queries: first 100 released", "queries: all released"]
    assert scores({"fears": {"not_evaluable": "no truth"}}) is None


def test_every_score_says_what_it_means_and_which_way_is_good() -> None:
    scored = {
        "counts": {"queries.coverage@1000": {"original": 1.0, "release": 0.5}},
        "suggestion": {f"every_prefix.{m}@5": {"original": 0.4, "release": 0.3} for m in ("precision", "recall")},
        "keyword-generation": {"precision": {"original": 1.0, "release": 0.9}},
        "frequent-pairs": {"support_distance@1/500": {"original": 0.0, "release": 0.1}},
        "shouting": {"loud": {"original": 0.2, "release": 0.1}},
    }
    chart = scores(scored)
    assert chart is not None
    told = {(row["task"], row["score"]): (row["what it says"], row["good"]) for row in chart.rows}
    assert told["counts", "queries.coverage@1000"] == (
        "queries: of the 1,000 most frequent keys, the share that is released",
        "more is better",
    )
    assert str(told["suggestion", "every_prefix.recall@5"][0]).startswith("every prefix: share of what is right")
    assert told["frequent-pairs", "support_distance@1/500"][1] == "less is better"
    assert told["shouting", "loud"] == ("loud", "")  # of another package: its own name
    drawn = [row["name"] for row in chart.spec["layer"][0]["data"]["values"]]
    assert "shouting: loud" in drawn and "pairs" not in str(drawn)


def test_scores_of_the_same_name_are_told_apart_by_their_task() -> None:
    pair = {"original": 1.0, "release": 0.5}
    chart = scores({"one": {"precision": pair}, "two": {"precision": pair}, "three": {"purity": pair}})
    assert chart is not None
    names = [row["name"] for row in chart.spec["layer"][0]["data"]["values"]]
    assert names == ["one: given and right", "two: given and right", "purity"]


def test_the_ledger_and_its_cap() -> None:
    entries = (
        Spending(1, "2026-01-01T00:00:00Z", "may", "crowd", 1.0, 1.0),
        Spending(2, "2026-02-01T00:00:00Z", "june", "crowd", 1.0, 1.8),
        Spending(3, "2026-03-01T00:00:00Z", "july", "k-query", None, None),
    )
    chart = spending(LedgerSnapshot("readers", 2, 4.0, entries))
    assert chart is not None
    assert "ε = 1.8 used by 2026-02-01 of a cap of 4, after 3 releases; 1 of them not private" in chart.alt
    assert [row["name"] for row in chart.rows] == ["may-r1", "june-r2"]
    line, dots, *_, cap = chart.spec["layer"]
    assert [(at["time"][:7], at["spent"]) for at in line["data"]["values"][1:]] == [("2026-01", 1.0), ("2026-02", 1.8)]
    assert line["data"]["values"][0]["spent"] == 0 and line["encoding"]["x"]["type"] == "temporal"
    assert [row["which"] for row in dots["data"]["values"]] == ["releases before it", "this release"]
    assert cap["data"]["values"] == [{"at": 4.0, "text": "cap 4"}]
    alone = spending(LedgerSnapshot("readers", 1, None, entries[:1]))
    assert alone is not None and "after 1 release." in alone.alt and "<svg" in alone.svg()
    assert spending(LedgerSnapshot("readers", 3, None, entries[2:])) is None and spending(None) is None


def test_lines_set_aside() -> None:
    chart = rejects({"no user": 1, "bad time": 3, "none of these": 0}, 96)
    assert chart is not None and chart.alt.startswith("4 lines (4 %)")
    assert [row["reason"] for row in chart.rows] == ["bad time", "no user"]
    assert rejects({}, 10) is None


def test_privacy_against_utility() -> None:
    tried = [Tried("queries", 1.0, 10.0, 0.25, 3.0), Tried("queries", 2.0, 20.0, 0.5, None)]
    chart = tradeoff(tried, 2.0)
    assert chart is not None and "queries keep 25 % at ε = 1, 50 % at ε = 2" in chart.alt
    assert tradeoff([], 1.0) is None


@pytest.mark.parametrize(
    ("share", "words"), [(1.0, "100 %"), (0.9999, "more than 99.9 %"), (1e-7, "less than 0.001 %")]
)
def test_nearly_all_is_not_all(share: float, words: str) -> None:
    assert percent(share) == words


def test_the_report_says_how_many_counts_are_close() -> None:
    """Within 10 %, edge included; facts of an older release do not know it, and nothing is said then."""
    rows = pa.table({"n": [90, 89, 110, 5], "noise_sd": [2.0, 2.0, 2.0, None]})
    error = _error(rows, np.array([100, 100, 100, 5], np.int64), None)
    assert error is not None and error.rows == 3 and error.within_10 == 2
    chart = counts(table(error=error))
    assert chart is not None and chart.alt.startswith("2 of 3 counts are within 10 % of the exact number.")
    old = counts(table())
    assert old is not None and "within 10 %" not in old.alt
