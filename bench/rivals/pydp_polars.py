"""PyDP over Polars: bounding and counting in Polars, half the budget for PyDP's Gaussian selection, half for counts."""

import math

import polars as pl
from job import Rows, run
from pydp.algorithms.numerical_mechanisms import GaussianMechanism
from pydp.algorithms.partition_selection import create_gaussian_partition_strategy


def work(log: str, epsilon: float, delta: float, keys: int) -> Rows:
    """Random `keys` queries of a user, counted, tested and noised one by one."""
    held = pl.scan_parquet(log).select("user", "query").unique()
    kept = held.filter(pl.int_range(pl.len()).shuffle().over("user") < keys)
    counted = kept.group_by("query").len().collect()
    strategy = create_gaussian_partition_strategy(epsilon / 2, delta / 2, keys)
    noise = GaussianMechanism(epsilon / 2, delta / 2, math.sqrt(keys))
    for query, n in zip(counted["query"].to_list(), counted["len"].to_list(), strict=True):
        if strategy.should_keep(n):
            yield query, noise.add_noise(float(n))


run(work)
