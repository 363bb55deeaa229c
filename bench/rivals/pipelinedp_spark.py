"""PipelineDP on Spark's RDDs, two local workers; the same aggregation as the local one."""

import os
import sys

import pipeline_dp as pdp
from job import Rows, run
from pipelinedp_local import parameters
from pyspark.sql import SparkSession

os.environ["PYSPARK_PYTHON"] = sys.executable
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "8g")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def work(log: str, epsilon: float, delta: float, keys: int) -> Rows:
    """Rows as pairs, through the engine."""
    rows = spark.read.parquet(log).select("user", "query").rdd.map(tuple)
    accountant = pdp.NaiveBudgetAccountant(epsilon, delta)
    engine = pdp.DPEngine(accountant, pdp.SparkRDDBackend(spark.sparkContext))
    columns = pdp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: 0,
    )
    result = engine.aggregate(rows, parameters(keys), columns)
    accountant.compute_budgets()
    return [(query, metrics.privacy_id_count) for query, metrics in result.collect()]


run(work)
