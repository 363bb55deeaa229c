"""qrlew: a query is rewritten into SQL that adds noise, and PostgreSQL runs it (ZOO_POSTGRES is its address).

The rewriting reads the number of rows of the table. `stated` gives it a table of a thousand rows, whatever the log;
`read` one of as many rows as the log has, as `dataset_from_database` does.
"""

from __future__ import annotations

import os
import tempfile
from functools import lru_cache
from typing import Any

import pandas as pd
import psycopg2
from pyqrlew import Dialect
from pyqrlew.io.sqlite import SQLite
from shared import Log, apart, copies, rows

QUERY = "SELECT search, COUNT(DISTINCT person) AS n FROM log GROUP BY search"
SIZE = 1_000


@lru_cache(maxsize=64)
def _rewritten(size: int, epsilon: float, delta: float) -> str:
    with tempfile.TemporaryDirectory() as folder:
        database = SQLite(f"{folder}/log.db", False)
        frame = pd.DataFrame({"person": [f"u{n}" for n in range(size)], "search": ["a"] * size}, dtype=object)
        database.load_pandas("log", frame)
        dataset = database.dataset()
        relation = dataset.relation(QUERY)
        private = relation.rewrite_with_differential_privacy(
            dataset, [("log", [], "person")], {"epsilon": epsilon, "delta": delta}
        )
        return str(private.relation().to_query(Dialect.PostgreSql))


@lru_cache
def _connection() -> Any:
    connection = psycopg2.connect(os.environ["ZOO_POSTGRES"])
    connection.autocommit = True
    connection.cursor().execute("CREATE TEMP TABLE log (person TEXT, search TEXT)")
    return connection


def _released(log: Log, size: str, epsilon: float, delta: float) -> list[tuple[str, int]]:
    held = rows(log)
    cursor = _connection().cursor()
    cursor.execute("TRUNCATE log")
    if held:
        values = ", ".join(cursor.mogrify("(%s, %s)", row).decode() for row in held)
        cursor.execute(f"INSERT INTO log VALUES {values}")
    cursor.execute(_rewritten(SIZE if size == "stated" else max(len(held), 1), epsilon, delta))
    return sorted(cursor.fetchall())


def stated(log: Log, *, epsilon: float, delta: float) -> Any:
    """The number of rows is public, and the same for both logs."""
    return _released(log, "stated", epsilon, delta)


def _many(log: Log, runs: int, *, epsilon: float, delta: float) -> Any:
    return apart(_released(copies(log, runs), "stated", epsilon, delta), runs)


stated.many = _many


def read(log: Log, *, epsilon: float, delta: float) -> Any:
    """The number of rows is that of the log."""
    return _released(log, "read", epsilon, delta)
