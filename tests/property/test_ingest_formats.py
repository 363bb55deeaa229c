"""Excite, SogouQ and UBI: no line changes what becomes of another user's, whatever the lines hold.

For the two formats of lines, a file is its lines read one by one. For UBI, whose records are joined from several lines,
the result is that of a join in ordinary Python, and removing one user's lines leaves the others' rows as they were.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import InputError
from hubbub.ingest import join, lines, sniff
from hubbub.ingest.fields import Layout
from hubbub.ingest.readers import excite, sogou, ubi
from hubbub.ingest.records import from_lines

Row = tuple[Any, ...]
SOGOU = replace(sogou.LAYOUT, dress={"time": lambda c: sogou.on(date(2006, 8, 1), c), "rank": sogou.first_numbers})
RAW = st.binary(max_size=20).map(lambda data: data.replace(b"\n", b""))


def results(data: bytes, layout: Layout, size: int) -> list[tuple[list[Row], list[Row]]]:
    """Records and rejects (reason, length, text), block by block."""
    found = []
    for piece in lines.blocks(io.BytesIO(data), size):
        part = from_lines(piece, layout, canonical_urls=False)
        part.records.validate(full=True)
        kept = list(zip(*part.records.to_pydict().values(), strict=True))
        rejected = list(zip(*part.rejects.drop_columns(["line"]).to_pydict().values(), strict=True))
        assert part.read == len(kept) + part.dropped + len(rejected)
        found.append((kept, rejected))
    return found


TEXT = st.text(st.characters(exclude_characters="\n\t", exclude_categories=["Cs"]), max_size=5)
TIMES = st.sampled_from(["970916071712", "07:17:12", "24:00:00", "970229000000", "", " ", "1997-09-16 07:17:12"])
QUERIES = st.sampled_from(["[丁香]", "[盷]", "[]", "[", "lilac", "[[a] b]", "\ue6fe"]) | TEXT
RANKS = st.sampled_from(["1 2", "1", "x 1", "1 x", "", " 3  4 "])
EXCITE_LINE = st.tuples(TEXT, TIMES, QUERIES).map("\t".join).map(str.encode)
SOGOU_LINE = st.tuples(TIMES, TEXT, QUERIES, RANKS, TEXT).map("\t".join).map(lambda line: line.encode("gb18030"))
HEADS = st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"\x84\x31\x95\x33", b"\xff", b"\0"])
TAILS = st.sampled_from([b"", b"", b"\r", b"\xb6", b"\x81\x30", b"\x81\x30\x81", b"\t"])


@st.composite
def logs(draw: st.DrawFn) -> tuple[Layout, list[bytes]]:
    layout, line = draw(st.sampled_from([(excite.LAYOUT, EXCITE_LINE), (SOGOU, SOGOU_LINE)]))
    damaged = st.tuples(HEADS, line | RAW, TAILS).map(b"".join)
    return layout, draw(st.lists(line | damaged, min_size=1, max_size=8))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(logs(), st.sampled_from([1, 7, 31, 1 << 20]))
def test_a_file_is_its_lines_one_by_one(log: tuple[Layout, list[bytes]], size: int) -> None:
    layout, given_lines = log
    whole = results(b"".join(line + b"\n" for line in given_lines), layout, size)
    alone = [result for line in given_lines for result in results(line + b"\n", layout, 1 << 20)]
    assert [row for kept, _ in whole for row in kept] == [row for kept, _ in alone for row in kept]
    assert [row for _, lost in whole for row in lost] == [row for _, lost in alone for row in lost]


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(logs())
def test_a_line_is_bad_encoding_if_it_cannot_be_decoded(log: tuple[Layout, list[bytes]]) -> None:
    layout, given_lines = log
    for line in given_lines:
        try:
            line.removesuffix(b"\r").decode(layout.encoding)
            decodes = True
        except UnicodeDecodeError:
            decodes = False
        ((_, rejected),) = results(line + b"\n", layout, 1 << 20)
        assert ("bad-encoding" in {reason for reason, *_ in rejected}) == (not decodes and b"\0" not in line)


# ------------------------------------------------------------------ UBI

USERS = ["a", "b", "c"]
HEAPS = st.sampled_from([1, 1, 64])  # few: users that share a heap must not share more
IDS = st.sampled_from(["1", "2", "3"])
OWNER = st.sampled_from([*USERS, *USERS, *USERS, "", None])
SEARCH = st.fixed_dictionaries(
    {"client_id": OWNER, "user_query": st.sampled_from(["lilac", "rose", "map", " "])},
    optional={
        "query_id": IDS,
        "timestamp": st.sampled_from(
            ["2024-05-16T12:34:56.789Z", "2024-05-16T12:00:00.000Z", 1_715_862_000_000, "now"]
        ),
    },
)
EVENT = st.fixed_dictionaries(
    {"client_id": OWNER, "action_name": st.sampled_from(["click", "click", "click", "impression"])},
    optional={
        "query_id": IDS,
        "event_attributes": st.sampled_from([1, 2, -1]).map(
            lambda n: {"object": {"object_id": f"sku-{n}"}, "position": {"ordinal": n}}
        ),
    },
)
PLAIN = st.builds(  # searches and clicks of two users on two ids: these meet
    lambda user, id, more: {"client_id": user, "query_id": id, **more},
    st.sampled_from(USERS[:2]),
    st.sampled_from(["1", "2"]),
    st.sampled_from([{"user_query": "lilac"}, {"user_query": "rose"}, {"action_name": "click"}]),
)
DOCUMENT = st.one_of(PLAIN, PLAIN, PLAIN, SEARCH, EVENT).map(lambda fields: json.dumps(fields).encode())
UBI = st.lists(st.one_of(DOCUMENT, DOCUMENT, DOCUMENT, RAW), max_size=14)


def joined(
    given_lines: list[bytes], work: Path, heaps_in_all: int, size: int = 1 << 20
) -> tuple[list[Row], Counter[str]]:
    """Rows and reasons, by ingest."""
    rows: list[Row] = []
    reasons: Counter[str] = Counter()
    parse = ubi.parsing(work / "log.ndjson", "client_id")
    with patch.object(join, "PARTS", heaps_in_all), join.Join(work) as heaps:
        before = 0
        parts = []
        for piece in lines.blocks(io.BytesIO(b"".join(line + b"\n" for line in given_lines)), size):
            parts.append(part := ubi.from_lines(piece, parse, frozenset(["click"]), False))
            heaps.add(part.loose, work, before)
            before += part.lines
        for part in [*parts, *(part for _, part in heaps.parts())]:
            rows += zip(*part.records.to_pydict().values(), strict=True)
            reasons.update(part.rejects["reason"].to_pylist())
            assert part.read == part.records.num_rows + part.dropped + part.rejects.num_rows
    return rows, reasons


def by_hand(given_lines: list[bytes], user: str) -> list[Row]:
    """One user's rows, from her own lines and in ordinary Python."""
    mine = []
    for line in given_lines:
        try:
            document = json.loads(line.decode())
        except ValueError:
            continue
        if isinstance(document, dict) and document.get("client_id") == user:
            mine.append(document)
    when = {"2024-05-16T12:34:56.789Z": 1_715_862_896, "2024-05-16T12:00:00.000Z": 1_715_860_800, None: None}
    when[1_715_862_000_000] = 1_715_862_000  # type: ignore[index]
    searches = [
        (when[d.get("timestamp")], d["user_query"], d.get("query_id"))
        for d in mine
        if "user_query" in d and d["user_query"].strip() and d.get("timestamp") != "now"
    ]
    searches.sort(key=lambda search: float("inf") if search[0] is None else search[0])
    clicks: dict[int, list[Row]] = {}
    for d in mine:
        attributes = d.get("event_attributes")
        if (
            d.get("action_name") == "click"
            and d.get("query_id")
            and (not attributes or attributes["position"]["ordinal"] >= 0)
        ):
            owner = next((at for at, search in enumerate(searches) if search[2] == d["query_id"]), None)
            if owner is not None:
                clicked = (
                    (attributes["position"]["ordinal"], attributes["object"]["object_id"])
                    if attributes
                    else (None, None)
                )
                clicks.setdefault(owner, []).append(clicked)
    return [
        (user, time, query, *click)
        for at, (time, query, _) in enumerate(searches)
        for click in clicks.get(at, [(None, None)])
    ]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(UBI, HEAPS, st.sampled_from([16, 1 << 20]), st.sampled_from([1, 1 << 20]))
def test_ubi_is_a_join_within_each_user(work: Path, given_lines: list[bytes], heaps: int, size: int, held: int) -> None:
    with patch.object(join, "HELD", held):
        rows, _ = joined(given_lines, work, heaps, size)
    assert Counter(rows) == Counter(row for user in USERS for row in by_hand(given_lines, user))
    assert not list(work.iterdir())


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(UBI, HEAPS, st.sampled_from(USERS))
def test_removing_one_users_documents_changes_nobody_elses(
    work: Path, given_lines: list[bytes], heaps: int, gone: str
) -> None:
    others = [line for line in given_lines if f'"client_id": "{gone}"'.encode() not in line]
    everyone, all_reasons = joined(given_lines, work, heaps)
    fewer, reasons = joined(others, work, heaps)
    alone, own_reasons = joined([line for line in given_lines if line not in others], work, heaps)
    assert fewer == [row for row in everyone if row[0] != gone], "not even their order"
    assert alone == [row for row in everyone if row[0] == gone]
    assert reasons + own_reasons == all_reasons


# ------------------------------------------------------------------ sniffing

SHAPED = {
    "aol": b"1\tlilac\t2006-03-01 07:17:12\t1\thttp://a.example",
    "excite": b"A1\t970916071712\tlilac",
    "sogou": b"07:17:12\t1\t[lilac]\t1 1\twww.example.org",
}
ANY_LINE = st.sampled_from(list(SHAPED.values())) | EXCITE_LINE | SOGOU_LINE | RAW


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(list(SHAPED)), st.lists(ANY_LINE, max_size=6), st.lists(ANY_LINE, max_size=6))
def test_lines_between_others_never_turn_one_answer_into_another(
    work: Path, format: str, before: list[bytes], after: list[bytes]
) -> None:
    path = work / "log.txt"
    path.write_bytes(b"\n".join([*before, SHAPED[format], *after, b""]))
    with suppress(InputError):
        assert sniff(path).format == format
    path.unlink()
