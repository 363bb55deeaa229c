"""JSON files that are one large array, or the answer of a search engine: the same objects, one per line.

A file called `.json` that begins with `[` is an array; one that begins with `{` and whose first key is `took`,
`_scroll_id`, `pit_id` or `hits` is the answer to a `_search`, whose hits are the objects. Both first bytes are the
exporter's, never a user's. Inside, an object is cut out by its brackets alone, so what a string holds cannot end it
or reach into the next; the line that becomes of it is read as any other. A file that ends in the middle is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hubbub.errors import InputError
from hubbub.ingest.lines import MAX_LINE
from hubbub.ingest.sources import Stream, bare, opened
from hubbub.switches import switch

PIECE = switch(__name__, "PIECE", 1 << 20, low=64)
ANSWER = re.compile(rb'\s*\{\s*"(?:took|_scroll_id|pit_id|hits|_shards|timed_out)"\s*:')
HITS = re.compile(rb'"hits"\s*:\s*\[')
HEAD = 1 << 16  # bytes in which an answer must come to its hits
MARKS = re.compile(rb'["\\{}\[\]]')


@contextmanager
def elements(file: Path) -> Iterator[Elements | Stream]:
    """The file as a stream of lines with one object each, whatever it is."""
    with opened(file) as stream:
        if bare(file).suffix.lower() != ".json":
            yield stream
            return
        head = stream.read(HEAD)
        if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[":
            yield Elements(file, stream, head, head.index(b"[") + 1)
        elif ANSWER.match(head.removeprefix(b"\xef\xbb\xbf")):
            begins = HITS.search(head)
            if begins is None:
                raise InputError("The file is the answer to a search, and has no hits.", given=file)
            yield Elements(file, stream, head, begins.end())
        else:
            yield Elements(file, stream, head, None)


class Elements:
    """A stream in which the objects of an array stand on a line each; without an array, the bytes as they are."""

    def __init__(self, file: Path, stream: Stream, head: bytes, start: int | None) -> None:
        self._file, self._stream = file, stream
        self._rest = head if start is None else head[start:]
        self._plain, self._ended = start is None, False
        self._depth, self._quoted, self._begun = 0, False, bytearray()

    def done(self) -> int:
        """How many bytes of the file itself have been read."""
        return self._stream.done()

    def read(self, size: int, /) -> bytes:
        """The next lines; none at the end. An object longer than a line may be is cut, and rejected as too long."""
        while True:
            data, self._rest = self._rest or self._stream.read(max(size, 1) if self._plain else PIECE), b""
            if self._plain:
                return data
            if self._ended:
                return b""
            if not data:
                raise InputError(
                    "The file ends in the middle of its array.", given=self._file, next="check that it was copied whole"
                )
            if out := self._cut(data):
                return out

    def _cut(self, data: bytes) -> bytes:
        """The objects that end in this piece, a line each."""
        out, at = bytearray(), 0
        for mark in self._marks(data):
            byte, place = data[mark : mark + 1], mark
            if byte in b"{[":
                if self._depth == 0:
                    at = place
                self._depth += 1
            elif self._depth == 0:  # the array's own end
                self._ended = True
                break
            else:
                self._depth -= 1
                if self._depth == 0:
                    self._keep(data[at : place + 1])
                    out += bytes(self._begun) + b"\n"
                    self._begun.clear()
                    at = place + 1
        if self._depth:
            self._keep(data[at:])
        return bytes(out)

    def _marks(self, data: bytes) -> Iterator[int]:
        """Where brackets stand outside strings."""
        place = 0
        if self._skip_next:
            place, self._skip_next = 1, False
        while found := MARKS.search(data, place):
            byte, place = found[0], found.end()
            if byte == b"\\":
                if self._quoted:
                    self._skip_next = place == len(data)
                    place += 1
            elif byte == b'"':
                self._quoted = not self._quoted
            elif not self._quoted:
                yield found.start()

    _skip_next = False

    def _keep(self, data: bytes) -> None:
        """Put bytes to the object that has begun, on one line, and no more than shows that it is too long."""
        room = MAX_LINE + 2 - len(self._begun)
        if room > 0:
            self._begun += data[:room].replace(b"\n", b" ").replace(b"\r", b" ")
