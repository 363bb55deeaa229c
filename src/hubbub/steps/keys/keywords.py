"""Keywords: the words of a user's searches, split at spaces (cleaning leaves single spaces)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from hubbub.steps.keys.base import Keys

if TYPE_CHECKING:
    from hubbub.log import SearchLog

WORDS = pa.schema([("query", pa.string()), ("keyword", pa.string())])


def split(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per query and word of it."""
    for batch in batches:
        words = pc.split_pattern(batch.column("query").cast(pa.string()), " ")
        at = pc.list_parent_indices(words)
        columns = [pc.take(batch.column("query").cast(pa.string()), at), pc.list_flatten(words)]
        yield pa.RecordBatch.from_arrays(columns, schema=WORDS)


def words(log: SearchLog) -> None:
    """Keep the words of every query under the name `words`."""
    log.engine.map_batches("words", "SELECT DISTINCT query FROM log", split, WORDS)


KEYWORDS = Keys(
    name="keywords",
    columns=("keyword",),
    events='SELECT l.uid AS uid, l."time" AS "time", w.keyword AS keyword FROM {log} AS l '
    "JOIN words AS w ON l.query = w.query",
    order=('"time" NULLS LAST', "keyword"),
    repeats=True,
    prepare=words,
)
