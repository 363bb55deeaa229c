"""`frequent-pairs`: the paper's own five pairs, and every equation a second way with exact fractions."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.worth.tasks.test_tasks_base import by_hand, made_up, write

from hubbub.log import read_log
from hubbub.worth.evidence import EMPTY
from hubbub.worth.tasks import Evidence, FrequentPairs, NotEvaluable, Setup
from hubbub.worth.tasks.frequent_pairs import SUPPORTS, diff_ratio, histogram, of_users, supported

PAPER = np.array([2, 4, 39, 1, 7]), np.array([0, 3, 20, 0, 4])
"""Hong et al. §3.2: the counts of five pairs, |D| = 53, and an output of 27."""
PLACES = np.arange(5)


def clicks(rows: dict[str, int], counts: str = "users") -> Evidence:
    table = pa.table({"query": list(rows), "url": ["u"] * len(rows), "n": list(rows.values())})
    return Evidence.of_tables({"clicks": table}, counts)


def test_the_papers_five_pairs() -> None:
    c, x = PAPER
    found = supported(c, x, PLACES, Fraction(1, 10))
    assert found["frequent"] == {"original": 2, "release": 3}, "3/27 is above a tenth, 4/53 is not"
    assert found["precision"]["release"] == pytest.approx(2 / 3) and found["recall"]["release"] == 1
    distance = abs(20 / 27 - 39 / 53) + abs(4 / 27 - 7 / 53)  # eq. 5
    assert found["support_distance"]["release"] == pytest.approx(distance)
    assert found["average_support_distance"]["release"] == pytest.approx(distance / 2)
    ratios = diff_ratio(c, x, 53, 27)  # eq. 10
    expected = [1, 3 / 27 / (4 / 53) - 1, 20 / 27 / (39 / 53) - 1, 1, 4 / 27 / (7 / 53) - 1]
    assert ratios == pytest.approx(expected)
    assert {r["from"]: r["n"] for r in histogram(ratios) if r["n"]} == {0.0: 1, 0.1: 1, 0.4: 1, 1.0: 2}


@pytest.mark.parametrize("seed", range(5))
def test_a_second_way(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    ours = {f"q{i}": draw.choice([1, 2, 3, 200, 900, 3000]) for i in range(80)}
    published = {key: draw.choice([0, 1, 5, 100, 400]) for key in draw.sample([*ours, "new", "newer"], 50)}
    found = FrequentPairs().score(clicks(ours), clicks(published), Setup())
    d = {key: n for key, n in ours.items() if n >= 2}
    o = {key: n for key, n in published.items() if ours.get(key) != 1}
    size, output = sum(d.values()), sum(o.values())
    for s in SUPPORTS:
        s_0 = {key for key, n in d.items() if Fraction(n, size) >= s}
        s_o = {key for key, n in o.items() if n and Fraction(n, output) >= s}
        release = {
            metric.partition("@")[0]: pair["release"] for metric, pair in found.items() if metric.endswith(f"@{s}")
        }
        assert release["frequent"] == len(s_o)
        assert release["precision"] == pytest.approx(len(s_0 & s_o) / len(s_o))
        assert release["recall"] == pytest.approx(len(s_0 & s_o) / len(s_0))
        distance = sum(abs(Fraction(o.get(key, 0), output) - Fraction(d[key], size)) for key in s_0)
        assert release["support_distance"] == pytest.approx(float(distance))
        assert release["average_support_distance"] == pytest.approx(float(distance / len(s_0)))
    assert found["diversity"]["release"] == sum(o.get(key, 0) > 0 for key in d) / len(d)
    often = [key for key, n in d.items() if Fraction(n, size) >= SUPPORTS[-1]]
    near = [abs(Fraction(o.get(k, 0), output) / Fraction(d[k], size) - 1) < Fraction(4, 10) for k in often]
    assert found["diff_ratio_below_40%"]["release"] == pytest.approx(sum(near) / len(near))


def test_the_original_and_nothing() -> None:
    ours = {"a": 50, "b": 30, "c": 2, "d": 1}
    whole = FrequentPairs().score(clicks(ours), clicks(ours), Setup())
    assert all(pair["original"] == pair["release"] for pair in whole.values())
    assert whole["precision@1/500"]["release"] == whole["recall@1/500"]["release"] == 1
    nothing = FrequentPairs().score(clicks(ours), Evidence.of_tables(EMPTY), Setup())
    for metric in ("precision@1/100", "recall@1/100", "diversity", "diff_ratio_below_40%", "frequent@1/100"):
        assert nothing[metric]["release"] == 0, metric
    # 1200 pairs of two users each: none has a support of 1/1000
    even = {f"q{i}": 2 for i in range(1200)}
    flat = FrequentPairs().score(clicks(even), clicks(even), Setup())
    assert flat["precision@1/1000"] == flat["recall@1/1000"] == {"original": None, "release": None}
    assert flat["diversity"]["release"] == 1


def test_what_cannot_be_evaluated() -> None:
    with pytest.raises(NotEvaluable, match="the release has no clicks"):
        FrequentPairs().score(clicks({"a": 2}), Evidence.of_tables({}), Setup())
    with pytest.raises(NotEvaluable, match="held by two users"):
        FrequentPairs().score(clicks({"a": 1}), clicks({"a": 1}), Setup())
    bare = pa.table({"query": ["a"], "url": ["u"], "users": pa.nulls(1, pa.int64())})
    with pytest.raises(NotEvaluable, match="without counts"):
        FrequentPairs().score(clicks({"a": 2}), Evidence.of_tables({"clicks": bare}), Setup())


def test_triplets_of_a_log_with_the_same_users(tmp_path: Path) -> None:
    ours, theirs = made_up(3), made_up(3)[:150]
    with (
        read_log(write(tmp_path / "ours.parquet", ours)) as log,
        read_log(write(tmp_path / "theirs.parquet", theirs)) as sample,
    ):
        original, release = Evidence.of_log(log, "count"), Evidence.of_log(sample, "count", same_users=True)
        pairs = original.table("clicks")
        assert pairs is not None
        found = of_users(original, release, pairs, 400, 150)
        score = FrequentPairs().score(original, release, Setup())["triplet_diff_ratio_below_40%"]
        assert of_users(original, Evidence.of_log(sample, "count"), pairs, 400, 150) is None, "equal ids say nothing"
    c = Counter((u, q, url) for u, _, q, url in ours if url)
    x = Counter((u, q, url) for u, _, q, url in theirs if url)
    assert found is not None and sorted(found) == pytest.approx(
        sorted(abs((x[key] / 150) / (n / 400) - 1) for key, n in c.items())
    )
    assert all(n >= 2 for n in by_hand(ours, "users")["clicks"].values()), "no pair of this log is left out"
    near = [abs((x[k] / sum(x.values())) / (n / sum(c.values())) - 1) < 0.4 for k, n in c.items()]
    assert score == {"original": 1.0, "release": pytest.approx(sum(near) / len(near))}
