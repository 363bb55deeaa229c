"""Groups: what the owner may declare, what is refused and in which words, and in which group a record is."""

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.audit.tiny import Tiny
from hubbub.errors import InputError, ParameterError
from hubbub.ingest import clean
from hubbub.ingest.schema import SCHEMA, schema_with
from hubbub.log import SearchLog
from hubbub.public.groups import ISO_3166, OF_TIME, OTHER, Grouping, group_by, read_groupings
from hubbub.steps.keys import QUERIES, divided

TIMES = {
    "1969-12-29T23:59:59": ("23", "monday", "01", "12"),
    "1970-01-01T00:00:00": ("00", "thursday", "01", "01"),
    "2006-03-01T09:30:00": ("09", "wednesday", "09", "03"),
    "2021-01-03T12:00:00": ("12", "sunday", "53", "01"),
    "2024-02-29T18:59:59": ("18", "thursday", "09", "02"),
}


def groups_in(log: SearchLog, grouping: Grouping) -> dict[str, str]:
    """The group of each user's one record."""
    keys = divided(QUERIES, grouping)
    keys.ready(log)
    rows = log.engine.fetch(keys.occurrences()).to_pylist()
    return {row["uid"]: row[grouping.name] for row in rows}


@pytest.mark.parametrize("place", range(4), ids=list(OF_TIME))
def test_the_group_of_a_time_is_that_of_the_calendar(place: int, tmp_path: Path) -> None:
    name = list(OF_TIME)[place]
    rows = [
        {"user": text, "time": int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()), "query": "q"}
        for text in TIMES
    ]
    pq.write_table(pa.Table.from_pylist([*rows, {"user": "no time", "query": "q"}], schema=SCHEMA), tmp_path / "log")
    with SearchLog.over(tmp_path / "log", Tiny(tmp_path), tmp_path) as log:
        found = groups_in(log, group_by(name))
        some = groups_in(log, group_by(name, values=OF_TIME[name][:2]))
    assert found == {text: groups[place] for text, groups in TIMES.items()} | {"no time": OTHER}
    assert set(some.values()) <= {*OF_TIME[name][:2], OTHER}


def test_a_value_counts_whatever_its_capitals_and_what_is_not_declared_is_other(tmp_path: Path) -> None:
    values = {"a": "de", "b": "fr", "c": "us", "d": None}
    rows = [{"user": user, "time": 1, "query": "q", "by_country": value} for user, value in values.items()]
    pq.write_table(pa.Table.from_pylist(rows, schema=schema_with(["by_country"])), tmp_path / "log")
    with SearchLog.over(tmp_path / "log", Tiny(tmp_path), tmp_path) as log:
        found = groups_in(log, group_by("country", "Land", "DE, FR"))
        with pytest.raises(InputError, match="without a column for the group device"):
            groups_in(log, group_by("device", "Device", "phone,tablet"))
    assert found == {"a": "DE", "b": "FR", "c": OTHER, "d": OTHER}


def test_capitals_of_any_alphabet_are_small_by_one_rule(tmp_path: Path) -> None:
    values = ["İzmir", "ΑΘΗΝΑΣ", "Äther", "STRASSE"]  # Python and Arrow make small letters of these differently
    read = clean.groups(pa.array([f" {value.upper()} " for value in values]))
    rows = [{"user": str(n), "time": 1, "query": "q", "by_place": value} for n, value in enumerate(read.to_pylist())]
    pq.write_table(pa.Table.from_pylist(rows, schema=schema_with(["by_place"])), tmp_path / "log")
    with SearchLog.over(tmp_path / "log", Tiny(tmp_path), tmp_path) as log:
        found = groups_in(log, group_by("place", "Place", ",".join(values)))
    assert list(found.values()) == values
    with pytest.raises(ParameterError, match="declared twice"):
        group_by("place", "Place", "İZMİR,izmir")


def test_values_come_from_a_list_a_file_or_a_public_list(tmp_path: Path) -> None:
    file = tmp_path / "countries.txt"
    file.write_text("DE\n\nFR \n", encoding="utf-8")
    listed, read, public = read_groupings(
        ["country=Land", "device=Device", "region=Region"],
        ["country=DE,FR", f"device={file}", "region=iso3166"],
    )
    assert listed.values == read.values == ("DE", "FR") and listed.source == "declared" and read.source == file.name
    assert public.values == tuple(ISO_3166.split()) and len(public.values) == 249
    for grouping in (listed, read, public, group_by("week")):
        assert Grouping.read(grouping.record()) == grouping


REFUSED = {
    "one value": (["land=C"], ["land=DE"], "two values or more"),
    "none": (["land=C"], [], "not declared"),
    "ten thousand": (["land=C"], ["land=" + ",".join(map(str, range(10_000)))], "too many values"),
    "twice": (["land=C"], ["land=DE,de"], "declared twice"),
    "other": (["land=C"], ["land=DE,Other"], "stands for all"),
    "an empty one": (["land=C"], ["land=DE,,FR"], "empty or no text"),
    "values of nothing": (["land=C"], ["land=DE,FR", "d=1,2"], "does not name"),
    "values that cannot be read": (["land=C"], ["DE,FR"], "cannot be read"),
    "a name of a column": (["query=C"], ["query=DE,FR"], "cannot have this name"),
    "no column": (["country"], ["country=DE,FR"], "which column"),
    "a column of the time": (["hour=C"], [], "off the time"),
    "no such hour": (["hour"], ["hour=23,24"], "no such hour"),
    "four": (["hour", "week", "month", "weekday"], [], "too many ways"),
    "one twice": (["hour", "hour"], [], "twice"),
}


@pytest.mark.parametrize(("by", "values", "words"), REFUSED.values(), ids=list(REFUSED))
def test_what_cannot_be_a_group_is_refused_with_a_clear_word(by: list[str], values: list[str], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        read_groupings(by, values)


def test_no_name_of_a_group_means_something_else_to_an_engine() -> None:
    with duckdb.connect() as engine:
        words = [word for (word,) in engine.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()]
        for name in words:
            try:
                Grouping(name, ("DE", "FR"), "" if name in OF_TIME else "Land")
            except ParameterError:
                continue
            one = f"SELECT e.{name}, {name}, count(*) AS n FROM (SELECT 'DE' AS {name}) AS e GROUP BY e.{name}, {name}"
            assert engine.execute(one).fetchall() == [("DE", "DE", 1)], name


@pytest.mark.parametrize("name", ["group", "order", "true", "a", "n", "w", "last", "owner", "ordinal", "value"])
def test_names_that_engines_use_themselves_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="cannot have this name"):
        Grouping(name, ("DE", "FR"), "Land")
