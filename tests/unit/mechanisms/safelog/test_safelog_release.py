"""safelog from the command line: a release, its card, what is refused unspent, what is empty and why."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub, document

import hubbub as package
from hubbub.card.check import check
from hubbub.public.lists import read_pool, read_serp

SAFELOG = ("--format", "aol", "--mechanism", "safelog")


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    path = tmp_path / "pool.tsv"
    path.write_text("query\nWeather\nnews\n maps \nnobody\nnews\n", encoding="utf-8")
    return path


@pytest.fixture
def serp(tmp_path: Path) -> Path:
    path = tmp_path / "serp.tsv"
    path.write_text(
        "query\turl\nweather\thttp://www.weather.example\nmaps\thttp://www.maps.example\n", encoding="utf-8"
    )
    return path


def spent(hubbub: Hubbub) -> object:
    return document(hubbub("ledger", "show", "--json"))["entries"]


def test_a_release_its_card_and_run_again(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, pool: Path, serp: Path
) -> None:
    out = tmp_path / "out"
    said = document(
        hubbub("release", log_file, *SAFELOG, "--pool", pool, "--serp", serp, "--epsilon", 20, "--out", out, "--json")
    )
    assert said["guarantee"] == {
        "definition": "pure",
        "epsilon": 20.0,
        "delta": 0.0,
        "neighbours": "add-remove",
        "scope": "end-to-end",
    }
    assert said["private"] is True
    assert [f for f in check(out) if not f.holds] == []
    queries = {r["query"]: r["users"] for r in pq.read_table(out / "public" / "queries.parquet").to_pylist()}
    assert {"weather", "news", "maps"} <= set(queries) <= {"weather", "news", "maps", "nobody"}
    assert abs(queries["weather"] - 300) < 100 and abs(queries["maps"] - 150) < 100
    clicks = {r["query"] for r in pq.read_table(out / "public" / "clicks.parquet").to_pylist()}
    assert clicks == {"weather", "maps"}
    card = json.loads((out / "public" / "card.json").read_text())
    listed = {part["use"]: part for part in card["mechanism"]["public_lists"]}
    assert listed["pool"]["queries"] == "4" and listed["pool"]["source"] == "not stated"
    assert listed["pool"]["sha256"] == read_pool(pool).sha256
    again = tmp_path / "again"
    hubbub("release", "--config", out / "owner-only" / "run.toml", "--out", again)
    assert (again / "public" / "card.json").exists()


def test_a_changed_pool_on_the_card_is_found(hubbub: Hubbub, log_file: Path, tmp_path: Path, pool: Path) -> None:
    out = tmp_path / "out"
    hubbub("release", log_file, *SAFELOG, "--pool", pool, "--epsilon", 2, "--out", out)
    path = out / "public" / "card.json"
    path.chmod(0o644)
    card = json.loads(path.read_text())
    next(p for p in card["mechanism"]["public_lists"] if p["use"] == "pool")["queries"] = "400"
    path.write_text(json.dumps(card))
    wrong = [f.what for f in check(out) if not f.holds]
    assert any("accuracy" in what for what in wrong), "the rows of nobody do not follow any more"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--epsilon", 1, "--delta", "1e-6"), "takes no δ"),
        (("--epsilon", 1, "--set", "K=0.5"), "K"),
        (("--epsilon", 1, "--variant", "published", "--set", "p_g=0", "--not-private"), "p_g"),
        (("--epsilon", 1, "--variant", "published"), "would not be private"),
        (("--epsilon", 1, "--tables", "queries,clicks"), "--serp"),
    ],
)
def test_refused_before_anything_is_spent(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, pool: Path, options: tuple[object, ...], says: str
) -> None:
    out = tmp_path / "out"
    result = hubbub("release", log_file, *SAFELOG, "--pool", pool, "--out", out, *options, code=2)
    assert says in result.output and not out.exists() and spent(hubbub) == []


def test_a_pool_that_is_missing_empty_or_not_wanted(hubbub: Hubbub, log_file: Path, tmp_path: Path, pool: Path) -> None:
    empty = tmp_path / "empty.tsv"
    empty.write_text("query\n \n\t\n", encoding="utf-8")
    other = tmp_path / "other.tsv"
    other.write_text("url\nx\n", encoding="utf-8")
    for given, says in ((empty, "empty"), (other, "lacks a column"), (tmp_path / "none", "does not exist")):
        result = hubbub("release", log_file, *SAFELOG, "--pool", given, "--epsilon", 1, "--out", tmp_path / "o", code=2)
        assert says in result.output
    result = hubbub("release", log_file, *SAFELOG, "--epsilon", 1, "--out", tmp_path / "o", code=2)
    assert "hubbub pool build" in result.output
    options = ("--format", "aol", "--mechanism", "korolova", "--epsilon", 1, "--delta", "1e-6", "--pool", pool)
    assert "takes no pool" in hubbub("release", log_file, *options, "--out", tmp_path / "o", code=2).output
    assert spent(hubbub) == []


def test_a_pool_that_overlaps_nothing_is_an_explained_release(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    """Whether the log and the pool meet is a fact of the log: it must not decide whether there is a release."""
    pool = tmp_path / "pool.tsv"
    pool.write_text("query\n" + "".join(f"nobody {i}\n" for i in range(50)), encoding="utf-8")
    out = tmp_path / "out"
    result = hubbub("release", log_file, *SAFELOG, "--pool", pool, "--epsilon", 1, "--out", out)
    assert "no query of the log is in the pool" in result.output
    assert [f for f in check(out) if not f.holds] == []
    public = (out / "public" / "card.json").read_text() + (out / "public" / "README.md").read_text()
    assert "no query of the log" not in public and "outside the pool are never released" in public


def test_the_published_form_says_what_is_wrong_with_it(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, pool: Path
) -> None:
    out = tmp_path / "out"
    settings = [
        x for s in ("q_f=2", "c_f=2", "b=5", "b_q=5", "b_c=5", "b_t=5", "K=20", "p_g=0.9") for x in ("--set", s)
    ]
    hubbub(
        "release",
        log_file,
        *SAFELOG,
        "--variant",
        "published",
        "--pool",
        pool,
        *settings,
        "--out",
        out,
        "--not-private",
    )
    card = json.loads((out / "public" / "card.json").read_text())
    assert card["mechanism"]["stamp"] == "NOT PRIVATE" and card["claim"]["epsilon"] is None
    claimed = card["mechanism"]["claimed"]
    assert claimed["epsilon"] == pytest.approx(2 / 5 + 2 * 0.1053605 + 2 / 5 + 2 / 5 + 1 / 5) and not claimed["holds"]
    said = " ".join(card["claim"]["conditions"])
    for flaw in (
        "fewer than 5 times",
        "repeats a query",
        "move up",
        "not in the pool",
        "secret",
        "p_g",
        "Table 3",
        "URLs",
    ):
        assert flaw in said, flaw
    assert [f for f in check(out) if not f.holds] == []
    assert pq.read_metadata(out / "public" / "transitions.parquet").num_rows == _pairs(out)


def _pairs(out: Path) -> int:
    n = int(pq.read_metadata(out / "public" / "queries.parquet").num_rows)
    return n * (n - 1)


def test_from_python_and_a_seed_repeats(log_file: Path, tmp_path: Path, pool: Path, serp: Path) -> None:
    mechanism = package.Safelog(epsilon=5, pool=read_pool(pool), serp=read_serp(serp))
    tables = []
    for name in ("one", "two"):
        with package.read_log(log_file, format="aol") as log:
            made = package.release(log, mechanism, tmp_path / name, ledger=tmp_path / "l", seed=3, not_private=True)
            tables.append({t: getattr(made, t).to_arrow().to_pylist() for t in made.tables})
    assert tables[0] == tables[1] and set(tables[0]) == {"queries", "clicks", "transitions"}


def test_estimates(hubbub: Hubbub, log_file: Path, pool: Path, tmp_path: Path) -> None:
    found = document(hubbub("estimate", log_file, *SAFELOG, "--pool", pool, "--epsilon", 4, "--json"))
    queries = found["owner_only"]["estimate"]["queries"]  # type: ignore[index]
    assert 3 <= queries["rows"] <= 4.5 and queries["method"] == "exact"
    assert queries["utility"]["turning_point_b"] > 0 and queries["utility"]["rows_of_nobody"] < 1
    fewer = document(hubbub("estimate", "--users", 2000, "--sample", 500, "--mechanism", "safelog", "--pool", pool,
                            "--epsilon", 8, "--json"))  # fmt: skip
    assert fewer["estimate"]["transitions"]["rows"] >= 0  # type: ignore[index]
    settings = [x for s in ("q_f=2", "b=5", "b_q=5", "K=20") for x in ("--set", s)]
    published = hubbub("estimate", log_file, *SAFELOG, "--pool", pool, "--variant", "published", *settings,
                       "--tables", "queries")  # fmt: skip
    assert "its equation (2) is smallest at b = 10.9" in published.output
    assert "rows of the release are expected to stand for nobody" in published.output


def test_a_pool_from_parquet_keeps_its_source_only_if_it_is_plain(tmp_path: Path) -> None:
    for stated, read in (
        (b'{"source": "a list"}', "a list"),
        (b"{", "not stated"),
        (b'{"source": "a\\nb"}', "not stated"),
    ):
        table = pa.table({"query": ["a"]}).replace_schema_metadata({b"hubbub.public.pool": stated})
        pq.write_table(table, tmp_path / "p.parquet")
        assert read_pool(tmp_path / "p.parquet").source == read
