"""Public lists the owner brings: result pages (query, url) that anybody could have seen.

A list must not come from the log it is used with; the card names it and says so.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from hubbub.errors import InputError


@dataclass(frozen=True)
class UrlList:
    """A public list of result pages: distinct (query, url), cleaned like the log."""

    name: str
    rows: pa.Table
    sha256: str


def read_serp(path: str | Path, *, canonical_urls: bool = False) -> UrlList:
    """Read a result list: Parquet, or tab-separated text with a header, columns `query` and `url`."""
    import pyarrow.compute as pc
    import pyarrow.csv
    import pyarrow.parquet

    from hubbub.ingest import clean

    path = Path(path)
    if not path.is_file():
        raise InputError("The result list does not exist.", given=path, next="give --serp a Parquet or TSV file")
    try:
        if path.suffix == ".parquet":
            table = pyarrow.parquet.read_table(path)
        else:
            table = pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError("The result list cannot be read.", given=f"{path}: {error}") from error
    missing = {"query", "url"} - set(table.column_names)
    if missing:
        raise InputError(
            "The result list lacks a column.", given=", ".join(table.column_names), allowed="query and url"
        )
    rows = pa.table(
        {
            "query": clean.queries(_text(table.column("query"))),
            "url": clean.urls(_text(table.column("url")), canonical_urls),
        }
    )
    rows = rows.filter(pc.and_kleene(pc.not_equal(rows.column("query"), ""), pc.not_equal(rows.column("url"), "")))
    rows = rows.group_by(["query", "url"]).aggregate([])
    if not rows.num_rows:
        raise InputError("The result list is empty.", given=path)
    return UrlList(path.name, rows, hashlib.sha256(path.read_bytes()).hexdigest())


def _text(column: pa.ChunkedArray) -> pa.Array:
    return column.cast(pa.string()).combine_chunks().fill_null("")
