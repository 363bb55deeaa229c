"""PipelineDP, local backend: distinct users of a query, Gaussian noise, thresholded after the aggregation."""

import pipeline_dp as pdp
import pyarrow.parquet as pq
from job import Rows, run


def parameters(keys: int) -> pdp.AggregateParams:
    """What is asked of the library."""
    return pdp.AggregateParams(
        metrics=[pdp.Metrics.PRIVACY_ID_COUNT],
        noise_kind=pdp.NoiseKind.GAUSSIAN,
        max_partitions_contributed=keys,
        max_contributions_per_partition=1,
        post_aggregation_thresholding=True,
    )


def work(log: str, epsilon: float, delta: float, keys: int) -> Rows:
    """Rows as pairs, through the engine."""
    table = pq.read_table(log, columns=["user", "query"])
    rows = list(zip(table["user"].to_pylist(), table["query"].to_pylist(), strict=True))
    accountant = pdp.NaiveBudgetAccountant(epsilon, delta)
    engine = pdp.DPEngine(accountant, pdp.LocalBackend())
    columns = pdp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: 0,
    )
    result = engine.aggregate(rows, parameters(keys), columns)
    accountant.compute_budgets()
    return ((query, metrics.privacy_id_count) for query, metrics in result)


if __name__ == "__main__":
    run(work)
