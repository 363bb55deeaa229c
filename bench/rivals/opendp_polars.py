"""OpenDP over Polars: users named by identifier, one row per query, Gaussian noise and a threshold for unknown keys."""

import math

import opendp.prelude as dp
import polars as pl
from job import Rows, run

dp.enable_features("contrib")


def work(log: str, epsilon: float, delta: float, keys: int) -> Rows:
    """Random `keys` queries of a user, one row each; the library keeps half of δ for its threshold."""
    context = dp.Context.compositor(
        data=pl.scan_parquet(log).select("user", "query"),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user")),
        privacy_loss=dp.loss_of(rho=rho_of(epsilon, delta / 2), delta=delta / 2),
        split_evenly_over=1,
    )
    asked = context.query().truncate_per_group(1, by=["query"]).truncate_per_group(keys).group_by("query").agg(dp.len())
    found = asked.release().collect()
    return zip(found["query"].to_list(), found["len"].to_list(), strict=True)


def rho_of(epsilon: float, delta: float) -> float:
    """The largest ρ with ρ + 2 √(ρ ln(1/δ)) <= ε."""
    root = math.sqrt(math.log(1 / delta))
    return (math.sqrt(root * root + epsilon) - root) ** 2


run(work)
