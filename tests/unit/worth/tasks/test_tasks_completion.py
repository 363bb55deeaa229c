"""`completion`: ranks by hand, bands, and a log that asks itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hubbub.log import read_log
from hubbub.testing import check_task
from hubbub.worth.tasks import Evidence, NotEvaluable, QueryCompletion, Setup
from hubbub.worth.tasks.completion import SHOWN, Questions, rank, scores


def queries(rows: dict[str, int]) -> pa.Table:
    made = pa.table({"query": list(rows), "n": pa.array(list(rows.values()), pa.int64())})
    return made.sort_by([("n", "descending"), ("query", "ascending")])


def test_ranks_by_hand() -> None:
    table = queries({"weather": 9, "web": 7, "weather radar": 5, "news": 8, "wéb": 6})
    texts = pa.array(["weather radar", "wéb", "web", "nothing", "news"])
    assert rank(table, texts, 1).tolist() == [4, 3, 2, np.inf, 1]
    assert rank(table, texts, 2).tolist() == [3, 1, 2, np.inf, 1]
    assert rank(table, texts, 5).tolist() == [2, 1, 1, np.inf, 1], "a text that is shorter is whole"
    many = queries({f"a{n:02}": 100 - n for n in range(20)})
    places = rank(many, many["query"].combine_chunks(), 1)
    assert places[:SHOWN].tolist() == list(range(1, SHOWN + 1)) and np.isinf(places[SHOWN:]).all(), "ten are shown"


def test_scores_by_hand() -> None:
    asked = pa.table({"uid": ["u", "u", "v"], "query": ["weather", "web", "weather"]})
    trained = queries({"weather": 3, "web": 2, "wet": 9})
    questions = Questions.of(asked, trained)
    found = scores(questions, {"original": trained, "release": queries({"web": 5}), "floor": queries({})})
    # after one letter: wet, weather, web in the original; web alone in the release; the ceiling knows weather, web
    assert found["1_typed.mrr"]["original"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 3)
    assert found["1_typed.mrr"]["release"] == pytest.approx(1 / 3) and found["1_typed.mrr"]["floor"] == 0
    assert found["1_typed.mrr"]["ceiling"] == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert found["1_typed.success@10"]["original"] == 1.0
    low, high = (found["1_typed.mrr"][side] for side in ("low", "high"))
    assert low is not None and high is not None and 0 < low < 1 / 3 < high < 1
    assert found["head.mrr"]["release"] == 0 and "torso.mrr" not in found, "only weather is longer than four letters"
    assert found["4_typed.mrr"]["original"] == found["head.mrr"]["original"] == 1.0


def test_the_tail_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.worth.tasks.sides.HEAD", 1)
    monkeypatch.setattr("hubbub.worth.tasks.sides.TORSO", 2)
    asked = pa.table({"uid": list("abcd"), "query": ["weather", "library", "rarely asked", "never seen by"]})
    trained = queries({"weather": 9, "library": 5, "rarely asked": 1})
    questions = Questions.of(asked, trained)
    found = scores(questions, dict.fromkeys(("original", "release", "floor"), trained))
    assert [found[f"{band}.success@10"]["release"] for band in ("head", "torso", "tail")] == [1.0, 1.0, 0.5]
    assert found["tail.mrr"]["ceiling"] == 1.0


def test_nobody_exceeds_the_ceiling() -> None:
    asked = pa.table({"uid": list("abc"), "query": ["face", "face", "facebook"]})
    questions = Questions.of(asked, queries({"face": 2, "facebook": 1}))
    found = scores(questions, dict.fromkeys(("original", "release", "floor"), queries({"facebook": 1})))
    assert found["4_typed.mrr"]["release"] == found["4_typed.mrr"]["ceiling"] == 1.0, "face is typed, not completed"
    assert found["all.mrr"]["ceiling"] == found["head.mrr"]["ceiling"] == 1.0


def test_what_it_cannot_do_without(log_file: Path) -> None:
    why = r"the release has no queries: hubbub release … --tables queries makes it"
    with read_log(log_file) as log, pytest.raises(NotEvaluable, match=why):
        QueryCompletion().score(Evidence.of_log(log), Evidence.of_tables({}), Setup())
    table = Evidence.of_tables({"queries": queries({"a": 1})})
    with pytest.raises(NotEvaluable, match="not a log"):
        QueryCompletion().score(table, table, Setup())


def test_the_contract() -> None:
    check_task(QueryCompletion(), users=40)
