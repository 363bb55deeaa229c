"""The line rule: a newline always ends a record.

Nothing may join two lines: neither an open quotation mark, nor a broken character, nor a line that never seems to end.
Otherwise one user's record could swallow the lines of the users after it, and no bound on a user's influence would
hold. So bytes are cut at newlines first, and everything later sees one line at a time.

A file is read in blocks of whole lines. Where the blocks are cut changes nothing: each test below looks at one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.ingest.schema import TEXT_KEPT, Reason
from hubbub.switches import switch

BLOCK = switch(__name__, "BLOCK", 2 << 20, low=512)  # small enough to stay in a cache
BLOCK_LINES = switch(__name__, "BLOCK_LINES", 1 << 18, low=5)  # memory grows with lines too, and a line may be one byte
MAX_LINE = 1 << 20
NEWLINE, RETURN = 0x0A, 0x0D
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file, as bytes that end with a newline."""

    data: bytes


@dataclass(frozen=True)
class Overlong:
    """A line past the limit, of which only the beginning was kept."""

    head: bytes
    length: int


def blocks(stream: Readable, size: int | None = None) -> Iterator[Block | Overlong]:
    """The stream cut into whole lines, holding no more than a block and the longest line allowed."""
    size, rest = size or BLOCK, b""
    head, length, last = b"", 0, b""  # of a line that is being skipped
    while chunk := stream.read(size):
        if length:
            end = chunk.find(b"\n")
            line = chunk if end < 0 else chunk[:end]
            length, last = length + len(line), line[-1:] or last
            if end < 0:
                continue
            yield Overlong(head, length - (last == b"\r"))
            length, chunk = 0, chunk[end + 1 :]
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield from _portions(b"".join((rest, memoryview(chunk)[:cut])))
            rest = chunk[cut:]
        else:
            rest += chunk
        if len(rest) > MAX_LINE + 1:  # one above the limit: the last byte may be a carriage return
            head, length, last, rest = rest[:TEXT_KEPT], len(rest), rest[-1:], b""
    if length:
        yield Overlong(head, length - (last == b"\r"))
    if rest:
        yield Block(rest + b"\n")


def _portions(data: bytes) -> Iterator[Block]:
    """The same whole lines in blocks of a limited number of lines."""
    start, newline = 0, np.frombuffer(data, np.uint8) == NEWLINE
    if np.count_nonzero(newline) > BLOCK_LINES:
        ends = np.flatnonzero(newline) + 1
        for end in ends[BLOCK_LINES - 1 : -1 : BLOCK_LINES].tolist():
            yield Block(data[start:end])
            start = end
    yield Block(data[start:])


@dataclass(frozen=True)
class Lines:
    """The lines of a block: content i is data[start[i]:end[i]], without line end and byte order mark."""

    data: bytes
    array: Bytes
    first: Ints  # where the line begins, byte order mark included
    start: Ints
    end: Ints
    code: Codes  # Reason; KEPT where nothing is wrong so far


def split(data: bytes, utf8: bool = True) -> Lines:
    """Find the lines of a block and make the tests that concern a line as a whole."""
    array = np.frombuffer(data, np.uint8)
    end = np.flatnonzero(array == NEWLINE)
    first = np.empty_like(end)
    first[0], first[1:] = 0, end[:-1] + 1
    newline = end
    if b"\r" in data:
        end = end - (array[end - 1] == RETURN)  # before an empty line stands a newline
    start, ascii = first, data.isascii()
    if not ascii and BYTE_ORDER_MARK in data:
        marked = [data.startswith(BYTE_ORDER_MARK, at) for at in first.tolist()]
        start = first + len(BYTE_ORDER_MARK) * np.array(marked, np.int64)

    code = np.zeros(len(end), np.int8)
    code[start == end] = Reason.EMPTY_LINE
    if utf8 and not ascii:
        _mark_undecodable(data, array, newline, code)
    if b"\0" in data:
        code[np.searchsorted(newline, np.flatnonzero(array == 0))] = Reason.NUL_BYTE
    code[end - first > MAX_LINE] = Reason.TOO_LONG
    return Lines(data, array, first, start, end, code)


def _mark_undecodable(data: bytes, array: Bytes, newline: Ints, code: Codes) -> None:
    """Decode line by line. A newline is never part of a character, so a valid block has valid lines only."""
    try:
        pa.array([data], pa.binary()).cast(pa.string())
        return
    except pa.ArrowInvalid:
        suspects = np.unique(np.searchsorted(newline, np.flatnonzero(array >= 0x80)))
    for line in suspects.tolist():
        try:
            data[newline[line - 1] + 1 if line else 0 : newline[line]].decode()
        except UnicodeDecodeError:
            code[line] = Reason.BAD_ENCODING


def gather(data: bytes, start: Ints, end: Ints, kind: pa.DataType) -> pa.Array:
    """The slices data[start[i]:end[i]], which follow each other, as an Arrow array of strings or bytes."""
    count = len(start)
    if count == 0:
        return pa.array([], kind)
    # Slices and the gaps between them are the items of one array over the same bytes; every second item is wanted.
    offsets = np.empty(2 * count, np.int32)
    offsets[0::2], offsets[1::2] = start, end
    items = pa.Array.from_buffers(kind, 2 * count - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    return items.take(pa.array(np.arange(0, 2 * count, 2, dtype=np.int32)))
