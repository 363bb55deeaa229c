"""JSON lines: no line changes what becomes of another, whatever the lines hold, and every line is accounted for."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.ingest import lines
from hubbub.ingest.objects import from_objects
from hubbub.ingest.times import usual

NAMES = {"user": "u.id", "query": "q", "time": "t"}
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    ["", " ", "lilac", "a\0b", "\ud800", 'say "hi"', 7, 7.5, True, None, [], {}, {"id": "x"}, "2006-03-01"]
)
OBJECT = st.fixed_dictionaries(
    {}, optional={"u": VALUES | st.just({"id": "a"}), "u.id": VALUES, "q": VALUES, "t": VALUES}
)
LINE = OBJECT.map(lambda found: json.dumps(found).encode())
PIECES = st.sampled_from(
    [b"{", b"}", b'"', b",", b"[", b"]", b'{"q": {', b'{"u.id": "b", "q": "rose', b"\\", b"\xff", b"\0", b"\r"]
)
RAW = st.lists(PIECES | LINE, max_size=4).map(b"".join)


def results(data: bytes, size: int) -> tuple[list[Any], list[Any], int]:
    """Records, rejects and the number dropped."""
    kept: list[Any] = []
    rejected: list[Any] = []
    dropped = 0
    for piece in lines.blocks(io.BytesIO(data), size):
        part = from_objects(piece, NAMES, "utf-8", usual, canonical_urls=False)
        kept += part.records.to_pylist()
        rejected += part.rejects.drop_columns(["line"]).to_pylist()
        dropped += part.dropped
        assert part.read == part.records.num_rows + part.dropped + part.rejects.num_rows
    return kept, rejected, dropped


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(LINE | RAW, min_size=1, max_size=6), st.sampled_from([1, 31, 1 << 20]))
def test_a_file_is_its_lines_one_by_one(given_lines: list[bytes], size: int) -> None:
    """So removing anybody's lines leaves everybody else's records as they were."""
    whole = results(b"".join(line + b"\n" for line in given_lines), size)
    alone = [results(line + b"\n", 1 << 20) for line in given_lines]
    assert whole[0] == [row for kept, _, _ in alone for row in kept]
    assert whole[1] == [row for _, rejected, _ in alone for row in rejected]
    assert whole[2] == sum(dropped for _, _, dropped in alone)
