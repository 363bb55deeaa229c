"""Lines → columns of text: cut each line at its delimiter and take the fields that matter.

A `Layout` says where they are. All lines of a block are cut at once by the positions of delimiters and quotation marks.
Where quoting is more than marks around whole fields (a doubled mark, a stray one, one left open), the line is cut on
its own. In a tab file, a mark that does not stand around a whole field is a letter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from hubbub.ingest.encodings import UTF8
from hubbub.ingest.lines import Ints, Lines, Mask, gather
from hubbub.ingest.schema import Reason
from hubbub.ingest.times import Clock, usual

QUOTE = b'"'
Dress = Callable[[pa.Array], pa.Array]


@dataclass(frozen=True)
class Layout:
    """How a line of a delimited file is laid out."""

    delimiter: bytes
    quoting: bool
    places: Mapping[str, int]  # role → place of its field, from 0
    least: int  # fields a line may have
    most: int | None = None
    header: bytes | None = None  # a line with exactly this content is no record
    blank: str = ""  # how the format writes a query that is blank
    clock: Clock = usual  # how it writes times
    encoding: str = UTF8
    stray: bool = False  # whether marks that do not stand around a whole field are letters, as in tab files
    enclosed: str | None = None  # the role whose field stands in brackets
    dress: Mapping[str, Dress] = field(default_factory=dict)  # role → its field as the other formats write it


def mark_headers(lines: Lines, header: bytes) -> None:
    """Mark header lines, which are no records, also in the middle of a file: files may have been joined end to end."""
    same = np.flatnonzero(lines.end - lines.start == len(header))
    same = same[lines.array[lines.start[same]] == header[0]] if header else same
    for line in same.tolist():
        if lines.data[lines.start[line] : lines.end[line]] == header:
            lines.code[line] = Reason.HEADER


def cut(lines: Lines, layout: Layout) -> tuple[Ints, dict[str, pa.Array]]:
    """The lines with an acceptable number of fields, and their fields by role. Marks the others."""
    marks = np.flatnonzero(lines.array == layout.delimiter[0])
    if not (layout.quoting and QUOTE in lines.data):
        return _cut_at_once(lines, layout, marks, lines.code == Reason.KEPT)
    intricate, marks = _resolve_quotes(lines, marks, layout.delimiter[0])
    fits, columns = _cut_at_once(lines, layout, marks, (lines.code == Reason.KEPT) & ~intricate)
    others, fields = _cut_alone(lines, layout, np.flatnonzero((lines.code == Reason.KEPT) & intricate))
    if not len(others):
        return fits, columns
    order = np.argsort(np.concatenate([fits, others]), kind="stable")
    joined = {
        role: pa.concat_arrays([columns[role], pa.array(fields[role], pa.binary()).cast(pa.string())]).take(order)
        for role in layout.places
    }
    return np.concatenate([fits, others])[order], joined


def split_quoted(line: bytes, delimiter: bytes) -> list[bytes] | None:
    """The fields of one line that may hold quoted ones (a doubled mark is a mark), or None if a quote is wrong."""
    fields: list[bytes] = []
    at = 0
    while True:
        if line.startswith(QUOTE, at):
            end = line.find(QUOTE, at + 1)
            while end >= 0 and line.startswith(QUOTE, end + 1):
                end = line.find(QUOTE, end + 2)
            if end < 0:
                return None
            fields.append(line[at + 1 : end].replace(QUOTE * 2, QUOTE))
            end += 1
        else:
            end = line.find(delimiter, at)
            end = len(line) if end < 0 else end
            fields.append(line[at:end])
        if end == len(line):
            return fields
        if not line.startswith(delimiter, end):
            return None
        at = end + 1


def _cut_at_once(lines: Lines, layout: Layout, marks: Ints, usable: Mask) -> tuple[Ints, dict[str, pa.Array]]:
    """Cut the usable lines at the delimiters in `marks`; takes the quotation marks off fields that begin with one."""
    before = np.searchsorted(marks, lines.first)  # number of delimiters before each line
    count = np.diff(before, append=len(marks)) + 1
    wrong = usable & ((count < layout.least) | (count > (layout.most or len(lines.data))))
    lines.code[wrong] = Reason.BAD_FIELDS
    fits = np.flatnonzero(usable & ~wrong)
    start, end, before, count = lines.start[fits], lines.end[fits], before[fits], count[fits]

    marks = np.append(marks, len(lines.data))  # so that the place after the last delimiter exists
    columns = {}
    for role, place in layout.places.items():
        left = start if place == 0 else marks[np.minimum(before + place - 1, len(marks) - 1)] + 1
        right = marks[np.minimum(before + place, len(marks) - 1)]
        left = np.where(place < count, left, end)
        right = np.where(place + 1 < count, right, end)
        if layout.quoting:
            quoted = (left < right) & (lines.array[left] == QUOTE[0])
            left, right = left + quoted, right - quoted
        columns[role] = gather(lines.data, left, right, pa.string())
    return fits, columns


def _resolve_quotes(lines: Lines, marks: Ints, delimiter: int) -> tuple[Mask, Ints]:
    """Which lines must be cut one by one, and, in the others, the delimiters that are not inside quotation marks.

    A line is simple if its marks alternate: one opens at the start of a field, the next closes at the end of one.
    """
    quotes = np.flatnonzero(lines.array == QUOTE[0])
    before = np.searchsorted(quotes, lines.first)  # number of quotation marks before each line
    owner = np.repeat(np.arange(len(before)), np.diff(before, append=len(quotes)))
    closing = (np.arange(len(quotes)) - before[owner]) % 2 == 1
    neighbour = np.where(closing, quotes + 1, quotes - 1)
    edge = np.where(closing, lines.end[owner], lines.start[owner] - 1)
    delimited = (lines.array[neighbour] == delimiter) | (neighbour == edge)
    intricate = np.diff(before, append=len(quotes)) % 2 == 1
    intricate[owner[~delimited]] = True
    line = np.searchsorted(lines.first, marks, side="right") - 1
    inside = (np.searchsorted(quotes, marks) - before[line]) % 2 == 1
    return intricate, marks[~inside]


def _cut_alone(lines: Lines, layout: Layout, chosen: Ints) -> tuple[Ints, dict[str, list[bytes]]]:
    """Cut lines one by one with `split_quoted`, and mark those that cannot be cut."""
    fits: list[int] = []
    columns: dict[str, list[bytes]] = {role: [] for role in layout.places}
    bounds = zip(chosen.tolist(), lines.start[chosen].tolist(), lines.end[chosen].tolist(), strict=True)
    for line, start, end in bounds:
        fields = split_quoted(lines.data[start:end], layout.delimiter)
        if fields is None and layout.stray:
            fields = lines.data[start:end].split(layout.delimiter)
        if fields is None:
            lines.code[line] = Reason.BAD_QUOTE
        elif not layout.least <= len(fields) <= (layout.most or len(fields)):
            lines.code[line] = Reason.BAD_FIELDS
        else:
            fits.append(line)
            for role, place in layout.places.items():
                columns[role].append(fields[place] if place < len(fields) else b"")
    return np.array(fits, np.int64), columns
