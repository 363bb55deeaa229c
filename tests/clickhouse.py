"""ClickHouse's HTTP interface for tests: the answers are its own engine's (chdb), or made up where that is not there.

Only the interface is imitated: a GET with a query and a format, a name and a password in headers, and, if something
fails once rows have been sent, the words of the exception in the body after a 200.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pytest

PASSWORD = "lilac"
INSTALLED = importlib.util.find_spec("chdb") is not None
"""Whether ClickHouse's engine is here: with 180 MB it is no part of the environment for tests."""
Rows = list[tuple[str, str, str]]
BROKEN = "Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)\n"


class ClickHouse(Protocol):
    """What answers queries."""

    def answer(self, query: str, form: str) -> Iterator[bytes]:
        """The bytes of an answer, in pieces."""


class MadeUp:
    """Answers from a list of rows: the protocol alone is tested."""

    def __init__(self, rows: Rows) -> None:
        seen = pa.array([when for *_, when in rows]).cast(pa.timestamp("s"))
        self.rows = pa.table({"who": [w for w, *_ in rows], "what": [w for _, w, _ in rows], "seen": seen})
        self.text = ("who", "String"), ("what", "LowCardinality(Nullable(String))"), ("seen", "DateTime")

    def answer(self, query: str, form: str) -> Iterator[bytes]:
        """Rows, kinds of tables and types; refuses what is no SELECT."""
        if query.startswith("DESCRIBE (SELECT engine"):
            yield json.dumps({"data": [["kind", "String"]]}).encode()
        elif query.startswith("DESCRIBE (SELECT"):
            yield json.dumps({"data": self.text}).encode()
        elif query.startswith("DESCRIBE"):
            raise ValueError("Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR)")
        elif "system.tables" in query:
            yield arrow(pa.table({"kind": ["View" if "'few'" in query else "MergeTree"]}))
        elif "no such table" in query:
            raise ValueError("Code: 60. DB::Exception: Table shop.`no such table` does not exist. (UNKNOWN_TABLE)")
        elif "throwIf" in query:
            yield arrow(self.rows, end=False)
            raise ValueError(BROKEN)
        else:
            yield arrow(self.rows.slice(0, 3) if "few" in query else self.rows)


class Chdb:
    """The engine itself, with a table, in a folder."""

    def __init__(self, folder: Path, rows: Rows) -> None:
        from importlib import import_module

        self.session = import_module("chdb.session").Session(str(folder))
        for statement in (
            "CREATE DATABASE shop",
            "CREATE TABLE shop.searches (who String, what LowCardinality(Nullable(String)), seen DateTime) "
            "ENGINE = MergeTree ORDER BY who",
            f"INSERT INTO shop.searches VALUES {', '.join(map(str, rows))}",
            "CREATE VIEW shop.few AS SELECT who, what, seen FROM shop.searches LIMIT 3",
            "USE shop",
        ):
            self.session.query(statement)

    def answer(self, query: str, form: str) -> Iterator[bytes]:
        """Whole, as the engine has it; what fails in the middle fails after a first block."""
        if "throwIf" not in query:
            yield self.session.query(query, form).bytes()
            return
        for chunk in self.session.send_query(query, form):
            yield chunk.bytes()[:-8]


def arrow(rows: pa.Table, end: bool = True) -> bytes:
    """A stream of Arrow with its mark at the end, or without."""
    out = io.BytesIO()
    with pa.ipc.new_stream(out, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=64)
    return out.getvalue() if end else out.getvalue()[:-8]


@contextlib.contextmanager
def served(engine: ClickHouse) -> Iterator[str]:
    """The address of an interface to an engine. A query that says `drop` ends with the connection."""

    class Interface(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            given = self.headers["X-ClickHouse-User"], self.headers["X-ClickHouse-Key"]
            if given != ("ann", PASSWORD):
                self.refused(403, "Code: 516. DB::Exception: ann: Authentication failed. (AUTHENTICATION_FAILED)")
                return
            started = False
            try:
                for piece in engine.answer(asked["query"], asked["default_format"]):
                    if not started:
                        self.begun()
                    started = True
                    self.piece(piece[: len(piece) // 2])
                    if "'drop'" in asked["query"] and asked["default_format"] == "ArrowStream":
                        self.close_connection = True
                        return
                    self.piece(piece[len(piece) // 2 :])
            except Exception as error:  # as ClickHouse: before the first byte an error, later words in the body
                if not started:
                    self.refused(500, str(error))
                    return
                self.piece(str(error).encode())
            if not started:
                self.begun()
            self.wfile.write(b"0\r\n\r\n")

        def begun(self) -> None:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()

        def piece(self, data: bytes) -> None:
            if data:
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

        def refused(self, status: int, words: str) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(words.encode())))
            self.end_headers()
            self.wfile.write(words.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Interface)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"clickhouse://ann@127.0.0.1:{server.server_port}/shop"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def embedded(monkeypatch: pytest.MonkeyPatch, engine: ClickHouse) -> None:
    """Answers that are made up in place of the engine of this process."""

    class Session:
        def __init__(self, place: str) -> None:
            assert place.endswith("?mode=ro")

        def query(self, query: str, form: str) -> Any:
            return SimpleNamespace(bytes=lambda: b"".join(engine.answer(query, form)))

        def send_query(self, query: str, form: str) -> Any:
            pieces = (SimpleNamespace(bytes=lambda piece=piece: piece) for piece in engine.answer(query, form))
            return pieces

        def close(self) -> None:
            """Nothing is open."""

    monkeypatch.setitem(sys.modules, "chdb.session", SimpleNamespace(Session=Session))
