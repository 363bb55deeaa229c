"""What Spark says when something goes wrong, in a user's words."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hubbub.engines.duckdb import OUT_OF_MEMORY
from hubbub.errors import InputError, OutputError, ParameterError
from hubbub.privacy.existence import Cause

OTHER_VERSION = "A worker has another version of DuckDB than the driver."
ENDED = "see whether the system killed it for its memory; lower --memory or free some"


@contextmanager
def plain_errors() -> Iterator[None]:
    """What a user can do something about, in a user's words."""
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        with quietly():
            yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        text, first = str(error), said(error)
        if isinstance(error, (Py4JNetworkError, ConnectionError)) or java_is_gone():
            raise ParameterError(
                "Spark ended in the middle of its work.", given=first, next=ENDED, because=Cause.ENDED
            ) from error
        if "No module named 'hubbub" in text or OTHER_VERSION in text:
            next = "give the Python of every worker the same hubbub and the same DuckDB as here"
            what = "A worker has not the packages that this process has."
            raise ParameterError(what, given=first, next=next, because=Cause.ENDED) from error
        if any(sign in text for sign in ("OutOfMemoryError", "maxResultSize", OUT_OF_MEMORY)):
            raise ParameterError(OUT_OF_MEMORY, given=first, next="raise --memory", because=Cause.ENDED) from error
        if "No space left on device" in text:
            next = "free some space or choose another --work"
            raise OutputError("The disk is full.", given=first, next=next) from error
        if any(sign in text for sign in ("PATH_NOT_FOUND", "FAILED_READ_FILE", "FileNotFoundException")):
            next = "on a cluster, choose a --work that every worker sees under the same path"
            what = "The engine could not read or write a file."
            raise InputError(what, given=first, next=next, because=Cause.ENDED) from error
        raise


def java_is_gone() -> bool:
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    return process is not None and process.poll() is not None


def said(error: Exception) -> str:
    """The first line of what went wrong, without where in Java."""
    thrown: Any = getattr(error, "java_exception", None)
    text = str(error) if thrown is None else str(thrown.getMessage())
    return text.strip().splitlines()[0]


@contextmanager
def quietly() -> Iterator[None]:
    """Without pyspark's word about new versions of pandas, which is not used here, and py4j's own tracebacks."""
    root = logging.getLogger()
    root.addFilter(_not_py4j)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    finally:
        root.removeFilter(_not_py4j)


def _not_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname
