"""Tumult Analytics on Spark: groups of unknown queries by `get_groups`, then their noisy number of users."""

import os
import sys

from job import Rows, run
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    QueryBuilder,
    Session,
)

os.environ["PYSPARK_PYTHON"] = sys.executable
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "8g")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)


def work(log: str, epsilon: float, delta: float, keys: int) -> Rows:
    """Half of the budget for the keys, half for their counts."""
    session = Session.from_dataframe(
        privacy_budget=ApproxDPBudget(epsilon, delta),
        source_id="log",
        dataframe=spark.read.parquet(log).select("user", "query"),
        protected_change=AddRowsWithID(id_column="user"),
    )
    held = QueryBuilder("log").enforce(MaxGroupsPerID("query", keys)).enforce(MaxRowsPerGroupPerID("query", 1))
    half = ApproxDPBudget(epsilon / 2, delta / 2)
    groups = KeySet.from_dataframe(session.evaluate(held.get_groups(["query"]), half))
    counted = session.evaluate(held.groupby(groups).count(name="n"), session.remaining_privacy_budget)
    return [(row["query"], row["n"]) for row in counted.collect()]


run(work)
