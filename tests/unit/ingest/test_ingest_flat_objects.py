"""The quick ways through JSON lines and the usual one: the same records and rejects, whatever a line holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.ingest.ingest_helper import Ingest, Row, reading

from hubbub.ingest import lines, objects
from hubbub.ingest.alike_objects import alike
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
    '{"u":"1","q":"x","t":null,"r":null,"a.b":null}',
    '{"u":12,"q":34,"t":"2006-03-01 10:00:00","r":"3","a.b":5}',
    '{"u":"1","q":"a:b,c {null}","t":0,"r":0,"a.b":"null"}',
    '{"u":"1","q":"\x7f","t":1,"r":1,"a.b":"x"}',
    '{"u":"1","q":"\x01","t":1,"r":1,"a.b":"x"}',
    '{"u":"1","q":"x","t":1,"r":3.0,"a.b":"x"}',
    '{"u":"1","q":"x","t":1,"r":03,"a.b":"x"}',
    '{"u":"1","q":"x","t":1,"r":nul,"a.b":"x"}',
    '{"u":"1","q":"x","t":1,"r":nullnull,"a.b":"x"}',
    '{"u":"1","q":"x","t":1,"r":,"a.b":"x"}',
    '{"u":"1","q":"x","t":1,"r":3 ,"a.b":"x"}',
    '{"u":"1","q":"x","t":1141171301000000000,"r":3,"a.b":"x"}',
    '{"u":11411713010000000001,"q":"x","t":1,"r":3,"a.b":"x"}',
    '{"u":"1","q":"x","t":1,"r":3,"a.b":"x"}}',
    '{"u":"1","q":"x","t":1,"r":3,"a.b":"x","c":1}',
    '{"u":"1","q":"x","t":1,"r":3,"a_b":"x"}',
    '{"u":"1""q":"x","t":1,"r":3,"a.b":"x"}',
    '{"u":"1,"q":"x","t":1,"r":3,"a.b":"x"}',
    '{"u":"1","q":"x","t":1,"r":3,"a.b":"x}',
    '{"u":"1","q":"x","t":1,"r":3,"a.b":}',
]


def none_alike(found: lines.Lines, usable: lines.Ints, names: Mapping[str, str]) -> tuple[lines.Mask, dict[str, Any]]:
    """As if no two objects were laid out alike."""
    return np.zeros(len(usable), np.bool_), {}


def every_way(read: Ingest, monkeypatch: pytest.MonkeyPatch, data: bytes) -> tuple[list[Row], list[Row]]:
    """Records and rejects; asserts that they are those of the usual way, and of the one without layouts."""
    plain = f"{PLAIN}\n".encode()  # so that there is a record
    found = [read(plain + data, "log.jsonl", format="table", columns=ROLES)]
    with monkeypatch.context() as patch:
        patch.setattr(objects, "alike", none_alike)
        found.append(read(plain + data, "log.jsonl", format="table", columns=ROLES))
        patch.setattr(objects, "flat", lambda _, usable: np.zeros(len(usable), np.bool_))
        found.append(read(plain + data, "log.jsonl", format="table", columns=ROLES))
    alike, flat, usual = ((way.rows, way.rejects) for way in found)
    assert alike == usual and flat == usual
    assert usual[0][0] == ("1", 1141171301, "two words", 3, "http://x.example")
    return usual


@pytest.mark.parametrize("line", TRICKY)
def test_a_line_is_read_the_same_on_every_way(read: Ingest, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    every_way(read, monkeypatch, f"{line}\n".encode())


def test_no_line_changes_another_on_any_way(read: Ingest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    between = [part for line in TRICKY for part in (line, PLAIN)]
    rows, rejects = every_way(read, monkeypatch, "\n".join(between).encode())
    assert sum(row[2] == "two words" for row in rows) == 1 + len(TRICKY)
    assert all(row[1] % 2 == 0 for row in rejects)  # the tricky ones stand on even lines


def test_plain_lines_take_the_quick_way_and_no_half_object_does() -> None:
    texts = [PLAIN, *TRICKY[:6]]
    found = lines.split(("\n".join(texts) + "\n").encode())
    assert flat(found, np.arange(len(texts))).tolist() == [True, *[False] * 6]


def test_what_follows_a_layout_takes_the_quickest_way() -> None:
    texts = [PLAIN, *TRICKY]
    found = lines.split(("\n".join(texts) + "\n").encode())
    usable = np.flatnonzero(found.code == 0)
    quickest, columns = alike(found, usable, ROLES)
    follow = [texts[line] for line in usable[quickest].tolist()]
    at = TRICKY.index('{"u":"1","q":"x","t":null,"r":null,"a.b":null}')
    assert follow == [PLAIN, *TRICKY[at : at + 4]]
    assert columns["rank"].to_pylist() == ["3", "", "3", "0", "1"]


@pytest.mark.parametrize("layout", [PLAIN, PLAIN.replace('":', '": ').replace(",", ", "), PLAIN.replace('"q"', '"ü"')])
def test_damaged_lines_are_read_the_same_on_every_way(
    read: Ingest, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    """Lines of one layout with letters taken out, put in, changed or doubled, whatever they become."""
    random, damaged = np.random.default_rng(7), []
    letters = list('{}[]",:\\ 0123null-.eE+ü\x7f\t')
    for _ in range(1_500):
        text = list(layout)
        for _ in range(random.integers(1, 3)):
            at = int(random.integers(len(text)))
            text[at : at + int(random.integers(2))] = random.choice(letters, int(random.integers(3))).tolist()
        damaged.append("".join(text))
    every_way(read, monkeypatch, "\n".join(damaged).encode())
