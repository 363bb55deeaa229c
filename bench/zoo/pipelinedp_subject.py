"""PipelineDP on its local backend: distinct users of each key, keys selected privately or by a threshold afterwards."""

from __future__ import annotations

from typing import Any

import pipeline_dp as pdp
from shared import Log, apart, copies, rows


def _released(log: Log, epsilon: float, delta: float, noise: str, keys: int, after: bool) -> list[tuple[str, float]]:
    if not rows(log):
        return []  # its interface refuses an empty collection: whoever calls it has to know that there is somebody
    accountant = pdp.NaiveBudgetAccountant(epsilon, delta)
    engine = pdp.DPEngine(accountant, pdp.LocalBackend())
    asked = pdp.AggregateParams(
        metrics=[pdp.Metrics.PRIVACY_ID_COUNT],
        noise_kind=pdp.NoiseKind.LAPLACE if noise == "laplace" else pdp.NoiseKind.GAUSSIAN,
        max_partitions_contributed=keys,
        max_contributions_per_partition=1,
        post_aggregation_thresholding=bool(after),
    )
    columns = pdp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: 0,
    )
    result = engine.aggregate(rows(log), asked, columns)
    accountant.compute_budgets()
    return sorted((key, metrics.privacy_id_count) for key, metrics in result)


def release(log: Log, *, epsilon: float, delta: float, noise: str, keys: int = 1, after: int = 0) -> Any:
    """One aggregation; with `after`, keys are selected by the noisy count itself."""
    return _released(log, epsilon, delta, noise, keys, bool(after))


def _many(log: Log, runs: int, *, epsilon: float, delta: float, noise: str, keys: int = 1, after: int = 0) -> Any:
    return apart(_released(copies(log, runs), epsilon, delta, noise, keys, bool(after)), runs)


release.many = _many
