"""Columns of fields → records in SearchLog's columns, and the records that are set aside.

Shared by all readers: whatever the file looked like, a record is cleaned and tested here, by the same functions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.ingest import clean, lines, numbers
from hubbub.ingest.encodings import UTF8, WIDE, transcoded
from hubbub.ingest.fields import Layout, cut, mark_headers
from hubbub.ingest.lines import Block, Codes, Ints, Lines, Mask, Overlong
from hubbub.ingest.schema import NOTHING, REJECTS, SCHEMA, TEXT_KEPT, ReadPart, Reason, group_roles, schema_with
from hubbub.ingest.times import Clock

BRACKETS = r"(?s)^\s*\[(.*)\]\s*$"
PART_REJECTS = pa.schema([field for field in REJECTS if field.name != "file"])


def from_lines(piece: Block | Overlong, layout: Layout, canonical_urls: bool) -> ReadPart:
    """The records of a run of lines of a delimited file."""
    if isinstance(piece, Overlong):
        return overlong(piece)
    utf8 = layout.encoding == UTF8 or layout.encoding in WIDE
    raw = lines.split(piece.data, utf8=utf8)
    found = raw if utf8 else transcoded(raw, layout.encoding)
    if layout.header is not None:
        mark_headers(found, layout.header)
    fits, columns = cut(found, layout)
    if layout.enclosed is not None:
        fits, columns = _in_brackets(found, fits, columns, layout.enclosed)
    columns |= {role: dress(columns[role]) for role, dress in layout.dress.items()}
    records, found.code[fits] = build(columns, layout.blank, layout.clock, canonical_urls)
    return part(records, rejected_lines(raw), found.code)


def part(records: pa.RecordBatch, rejected: pa.RecordBatch, code: Codes) -> ReadPart:
    """What became of records whose fates are in `code`."""
    read, dropped = np.count_nonzero(code != Reason.HEADER), np.count_nonzero(code == Reason.BLANK_QUERY)
    return ReadPart(records, rejected, len(code), int(read), int(dropped))


def _in_brackets(found: Lines, fits: Ints, columns: dict[str, pa.Array], role: str) -> tuple[Ints, dict[str, pa.Array]]:
    """Take the brackets off a field; marks the lines that open one and do not close it, or have none."""
    closed = pc.match_substring_regex(columns[role], BRACKETS).to_numpy(zero_copy_only=False)
    found.code[fits[~closed]] = Reason.BAD_QUOTE
    columns = {name: column.filter(pa.array(closed)) for name, column in columns.items()}
    return fits[closed], columns | {role: pc.replace_substring_regex(columns[role], BRACKETS, r"\1")}


def build(
    columns: Mapping[str, pa.Array], blank: str, clock: Clock, canonical_urls: bool
) -> tuple[pa.RecordBatch, Codes]:
    """Clean and test the records; returns those kept and, for each, a Reason."""
    count = len(columns["user"])
    users, queries = clean.users(columns["user"]), clean.queries(columns["query"])
    code = np.zeros(count, np.int8)
    code[blanks(queries, blank)] = Reason.BLANK_QUERY
    rank, time, url = (pa.nulls(count, SCHEMA.field(name).type) for name in ("rank", "time", "url"))
    if "rank" in columns:
        found = numbers.ranks(columns["rank"])
        code[found.bad], rank = Reason.BAD_RANK, found.array(rank.type)
    if "time" in columns:
        found = clock(columns["time"])
        code[found.bad], time = Reason.BAD_TIME, found.array(time.type)
    if "url" in columns:
        url = clean.urls(columns["url"], canonical_urls)
    code[blanks(users, "")] = Reason.NO_USER
    groups = [clean.groups(columns[role]) for role in group_roles(columns)]
    records = pa.RecordBatch.from_arrays([users, time, queries, rank, url, *groups], schema=schema_with(columns))
    return (records.filter(pa.array(code == Reason.KEPT)) if code.any() else records), code


def blanks(column: pa.Array, sign: str) -> Mask:
    """Which values are empty, or are the one letter that stands for an empty value."""
    array, offsets = clean.view(column)
    length = np.diff(offsets)
    blank: Mask = length == 0
    if sign:
        single = np.flatnonzero(length == 1)
        blank[single] = array[offsets[single]] == ord(sign)
    return blank


def rejected_lines(found: Lines) -> pa.RecordBatch:
    """The lines that were set aside, with at most 64 KiB of each."""
    where = np.flatnonzero(found.code > Reason.KEPT)
    first, end = found.first[where], found.end[where]
    text = lines.gather(found.data, first, np.minimum(end, first + TEXT_KEPT), pa.binary())
    return rejects(where, found.code[where], end - first, text)


def overlong(piece: Overlong) -> ReadPart:
    """The part that one overlong line makes: no record, and one reject with the line's beginning."""
    one = np.zeros(1, np.int64)
    code = np.full(1, Reason.TOO_LONG, np.int8)
    rejected = rejects(one, code, one + piece.length, pa.array([piece.head], pa.binary()))
    return ReadPart(NOTHING, rejected, lines=1, read=1)


def rejects(where: Ints, code: Codes, length: Ints, text: pa.Array) -> pa.RecordBatch:
    """A batch of the rejects table, before its lines are numbered in the file."""
    labels = pa.DictionaryArray.from_arrays(
        pa.array(code, pa.int8()), pa.array([reason.label for reason in Reason if reason >= Reason.KEPT])
    )
    columns = [pa.array(where, pa.int64()), labels.dictionary_decode(), pa.array(length, pa.int64()), text]
    return pa.RecordBatch.from_arrays(columns, schema=PART_REJECTS)
