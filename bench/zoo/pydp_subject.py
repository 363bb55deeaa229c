"""PyDP: the partition selection of Google's library, asked for each key."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pydp.algorithms.partition_selection as selection
from shared import Log, counted


@lru_cache
def _strategy(rule: str, epsilon: float, delta: float, keys: int) -> Any:
    create = {
        "laplace": selection.create_laplace_partition_strategy,
        "gaussian": selection.create_gaussian_partition_strategy,
        "geometric": selection.create_truncated_geometric_partition_strategy,
    }[rule]
    return create(epsilon, delta, keys)


def select(log: Log, *, rule: str, epsilon: float, delta: float, keys: int = 1) -> list[str]:
    """The keys that `should_keep` keeps, by how many users hold them."""
    strategy = _strategy(rule, epsilon, delta, keys)
    return [key for key, users in counted(log, keys).items() if strategy.should_keep(users)]
