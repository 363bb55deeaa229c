"""UBI documents: who the user is, what a document may look like, and which search a click belongs to."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.ingest.ingest_helper import Ingest, Result, reading
from tests.unit.ingest.ingest_samples import MAY_16, click, ubi

from hubbub.errors import InputError, OutputError, ParameterError
from hubbub.ingest import join, numbers
from hubbub.ingest.readers.documents import times

read = pytest.fixture(reading)

CLIENT = {"user": "client_id"}


def of(read: Ingest, *lines: bytes, columns: Mapping[str, str] = CLIENT, name: str = "log.ndjson") -> Result:
    return read(b"".join(line + b"\n" for line in lines), name, format="ubi", columns=columns)


# ------------------------------------------------------------------ the join

one_heap_or_many = pytest.mark.parametrize("heaps", [1, 64])


def test_searches_without_clicks_and_with_several(read: Ingest) -> None:
    result = of(
        read,
        ubi(user_query="Lilac"),
        ubi(user_query="rose", query_id="q2"),
        click("sku-1", 3),
        click("sku-2", 1),
        click("sku-1", 3),
    )
    assert result.rows == [
        ("c1", MAY_16, "lilac", 3, "sku-1"),
        ("c1", MAY_16, "lilac", 1, "sku-2"),
        ("c1", MAY_16, "lilac", 3, "sku-1"),
        ("c1", MAY_16, "rose", None, None),
    ]
    assert result.told.read == 4, "a search that was clicked is carried by its clicks"


def test_a_click_may_come_first_and_in_another_file(read: Ingest, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "a-events.jsonl.gz").write_bytes(gzip.compress(click("sku-1", 3) + b"\n" + click(query_id="q9") + b"\n"))
    (folder / "b-queries.json").write_bytes(ubi() + b"\n")
    result = read(folder, format="ubi", columns=CLIENT)
    assert result.rows == [("c1", MAY_16, "lilac", 3, "sku-1")]
    assert [(Path(file).name, line, reason) for file, line, reason, *_ in result.rejects] == [
        ("a-events.jsonl.gz", 2, "no-query")
    ]


@one_heap_or_many
def test_a_click_that_names_another_users_search_is_rejected(
    read: Ingest, monkeypatch: pytest.MonkeyPatch, heaps: int
) -> None:
    monkeypatch.setattr(join, "PARTS", heaps)
    hers = [ubi(), ubi(client_id="c2", query_id="q2", user_query="rose")]
    alone = of(read, *hers)
    result = of(read, *hers, click(client_id="c2"), click(query_id="q2"), click(query_id="q3"))
    assert result.rows == alone.rows
    assert sorted(result.reasons) == [(3, "no-query"), (4, "no-query"), (5, "no-query")]
    assert {text for *_, text in result.rejects} == {b"c2\tq1\tsku-1", b"c1\tq2\tsku-1", b"c1\tq3\tsku-1"}


@one_heap_or_many
def test_two_users_may_use_the_same_id(read: Ingest, monkeypatch: pytest.MonkeyPatch, heaps: int) -> None:
    monkeypatch.setattr(join, "PARTS", heaps)
    result = of(read, ubi(), ubi(client_id="c2", user_query="rose"), click("sku-2", client_id="c2"))
    assert sorted(result.rows, key=str) == [
        ("c1", MAY_16, "lilac", None, None),
        ("c2", MAY_16, "rose", 1, "sku-2"),
    ]


def test_an_id_that_searches_share_is_the_earliests(read: Ingest) -> None:
    early = ubi(user_query="early", timestamp="2024-05-16T12:34:55.000Z")
    late = [ubi(user_query="late"), ubi(user_query="whenever", timestamp=None)]
    for order in ([*late, early], [early, *late]):
        clicked = [row[2] for row in of(read, *order, click(), click()).rows if row[4]]
        assert clicked == ["early", "early"]


def test_clicks_on_a_search_that_is_not_kept_are_rejected(read: Ingest) -> None:
    result = of(read, ubi(query_id="q2"), ubi(user_query=""), click())
    assert (result.told.dropped, result.reasons) == (1, [(3, "no-query")])


def test_searches_without_an_id_are_kept(read: Ingest) -> None:
    result = of(read, ubi(query_id=None), ubi(query_id="", user_query="rose"), click(query_id=" "))
    assert [row[2] for row in result.rows] == ["lilac", "rose"]
    assert result.reasons == [(3, "no-query")]


def test_ids_and_users_are_compared_without_blanks_around_them(read: Ingest) -> None:
    assert of(read, ubi(query_id=" q1 "), click(client_id="c1 ")).rows == [("c1", MAY_16, "lilac", 1, "sku-1")]


def test_heaps_that_outgrow_the_memory_change_nothing(read: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [ubi(client_id=f"c{n % 7}", query_id=f"q{n}", user_query=f"lilac {n}") for n in range(60)]
    lines += [click(f"sku-{n}", n, client_id=f"c{n % 8}", query_id=f"q{n}") for n in range(60)]
    whole = of(read, *lines)
    monkeypatch.setattr(join, "HELD", 1000)
    monkeypatch.setattr("hubbub.ingest.lines.BLOCK", 700)
    spilled = of(read, *lines)
    assert (spilled.rows, spilled.rejects) == (whole.rows, whole.rejects)
    assert [entry.name for entry in spilled.told.log.parent.iterdir() if entry.name.startswith(".")] == []
    assert len(whole.rows) == 60 and 0 < len(whole.rejects) < 60


def test_a_disk_that_is_full(read: Ingest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(self: join.Join) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(join, "HELD", 0)
    monkeypatch.setattr(join.Join, "_spill", full)
    with pytest.raises(OutputError, match="disk is full"):
        of(read, ubi())
    assert list((tmp_path / "work").iterdir()) == []


def test_a_heap_that_arrow_cannot_hold(read: Ingest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def overflow(*_: object) -> None:
        raise pa.ArrowInvalid("offset overflow")

    heap = [pa.RecordBatch.from_pylist([], schema=join.HEAP)]
    monkeypatch.setattr(pa, "concat_batches", overflow)
    with pytest.raises(InputError, match="too large to be joined"):
        join._whole(heap)


# ------------------------------------------------------------------ documents


def test_documents_as_they_are_exported(read: Ingest) -> None:
    wrapped = {"_index": "ubi_queries", "_id": "7", "_score": 1, "_source": json.loads(ubi(user_query="wrapped"))}
    flat = {
        "action_name": "click",
        "query_id": "q1",
        "client_id": "c1",
        "event_attributes.object.object_id": 77,
        "event_attributes.position.ordinal": "4",
    }
    result = of(
        read,
        b'{"index": {"_index": "ubi_queries", "_id": "7"}}',
        ubi(user_query={"query": "Object"}, query_id="q2"),
        b'{"create": {}}',
        json.dumps(wrapped).encode(),
        json.dumps(flat).encode(),
        b'{"user_query.query": "flat", "client_id": 12, "query": {"match_all": {}}}',
        ubi(user_query=42, query_id="q3"),
    )
    assert sorted(result.rows, key=str) == [
        ("12", None, "flat", None, None),
        ("c1", MAY_16, "42", None, None),
        ("c1", MAY_16, "object", None, None),
        ("c1", MAY_16, "wrapped", 4, "77"),
    ]
    assert result.told.rejected == 0


def test_what_only_looks_like_a_bulk_line_is_rejected(read: Ingest) -> None:
    result = of(read, ubi(), b'{"delete": {"_id": "7"}}', b'{"index": "ubi_queries"}', b'{"index": {}, "client_id": 1}')
    assert [reason for _, reason in result.reasons] == ["bad-fields"] * 3


def test_only_the_actions_that_are_clicks_count(read: Ingest) -> None:
    lines = [ubi(), click("sku-1"), click("sku-2", action="item_click"), click("sku-3", action="impression")]
    lines += [click(action="Click", client_id=None), ubi(action_name="purchase", query_id=None)]
    assert [row[4] for row in of(read, *lines).rows] == ["sku-1"]
    both = of(read, *lines, columns=CLIENT | {"click": "click + item_click"})
    assert [row[4] for row in both.rows] == ["sku-1", "sku-2"]
    assert both.told.columns["click"] == "click+item_click" and both.told.rejected == 0


@pytest.mark.parametrize(
    ("ordinal", "rank"), [(0, 0), (3, 3), (3.0, 3), ("3", 3), (None, None), ("", None), (float("nan"), None)]
)
def test_ranks(read: Ingest, ordinal: Any, rank: int | None) -> None:
    assert of(read, ubi(), click(ordinal=ordinal)).rows[0][3] == rank


@pytest.mark.parametrize("ordinal", [-1, 1.5, True, [1], {"x": 1}, "first", 2**31, float("inf")])
def test_ranks_that_are_none(read: Ingest, ordinal: Any) -> None:
    assert of(read, ubi(), click(ordinal=ordinal)).reasons == [(2, "bad-rank")]


def test_a_click_without_an_object_keeps_its_search(read: Ingest) -> None:
    lines = [ubi(), click(object_id=None), ubi(action_name="click"), ubi(action_name="click", event_attributes="none")]
    assert of(read, *lines).rows == [("c1", MAY_16, "lilac", rank, None) for rank in (1, None, None)]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *[
            (f"2024-05-16T12:34:56{rest}", MAY_16)
            for rest in (".789Z", "Z", "", ".789", ".789123456Z", "+00:00", "-0000")
        ],
        ("2024-05-16T14:34:56.789+02:00", MAY_16),
        ("2024-05-16T14:34:56+0200", MAY_16),
        ("2024-05-16T07:04:56.789-05:30", MAY_16),
        ("2024-05-17 00:34:56.000+12:00", MAY_16),
        (" 2024-05-16T12:34:56.789Z ", MAY_16),
        ("1715862896789", MAY_16),
        ("100000000000", 100_000_000),
        ("1969-12-31T23:59:59.999Z", -1),
        (" ", None),
        *[(f"2024-05-16T12:34:56{rest}", "bad") for rest in ("+2:00", "+19:00", "+01:60", ".Z", "ZZ", "+", "CET")],
        *[(bad, "bad") for bad in ("2024-02-30T12:34:56.789Z", "2024-05-16T24:00:00.000Z", "2024-05-16", "now", "?")],
        *[(bad, "bad") for bad in ("1715862896", "99999999999", "-1715862896789", "9" * 16, "9" * 15, "1.7e12")],
        ("0001-01-01T00:00:00+01:00", "bad"),
        ("9999-12-31T23:59:59-01:00", "bad"),
    ],
)
def test_times(text: str, seconds: int | str | None) -> None:
    found = numbers.times(times(pa.array(["2024-05-16T12:34:56.789Z", text, ""])), epoch=True)
    assert found.bad.tolist() == [False, seconds == "bad", False]
    assert found.array(pa.int64()).to_pylist() == [MAY_16, None if seconds == "bad" else seconds, None]


@pytest.mark.parametrize(
    ("timestamp", "reason"),
    [(1_715_862_896_789, None), (1_715_862_896_789.0, None), (True, "bad-time"), ([], "bad-time")],
)
def test_timestamps_that_are_no_text(read: Ingest, timestamp: Any, reason: str | None) -> None:
    result = of(read, ubi(user_query="first"), ubi(timestamp=timestamp))
    assert result.reasons == ([] if reason is None else [(2, reason)])


# ------------------------------------------------------------------ the unit


@pytest.mark.parametrize("columns", [None, {}, {"user": "query_id"}, {"click": "click"}, {"user": ""}])
def test_the_user_must_be_chosen(read: Ingest, columns: Mapping[str, str] | None) -> None:
    with pytest.raises(ParameterError, match="who the user is") as error:
        read(ubi(), "log.ndjson", format="ubi", columns=columns)
    for line in ("user=client_id  a browser", "user=user_id  an account", "user=session_id  a visit"):
        assert line in str(error.value)
    assert "not a person" in error.value.allowed


@pytest.mark.parametrize("columns", [{"query": "user_query"}, {"click": ""}, {"click": "click+"}])
def test_other_roles_are_fixed(read: Ingest, columns: dict[str, str]) -> None:
    with pytest.raises(ParameterError, match="names the user and"):
        read(ubi(), "log.ndjson", format="ubi", columns=CLIENT | columns)


def test_each_unit(read: Ingest) -> None:
    inside = ubi(user_query="inside", query_attributes={"user_id": "u1"}, query_id="q2")
    lines = [ubi(user_id="u1", session_id="s1"), inside, click(user_id="u1", session_id="s2")]
    assert [row[0] for row in of(read, *lines).rows] == ["c1", "c1"]
    by_account = of(read, *lines, columns={"user": "user_id"})
    assert [(row[0], row[2], row[4]) for row in by_account.rows] == [("u1", "lilac", "sku-1"), ("u1", "inside", None)]
    by_visit = of(read, *lines, columns={"user": "session_id"})
    assert [row[0] for row in by_visit.rows] == ["s1"]
    assert by_visit.reasons == [(2, "no-user"), (3, "no-query")]
    assert by_visit.told.columns["user"] == "session_id"


def test_files_that_do_not_say_what_they_are(read: Ingest) -> None:
    with pytest.raises(InputError, match="does not say that it holds UBI") as error:
        of(read, ubi(), name="log.txt")
    assert ".ndjson" in error.value.allowed and error.value.next


def test_a_log_of_nothing_but_other_events(read: Ingest) -> None:
    with pytest.raises(InputError, match="nothing but lines that are none"):
        of(read, click(action="impression"), b'{"index": {}}')
