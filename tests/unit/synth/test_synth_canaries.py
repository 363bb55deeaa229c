"""Canaries: planted exactly, recorded exactly, nothing else moved."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.made_up import World, generate

from hubbub.errors import InputError, ParameterError
from hubbub.synth import MADE_UP, Canary, read_canaries
from hubbub.synth.batches import planted
from hubbub.synth.canaries import table

USERS = 500
CANARIES = (*MADE_UP, Canary("everybody knows", USERS, 2, "http://everybody.example"), Canary("once", 1))


@pytest.fixture(scope="module")
def log() -> pa.Table:
    return pa.Table.from_batches(list(generate(USERS, 4, canaries=CANARIES, truth=True, chunk_users=64)))


def test_every_canary_is_planted_exactly(log: pa.Table) -> None:
    for number, canary in enumerate(CANARIES):
        rows = log.filter(pc.equal(log["query"], canary.query))
        assert len(rows) == canary.users * canary.times
        counts = pc.value_counts(rows["user"]).to_pylist()
        assert [entry["counts"] for entry in counts] == [canary.times] * canary.users
        assert len(rows.group_by(["user", "time"]).aggregate([])) == len(rows)
        assert set(rows["url"].to_pylist()) == {canary.url}
        assert set(rows["rank"].to_pylist()) == {1 if canary.url else None}
        assert set(rows["intent"].to_pylist()) == {-1 - number}


def test_the_rest_of_the_log_is_as_without_canaries(log: pa.Table) -> None:
    without = pa.Table.from_batches(list(generate(USERS, 4, truth=True)))
    assert log.filter(pc.greater_equal(log["intent"], 0)).combine_chunks().equals(without.combine_chunks())


def test_the_record_names_who_got_what(log: pa.Table) -> None:
    record = table(CANARIES, planted(World(4), USERS, 4, CANARIES))
    assert len(record) == sum(canary.users for canary in CANARIES)
    told = {(row["query"], row["user"]): (row["times"], row["url"]) for row in record.to_pylist()}
    rows = log.filter(pc.less(log["intent"], 0))
    found = rows.group_by(["query", "user", "url"]).aggregate([([], "count_all")]).to_pylist()
    assert told == {(row["query"], row["user"]): (row["count_all"], row["url"]) for row in found}


def test_the_made_up_ones_are_for_1_2_5_and_20_users() -> None:
    assert {canary.users for canary in MADE_UP} == {1, 2, 5, 20}
    assert len({canary.query for canary in MADE_UP}) == len(MADE_UP)


def test_canaries_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "canaries.tsv"
    path.write_text("query\tusers\ttimes\turl\nmy secret\t3\t2\thttp://x.example\nbare\t1\n\nmore\t2\t4\nlast\t1\t\t\n")
    assert read_canaries(path) == (
        Canary("my secret", 3, 2, "http://x.example"),
        Canary("bare", 1),
        Canary("more", 2, 4),
        Canary("last", 1),
    )


@pytest.mark.parametrize("text", ["", "query\tusers\n", "alone\n", "q\tmany\n", "q\t1\t1\tu\tv\n", "q\t1\tx\n"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "canaries.tsv"
    path.write_text(text)
    with pytest.raises(InputError):
        read_canaries(path)
    with pytest.raises(InputError):
        read_canaries(tmp_path / "missing")
    path.write_bytes(b"\xff\t1\n")
    with pytest.raises(InputError):
        read_canaries(path)


@pytest.mark.parametrize(
    "fields",
    [("",  1), ("Upper", 1), ("two  blanks", 1), ("-", 1), ("nul\0", 1), ("tab\there", 1), ("q", 0), ("q", 1, 0),
     ("q", 1, 10_001), ("q", 1, 1, ""), ("q", 1, 1, " x"), ("q", 1, 1, "a\tb")],
)  # fmt: skip
def test_a_canary_that_could_not_be_read_back_is_refused(fields: tuple[str, int]) -> None:
    with pytest.raises(ParameterError):
        Canary(*fields)


def test_more_users_than_there_are_is_refused() -> None:
    with pytest.raises(ParameterError, match="fewer users"):
        list(generate(3, canaries=[Canary("q", 4)]))
