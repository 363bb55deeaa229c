"""Lines in an encoding other than UTF-8, made UTF-8 line by line.

Only encodings in which no character holds the byte of a newline can be read: the line rule cuts first. GB18030 is one:
its characters are bytes from 0x30 upwards behind the first.
"""

from __future__ import annotations

from dataclasses import replace

from hubbub.ingest.lines import Lines, split
from hubbub.ingest.schema import Reason

UTF8, GB18030 = "utf-8", "gb18030"


def transcoded(raw: Lines, encoding: str) -> Lines:
    """The same lines in UTF-8. Lines that cannot be decoded are marked, in the array of marks of the lines given."""
    try:
        data = raw.data.decode(encoding).encode()
    except UnicodeError:
        data = b"".join(_line(raw, at, line, encoding) + b"\n" for at, line in enumerate(raw.data.split(b"\n")[:-1]))
    return replace(split(data), code=raw.code)


def _line(raw: Lines, at: int, line: bytes, encoding: str) -> bytes:
    """One line in UTF-8; one that cannot be decoded is marked, and empty."""
    try:
        return line.decode(encoding).encode()
    except UnicodeError:
        if raw.code[at] not in (Reason.TOO_LONG, Reason.NUL_BYTE):
            raw.code[at] = Reason.BAD_ENCODING
        return b""
