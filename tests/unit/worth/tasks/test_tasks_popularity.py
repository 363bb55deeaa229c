"""`popularity`: top lists and order by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hubbub.testing import check_task
from hubbub.worth.tasks import Evidence, NotEvaluable, Popularity, Setup
from hubbub.worth.tasks.sides import fisher, judged, wilson


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody knows two words here: the whole language takes a second to read."""
    known = pa.table({"query": ["weather", "recipe"], "n": [500, 400]})
    monkeypatch.setattr("hubbub.worth.tasks.popularity.public_words", lambda _: known)


def queries(rows: dict[str, int]) -> Evidence:
    return Evidence.of_tables(
        {"queries": pa.table({"query": list(rows), "n": pa.array(list(rows.values()), pa.int64())})}
    )


def test_by_hand() -> None:
    ours = {f"q{n:03}": 1000 - n for n in range(100)}
    theirs = {f"q{n:03}": 1000 - n for n in range(5)} | {f"new{n}": 2000 for n in range(5)}
    found = Popularity().score(queries(ours), queries(theirs), Setup())
    assert found["overlap@10"]["release"] == 0.5 and found["overlap@10"]["original"] == 1.0
    assert found["overlap@100"]["release"] == 0.05 and found["overlap@100"]["ceiling"] == 1.0
    assert found["places_1_to_10.spearman"]["original"] == pytest.approx(1)
    assert found["places_11_to_100.spearman"]["release"] is None, "nothing of it is released"
    order = Popularity().score(queries(ours), queries({q: -n for q, n in ours.items()} | {"x": 1}), Setup())
    assert order["places_1_to_10.spearman"]["release"] is None, "below zero is zero: all ties"
    turned = Popularity().score(queries(ours), queries({q: 2000 - n for q, n in ours.items()}), Setup())
    assert turned["places_1_to_10.spearman"]["release"] == pytest.approx(-1)


def test_without_numbers_or_queries() -> None:
    ours = queries({f"q{n}": n for n in range(20)})
    bare = Evidence.of_tables({"queries": pa.table({"query": ["a"]})})
    for release, why in ((bare, "without numbers"), (Evidence.of_tables({}), "--tables queries makes it")):
        with pytest.raises(NotEvaluable, match=why):
            Popularity().score(ours, release, Setup())


def test_intervals_a_second_way() -> None:
    from scipy.stats import binomtest

    for hits, size in ((0, 10), (3, 10), (50, 400), (10, 10)):
        expected = binomtest(hits, size).proportion_ci(method="wilson")
        assert wilson(hits / size, size) == pytest.approx((expected.low, expected.high), abs=1e-9)
    low, high = fisher(0.5, 103)
    assert low == pytest.approx(0.3336, abs=0.01) and high == pytest.approx(0.6354, abs=0.01)
    assert fisher(1.0, 3) == (-1.0, 1.0)


def test_one_busy_person_is_one_person() -> None:
    import numpy as np

    hits = np.array([1.0] * 50 + [0.0] * 50)
    alone = judged({"release": hits}, whose=np.zeros(100, np.int64))
    apart = judged({"release": hits}, whose=np.arange(100))
    assert alone["high"] - alone["low"] > 0.7 > 0.25 > apart["high"] - apart["low"]
    assert judged({"release": np.zeros(0)}) == {}


def test_the_contract() -> None:
    check_task(Popularity(), users=40)
