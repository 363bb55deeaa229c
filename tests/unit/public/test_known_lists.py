"""Queries known beforehand: a public list, an earlier release. What they add, what they cost, when they are refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub
from tests.ledgers import write_first_version

from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.protocols import Event
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.noise.absent import Exits, Rounds
from hubbub.noise.source import Integers
from hubbub.privacy.ledger import Ledger
from hubbub.public.lists import QueryPool, UrlList

pytestmark = pytest.mark.usefixtures("no_report")

BUDGET = {"epsilon": 2, "delta": "1e-5", "language": "none"}
OPTIONS = (
    "--mechanism",
    "crowd",
    "--epsilon",
    "4",
    "--delta",
    "1e-4",
    "--format",
    "aol",
    "--tables",
    "queries",
    *("--set", "language=none"),
)


def listed(*queries: str) -> QueryPool:
    return QueryPool("list", pa.table({"query": sorted(queries)}), "0" * 64, len(queries), "a test", "list")


def few(query: str, n: int) -> list[Event]:
    return [(f"{query}{i}", 1, query, None) for i in range(n)]


class Passing(NoNoise):
    """Zeros; the first absent key of a list passes."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        self.asked.append(count)
        one: Integers = np.zeros(1, np.int64)
        return Exits(one, one, one + rounds.thresholds[0])


def released(events: list[Event], noise: Any, settings: dict[str, int] | None = None, **context: Any) -> list[str]:
    mechanism = build("crowd", BUDGET | (settings or {}), tables=["queries"], **context)
    with tiny_log(events) as log:
        measured = mechanism.measure(log, MODE)
        out = mechanism.draw(measured, noise)["queries"]
        texts = measured["queries"].text(log.engine, mechanism.offers["queries"], out.ids)
        return sorted(texts.column("query").to_pylist())


def test_a_listed_query_needs_fewer_users() -> None:
    plain: Any = build("crowd", BUDGET, tables=["queries"])
    n = int(plain.selection.users(-1)) - 2
    events = few("known", n) + few("unknown", n)
    assert released(events, NoNoise()) == []
    assert released(events, NoNoise(), public_list=listed("known", "elsewhere")) == ["known"]
    assert released(events, NoNoise(), previous=listed("known", "elsewhere")) == ["known"]


def test_listed_queries_of_nobody_are_tested_too() -> None:
    noise = Passing()
    assert released(few("x", 1), noise, public_list=listed("a", "b", "x")) == ["a"]
    assert noise.asked == [3], "drawn for every listed query, as if nobody held it"


class Everyone(NoNoise):
    """Zeros, except that every query of a list passes by noise alone."""

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        return Exits(np.arange(count), np.zeros(count, np.int64), np.full(count, rounds.thresholds[0]))


def test_a_listed_query_of_somebody_passes_by_its_own_noise_or_not_at_all() -> None:
    events = few("x", 1) + few("y", 200) + few("z", 200)
    assert released(events, Everyone(), public_list=listed("a", "b", "x", "y")) == ["a", "b", "y", "z"]


def test_a_listed_query_that_is_in_no_pool_is_nobodys_whoever_holds_it() -> None:
    """A user with more queries than her pool takes must not keep the noise of nobody away from the rest of them."""
    events: list[Event] = [("u", t, query, None) for t, query in enumerate("vwxyz")]
    assert len(released(events, Everyone(), {"D": 2}, public_list=listed(*"vwxyz"))) == 3


def test_listed_queries_come_first_into_a_full_pool() -> None:
    mechanism: Any = build("crowd", {**BUDGET, "D": 2}, tables=["queries"], public_list=listed("q7", "q8"))
    with tiny_log([("u", 1, f"q{i}", None) for i in range(10)]) as log:
        pools = mechanism.measure(log, MODE)["queries"]
        texts = log.engine.fetch(f"SELECT query FROM {pools.keys}").column("query").to_pylist()
    assert sorted(texts) == ["q7", "q8"]


@pytest.mark.parametrize(
    ("pages", "says"),
    [
        ([("a", "x"), ("b", "x"), ("a", "x")], "more than once"),
        ([("a", "x"), (None, "y")], "without a key"),
        ([("a", "x"), ("b", None)], "without a key"),
    ],
)
def test_a_list_of_your_own_has_every_key_once(pages: list[tuple[str | None, str | None]], says: str) -> None:
    queries, urls = (pa.array(side, pa.string()) for side in zip(*pages, strict=True))
    with pytest.raises(ParameterError, match=says):
        UrlList("list", pa.table({"query": queries, "url": urls}), "0" * 64)
    if urls.null_count == 0:
        with pytest.raises(ParameterError, match=says):
            QueryPool("pool", pa.table({"query": queries}), "0" * 64, len(queries), "a test")


def test_a_list_changes_no_number_of_the_claim() -> None:
    plain, known = (build("crowd", BUDGET, public_list=known) for known in (None, listed("a")))
    assert plain.steps() == known.steps() and plain.loss() == known.loss()
    assert any("not have been learned" in text for text in known.caveats())
    assert "queries: about 1 of the queries may be nobody's (at most 1 expected)" in known.spurious()


def test_a_list_and_an_earlier_release_stand_on_the_card(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.parquet"
    pq.write_table(pa.table({"query": ["Weather", "weather", "nobody asked this"]}), known)
    hubbub("release", log_file, *OPTIONS, "--public-list", known, "--out", tmp_path / "one")
    card = json.loads((tmp_path / "one" / "public" / "card.json").read_text())
    (record,) = card["mechanism"]["public_lists"]
    assert record["use"] == "list" and record["queries"] == "2" and card["mechanism"]["parameters"]["F_known"] == "1"
    hubbub("card", tmp_path / "one", "--check")
    hubbub("release", log_file, *OPTIONS, "--previous", tmp_path / "one", "--out", tmp_path / "two")
    card = json.loads((tmp_path / "two" / "public" / "card.json").read_text())
    assert card["mechanism"]["public_lists"][0]["name"] == "default-r1"
    assert any("spent both budgets" in text for text in card["claim"]["conditions"])
    hubbub("card", tmp_path / "two", "--check")


def test_an_earlier_release_must_be_private_and_in_the_ledger(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    hubbub("release", log_file, *OPTIONS, "--seed", "1", "--not-private", "--out", tmp_path / "seeded")
    refused = hubbub("release", log_file, *OPTIONS, "--previous", tmp_path / "seeded", "--out", tmp_path / "x", code=2)
    assert "private" in refused.stderr
    other = tmp_path / "other.sqlite"
    hubbub("release", log_file, *OPTIONS, "--ledger", other, "--out", tmp_path / "elsewhere")
    refused = hubbub(
        "release", log_file, *OPTIONS, "--previous", tmp_path / "elsewhere", "--out", tmp_path / "x", code=2
    )
    assert "not in this ledger" in refused.stderr and not (tmp_path / "x").exists()


def test_a_changed_or_other_release_is_refused(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    first = tmp_path / "first"
    hubbub("release", log_file, *OPTIONS, "--out", first)
    inside = first / "public" / "queries.parquet"
    refused = hubbub("release", log_file, *OPTIONS, "--public-list", inside, "--out", tmp_path / "x", code=2)
    assert "--previous" in refused.stderr
    other = tmp_path / "other.sqlite"  # its first entry has the same name, and other parameters
    hubbub("release", log_file, *OPTIONS, "--set", "D=7", "--ledger", other, "--out", tmp_path / "elsewhere")
    same_name = ("--previous", first, "--ledger", other, "--out", tmp_path / "x")
    assert "not in this ledger" in hubbub("release", log_file, *OPTIONS, *same_name, code=2).stderr
    pq.write_table(pa.table({"query": ["my own secret"], "users": [9], "noise_sd": [1.0]}), inside)
    refused = hubbub("release", log_file, *OPTIONS, "--previous", first, "--out", tmp_path / "x", code=2)
    assert "not as it was written" in refused.stderr and not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", ["korolova", "gaussian"])
def test_others_take_no_list(name: str) -> None:
    with pytest.raises(Exception, match="takes no list"):
        build(name, BUDGET, public_list=listed("a"))


# ------------------------------------------------------------------ lists that are releases


@pytest.fixture
def first(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> Path:
    hubbub("release", log_file, *OPTIONS, "--out", tmp_path / "first")
    return tmp_path / "first"


def copied(release: Path, path: Path) -> Path:
    """The queries of a release as anybody might keep them: in another order, another case, another file format."""
    queries = pq.read_table(release / "public" / "queries.parquet").column("query").to_pylist()
    path.write_text("\n".join(["query", *(f" {q.upper()}" for q in reversed(queries))]) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_list_made_from_a_release_is_that_release(
    hubbub: Hubbub, log_file: Path, first: Path, tmp_path: Path
) -> None:
    built = tmp_path / "built.parquet"
    hubbub("pool", "build", "--release", first, "--out", built)
    for n, known in enumerate((built, copied(first, tmp_path / "copied.tsv"))):
        out = tmp_path / f"out{n}"
        hubbub("release", log_file, *OPTIONS, "--public-list", known, "--out", out)
        card = json.loads((out / "public" / "card.json").read_text())
        (record,) = card["mechanism"]["public_lists"]
        assert (record["use"], record["name"], record["source"]) == (
            "previous",
            "default-r1",
            "earlier release default-r1",
        )
        assert any("spent both budgets" in text for text in card["claim"]["conditions"])
        assert not any("not have been learned" in text for text in card["claim"]["conditions"])
        hubbub("card", out, "--check")


@pytest.mark.slow
def test_such_a_list_is_refused_where_its_budget_is_not_added(
    hubbub: Hubbub, log_file: Path, first: Path, tmp_path: Path
) -> None:
    built, plain = tmp_path / "built.parquet", copied(first, tmp_path / "copied.tsv")
    hubbub("pool", "build", "--release", first, "--out", built)
    elsewhere = ("--ledger", tmp_path / "other.sqlite", "--out", tmp_path / "x")
    said = hubbub("release", log_file, *OPTIONS, "--public-list", built, *elsewhere, code=2).stderr
    assert "not in this ledger" in said and "--previous" in said
    another = ("--population", "others", "--new-population", "--other-people", "--out", tmp_path / "x")
    for known in (built, plain):
        said = hubbub("release", log_file, *OPTIONS, "--public-list", known, *another, code=2).stderr
        assert "default-r1 of default" in said and "--previous" in said
    safelog = (
        "--mechanism",
        "safelog",
        "--epsilon",
        "4",
        "--format",
        "aol",
        "--tables",
        "queries",
    )
    for known in (built, plain):
        assert "--previous" in hubbub("release", log_file, *safelog, "--pool", known, *another, code=2).stderr
    assert "belongs to a release" in (
        hubbub("release", log_file, *safelog, "--pool", first / "public" / "queries.parquet", *another, code=2).stderr
    )
    assert not (tmp_path / "x").exists()
    hubbub("release", log_file, *safelog, "--pool", plain, "--out", tmp_path / "x")


def test_a_copy_of_what_is_not_private_is_refused(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    hubbub("release", log_file, *OPTIONS, "--seed", "1", "--not-private", "--out", tmp_path / "seeded")
    known = ("--public-list", copied(tmp_path / "seeded", tmp_path / "copied.tsv"))
    assert "NOT PRIVATE" in hubbub("release", log_file, *OPTIONS, *known, "--out", tmp_path / "x", code=2).stderr


def test_a_release_is_known_by_its_hash_and_not_by_its_name(
    hubbub: Hubbub, log_file: Path, first: Path, tmp_path: Path
) -> None:
    """The same command in another ledger makes an entry of the same name and parameters: another draw."""
    other = tmp_path / "other.sqlite"
    hubbub("release", log_file, *OPTIONS, "--ledger", other, "--out", tmp_path / "elsewhere")
    options = ("--previous", tmp_path / "elsewhere", "--out", tmp_path / "x")
    one, two = ((p / "public" / "queries.parquet").read_bytes() for p in (first, tmp_path / "elsewhere"))
    assert one != two, "noise of three counts agrees by chance less than once in a thousand runs"
    assert "not in this ledger" in hubbub("release", log_file, *OPTIONS, *options, code=2).stderr


@pytest.mark.slow
def test_an_entry_from_before_hashes_is_known_by_its_name(
    hubbub: Hubbub, log_file: Path, first: Path, tmp_path: Path, own_ledger: Path
) -> None:
    with Ledger(own_ledger) as book:
        columns = [row["name"] for row in book._rows("PRAGMA table_info(entries)") if row["name"] not in ("id", "seal")]
        rows = book._rows(f"SELECT {', '.join(c for c in columns if c != 'time')} FROM entries")
    own_ledger.unlink()
    events: list[dict[str, object]] = [{"entry": 1, "state": s} for s in ("reserved", "drawing", "committed")]
    write_first_version(own_ledger, {"entries": rows, "events": events})
    hubbub("release", log_file, *OPTIONS, "--previous", first, "--out", tmp_path / "next")
    card = json.loads((tmp_path / "next" / "public" / "card.json").read_text())
    assert "known by its name and parameters" in card["mechanism"]["public_lists"][0]["source"]
    hubbub("release", log_file, *OPTIONS, "--set", "D=7", "--ledger", tmp_path / "b.sqlite", "--out", tmp_path / "b")
    said = hubbub("release", log_file, *OPTIONS, "--previous", tmp_path / "b", "--out", tmp_path / "x", code=2).stderr
    assert "not in this ledger" in said
