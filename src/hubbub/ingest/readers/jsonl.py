"""JSON lines whatever the files are called, standard input among them: `table` knows them by name alone.

    {"who": {"id": "u1"}, "query": "lilac", "time": "2006-03-01T07:17:12Z"}

Which lines are objects is never told by looking at them: the first line is some user's.
"""

from __future__ import annotations

from hubbub.ingest.readers.base import register
from hubbub.ingest.readers.table import TableReader

register(
    TableReader(
        name="jsonl",
        sentence="one JSON object per line, whose fields are named by --columns, nested ones by a path with dots",
        objects=True,
    )
)
