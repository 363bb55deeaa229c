"""`segments`: what is typical of a group, by hand and of a log by weekday."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.errors import InputError
from hubbub.log import read_log
from hubbub.public.groups import group_by
from hubbub.testing import check_task
from hubbub.worth.tasks import Evidence, NotEvaluable, Segments, Setup, Truth, tasks
from hubbub.worth.tasks.base import TRUTH
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


def test_a_group_of_which_nothing_came_out_scores_nothing() -> None:
    names = ["name", "value", "query", "users"]
    italy = [("country", "IT", query, 40) for query in ("municipio", "meteo")]
    truth = Truth({"groups": table([*(("country", *row) for row in GROUPS), *italy], names)})
    declared = [group_by("country", "Country", ["DE", "FR", "IT"])]
    columns = ["country", "query", "users"]
    whole = {"queries_by_country": table(GROUPS, columns)}
    found = Segments().score(Evidence.of_tables({}), Evidence.of_tables(whole, groupings=declared), Setup(truth))
    assert found["country.top@20"]["release"] == pytest.approx(5 / 7), "two of Italy's are not there"
    nothing = {"queries_by_country": table(GROUPS, columns)[:0]}
    found = Segments().score(Evidence.of_tables({}), Evidence.of_tables(nothing, groupings=declared), Setup(truth))
    assert {metric["release"] for metric in found.values()} == {0.0} and len(found) == 2


def test_a_release_says_which_groups_it_declared(released: Path) -> None:
    card = released / "public" / "card.json"
    said = json.loads(card.read_text(encoding="utf-8"))
    said["mechanism"]["public_lists"].append(group_by("weekday").record())
    card.write_text(json.dumps(said), encoding="utf-8")
    with Evidence.of_release(released) as found:
        assert found.groupings == {"weekday": group_by("weekday")}


def test_a_truth_may_know_groups_alone(tmp_path: Path) -> None:
    pq.write_table(table([("country", *GROUPS[0])], ["name", "value", "query", "users"]), tmp_path / "groups.parquet")
    known = Truth(tmp_path).table("groups")
    assert known is not None and known.num_rows == 1
    pq.write_table(pa.table({"name": ["country"], "users": [5]}), tmp_path / "groups.parquet")
    with pytest.raises(InputError, match=r"lacks a column.*value, query"):
        Truth(tmp_path).table("groups")
    asked = {name for task in tasks().values() for name in task.truth}
    assert asked <= set(TRUTH), "whatever a task looks for makes a folder a truth"


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
