"""Documents → loose rows: searches and clicks, cleaned and tested one by one, before they are joined.

A search is tested as any record is. Of a click, user, rank and address are; its time is not read, because a click has
the time of its search.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.ingest import clean, numbers
from hubbub.ingest.join import LOOSE
from hubbub.ingest.lines import Codes, Ints
from hubbub.ingest.readers.documents import Document, times
from hubbub.ingest.records import blanks, build
from hubbub.ingest.schema import NOTHING, ReadPart, Reason


def loose(found: Mapping[int, Document], code: Codes, clicks: frozenset[str], canonical_urls: bool) -> pa.RecordBatch:
    """Documents, given by line, as rows of the schema LOOSE; the reason to reject one is put into `code`."""
    searches: dict[int, Document] = {}
    clicked: dict[int, Document] = {}
    for line, document in found.items():
        if not document.action:
            searches[line] = document
        elif document.action in clicks:
            clicked[line] = document
        else:
            code[line] = Reason.HEADER
    rows = pa.concat_batches([_searches(searches, code, canonical_urls), _clicks(clicked, code, canonical_urls)])
    return rows.take(pc.sort_indices(rows["line"]))


def set_aside(rejected: pa.RecordBatch, code: Codes, rows: pa.RecordBatch) -> ReadPart:
    """A part whose records are still to be joined; those are counted then, the others here."""
    dropped = int(np.count_nonzero(code == Reason.BLANK_QUERY))
    return ReadPart(NOTHING, rejected, len(code), rejected.num_rows + dropped, dropped, loose=rows)


def _columns(found: Mapping[int, Document]) -> tuple[Ints, dict[str, pa.Array]]:
    """The lines of the documents, and their fields."""
    fields = list(zip(*found.values(), strict=True)) or [()] * len(Document._fields)
    columns = {name: pa.array(values, pa.string()) for name, values in zip(Document._fields, fields, strict=True)}
    return np.fromiter(found, np.int64, len(found)), columns


def _searches(found: Mapping[int, Document], code: Codes, canonical_urls: bool) -> pa.RecordBatch:
    lines, columns = _columns(found)
    used = {"user": columns["user"], "query": columns["query"], "time": times(columns["time"])}
    records, code[lines] = build(used, "", numbers.epoch_or_plain, canonical_urls)
    good = code[lines] == Reason.KEPT
    ids = clean.users(columns["id"]).filter(pa.array(good))
    click = pa.repeat(False, records.num_rows)
    return pa.RecordBatch.from_arrays([*records.columns, ids, click, pa.array(lines[good])], schema=LOOSE)


def _clicks(found: Mapping[int, Document], code: Codes, canonical_urls: bool) -> pa.RecordBatch:
    lines, columns = _columns(found)
    user, rank = clean.users(columns["user"]), numbers.ranks(columns["rank"])
    url, ids, count = clean.urls(columns["url"], canonical_urls), clean.users(columns["id"]), len(lines)
    reason = np.zeros(count, np.int8)
    reason[blanks(ids, "")] = Reason.NO_QUERY
    reason[rank.bad] = Reason.BAD_RANK
    reason[blanks(user, "")] = Reason.NO_USER
    code[lines] = reason
    time, query, click = pa.nulls(count, pa.int64()), pa.repeat("", count), pa.repeat(True, count)
    arrays = [user, time, query, rank.array(pa.int32()), url, ids, click, pa.array(lines)]
    return pa.RecordBatch.from_arrays(arrays, schema=LOOSE).filter(pa.array(reason == Reason.KEPT))
