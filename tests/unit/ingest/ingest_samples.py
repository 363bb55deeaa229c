"""A small made-up log in every format, and the same kinds of damage spelt in each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.unit.ingest.ingest_helper import Row

LONG = b"x" * (1 << 20)


@dataclass(frozen=True)
class Sample:
    """Lines that are one record each; what some of them are; and lines that are none."""

    file: str
    lines: list[bytes]
    first: Row
    ninth: Row
    last: Row
    blank: bytes  # a record whose query is blank: it is dropped
    damaged: dict[str, tuple[bytes, str]]  # what is wrong → the line, and the reason that is given
    columns: Mapping[str, str] | None = None
    header: bytes = b""
    own: dict[str, tuple[bytes, str]] = field(default_factory=dict)  # damage that only this format knows

    def log(self, lines: list[bytes]) -> bytes:
        """A file of these lines."""
        return b"".join(line + b"\n" for line in ([self.header] if self.header else []) + lines)


def ubi(**fields: Any) -> bytes:
    """A line of a search, or with an action that of an event; a field that is None is left out."""
    usual: dict[str, Any] = {"query_id": "q1", "client_id": "c1"}
    if "action_name" not in fields:
        usual |= {"user_query": "lilac", "timestamp": "2024-05-16T12:34:56.789Z"}
    document = {name: value for name, value in (usual | fields).items() if value is not None}
    return json.dumps(document, ensure_ascii=False).encode()


def click(object_id: Any = "sku-1", ordinal: Any = 1, action: str = "click", **fields: Any) -> bytes:
    """A line of an event on an object."""
    attributes = {"object": {"object_id": object_id}, "position": {"ordinal": ordinal}}
    return ubi(action_name=action, event_attributes=attributes, **fields)


def sogou(query: str, time: str = "07:32:11", rank: str = "2 1") -> bytes:
    """A line of SogouQ."""
    return f"{time}\t52280568220\t[{query}]\t{rank}\twww.example.org/丁香".encode("gb18030")


MAY_16 = 1_715_862_896  # 2024-05-16T12:34:56Z
SAMPLES = {
    "aol": Sample(
        "log.txt",
        [b"%d\tLilac %d\t2006-03-01 07:17:%02d\t%d\thttp://%d.example" % (n % 3, n, n, n, n) for n in range(12)],
        ("0", 1_141_197_420, "lilac 0", 0, "http://0.example"),
        ("2", 1_141_197_428, "lilac 8", 8, "http://8.example"),
        ("2", 1_141_197_431, "lilac 11", 11, "http://11.example"),
        b"7\t-\t2006-03-01 07:17:12",
        {
            "too long": (b"7\t" + LONG, "too-long"),
            "NUL": (b"7\tli\0lac\t2006-03-01 07:17:12", "nul-byte"),
            "encoding": (b"7\tli\xfflac\t2006-03-01 07:17:12", "bad-encoding"),
            "empty": (b"", "empty-line"),
            "few fields": (b"7\tlilac", "bad-fields"),
            "many fields": (b"7\tlilac\t2006-03-01 07:17:12\t1\thttp://a.example\t", "bad-fields"),
            "no user": (b" \tlilac\t2006-03-01 07:17:12", "no-user"),
            "time": (b"7\tlilac\t2006-02-30 07:17:12", "bad-time"),
            "rank": (b"7\tlilac\t2006-03-01 07:17:12\tfirst\thttp://a.example", "bad-rank"),
        },
        header=b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL",
    ),
    "table": Sample(
        "log.csv",
        [b'"u%d",Lilac %d,2006-03-01 07:17:%02d,"http://%d.example/a,b"' % (n % 3, n, n, n) for n in range(12)],
        ("u0", 1_141_197_420, "lilac 0", None, "http://0.example/a,b"),
        ("u2", 1_141_197_428, "lilac 8", None, "http://8.example/a,b"),
        ("u2", 1_141_197_431, "lilac 11", None, "http://11.example/a,b"),
        b"u9, ,,",
        {
            "too long": (b"u9," + LONG, "too-long"),
            "NUL": (b"u9,li\0lac,,", "nul-byte"),
            "encoding": (b"u9,li\xfflac,,", "bad-encoding"),
            "empty": (b"", "empty-line"),
            "few fields": (b"u9,lilac", "bad-fields"),
            "many fields": (b"u9,lilac,,,", "bad-fields"),
            "no user": (b",lilac,,", "no-user"),
            "time": (b"u9,lilac,yesterday,", "bad-time"),
        },
        columns={"user": "who", "query": "what", "time": "when", "url": "where"},
        header=b"who,what,when,where",
        own={"open quote": (b'u9,"lilac,,', "bad-quote"), "stray quote": (b'u9,"li"lac,,', "bad-quote")},
    ),
    "jsonl": Sample(
        "log.dat",
        [
            json.dumps({"who": {"id": n % 3}, "q.text": f"Lilac {n}", "at": f"2006-03-01T07:17:{n:02d}.5Z"}).encode()
            for n in range(12)
        ],
        ("0", 1_141_197_420, "lilac 0", None, None),
        ("2", 1_141_197_428, "lilac 8", None, None),
        ("2", 1_141_197_431, "lilac 11", None, None),
        b'{"who": {"id": 7}, "q.text": " ", "at": null}',
        {
            "too long": (b'{"who": {"id": 7}, "q.text": "' + LONG + b'"}', "too-long"),
            "NUL": (b'{"who": {"id": 7}, "q.text": "li\0lac"}', "nul-byte"),
            "encoding": (b'{"who": {"id": 7}, "q.text": "li\xfflac"}', "bad-encoding"),
            "empty": (b"", "empty-line"),
            "few fields": (b'{"q.text": "lilac"}', "no-user"),
            "many fields": (b'{"who": {"id": 7}, "q.text": "lilac"}, {}', "bad-json"),
            "no user": (b'{"who": {"id": ""}, "q.text": "lilac"}', "no-user"),
            "time": (b'{"who": {"id": 7}, "q.text": "lilac", "at": "yesterday"}', "bad-time"),
        },
        columns={"user": "who.id", "query": "q.text", "time": "at"},
        own={
            "cut off": (b'{"who": {"id": 7}, "q.text": "lilac"', "bad-json"),
            "open quote": (b'{"who": {"id": 7}, "q.text": "lilac}', "bad-json"),
            "two objects": (b'{"who": {"id": 7}, "q.text": "lilac"}{}', "bad-json"),
            "no object": (b"[1, 2]", "bad-json"),
            "a comma that waits for the next line": (b'{"who": {"id": 7}, "q.text": "lilac"},', "bad-json"),
            "nested": (b'{"a":' * 100_000, "bad-json"),
            "escaped NUL": (rb'{"who": {"id": 7}, "q.text": "li\u0000lac"}', "nul-byte"),
            "half a character": (rb'{"who": {"id": 7}, "q.text": "li\ud800lac"}', "bad-json"),
            "a user that is an object": (b'{"who": {"id": {}}, "q.text": "lilac"}', "no-user"),
            "a time that is an object": (b'{"who": {"id": 7}, "q.text": "lilac", "at": {}}', "bad-time"),
        },
    ),
    "excite": Sample(
        "log.log",
        [b"A%d\t9709160717%02d\tLilac  %d " % (n % 3, n, n) for n in range(12)],
        ("A0", 874_394_220, "lilac 0", None, None),
        ("A2", 874_394_228, "lilac 8", None, None),
        ("A2", 874_394_231, "lilac 11", None, None),
        b"A7\t970916071712\t",
        {
            "too long": (b"A7\t" + LONG, "too-long"),
            "NUL": (b"A7\t970916071712\tli\0lac", "nul-byte"),
            "encoding": (b"A7\t970916071712\tli\xfflac", "bad-encoding"),
            "empty": (b"", "empty-line"),
            "few fields": (b"A7\t970916071712", "bad-fields"),
            "many fields": (b"A7\t970916071712\tlilac\t1", "bad-fields"),
            "no user": (b"\t970916071712\tlilac", "no-user"),
            "time": (b"A7\t970931071712\tlilac", "bad-time"),
        },
        own={
            "another form": (b"A7\t1997-09-16 07:17:12\tlilac", "bad-time"),
            "a digit too many": (b"A7\t9709160717123\tlilac", "bad-time"),
        },
    ),
    "sogou": Sample(
        "access_log.20060801.decode.filter",
        [sogou(f"丁香 {n}", f"07:17:{n:02d}", f"{n + 1} {n}") for n in range(12)],
        ("52280568220", 1_154_416_620, "丁香 0", 1, "www.example.org/丁香"),
        ("52280568220", 1_154_416_628, "丁香 8", 9, "www.example.org/丁香"),
        ("52280568220", 1_154_416_631, "丁香 11", 12, "www.example.org/丁香"),
        sogou(" "),
        {
            "too long": (b"07:17:12\t7\t[" + LONG, "too-long"),
            "NUL": (sogou("li\0lac"), "nul-byte"),
            "encoding": (sogou("li?lac").replace(b"?", b"\xff"), "bad-encoding"),
            "empty": (b"", "empty-line"),
            "few fields": (b"07:17:12\t7\t[lilac]\t1 1", "bad-fields"),
            "many fields": (sogou("lilac\tlilac"), "bad-fields"),
            "no user": (b"07:17:12\t\t[lilac]\t1 1\twww.example.org", "no-user"),
            "time": (sogou("lilac", "24:00:00"), "bad-time"),
            "rank": (sogou("lilac", rank="first 1"), "bad-rank"),
        },
        own={
            "UTF-8": ("07:17:12\t7\t[丁香花]\t1 1\twww.example.org".encode(), "bad-quote"),
            "open bracket": (sogou("lilac").replace(b"]", b""), "bad-quote"),
            "no brackets": (b"07:17:12\t7\tlilac\t1 1\twww.example.org", "bad-quote"),
            "half a character before the tab": (sogou("lilac").replace(b"]", b"\xb6"), "bad-encoding"),
            "half a character at the end": (sogou("lilac") + b"\xb6", "bad-encoding"),
        },
    ),
    "ubi": Sample(
        "log.ndjson",
        [ubi(user_query=f"Lilac {n}", query_id=f"q{n}", client_id="c1") for n in range(12)],
        ("c1", MAY_16, "lilac 0", None, None),
        ("c1", MAY_16, "lilac 8", None, None),
        ("c1", MAY_16, "lilac 11", None, None),
        ubi(user_query=" "),
        {
            "too long": (ubi(user_query=LONG.decode()), "too-long"),
            "NUL": (ubi().replace(b"lilac", b"li\0lac"), "nul-byte"),
            "encoding": (ubi().replace(b"lilac", b"li\xfflac"), "bad-encoding"),
            "empty": (b"", "empty-line"),
            "few fields": (ubi(user_query=None), "bad-fields"),
            "many fields": (ubi() + b", {}", "bad-json"),
            "no user": (ubi(client_id=None), "no-user"),
            "time": (ubi(timestamp="2024-02-30T12:34:56.789Z"), "bad-time"),
            "rank": (click(ordinal=-1), "bad-rank"),
        },
        columns={"user": "client_id"},
        own={
            "cut off": (ubi()[:-5], "bad-json"),
            "open quote": (ubi().replace(b'lilac"', b"lilac"), "bad-json"),
            "no object": (b"[1, 2]", "bad-json"),
            "nested": (b'{"a":' * 100_000, "bad-json"),
            "digits": (b'{"query_id":' + b"9" * 5000 + b"}", "bad-json"),
            "escaped NUL": (ubi().replace(b"lilac", rb"li\u0000lac"), "nul-byte"),
            "half a character": (ubi().replace(b"lilac", rb"li\ud800lac"), "bad-encoding"),
            "null user": (ubi().replace(b'"c1"', b"null"), "no-user"),
            "no one's action": (ubi(action_name=[]), "bad-fields"),
            "click without id": (click(query_id=None), "no-query"),
            "click without user": (click(client_id=""), "no-user"),
        },
    ),
}
