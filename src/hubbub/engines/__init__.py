"""Where the log's tables live: one protocol, one file per engine."""

from hubbub.engines.base import Engine

__all__ = ["ENGINES", "Engine"]
ENGINES = {"duckdb": "hubbub.engines.duckdb:opened", "spark": "hubbub.engines.spark:opened"}
"""Every engine by name, and the function (module:name) that opens one; imported only when asked for."""
