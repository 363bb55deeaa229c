"""The shape of a small log. Each tolerance is five standard deviations of 24 seeds at 5,000 users.

Rows, clicks and page events are held against what is published of the real logs; shares that change with the size of
the log against the mean of those seeds. docs/synthetic-log.md has the figures at full size.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.made_up import generate

from hubbub.synth import PRESETS

USERS = 5_000
Expected = dict[str, tuple[float, float]]  # value, standard deviation over seeds
AOL_USERS, AOL_ROWS, AOL_CLICKS, AOL_EVENTS = 657_426, 36_389_567, 19_442_629, 28_898_362
EXPECTED: dict[str, Expected] = {
    "aol": {
        "rows per user": (AOL_ROWS / AOL_USERS, 1.85),
        "click share": (AOL_CLICKS / AOL_ROWS, 0.0094),
        "events a row": (AOL_EVENTS / AOL_ROWS, 0.0038),
        "distinct share": (0.376, 0.0027),
        "words a row": (2.42, 0.012),
        "first rank": (0.42, 0.0029),
    },
    "gotz": {
        "clicks a user": (14.0, 0.45),
        "rows per user": (31.5, 0.85),
        "distinct share": (0.399, 0.0025),
        "words a row": (2.89, 0.012),
        "first rank": (0.461, 0.0031),
    },
}


@pytest.fixture(scope="module", params=PRESETS)
def log(request: pytest.FixtureRequest) -> tuple[str, pa.Table]:
    return request.param, pa.Table.from_batches(list(generate(USERS, 0, request.param)))


def test_ratios_are_right(log: tuple[str, pa.Table]) -> None:
    preset, table = log
    rows, clicks = len(table), len(table) - table["url"].null_count
    found = {
        "rows per user": rows / len(pc.unique(table["user"])),
        "clicks a user": clicks / USERS,
        "click share": clicks / rows,
        "events a row": len(table.group_by(["user", "time", "query"]).aggregate([])) / rows,
        "distinct share": len(pc.unique(table["query"])) / rows,
        "words a row": pc.mean(pc.count_substring(table["query"], " ")).as_py() + 1,
        "first rank": pc.mean(pc.equal(pc.drop_null(table["rank"]), 1).cast(pa.float64())).as_py(),
    }
    for name, (value, spread) in EXPECTED[preset].items():
        assert abs(found[name] - value) < 5 * spread, (name, found[name])


def test_few_users_are_heavy_and_most_queries_rare(log: tuple[str, pa.Table]) -> None:
    _, table = log
    rows = np.sort([entry["counts"].as_py() for entry in pc.value_counts(table["user"])])
    assert rows[-USERS // 100 :].sum() > 0.1 * rows.sum() and 5 < np.median(rows) < 0.6 * rows.mean()
    pairs = table.group_by(["query", "user"]).aggregate([]).group_by("query").aggregate([([], "count_all")])
    users = pairs["count_all"].to_numpy()
    assert 0.9 < (users == 1).mean() < 0.99
    assert 0.03 * USERS < users.max() < 0.3 * USERS


def test_searches_fall_by_hour_and_inside_the_period(log: tuple[str, pa.Table]) -> None:
    preset, table = log
    hour = table["time"].to_numpy() // 3600 % 24
    share = np.bincount(hour, minlength=24) / len(hour)
    assert share[21] > 4 * share[4]
    days = np.unique(table["time"].to_numpy() // 86_400)
    assert PRESETS[preset].days <= len(days) <= PRESETS[preset].days + 1


def test_fears_are_asked_by_some() -> None:
    """1.5 needs in a thousand: at 20,000 users, the first of 60 completions has some 50 users."""
    asked: dict[str, set[str]] = {}
    total = 0
    for batch in generate(20_000):
        total += batch.num_rows
        rows = batch.filter(pc.starts_with(batch["query"], "fear of "))
        for query, user in zip(rows["query"].to_pylist(), rows["user"].to_pylist(), strict=True):
            asked.setdefault(query, set()).add(user)
    users = {query: len(who) for query, who in asked.items()}
    assert 30 < users["fear of flying"] < 90
    assert users["fear of flying"] > users["fear of heights"] > users["fear of snakes"]
    assert len([query for query in users if len(query.split()) == 3]) > 30
    assert sum(users.values()) < 0.002 * total
