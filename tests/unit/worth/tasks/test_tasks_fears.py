"""`fears`: completions of a phrase and their order, τ-b a second way."""

from __future__ import annotations

import math
import random
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from hubbub.worth.tasks import Evidence, Fears, NotEvaluable, Setup, Truth
from hubbub.worth.tasks.fears import kendall

OURS = {"fear of flying": 9, "weather": 8, "fear of heights": 7, "fear of": 6, "fear of spiders": 5, "no fear of a": 4}


def queries(rows: dict[str, int]) -> Evidence:
    return Evidence.of_tables({"queries": pa.table({"query": list(rows), "n": list(rows.values())})})


def test_by_hand() -> None:
    release = {"fear of heights": 20, "fear of flying": 10, "weather": 5}
    setup = Setup()
    found = Fears().score(queries(OURS), queries(release), setup)
    assert found["completions"] == {"original": 3, "release": 2}
    assert found["overlap@10"] == {"original": 1.0, "release": pytest.approx(2 / 3)}
    # 9, 7, 5 against 10, 20, 0: of three pairs two agree and one does not
    assert found["kendall_tau@10"] == {"original": pytest.approx(1), "release": pytest.approx(1 / 3)}
    details = setup.details["completions"]
    assert isinstance(details, dict) and details["release"][0] == {"query": "fear of heights", "n": 20}


def test_only_the_top_counts() -> None:
    ours = {f"fear of {i:02d}": 100 - i for i in range(40)}
    theirs = {f"fear of {i:02d}": 100 + i for i in range(40)}  # upside down
    found = Fears().score(queries(ours), queries(theirs), Setup())
    assert found["overlap@10"]["release"] == found["overlap@20"]["release"] == 0
    assert found["kendall_tau@20"]["release"] == pytest.approx(-1)


def test_the_original_and_nothing() -> None:
    same = Fears().score(queries(OURS), queries(OURS), Setup())
    assert all(pair["release"] == pair["original"] for pair in same.values())
    nothing = Fears().score(queries(OURS), queries({}), Setup())
    assert nothing["completions"]["release"] == nothing["overlap@20"]["release"] == 0
    assert nothing["kendall_tau@10"]["release"] is None
    with pytest.raises(NotEvaluable, match="begins with 'fear of'"):
        Fears().score(queries({"weather": 3}), queries(OURS), Setup())
    with pytest.raises(NotEvaluable, match="no queries"):
        Fears().score(queries(OURS), Evidence.of_tables({}), Setup())


def test_the_truth_names_the_phrase_and_the_true_order() -> None:
    known = pa.table(
        {"phrase": ["how to"] * 3, "query": ["how to a", "how to b", "how to c"], "share": [0.5, 0.3, 0.2]}
    )
    setup = Setup(Truth({"completions": known}))
    ours, theirs = queries({"how to a": 5, "how to b": 6, "how to c": 1}), queries({"how to a": 4, "how to c": 2})
    found = Fears().score(ours, theirs, setup)
    assert found["completions"] == {"original": 3, "release": 2}
    # truth .5 .3 .2; original 5 6 1: two pairs of three agree; release 4 0 2: likewise
    assert found["kendall_tau_truth"] == {"original": pytest.approx(1 / 3), "release": pytest.approx(1 / 3)}


def test_keys_without_numbers_have_no_order() -> None:
    bare = pa.table({"query": ["fear of spiders"], "users": pa.nulls(1, pa.int64())})
    found = Fears().score(queries(OURS), Evidence.of_tables({"queries": bare}), Setup())
    assert found["overlap@10"]["release"] == pytest.approx(1 / 3) and found["kendall_tau@10"]["release"] is None


@pytest.mark.parametrize("seed", range(5))
def test_tau_b_a_second_way(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    a, b = ([draw.randint(0, 6) for _ in range(25)] for _ in range(2))
    agree = ties_a = ties_b = 0
    for i, j in combinations(range(25), 2):
        one, two = a[i] - a[j], b[i] - b[j]
        agree += (one * two > 0) - (one * two < 0)
        ties_a += one != 0
        ties_b += two != 0
    assert kendall(np.array(a), np.array(b)) == pytest.approx(agree / math.sqrt(ties_a * ties_b))
    assert kendall(np.array(a), np.zeros(25, np.int64)) is None
