"""SmartNoise SQL: COUNT(DISTINCT user) by key, rare keys censored by the library. Claims are `get_privacy_cost`."""

from __future__ import annotations

from typing import Any

import pandas as pd
import snsql
from shared import Log, apart, copies, rows
from snsql import Mechanism, Privacy, Stat

QUERY = "SELECT search, COUNT(DISTINCT person) AS n FROM logs.log GROUP BY search"


def _reader(log: Log, share: float, delta: float, keys: int, noise: str) -> Any:
    privacy = Privacy(epsilon=share, delta=delta)
    if noise == "gaussian":
        for stat in (Stat.count, Stat.threshold):
            privacy.mechanisms.map[stat] = Mechanism.gaussian
    person, search = {"type": "string", "private_id": True}, {"type": "string"}
    table = {"max_ids": keys, "row_privacy": False, "person": person, "search": search}
    frame = pd.DataFrame(rows(log), columns=["person", "search"])
    return snsql.from_df(frame, metadata={"": {"logs": {"log": table}}}, privacy=privacy)


def release(log: Log, *, share: float, slack: float, keys: int = 1, noise: str = "laplace") -> Any:
    """One query; `share` and `slack` are the ε and δ of each of its columns."""
    return sorted((key, n) for key, n in _reader(log, share, slack, keys, noise).execute(QUERY)[1:])


def _many(log: Log, runs: int, *, share: float, slack: float, keys: int = 1, noise: str = "laplace") -> Any:
    return apart(_reader(copies(log, runs), share, slack, keys, noise).execute(QUERY)[1:], runs)


def claims(share: float, slack: float, keys: int = 1, noise: str = "laplace") -> tuple[float, float]:
    """What the library says that the query costs."""
    epsilon, delta = _reader({"a": ["b"]}, share, slack, keys, noise).get_privacy_cost(QUERY)
    return float(epsilon), float(delta)


release.many = _many
release.claims = claims
