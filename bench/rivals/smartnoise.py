"""SmartNoise SQL: COUNT(DISTINCT user) by query, at most KEYS rows of a user, thresholded by the library."""

import pandas as pd
import snsql
from job import Rows, run


def work(log: str, epsilon: float, delta: float, keys: int) -> Rows:
    """One query to its private reader."""
    rows = pd.read_parquet(log, columns=["user", "query"]).rename(columns={"user": "person", "query": "search"})
    columns = {"max_ids": keys, "row_privacy": False}
    person, search = {"type": "string", "private_id": True}, {"type": "string"}
    metadata = {"": {"logs": {"log": {**columns, "person": person, "search": search}}}}
    reader = snsql.from_df(rows, metadata=metadata, privacy=snsql.Privacy(epsilon=epsilon, delta=delta))
    found = reader.execute("SELECT search, COUNT(DISTINCT person) AS n FROM logs.log GROUP BY search")
    return [(query, n) for query, n in found[1:]]


run(work)
