"""The quick way through JSON lines and the usual one: the same records and rejects, whatever a line holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.unit.ingest.ingest_helper import Ingest, Row, reading

from hubbub.ingest import lines, objects
from hubbub.ingest.flat_objects import flat

read = pytest.fixture(reading)
ROLES = {"user": "u", "query": "q", "time": "t", "rank": "r", "url": "a.b"}
PLAIN = '{"u":"1","q":"Two  words","t":1141171301,"r":3,"a.b":"http://x.example"}'
TRICKY = [
    '{"u":"half","q":"of an object"',
    ',"t":1}',
    '{"u":"1","q":"two"}{"u":"2","q":"on a line"}',
    '{"u":"1","q":"x"} {"u":"2"}',
    '{"u":"1","q":"an open string}',
    '"{"u":"1","q":"x"}',
    '{"u":"1","q":"{}"}',
    '{"u":"1","q":"}{"}',
    '{"u":"1","q":"x","more":{"q":"y"}}',
    '{"u":"1","q":"x","more":[1,"{"]}',
    '{"u":"1","q":"x","a":{"b":"by a path"}}',
    '{"u":"1","q":"\\u0041 \\"b\\""}',
    '{"u":"1","q":"x","u":"2"}',
    '{"u":"1","q":"x","other":1,"other":2}',
    '{"u":1,"q":"x"}',
    '{"u":-0,"q":"x","r": -0}',
    '{"u":"-0","q":"2026-01-02","t":"2026-01-02T03:04:05","r":"3"}',
    '{"u":1e3,"q":"x"}',
    '{"u":"1","q":"x","other":1e999}',
    '{"u":"1","q":"x","other":' + "9" * 400 + "}",
    '{"u":"1","q":"x","r":9223372036854775808}',
    '{"u":"1","q":"x","t":1141171301.5}',
    '{"u":"1","q":"x","t":1141171301.0}',
    '{"u":true,"q":"x"}',
    '{"u":null,"q":"x"}',
    '{"u":["1"],"q":"x"}',
    '{"q":"no user"}',
    '{"u":"1","q":null}',
    '{"u":"1","q":"x","r":01}',
    '{"u":"1","q":"x","r":-1}',
    '{"u":"1","q":"x",}',
    "{'u':'1','q':'x'}",
    '{"u":"1","q":"a\tb"}',
    ' {"u" : "1" , "q" : "x"} ',
    '{"u":"ü","q":"ÄÖ"}',
    '\ufeff{"u":"1","q":"x"}',
    '{"u":"1","q":"x"}\r',
    "[1]",
    "{}",
    "nothing",
    "",
]


def both(read: Ingest, monkeypatch: pytest.MonkeyPatch, data: bytes) -> tuple[list[Row], list[Row]]:
    """Records and rejects; asserts that they are those of the usual way."""
    plain = f"{PLAIN}\n".encode()  # so that there is a record
    quick = read(plain + data, "log.jsonl", format="table", columns=ROLES)
    with monkeypatch.context() as patch:
        patch.setattr(objects, "flat", lambda _, usable: np.zeros(len(usable), np.bool_))
        usual = read(plain + data, "log.jsonl", format="table", columns=ROLES)
    assert (quick.rows, quick.rejects) == (usual.rows, usual.rejects)
    assert quick.rows[0] == ("1", 1141171301, "two words", 3, "http://x.example")
    return quick.rows, quick.rejects


@pytest.mark.parametrize("line", TRICKY)
def test_a_line_is_read_alike_on_either_way(read: Ingest, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    both(read, monkeypatch, f"{line}\n".encode())


def test_no_line_changes_another_on_either_way(read: Ingest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    between = [part for line in TRICKY for part in (line, PLAIN)]
    rows, rejects = both(read, monkeypatch, "\n".join(between).encode())
    assert sum(row[2] == "two words" for row in rows) == 1 + len(TRICKY)
    assert all(row[1] % 2 == 0 for row in rejects)  # the tricky ones stand on even lines


def test_plain_lines_take_the_quick_way_and_no_half_object_does() -> None:
    texts = [PLAIN, *TRICKY[:6]]
    found = lines.split(("\n".join(texts) + "\n").encode())
    assert flat(found, np.arange(len(texts))).tolist() == [True, *[False] * 6]
