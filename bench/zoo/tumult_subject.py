"""Tumult Analytics on a local Spark: `get_groups` for unknown keys, then the noisy number of users of each."""

from __future__ import annotations

import os
import sys
import tempfile
from functools import lru_cache
from typing import Any

import pandas as pd
from shared import Log, apart, copies, rows

os.environ["PYSPARK_PYTHON"] = sys.executable


@lru_cache
def _spark() -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": "2g",
        "spark.sql.warehouse.dir": tempfile.mkdtemp(),
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.default.parallelism": "1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _released(log: Log, epsilon: float, delta: float, keys: int) -> list[tuple[str, int]]:
    from tmlt.analytics import (
        AddRowsWithID,
        ApproxDPBudget,
        KeySet,
        MaxGroupsPerID,
        MaxRowsPerGroupPerID,
        QueryBuilder,
        Session,
    )

    frame = _spark().createDataFrame(
        pd.DataFrame(rows(log), columns=["user", "query"], dtype=str), "user string, query string"
    )
    session = Session.from_dataframe(
        privacy_budget=ApproxDPBudget(epsilon, delta),
        source_id="log",
        dataframe=frame,
        protected_change=AddRowsWithID(id_column="user"),
    )
    held = QueryBuilder("log").enforce(MaxGroupsPerID("query", keys)).enforce(MaxRowsPerGroupPerID("query", 1))
    half = ApproxDPBudget(epsilon / 2, delta)
    groups = KeySet.from_dataframe(session.evaluate(held.get_groups(["query"]), half))
    counted = session.evaluate(held.groupby(groups).count(name="n"), session.remaining_privacy_budget)
    return sorted((row["query"], row["n"]) for row in counted.collect())


def release(log: Log, *, epsilon: float, delta: float, keys: int = 1) -> Any:
    """Half of ε and all of δ for the keys, the rest for their counts."""
    return _released(log, epsilon, delta, keys)


def _many(log: Log, runs: int, *, epsilon: float, delta: float, keys: int = 1) -> Any:
    return apart(_released(copies(log, runs), epsilon, delta, keys), runs)


release.many = _many
release.loopback = True
