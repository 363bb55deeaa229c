"""The job every rival does, and how it reports: run by a Python that has the rival's packages and nothing of ours.

    python bench/rivals/NAME.py LOG.parquet OUT.parquet EPSILON DELTA KEYS

At most KEYS distinct queries of a user; released queries with their noisy number of users. Prints READY when the
libraries are loaded and DONE when the release is written: what is between is the cost.
"""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Rows = Iterable[tuple[str, float]]


def run(work: Callable[[str, float, float, int], Rows]) -> None:
    """Do the job once."""
    log, out, epsilon, delta, keys = sys.argv[1:]
    print("READY", flush=True)
    rows = list(work(log, float(epsilon), float(delta), int(keys)))
    table = pa.table({"query": [q for q, _ in rows], "users": [float(n) for _, n in rows]})
    pq.write_table(table, Path(out))
    print("DONE", flush=True)
