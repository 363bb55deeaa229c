"""A release by group, from lines of a table to a card that can be checked; and logs that have no such column."""

import json
import statistics
from collections import Counter
from pathlib import Path

import pytest

from hubbub.card.check import check
from hubbub.errors import InputError, ParameterError
from hubbub.log import read_log
from hubbub.mechanisms import Crowd
from hubbub.public.groups import group_by
from hubbub.release import release
from hubbub.show import kept

COLUMNS = {"user": "who", "query": "asked"}
LANDS = ("DE", " de", "FR", "fr", "XX", "")
GROUPED = {"DE": ("DE",), "FR": ("FR",), "other": ("XX",)}


def lines() -> list[tuple[str, str, str]]:
    """200 users, each in one country, who ask a few of 25 queries."""
    return [(f"u{i}", f"query {(i * j) % 25}", LANDS[i % 6]) for i in range(200) for j in range(1, 6)]


def as_csv(path: Path) -> Path:
    path.write_text("who,asked,land\n" + "".join(f"{u},{q},{land}\n" for u, q, land in lines()), encoding="utf-8")
    return path


def test_the_group_is_the_first_column_and_the_card_names_every_value(tmp_path: Path) -> None:
    country = group_by("country", "land", "DE,FR")
    made = Crowd(epsilon=20, delta="1e-3", language="none", tables=["queries"], by=[country], one_group="yes")
    with read_log(as_csv(tmp_path / "log.csv"), format="table", columns=COLUMNS, by={"country": "land"}) as log:
        found = release(log, made, tmp_path / "out", ledger=tmp_path / "ledger", seed=1, not_private=True)
    rows = found.queries_by_country.to_arrow()
    assert rows.column_names == ["country", "query", "users", "noise_sd"]
    assert set(rows.column("country").to_pylist()) == {"DE", "FR", "other"}
    totals = {row["query"]: row["users"] for row in found.queries.to_arrow().to_pylist()}
    added = Counter[str]()
    for row in rows.to_pylist():
        added[row["query"]] += row["users"]
    assert all(users <= totals[query] for query, users in added.items())
    card = json.loads((tmp_path / "out" / "public" / "card.json").read_text())
    (listed,) = [known for known in card["mechanism"]["public_lists"] if known["use"] == "groups"]
    assert listed["column"] == "land" and json.loads(listed["values"]) == ["DE", "FR"]
    assert [finding.what for finding in check(tmp_path / "out") if not finding.holds] == []
    seen = kept.read(tmp_path / "out" / "owner-only").groups
    assert [(one.group, one.users) for one in seen] == [("FR", 66), ("other", 66), ("DE", 68)], "the smallest first"
    shown = rows.to_pylist()
    for one in seen:
        mine = {row["query"]: row["users"] for row in shown if row["country"] == one.group}
        asked = [(u, q) for u, q, land in lines() if (land.strip().upper() or "XX") in GROUPED[one.group]]
        assert one.rows == len(mine) and one.events == len(set(asked))
        assert one.covered == sum(q in mine for _, q in set(asked))
        off = [abs(mine[q] - n) / n for q, n in Counter(q for _, q in set(asked)).items() if q in mine]
        assert one.error == pytest.approx(statistics.median(off))
    assert "By group, the smallest first" in (tmp_path / "out" / "owner-only" / "report.html").read_text()


def test_a_deny_list_takes_no_group_out_and_values_that_never_occur_are_groups_of_nobody(tmp_path: Path) -> None:
    by = [group_by("country", "land", "DE,FR,ZZ")]
    made = Crowd(epsilon=20, delta="1e-3", language="none", tables=["queries"], by=by)
    path, deny = as_csv(tmp_path / "log.csv"), tmp_path / "deny.txt"
    deny.write_text("de\nquery 0\n", encoding="utf-8")
    with read_log(path, format="table", columns=COLUMNS, by={"country": "land"}, deny=deny) as log:
        found = release(log, made, tmp_path / "out", ledger=tmp_path / "ledger", seed=1, not_private=True)
    rows = found.queries_by_country.to_arrow()
    assert "DE" in rows.column("country").to_pylist()
    assert "query 0" not in rows.column("query").to_pylist()
    first, *_ = kept.read(tmp_path / "out" / "owner-only").groups
    assert (first.group, first.users, first.events) == ("ZZ", 0, 0), "the report says so to the owner, and nobody else"
    assert first.rows == first.nobodys <= 2, "F is 1, and the noise is seeded"


def test_text_objects_and_columns_have_the_same_groups(tmp_path: Path) -> None:
    import pyarrow.csv
    import pyarrow.parquet as pq

    text = as_csv(tmp_path / "log.csv")
    table = pyarrow.csv.read_csv(text)
    pq.write_table(table, tmp_path / "log.parquet")
    objects = [{"who": u, "asked": q, "land": land} for u, q, land in lines()]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(o) + "\n" for o in objects), encoding="utf-8")
    seen = []
    for name, form in (("log.csv", "table"), ("log.parquet", "table"), ("log.jsonl", "jsonl")):
        with read_log(tmp_path / name, format=form, columns=COLUMNS, by={"country": "land"}) as log:
            seen.append(log.engine.fetch("SELECT uid, query, by_country FROM log").to_pylist())
    assert seen[0] == seen[1] == seen[2]
    assert {row["by_country"] for row in seen[0]} == {"de", "fr", "xx", ""}


def test_parquet_in_the_columns_of_a_log_needs_only_its_groups_named(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"user": ["1", "2"], "time": [1, 2], "query": ["a", "b"], "url": ["x", None], "rank": [1, None]}
    pq.write_table(pa.table({**columns, "device": ["phone", "Tablet"], "more": [1, 2]}), tmp_path / "log.parquet")
    with read_log(tmp_path / "log.parquet", by={"device": "device"}) as log:
        assert log.engine.fetch("SELECT by_device FROM log ORDER BY uid").column(0).to_pylist() == ["phone", "tablet"]


@pytest.mark.parametrize(("column", "words"), [("country", "no such column: country"), ("who", "column of the user")])
def test_a_column_that_is_missing_or_is_the_user_is_refused(tmp_path: Path, column: str, words: str) -> None:
    with pytest.raises((InputError, ParameterError), match=words):
        read_log(as_csv(tmp_path / "log.csv"), format="table", columns=COLUMNS, by={"country": column})


def test_a_format_that_fixes_its_columns_has_no_others(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n1\ta\t2006-03-01 00:00:00\t\t\n")
    with pytest.raises(ParameterError, match="fixes its columns"):
        read_log(tmp_path / "log.tsv", by={"country": "land"})
