"""OpenDP: thresholds on a histogram of unknown keys, as measurements and through Polars. It states its own claims."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import opendp.prelude as dp
import polars as pl
from shared import Log, apart, copies, counted, rows

dp.enable_features("contrib")
ONE_USER = (1, 1, 1)
"""One user moves one count by one: keys changed, the sum of the changes, the largest."""


@lru_cache
def _measurement(noise: str, scale: float, threshold: int) -> Any:
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=dp.i32))
    if noise == "laplace":
        metric = dp.l01inf_distance(dp.absolute_distance(T=dp.i32))
        return dp.m.make_laplace_threshold(domain, metric, scale=scale, threshold=threshold)
    metric = dp.l02inf_distance(dp.absolute_distance(T=dp.i32))
    return dp.m.make_gaussian_threshold(domain, metric, scale=scale, threshold=threshold)


def threshold(log: Log, *, noise: str, scale: float, threshold: int) -> dict[str, int]:
    """`make_laplace_threshold` or `make_gaussian_threshold` on the number of users of each key."""
    return dict(sorted(_measurement(noise, float(scale), threshold)(counted(log, 1)).items()))


def threshold_claims(noise: str, scale: float, threshold: int) -> tuple[float, float]:
    """The map of the measurement; of approximate zCDP, ε at a δ of 0.05 more by the library's own conversion."""
    measurement = _measurement(noise, float(scale), threshold)
    if noise == "laplace":
        epsilon, delta = measurement.map(ONE_USER)
        return epsilon, delta
    total = measurement.map(ONE_USER)[1] + 0.05
    epsilon, delta = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(measurement), delta=total).map(ONE_USER)
    return epsilon, delta


def _many_thresholds(log: Log, runs: int, *, noise: str, scale: float, threshold: int) -> Any:
    return apart(_measurement(noise, float(scale), threshold)(counted(copies(log, runs), 1)).items(), runs)


threshold.claims = threshold_claims
threshold.many = _many_thresholds


def _released(log: Log, epsilon: float, delta: float, keys: int) -> list[tuple[str, int]]:
    table = pl.DataFrame(rows(log), schema={"user": pl.String, "query": pl.String}, orient="row")
    context = dp.Context.compositor(
        data=table.lazy(),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user")),
        privacy_loss=dp.loss_of(epsilon=epsilon, delta=delta),
        split_evenly_over=1,
    )
    asked = context.query().truncate_per_group(1, by=["query"]).truncate_per_group(keys).group_by("query").agg(dp.len())
    found = asked.release().collect()
    return list(zip(found["query"].to_list(), found["len"].to_list(), strict=True))


def polars(log: Log, *, epsilon: float, delta: float, keys: int = 1) -> list[tuple[str, int]]:
    """A query by group through the Context of OpenDP, users named by their identifier."""
    return sorted(_released(log, epsilon, delta, keys))


def _many(log: Log, runs: int, *, epsilon: float, delta: float, keys: int = 1) -> Any:
    return apart(_released(copies(log, runs), epsilon, delta, keys), runs)


polars.many = _many
