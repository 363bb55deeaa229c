"""UBI documents in Parquet: nested and flat columns, their types, and every kind of damage in one file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.ingest.ingest_helper import Ingest, Result, reading
from tests.unit.ingest.ingest_samples import MAY_16, click

from hubbub.errors import InputError
from hubbub.ingest import SCHEMA
from hubbub.ingest.sources import is_parquet
from hubbub.testing import check_reader

read = pytest.fixture(reading)

CLIENT = {"user": "client_id"}
MOMENT = datetime(2024, 5, 16, 12, 34, 56, 789_000, UTC)
OBJECT, ORDINAL = "event_attributes.object.object_id", "event_attributes.position.ordinal"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the Parquet files of a log go."""
    place = tmp_path / "log"
    place.mkdir()
    return place


def write(path: Path, **columns: Any) -> None:
    pq.write_table(pa.table(columns), path)


def searches(path: Path, count: int = 1, **columns: Any) -> None:
    usual = {
        "client_id": ["c1"] * count,
        "query_id": [f"q{n + 1}" for n in range(count)],
        "user_query": [f"Lilac {n + 1}" for n in range(count)],
        "timestamp": pa.array([MOMENT] * count, pa.timestamp("ms", "UTC")),
    }
    write(path, **{name: column for name, column in (usual | columns).items() if column is not None})


def events(path: Path, **columns: Any) -> None:
    usual = {"action_name": ["click"], "client_id": ["c1"], "query_id": ["q1"], OBJECT: ["sku-1"], ORDINAL: [3]}
    write(path, **{name: column for name, column in (usual | columns).items() if column is not None})


def of(read: Ingest, folder: Path) -> Result:
    return read(folder, format="ubi", columns=CLIENT)


def test_the_total_the_first_the_ninth_and_the_last_record(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.ingest.columnar.BATCH", 5)
    searches(folder / "queries.parquet", 12)
    nested = {"object": {"object_id": "sku-7", "name": "a lilac"}, "position": {"ordinal": 3, "xy": None}}
    attributes = pa.array([nested, nested | {"position": None}, None])
    columns = {"action_name": ["click"] * 3, "client_id": ["c1"] * 3, "query_id": ["q1", "q9", "q12"]}
    write(folder / "events.parquet", **columns, event_attributes=attributes)
    rows = [
        dict(zip(SCHEMA.names, ("c1", MAY_16, query, rank, url), strict=True))
        for query, rank, url in (("lilac 1", 3, "sku-7"), ("lilac 9", None, "sku-7"), ("lilac 12", None, None))
    ]
    check_reader("ubi", folder, total=12, first=rows[0], ninth=rows[1], last=rows[2], columns=CLIENT)


def test_flat_columns_and_text_beside_parquet(read: Ingest, folder: Path) -> None:
    searches(folder / "q.parquet", 2)
    events(folder / "e.pq", **{ORDINAL: pa.array([float("nan")])})
    (folder / "e.ndjson").write_bytes(click("sku-2", 9, query_id="q2") + b"\n")
    assert of(read, folder).rows == [("c1", MAY_16, "lilac 1", None, "sku-1"), ("c1", MAY_16, "lilac 2", 9, "sku-2")]


def test_both_kinds_in_one_file(read: Ingest, folder: Path) -> None:
    events(
        folder / "all.parquet",
        action_name=["click", None, "impression"],
        client_id=[7, 7, 7],
        query_id=[1, 1, 1],
        user_query=[None, {"query": "Lilac"}, None],
        **{OBJECT: [5, None, 6], ORDINAL: [3.0, None, 1.0]},
    )
    assert of(read, folder).rows == [("7", None, "lilac", 3, "5")]


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (pa.array([MOMENT], pa.timestamp("us")), MAY_16),
        (pa.array([MOMENT], pa.timestamp("ns", "Europe/Berlin")), MAY_16),
        (pa.array([MOMENT.date()], pa.date32()), MAY_16 - 45_296),
        (pa.array(["2024-05-16T14:34:56.789+02:00"]), MAY_16),
        (pa.array(["2024-05-16T12:34:56.789Z"]).dictionary_encode(), MAY_16),
        (pa.array([1_715_862_896_789]), MAY_16),
        (pa.array([None], pa.null()), None),
        (pa.array([None], pa.timestamp("ms")), None),
        (pa.array([datetime(1969, 12, 31, 23, 59, 58, 500_000)], pa.timestamp("us")), -2),
        (None, None),
    ],
    ids=str,
)
def test_types_of_times(read: Ingest, folder: Path, times: Any, seconds: int | None) -> None:
    searches(folder / "q.parquet", timestamp=times)
    assert of(read, folder).rows[0][1] == seconds


def test_every_kind_of_damage_in_one_file(read: Ingest, folder: Path) -> None:
    damaged = [
        ("c1", "x" * (1 << 20), MAY_16, "too-long"),
        ("c1", "li\0lac", MAY_16, "nul-byte"),
        ("c1", b"li\xfflac", MAY_16, "bad-encoding"),
        ("", "lilac", MAY_16, "no-user"),
        (None, "lilac", MAY_16, "no-user"),
        ("c1", "lilac", 10**12, "bad-time"),
        ("c1", " ", MAY_16, "blank-query"),
        ("c1", None, MAY_16, "blank-query"),
    ]
    mixed = [row for bad in damaged for row in (("c1", "lilac", MAY_16, ""), bad)]
    users, queries, times, _ = zip(*mixed, strict=True)
    text = pa.array([query.encode() if isinstance(query, str) else query for query in queries], pa.binary())
    ids = [f"q{n}" for n in range(len(mixed))]
    searches(
        folder / "q.parquet",
        client_id=list(users),
        query_id=ids,
        user_query=text,
        timestamp=pa.array(times).cast(pa.timestamp("s")),
    )
    result = of(read, folder)
    assert result.rows == [("c1", MAY_16, "lilac", None, None)] * len(damaged)
    assert result.reasons == [(2 * at + 2, bad[-1]) for at, bad in enumerate(damaged) if bad[-1] != "blank-query"]
    assert result.told.dropped == 2
    assert result.rejects[2][4].startswith(b"c1\tq5\t\tli\xfflac\t")


def test_rejects_of_the_join_name_their_row(read: Ingest, folder: Path) -> None:
    searches(folder / "q.parquet")
    two = {"action_name": ["click"] * 2, "client_id": ["c1", "c2"], "query_id": ["q1"] * 2}
    events(folder / "e.parquet", **two, **{OBJECT: ["sku-1"] * 2, ORDINAL: [1, 1]})
    assert of(read, folder).reasons == [(2, "no-query")]


@pytest.mark.parametrize(
    ("kind", "columns", "message"),
    [
        (searches, {"client_id": None}, "no column for the user: client_id"),
        (searches, {"user_query": None}, "no column for the query: user_query"),
        (searches, {"user_query": [["lilac"]]}, "The query cannot be read from user_query"),
        (searches, {"timestamp": [1.5]}, "The time cannot be read from timestamp"),
        (events, {OBJECT: None}, "no column for the url: event_attributes.object.object_id"),
        (events, {OBJECT: None, "event_attributes": ['{"object": {}}']}, "no column for the url"),
        (events, {ORDINAL: [True]}, "The rank cannot be read"),
    ],
)
def test_files_that_lack_a_field(read: Ingest, folder: Path, kind: Any, columns: dict[str, Any], message: str) -> None:
    kind(folder / "log.parquet", **columns)
    with pytest.raises(InputError, match=message) as error:
        of(read, folder)
    assert "log.parquet" in str(error.value.given)


def test_a_damaged_file(read: Ingest, folder: Path) -> None:
    (folder / "log.parquet").write_bytes(b"PAR1" * 5)
    with pytest.raises(InputError, match="not Parquet, or is damaged"):
        of(read, folder)
    assert is_parquet(folder / "log.PARQUET")
