"""`counts`: a case computed by hand, and every metric a second way in plain Python."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.worth.tasks.test_tasks_base import made_up, write

from hubbub.log import read_log
from hubbub.worth.evidence import EMPTY
from hubbub.worth.tasks import CountsTask, Evidence, NotEvaluable, Setup
from hubbub.worth.tasks.counts import compare, distribution, kl, tops

ORIGINAL = {"w": 40, "x": 30, "y": 20, "z": 10}
RELEASED = {"w": 30, "y": 10, "new": 10}


def queries(rows: dict[str, int]) -> pa.Table:
    return pa.table({"query": list(rows), "n": list(rows.values())})


def scored(ours: dict[str, int], theirs: dict[str, int]) -> tuple[dict[str, dict[str, float | None]], Setup]:
    setup = Setup()
    original, release = (Evidence.of_tables({"queries": queries(rows)}) for rows in (ours, theirs))
    return CountsTask().score(original, release, setup), setup


def test_by_hand() -> None:
    """p = .4 .3 .2 .1 and q = .6 0 .2 0, for the release also holds a key that the original does not have."""
    found, setup = scored(ORIGINAL, RELEASED)
    release = {metric: pair["release"] for metric, pair in found.items()}
    assert release["queries.distinct"] == 3 and release["queries.total"] == 50 and release["queries.unknown"] == 1
    assert release["queries.coverage@all"] == release["published_distinct"] == 0.5
    assert release["published_volume"] == 0.6
    assert release["queries.l1@all"] == pytest.approx((0.2 + 0.3 + 0 + 0.1) / 4)
    # over w and y alone: p = 2/3 1/3, q = 3/4 1/4
    assert release["queries.kl@all"] == pytest.approx(2 / 3 * math.log(8 / 9) + 1 / 3 * math.log(4 / 3))
    # scaled by 100/50 the release says w 60, y 20
    assert release["queries.average_difference"] == pytest.approx((20 + 30 + 0 + 10) / 4)
    assert release["queries.rms_difference"] == pytest.approx(math.sqrt((400 + 900 + 0 + 100) / 4))
    # half of |.4 − .6| + .3 + 0 + .1, and of the .2 of a key that the original does not have
    assert release["queries.total_variation"] == pytest.approx((0.2 + 0.3 + 0 + 0.1 + 0.2) / 2)
    bins = setup.details["queries"]
    assert isinstance(bins, list)
    assert [(b["from"], b["original"], b["release"]) for b in bins[3:]] == [(8, 1, 2), (16, 2, 1), (32, 1, 0)]


def test_the_original_as_its_own_release() -> None:
    found, _ = scored(ORIGINAL, ORIGINAL)
    assert {m: p["release"] for m, p in found.items()} == {m: p["original"] for m, p in found.items()}
    assert found["queries.coverage@all"]["release"] == 1 and found["queries.kl@all"]["release"] == 0


def test_an_empty_release() -> None:
    found, setup = scored(ORIGINAL, {})
    release = {metric: pair["release"] for metric, pair in found.items()}
    assert release["queries.coverage@all"] == release["queries.distinct"] == release["queries.total"] == 0
    assert release["queries.kl@all"] is None and release["queries.l1@all"] == pytest.approx(0.25)
    assert release["queries.average_difference"] == 25 and release["published_volume"] == 0
    assert release["queries.rms_difference"] == pytest.approx(math.sqrt((1600 + 900 + 400 + 100) / 4))
    assert release["queries.total_variation"] is None, "no frequencies to compare"
    assert setup.details["queries"]
    whole = Evidence.of_tables({"queries": queries(ORIGINAL)})
    for nothing in ({}, {"sessions": EMPTY["sessions"]}):
        with pytest.raises(NotEvaluable, match="in common"):
            CountsTask().score(whole, Evidence.of_tables(nothing), Setup())
    with pytest.raises(NotEvaluable, match="in common"):
        CountsTask().score(Evidence.of_tables(EMPTY), whole, Setup())


def test_keys_without_numbers_are_not_given_any() -> None:
    bare = pa.table({"query": ["w", "x"], "users": pa.nulls(2, pa.int64())})
    found = CountsTask().score(
        Evidence.of_tables({"queries": queries(ORIGINAL)}), Evidence.of_tables({"queries": bare}), Setup()
    )
    assert found["queries.coverage@all"]["release"] == 0.5 and found["published_volume"]["release"] == 0.7
    assert not any("l1" in metric or "kl" in metric or "total" in metric for metric in found)


@pytest.mark.parametrize("seed", range(5))
def test_every_metric_a_second_way(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    ours = {f"k{i}": draw.randint(1, 50) for i in range(130)}
    ours = dict(sorted(ours.items(), key=lambda row: (-row[1], row[0])))
    theirs = {key: draw.randint(0, 60) for key in draw.sample([*ours, "p", "q", "r"], 60)}
    found, _ = scored(ours, theirs)
    total, published = sum(ours.values()), sum(theirs.values())
    for name, j in (("10", 10), ("100", 100), ("all", 130)):
        top = list(ours)[:j]
        assert found[f"queries.coverage@{name}"]["release"] == sum(key in theirs for key in top) / j
        l1 = sum(abs(ours[key] / total - theirs.get(key, 0) / published) for key in top) / j
        assert found[f"queries.l1@{name}"]["release"] == pytest.approx(l1)
        both = [key for key in top if theirs.get(key, 0) > 0]
        p_all, q_all = sum(ours[key] for key in both), sum(theirs[key] for key in both)
        terms = [ours[k] / p_all * math.log(ours[k] / p_all * q_all / theirs[k]) for k in both]
        assert found[f"queries.kl@{name}"]["release"] == pytest.approx(sum(terms))
    away = [abs(n - theirs.get(key, 0) * total / published) for key, n in ours.items()]
    assert found["queries.average_difference"]["release"] == pytest.approx(sum(away) / len(away))
    rms = math.sqrt(sum(d * d for d in away) / len(away))
    assert found["queries.rms_difference"]["release"] == pytest.approx(rms)
    every = {*ours, *theirs}
    apart = sum(abs(ours.get(key, 0) / total - theirs.get(key, 0) / published) for key in every) / 2
    assert found["queries.total_variation"]["release"] == pytest.approx(apart)
    assert found["queries.unknown"]["release"] == sum(key not in ours for key in theirs)
    volume = sum(n for key, n in ours.items() if key in theirs)
    assert found["published_volume"]["release"] == pytest.approx(volume / total)


def test_volume_is_searches_even_where_users_are_counted(tmp_path: Path) -> None:
    with read_log(write(tmp_path / "log.parquet", made_up(1))) as log:
        searches = {(u, t, q) for u, t, q, _ in made_up(1)}
        original = Evidence.of_log(log, "users")
        release = Evidence.of_tables({"queries": pa.table({"query": ["a", "d"], "users": [5, 4]})})
        found = CountsTask().score(original, release, Setup())
    share = sum(q in ("a", "d") for _, _, q in searches) / len(searches)
    assert found["published_volume"]["release"] == pytest.approx(share)
    assert found["queries.total"]["original"] == len({(u, q) for u, _, q in searches})


def test_the_small_parts() -> None:
    assert tops(5) == {"all": 5} and tops(1000) == {"10": 10, "100": 100, "1000": 1000, "all": 1000}
    assert kl(np.array([0.5, 0.5]), np.array([0.0, 0.0])) is None
    rows = distribution(np.array([1, 1, 2, 3, 4, 0]), np.array([8]))
    assert [(r["from"], r["below"], r["original"], r["release"]) for r in rows] == [
        (1, 2, 2, 0), (2, 4, 2, 0), (4, 8, 1, 0), (8, 16, 0, 1),
    ]  # fmt: skip
    assert distribution(np.array([2]), None)[1] == {"from": 2, "below": 4, "original": 1, "release": None}
    equal = compare(np.array([3, 1]), np.array([3, 1]), np.array([0, 1]))
    assert all(pair["original"] == pair["release"] for pair in equal.values())
