"""ClickHouse as a log: a server over HTTP, or its engine in this process (chdb) on a folder or on files.

    clickhouse://user@host:8123/shop, clickhouse+https://user@host:8443/shop         chdb:///folder, chdb://

One SELECT, which sees the parts of a table that were there when it began, comes as a stream of Arrow messages. A server
that fails in the middle has said 200 long ago and writes what went wrong into the stream: so only a stream that ends
with Arrow's own mark, and with nothing after it, is whole.
"""

from __future__ import annotations

import http.client
import json
import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from urllib.parse import SplitResult, unquote, urlencode, urlsplit
from xml.etree import ElementTree

import pyarrow as pa

from hubbub.errors import InputError
from hubbub.extras import imported
from hubbub.ingest.frames import Batches

END = b"\xff\xff\xff\xff\0\0\0\0"
KEPT = 4096  # bytes of a stream in which an error is looked for
SECONDS = 600  # without a byte
PLAIN = re.compile(r"(String|U?Int(8|16|32|64)|Float\d+|Date32|DateTime(64)?(\(.*)?)$")
"""Types that Arrow has as hubbub reads them; all others (UUID, Date, IPv4, Enum …) are asked for as text."""


class NotWholeError(Exception):
    """A stream that breaks off, or an answer that is none, in the database's own words where it has any."""


def served(source: str, statement: str) -> Batches:
    """The rows of a statement from a server."""
    at = urlsplit(source)
    with _answer(at, f"DESCRIBE ({_bare(statement)})", "JSONCompact") as answer:
        asked = _as_text(statement, answer.read())
    with _answer(at, asked, "ArrowStream") as answer:
        yield from messages(answer)


def embedded(source: str, statement: str) -> Batches:
    """The rows of a statement from the engine in this process, which may read and not write."""
    sessions = imported("chdb.session", "clickhouse", "ClickHouse's engine for this process (chdb)")
    with closing(sessions.Session(f"{_folder(source)}?mode=ro")) as session:
        described = session.query(f"DESCRIBE ({_bare(statement)})", "JSONCompact").bytes()
        with closing(session.send_query(_as_text(statement, described), "ArrowStream")) as chunks:
            for chunk in chunks:
                yield from messages(BytesIO(chunk.bytes()))


def messages(stream: IO[bytes]) -> Batches:
    """The batches of an Arrow stream, which must be whole."""
    seen, schema = _Remembered(stream), None
    try:
        while (head := seen.read(len(END))) != END:
            if head[:4] != END[:4] or len(head) < len(END):
                raise NotWholeError("the stream breaks off")
            message = pa.ipc.read_message(pa.PythonFile(_After(head, seen), mode="r"))
            if schema is None:
                schema = pa.ipc.read_schema(message)
                yield _as_bytes(pa.RecordBatch.from_arrays([pa.nulls(0, f.type) for f in schema], schema=schema))
            else:
                yield _as_bytes(pa.ipc.read_record_batch(message, schema))
        if seen.read(1):
            raise NotWholeError("something follows its end")
    except (NotWholeError, pa.ArrowInvalid, OSError, http.client.HTTPException) as error:
        with suppress(OSError, http.client.HTTPException):
            seen.read(KEPT)
        raise NotWholeError(_said(seen.last) or f"{error or type(error).__name__}") from None


class _Remembered:
    """A stream that knows its last bytes."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.last = stream, b""

    def read(self, size: int) -> bytes:
        """The next bytes, fewer only at the end."""
        try:
            found = self._stream.read(size)
        except http.client.IncompleteRead as error:
            self.last = (self.last + error.partial)[-KEPT:]
            raise
        self.last = (self.last + found[-KEPT:])[-KEPT:]
        return found


class _After:
    """A stream some bytes of which were read already."""

    closed = False

    def __init__(self, head: bytes, rest: _Remembered) -> None:
        self._head, self._rest = head, rest

    def read(self, size: int) -> bytes:
        """The next bytes."""
        head, self._head = self._head[:size], self._head[size:]
        return head + self._rest.read(size - len(head)) if len(head) < size else head


@contextmanager
def _answer(at: SplitResult, query: str, form: str) -> Iterator[http.client.HTTPResponse]:
    """The answer to a query. A GET may read and nothing else, whatever its user may."""
    safe = at.scheme.endswith("https")
    kind = http.client.HTTPSConnection if safe else http.client.HTTPConnection
    asked = {"query": query, "default_format": form}
    if database := unquote(at.path.strip("/")):
        asked["database"] = database
    with closing(kind(at.hostname or "localhost", at.port or (8443 if safe else 8123), timeout=SECONDS)) as connection:
        connection.request("GET", f"/?{urlencode(asked)}", headers=_credentials(at))
        answer = connection.getresponse()
        if answer.status != 200:
            said = answer.read(KEPT)
            raise NotWholeError(_said(said) or f"it answers {answer.status} {answer.reason}")
        yield answer


def _credentials(at: SplitResult) -> dict[str, str]:
    """Name and password as ClickHouse's own client finds them: the environment, or its file."""
    own = {}
    for place in ("./clickhouse-client.xml", "~/.clickhouse-client/config.xml"):
        if (file := Path(place).expanduser()).is_file():
            try:
                own = {part.tag: (part.text or "").strip() for part in ElementTree.parse(file).getroot()}
            except ElementTree.ParseError:
                raise InputError("The file of ClickHouse's client is no XML.", given=file) from None
            break
    user = unquote(at.username or "") or os.environ.get("CLICKHOUSE_USER") or own.get("user") or "default"
    password = os.environ.get("CLICKHOUSE_PASSWORD") or own.get("password", "")
    return {"X-ClickHouse-User": user} | ({"X-ClickHouse-Key": password} if password else {})


def _bare(statement: str) -> str:
    return statement.strip().rstrip(";")


def _as_text(statement: str, described: bytes) -> str:
    """The statement, with every column as text that Arrow would not have as it is meant."""
    try:
        columns = [(row[0], row[1]) for row in json.loads(described)["data"]]
    except (ValueError, KeyError, IndexError, TypeError):
        raise NotWholeError(_said(described) or "the answer is not ClickHouse's") from None
    changed = [name for name, kind in columns if not PLAIN.match(re.sub(r"(Nullable|LowCardinality)\(|\)+$", "", kind))]
    if not changed:
        return f"SELECT * FROM ({_bare(statement)})"
    texts = ", ".join(f"toString({name}) AS {name}" for name in map(quoted, changed))
    return f"SELECT * REPLACE ({texts}) FROM ({_bare(statement)})"


def quoted(name: str) -> str:
    """A name as an identifier of ClickHouse."""
    return "`{}`".format(name.replace("\\", "\\\\").replace("`", "\\`"))


def _said(data: bytes) -> str:
    """The exception that a server wrote into bytes; nothing if there is none."""
    found = re.search(rb"Code: \d+[.,] [^\n]{0,30}DB::(Net)?Exception.*", data, re.DOTALL)
    return found.group().decode(errors="replace").split("__exception__")[0] if found else ""


def _as_bytes(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Text as bytes: ClickHouse does not check that it is UTF-8, and one bad row must not end the reading of all."""
    columns: list[Any] = [
        column.cast(pa.binary()) if pa.types.is_string(column.type) else column for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _folder(source: str) -> str:
    """The folder of an embedded database, or memory, for queries of files; a folder must exist."""
    at = urlsplit(source)
    if not (name := unquote(at.netloc + at.path)):
        return ":memory:"
    if not Path(name).is_dir():
        raise InputError(
            "The database's folder does not exist.",
            given=source,
            allowed="chdb:///absolute/path or chdb://relative/path; chdb:// alone for queries of files",
        )
    return str(Path(name).absolute())
