"""Text in an encoding other than UTF-8, made UTF-8 without touching the line rule.

In most encodings no character holds the byte of a newline: lines are cut first and decoded one by one. In UTF-16 a
newline is a unit of two bytes: units are decoded as they stream by, half a character becomes bytes that are no UTF-8,
and the line it stands on is rejected. Encodings that remember something from one line to the next are not read.
"""

from __future__ import annotations

import codecs
from dataclasses import replace

from hubbub.errors import InputError, ParameterError
from hubbub.ingest.lines import Lines, Readable, split
from hubbub.ingest.schema import Reason

UTF8, UTF16, GB18030 = "utf-8", "utf-16", "gb18030"
WIDE = {UTF16: "", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be"}
MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
NARROW = (
    *(UTF8, "ascii", GB18030, "gbk", "gb2312", "big5", "shift_jis", "cp932", "euc_jp", "euc_kr", "cp949"),
    *(f"iso8859-{part}" for part in range(1, 17) if part != 12),
    *(f"cp{page}" for page in (437, 850, 852, 866, 874, *range(1250, 1259))),
    *("koi8-r", "koi8-u", "mac-roman"),
)
FAMILIAR = "utf-8, utf-16, latin-1, cp1252, iso8859-15, koi8-r, gb18030, big5, shift_jis, euc_kr and the like"


def known(stated: str) -> str:
    """The encoding that --encoding names, by its one name."""
    try:
        name = codecs.lookup(stated).name
    except (LookupError, ValueError):
        name = ""
    name = UTF8 if name == "utf-8-sig" else name
    if name not in WIDE and name not in NARROW:
        raise ParameterError("--encoding is not one that is read.", given=stated, allowed=FAMILIAR)
    return name


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


class Utf8Of:
    """A stream of UTF-16 as a stream of UTF-8."""

    def __init__(self, wide: Readable, encoding: str, file: object) -> None:
        self._wide, self._file, self._rest = wide, file, b""
        start = wide.read(2)
        mark = MARKS.get(start)
        if mark is None and encoding == UTF16:
            raise InputError(
                "The file does not begin with a byte order mark.",
                given=f"{file}, --encoding utf-16",
                next="say --encoding utf-16-le (usual on Windows) or utf-16-be, or the encoding that it has",
            )
        self._decoder = codecs.getincrementaldecoder(mark or WIDE[encoding])(errors="surrogatepass")
        if mark is None:
            self._rest = self._utf8(start)

    def read(self, size: int, /) -> bytes:
        """The next bytes; none at the end."""
        rest, self._rest = self._rest, b""
        while chunk := self._wide.read(size):
            if data := rest + self._utf8(chunk):
                return data
        return rest or self._utf8(b"", final=True)

    def _utf8(self, chunk: bytes, final: bool = False) -> bytes:
        try:
            return self._decoder.decode(chunk, final).encode(errors="surrogatepass")
        except UnicodeDecodeError:
            raise InputError(
                "The file is no UTF-16: it ends in the middle of a unit of two bytes.",
                given=self._file,
                next="check --encoding, and that it was copied whole",
            ) from None
