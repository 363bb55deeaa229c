"""Where the log's tables live: one protocol, one file per engine."""

from hubbub.engines.base import Engine

__all__ = ["ENGINES", "Engine"]
ENGINES = ("duckdb", "spark")
