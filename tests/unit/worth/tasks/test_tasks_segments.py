"""`segments`: what is typical of a group, by hand and of a log by weekday."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.log import read_log
from hubbub.testing import check_task
from hubbub.worth.tasks import Evidence, NotEvaluable, Segments, Setup, Truth
from hubbub.worth.tasks.segments import typical

GROUPS = [("DE", "rathaus", 90), ("DE", "wetter", 50), ("FR", "mairie", 80), ("FR", "wetter", 50), ("FR", "rathaus", 5)]


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody knows two words here: the whole language takes a second to read."""
    known = pa.table({"query": ["weather", "recipe"], "n": [500, 400]})
    monkeypatch.setattr("hubbub.worth.tasks.segments.public_words", lambda _: known)


def table(rows: Sequence[tuple[object, ...]], names: list[str]) -> pa.Table:
    return pa.table(list(map(list, zip(*rows, strict=True))), names)


def test_typical_is_what_others_ask_less() -> None:
    found = typical(table(GROUPS, ["group", "query", "n"]))
    assert found == {"DE": {"rathaus"}, "FR": {"mairie", "wetter"}}


def test_by_hand() -> None:
    truth = Truth({"groups": table([("country", *row) for row in GROUPS], ["name", "value", "query", "users"])})
    release = Evidence.of_tables(
        {"queries_by_country": table([*GROUPS[:2], ("FR", "wetter", 60)], ["country", "query", "users"])}
    )
    found = Segments().score(Evidence.of_tables({}), release, Setup(truth))
    assert found["country.top@20"]["release"] == pytest.approx(3 / 5), "of five frequent ones, two in DE and one in FR"
    assert found["country.typical@20"]["original"] == 1.0 and found["country.typical@20"]["floor"] == 0.0
    assert found["country.typical@20"]["release"] == pytest.approx(2 / 3)
    with pytest.raises(NotEvaluable, match=r"groups\.parquet"):
        Segments().score(Evidence.of_tables({}), release, Setup())
    with pytest.raises(NotEvaluable, match="--by weekday makes one"):
        Segments().score(release, Evidence.of_tables({}), Setup(truth))


def test_groups_of_time_are_counted_in_the_log(tmp_path: Path) -> None:
    monday, day = 1_141_603_200, 86_400  # 6 March 2006
    rows = [(f"u{n}", monday + day * (n % 2), "soup" if n % 2 else "bread", None, None) for n in range(20)]
    columns = [
        pa.array(c, t)
        for c, t in zip(
            zip(*rows, strict=True), (pa.string(), pa.int64(), pa.string(), pa.int32(), pa.string()), strict=True
        )
    ]
    pq.write_table(pa.table(columns, ["user", "time", "query", "rank", "url"]), tmp_path / "log.parquet")
    theirs = table([("monday", "bread", 9), ("tuesday", "bread", 9)], ["weekday", "query", "users"])
    with read_log(tmp_path / "log.parquet") as log:
        release = Evidence.of_tables({"queries_by_weekday": theirs})
        found = Segments().score(Evidence.of_log(log), release, Setup())
    assert found["weekday.top@20"]["release"] == 0.5 and found["weekday.top@20"]["original"] == 1.0


def test_the_contract() -> None:
    check_task(Segments(), users=30)
