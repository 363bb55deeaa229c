"""Evidence: a log and a release as the same tables, against plain Python; every task keeps the contract."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import RELEASE, Hubbub

from hubbub.errors import InputError, ParameterError
from hubbub.ingest import SCHEMA
from hubbub.log import SearchLog, read_log
from hubbub.testing import check_task
from hubbub.worth.evidence import EMPTY, TABLES, find
from hubbub.worth.tasks import Evidence, Truth, build, tasks
from hubbub.worth.tasks.run import score

Event = tuple[str, int | None, str, str | None]
NAMES = list(TABLES)


def write(path: Path, events: list[Event]) -> Path:
    """A log file of these events."""
    rows = [{"user": u, "time": t, "query": q, "rank": 1 if c else None, "url": c} for u, t, q, c in events]
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
    return path


def made_up(seed: int, n: int = 400) -> list[Event]:
    """Few users, queries and times: repeats, ties, gaps just at and just above half an hour, rows without a time."""
    draw = random.Random(seed)  # noqa: S311
    queries = ["a", "b", "a b", "c a", "b b", "d"]
    times = [0, 1, 1800, 1801, 3600, 3601, 5402, 9000, None]
    return [
        (draw.choice("uvwxyz"), draw.choice(times), draw.choice(queries), draw.choice([None, "s", "t"]))
        for _ in range(n)
    ]


def by_hand(events: list[Event], counts: str) -> dict[str, Counter[Any]]:
    """The five tables without SQL or arrays."""
    held: dict[str, list[tuple[str, Any]]] = defaultdict(list)  # table → (user, key), one for each event
    searches: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for user, time, query in {(u, t, q) for u, t, q, _ in events}:
        held["queries"].append((user, query))
        if time is not None:
            searches[user].add((time, query))
    for user, _, word in {(u, t, w) for u, t, q, _ in events for w in q.split()}:
        held["keywords"].append((user, word))
    held["clicks"] = [(u, (q, c)) for u, _, q, c in events if c is not None]
    for user, mine in searches.items():
        session: list[str] = []
        last = -(10**9)
        for time, query in [*sorted(mine), (10**12, "")]:
            if time - last > 1800:
                if session:
                    held["sessions"].append((user, tuple(session)))
                session = [query]
            elif query != session[-1]:
                held["transitions"].append((user, (session[-1], query)))
                session.append(query)
            last = time
    if counts == "users":
        return {name: Counter(key for _, key in set(rows)) for name, rows in held.items()}
    return {name: Counter(key for _, key in rows) for name, rows in held.items()}


def plain(table: pa.Table) -> list[tuple[Any, int]]:
    """(key, n) of every row."""
    rows = [list(row.values()) for row in table.to_pylist()]
    keys = [tuple(r[0]) if isinstance(r[0], list) else r[0] if len(r) == 2 else tuple(r[:-1]) for r in rows]
    return list(zip(keys, [r[-1] for r in rows], strict=True))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[list[Event]], SearchLog]]:
    """Open logs made of events; closed at the end."""
    logs: list[SearchLog] = []

    def open_one(events: list[Event]) -> SearchLog:
        logs.append(read_log(write(tmp_path / f"log{len(logs)}.parquet", events)))
        return logs[-1]

    yield open_one
    for log in logs:
        log.close()


@pytest.mark.parametrize("counts", ["users", "count"])
@pytest.mark.parametrize("seed", range(3))
def test_the_tables_of_a_log_are_those_made_by_hand(
    opened: Callable[[list[Event]], SearchLog], seed: int, counts: str
) -> None:
    events = made_up(seed)
    found, expected = Evidence.of_log(opened(events), counts), by_hand(events, counts)
    for name in NAMES:
        table = found.table(name)
        assert table is not None and table.column_names == [*TABLES[name], "n"]
        rows = plain(table)
        assert dict(rows) == expected[name] and len(rows) == len(expected[name]), name
        order = [(-n, "\x1f".join(key) if isinstance(key, tuple) else key) for key, n in rows]
        assert order == sorted(order), f"{name} is not sorted"


def test_a_log_without_times_or_clicks_has_no_such_tables(opened: Callable[[list[Event]], SearchLog]) -> None:
    found = Evidence.of_log(opened([("u", None, "a", None), ("v", None, "b", None)]))
    assert [name for name in NAMES if found.table(name) is None] == ["clicks", "transitions", "sessions"]


def test_noisy_numbers_become_counts() -> None:
    rows = pa.table({"query": ["b", "a", "c", "d"], "users": [3, 3, -2, None], "noise_sd": [1.0] * 4})
    table = Evidence.of_tables({"queries": rows}).table("queries")
    assert plain(table) == [("a", 3), ("b", 3), ("c", 0), ("d", 0)]
    keys = Evidence.of_tables({"queries": pa.table({"query": ["b", "a"], "users": pa.nulls(2, pa.int64())})})
    assert plain(keys.table("queries")) == [("a", 1), ("b", 1)]
    assert keys.keys_only("queries") and not keys.keys_only("clicks")
    assert plain(Evidence.of_tables(EMPTY).table("sessions")) == []
    with pytest.raises(InputError, match="lacks a column"):
        Evidence.of_tables({"clicks": rows})


def test_keys_are_found_by_all_their_parts() -> None:
    ours = pa.table({"query": ["a b", "a", "a"], "url": ["c", "b c", "x"], "n": [3, 2, 1]})
    assert find(ours, ours.slice(1, 1)).tolist() == [-1, 0, -1]
    lists = pa.table({"queries": pa.array([["a", "b"], ["a b"]]), "n": [1, 1]})
    assert find(lists, lists.slice(1)).tolist() == [-1, 0]
    assert find(ours, ours.slice(0, 0)).tolist() == [-1, -1, -1]


def test_a_release_counts_as_it_says(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hubbub("release", log_file, *RELEASE, "--out", out)
    with Evidence.of_release(out) as found:
        assert found.counts == "users" and found.log is None and found.table("sessions") is None
        released = pq.read_table(out / "public/queries.parquet")
        assert plain(found.table("queries")) == list(
            zip(released.column("query").to_pylist(), released.column("users").to_pylist(), strict=True)
        )
    pq.write_table(pa.table({"user": ["u"], "query": ["a"]}), out / "public/log.parquet")
    with pytest.raises(InputError, match="log of this release lacks a column"):
        Evidence.of_release(out)
    (out / "public/queries.parquet").write_text("torn", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read"):
        Evidence.of_release(out)
    with pytest.raises(InputError, match="no release here"):
        Evidence.of_release(tmp_path)


@pytest.mark.parametrize("name", sorted(tasks()))
def test_a_released_log_runs_unchanged(name: str, hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    """A release that is a log and nothing else, with the very rows of the original, is worth what the original is."""
    out = tmp_path / "out"
    hubbub("release", log_file, *RELEASE, "--out", out)
    (out / "public/queries.parquet").unlink()
    with read_log(log_file) as log:
        (out / "public/log.parquet").write_bytes(log.ingested.log.read_bytes())
        users = pq.read_table(log.ingested.log, columns=["user"]).column("user").unique()
        pq.write_table(pa.table({"user": users, "uid": users}), out / "owner-only/users.parquet")  # says who they are
        with Evidence.of_release(out) as release:
            assert release.counts == "count" and release.log is not None
            original = Evidence.of_log(log, "count")
            for table in NAMES:
                left, right = original.table(table), release.table(table)
                assert left is None if right is None else left is not None and plain(left) == plain(right)
            found, expected = (score(build(name), original, side)[0] for side in (release, original))
    assert found.keys() == expected.keys()
    for metric, pair in found.items():
        if metric != "not_evaluable":
            assert pair["release"] == pytest.approx(expected[metric]["release"]), metric


@pytest.mark.parametrize("name", ["counts", "fears", "frequent-pairs", "index-caching"])
def test_the_contract(name: str) -> None:
    check_task(build(name))


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="no such task"):
        build("horoscopes")
    with pytest.raises(InputError, match="no truth"):
        Truth(tmp_path)
    (tmp_path / "serp.parquet").write_text("no parquet", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read"):
        Truth(tmp_path).table("serp")
    assert Truth(tmp_path).table("topics") is None


def test_the_page_lists_every_task() -> None:
    page = (Path(__file__).parents[4] / "docs/tasks.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    listed = {row[1].strip(" `"): (row[3], row[4].strip()) for row in rows}
    for name, task in tasks().items():
        reads, truth = listed[name]
        assert all(table in reads for table in task.reads), name
        assert truth == ", ".join(task.truth), name
