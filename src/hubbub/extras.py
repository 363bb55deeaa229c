"""Packages that only some uses need: what each extra brings, and the line to type where it is missing.

`pip install hubbub` brings the core. Whatever is heavy and not needed by every release is an extra, imported where it
is used. `hubbub doctor` lists them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hubbub.errors import NotInstalled


@dataclass(frozen=True)
class Extra:
    """One extra of the package, as pyproject.toml declares it."""

    modules: tuple[str, ...]
    """What Python calls the packages it brings."""
    serves: str
    """What works with it and not without."""

    def missing(self) -> list[str]:
        """Those of its modules that are not installed; nothing is imported to find out."""
        return [module for module in self.modules if find_spec(module) is None]


EXTRAS = {
    "charts": Extra(("vl_convert",), "charts as PNG or SVG pictures; pages draw theirs without it"),
    "solver": Extra(("highspy",), "the mechanism optimal as published"),
    "measures": Extra(("ir_measures",), "the tasks retrieval and query-substitution of `hubbub evaluate`"),
    "pandas": Extra(("pandas",), "released tables as pandas frames: `to_pandas`"),
    "polars": Extra(("polars",), "released tables as polars frames: `to_polars`"),
    "web": Extra(("starlette", "uvicorn"), "`hubbub studio`"),
    "spark": Extra(("pyspark",), "the engine Spark, with Java 17 or later"),
    "excel": Extra(("openpyxl",), "logs in Excel files"),
    "pool": Extra(("HanTa",), "`hubbub pool build --nouns`"),
    "slurs": Extra(("glin_profanity",), "slurs flagged in `hubbub review`"),
    "languages": Extra(("wordfreq",), "known words of languages other than English"),
    "postgres": Extra(("adbc_driver_postgresql",), "logs in PostgreSQL"),
    "mysql": Extra(("pymysql",), "logs in MySQL or MariaDB"),
    "clickhouse": Extra(("chdb",), "files of ClickHouse's own engine"),
    "objects": Extra(("fsspec", "aiohttp", "s3fs", "gcsfs", "adlfs"), "logs on the web or in object stores"),
}


def line(extra: str) -> str:
    """What to type to have an extra."""
    return f"pip install 'hubbub[{extra}]'"


def missing(extra: str, what: str, given: object = None, instead: str = "") -> NotInstalled:
    """The error of somebody who needs an extra: the line to type, and what to do without it."""
    return NotInstalled(f"{what} is not installed.", given=given, next=line(extra) + (instead and f", or {instead}"))


def imported(module: str, extra: str, what: str, given: object = None, instead: str = "") -> Any:
    """A module of an extra."""
    try:
        return import_module(module)
    except ImportError:
        raise missing(extra, what, given, instead) from None
