"""`hubbub export`: every format read back by its own tools, from awkward texts; what is carried along, what refused."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import ir_measures
import networkx
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, nDCG
from tests.conftest import Hubbub, document, run_hubbub

from hubbub.card.schema import sha256_of
from hubbub.log import read_log
from hubbub.show.export import export, formats
from hubbub.show.export.base import FORMATS
from hubbub.show.export.text import SEPARATOR, escape, unescape
from hubbub.show.hub import licence, size

ASKED = ("weather", "null", '"quoted', "#tag", "back\\slash", "bell\x07 & <b>", "köln 天気")
CLICKED = ("http://a.example/?x=1&y=<2>", "tab\there", "line\nhere", "bell\x07", "back\\slash", "köln 天気", "\ufffe")


def awkward(path: Path, users: int = 400) -> Path:
    """Everybody asks the same seven queries a minute apart and clicks for each; JSON can hold any text."""
    lines: list[dict[str, object]] = []
    for u in range(users):
        for n, (query, url) in enumerate(zip(ASKED, CLICKED, strict=True)):
            search: dict[str, object] = {
                "query_id": f"{n}",
                "client_id": f"u{u}",
                "timestamp": f"2024-05-16T12:{n:02d}:00Z",
            }
            lines.append(search | {"user_query": query})
            place = {"object": {"object_id": url}, "position": {"ordinal": n + 1}}
            lines.append(search | {"action_name": "click", "event_attributes": place})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private release of all tables of the awkward log."""
    folder = tmp_path_factory.mktemp("crowd")
    log = awkward(folder / "log.ndjson")
    config = folder / "c.toml"
    config.write_text('[card]\ntitle = "Seven: queries"\nlicence = "CC-BY-4.0"\n', encoding="utf-8")
    tables = "queries,clicks,transitions,sessions,keywords,log"
    asked = [
        "release",
        log,
        "--format",
        "ubi",
        "--columns",
        "user=client_id",
        "--mechanism",
        "crowd",
        "--tables",
        tables,
    ]
    budget = ["--epsilon", "20", "--delta", "1e-3", "--language", "none", "--ledger", folder / "l"]
    run_hubbub(*asked, *budget, "--config", config, "--out", folder / "r")
    return folder / "r"


def rows(release: Path, table: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pq.read_table(release / "public" / f"{table}.parquet").to_pylist()
    return found


def fields(path: Path) -> list[list[str]]:
    """Lines and tabs, and no other rule."""
    lines = path.read_bytes().decode("utf-8").split("\n")
    assert lines.pop() == ""
    return [line.split("\t") for line in lines]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaping_can_be_taken_back_and_leaves_nothing_that_ends_a_field(text: str) -> None:
    written = escape(text)
    assert unescape(written) == text
    assert not set(written) & {chr(c) for c in range(32)} and "\ufffe" not in written and "\uffff" not in written


def test_the_release_holds_every_awkward_text(crowd: Path) -> None:
    """Otherwise the tests below show nothing."""
    assert {row["query"] for row in rows(crowd, "queries")} == set(ASKED)
    assert {row["url"] for row in rows(crowd, "clicks")} == set(CLICKED)
    assert rows(crowd, "transitions") and rows(crowd, "sessions") and rows(crowd, "keywords")


# ------------------------------------------------------------------ tsv


def test_tsv_gives_back_every_row(crowd: Path, tmp_path: Path) -> None:
    made = export(crowd, "tsv", tmp_path / "out")
    for table in ("queries", "clicks", "transitions", "sessions", "keywords"):
        released = rows(crowd, table)
        header, *lines = fields(tmp_path / "out" / f"{table}.tsv")
        assert header == list(released[0]) and len(lines) == len(released)
        for line, row in zip(lines, released, strict=True):
            *key, users, spread = line
            if table == "sessions":
                assert [unescape(query) for query in key[0].split(SEPARATOR)] == row["queries"]
            else:
                assert [unescape(text) for text in key] == list(row.values())[:-2]
            assert (
                (users, spread) == ("", "")
                if row["users"] is None
                else (int(users), float(spread))
                == (
                    row["users"],
                    row["noise_sd"],
                )
            )
    assert {file.name: file.rows for file in made.files}["log.tsv"] == len(rows(crowd, "log"))


def test_the_log_is_one_in_the_form_of_aol(hubbub: Hubbub, crowd: Path, tmp_path: Path) -> None:
    hubbub("export", crowd, "--to", "tsv", "--gzip", "--out", tmp_path / "out", "--quiet")
    path = tmp_path / "out" / "log.tsv.gz"
    header, *lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert header == "AnonID\tQuery\tQueryTime\tItemRank\tClickURL" and len(lines) == len(rows(crowd, "log"))
    with read_log(path, format="aol", threads=1) as log:
        assert log.ingested.kept == len(lines) and not log.ingested.rejected
        assert log.users() == len({row["user"] for row in rows(crowd, "log")})


def test_tsv_as_pandas_is_told_to_read_it(crowd: Path, tmp_path: Path) -> None:
    """The line of the README: `null` is a query, a quotation mark swallows nothing."""
    export(crowd, "tsv", tmp_path / "out")
    empty = {"users": "", "noise_sd": ""}
    path = tmp_path / "out" / "queries.tsv"
    read = pd.read_csv(path, sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False, na_values=empty)
    assert [unescape(query) for query in read["query"]] == [row["query"] for row in rows(crowd, "queries")]
    assert read["users"].sum() == sum(row["users"] for row in rows(crowd, "queries"))  # type: ignore[misc]
    assert 'quoting=3, keep_default_na=False, na_values={"users": "", "noise_sd": ""}' in readme(tmp_path / "out")


# ------------------------------------------------------------------ orcas, trec


def test_orcas_has_four_columns_and_the_numbers_beside(crowd: Path, tmp_path: Path) -> None:
    export(crowd, "orcas", tmp_path / "out")
    released = rows(crowd, "clicks")
    lines = fields(tmp_path / "out" / "orcas.tsv")
    header, *numbers = fields(tmp_path / "out" / "orcas-users.tsv")
    assert header == ["qid", "did", "users", "noise_sd"]
    assert [(unescape(q), unescape(u)) for _, q, _, u in lines] == [(row["query"], row["url"]) for row in released]
    assert [(qid, did) for qid, _, did, _ in lines] == [(qid, did) for qid, did, _, _ in numbers]
    assert len({qid for qid, *_ in lines}) == len({row["query"] for row in released})
    assert all(qid.isdecimal() and did[0] == "D" and did[1:].isdecimal() for qid, _, did, _ in lines)


def trec(kind: str, path: Path) -> list[Any]:
    """A file as ir_measures reads it."""
    return list(getattr(ir_measures, f"read_trec_{kind}")(str(path)))


def test_trec_is_what_ir_measures_reads(crowd: Path, tmp_path: Path) -> None:
    export(crowd, "trec", tmp_path / "out")
    export(crowd, "orcas", tmp_path / "orcas")
    folder, released = tmp_path / "out", rows(crowd, "clicks")
    topics = {qid: unescape(query) for qid, query in fields(folder / "topics.tsv")}
    pages = {docno: unescape(url) for docno, url in fields(folder / "documents.tsv")}
    qrels = trec("qrels", folder / "qrels.txt")
    judged = {(topics[q.query_id], pages[q.doc_id]): q.relevance for q in qrels}
    assert judged == {
        (row["query"], row["url"]): 1 if row["users"] is None else int(row["users"]).bit_length()  # type: ignore[call-overload]
        for row in released
    }
    assert {(qid, did) for qid, _, did, _ in fields(tmp_path / "orcas" / "orcas.tsv")} == {
        (q.query_id, q.doc_id) for q in qrels
    }, "one release, one numbering"
    for name in ("random_walk", "impact_factor"):
        run = trec("run", folder / f"run.{name}.txt")
        lists: dict[str, list[float]] = {}
        for line in run:
            lists.setdefault(line.query_id, []).append(line.score)
        assert set(lists) <= set(topics) and all(len(scores) <= 10 for scores in lists.values())
        assert all(a > b for scores in lists.values() for a, b in pairwise(scores))
        scored = ir_measures.calc_aggregate([RR, nDCG @ 10], qrels, run)
        assert scored[RR] > 0.9, "people click what they clicked: the walk starts where the judgments do"


# ------------------------------------------------------------------ graph


def test_graphml_is_what_networkx_reads(crowd: Path, tmp_path: Path) -> None:
    export(crowd, "graph", tmp_path / "out", gzip=True)
    for table, name, target in (("transitions", "query-flow", "next_query"), ("clicks", "click-graph", "url")):
        released = rows(crowd, table)
        graph = networkx.read_graphml(tmp_path / "out" / f"{name}.graphml.gz")
        text = {node: unescape(facts["text"]) for node, facts in graph.nodes(data=True)}
        found = {(text[a], text[b]): (e.get("users"), e.get("noise_sd")) for a, b, e in graph.edges(data=True)}
        assert found == {(row["query"], row[target]): (row["users"], row["noise_sd"]) for row in released} and len(
            found
        ) == len(released)
        assert graph.graph["stamp"] == "none" and "factor e²⁰" in graph.graph["claim"]
        header, *edges = (line.split("\t") for line in unzip(tmp_path / "out" / f"{name}.edges.tsv.gz"))
        assert header == ["source", "target", "users", "noise_sd"]
        assert {(unescape(a), unescape(b)) for a, b, *_ in edges} == set(found)
        listed = pd.read_parquet(tmp_path / "out" / f"{name}.edges.parquet")
        assert set(networkx.from_pandas_edgelist(listed, create_using=networkx.DiGraph).edges) == set(found)
    kinds = {facts["kind"] for _, facts in graph.nodes(data=True)}
    assert kinds == {"query", "url"} and len(graph) == len(ASKED) + len(CLICKED), "one text may be a query and a page"


def unzip(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")


# ------------------------------------------------------------------ huggingface


def test_the_hub_s_data_card_parses_and_every_configuration_loads(hubbub: Hubbub, crowd: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(crowd, "huggingface", out)
    _, head, body = readme(out).split("---\n", 2)
    card = yaml.safe_load(head)
    assert card["license"] == "cc-by-4.0" and card["pretty_name"] == "Seven: queries"
    rows = sum(pq.read_metadata(path).num_rows for path in (crowd / "public").glob("*.parquet"))
    assert card["size_categories"] == [size(rows)]
    assert "differential-privacy" in card["tags"]
    assert [c["config_name"] for c in card["configs"]] == [
        *json.loads((out / "card.json").read_text())["release"]["contains"]
    ]
    assert [c.get("default", False) for c in card["configs"]] == [True] + [False] * 5
    for configuration in card["configs"]:
        (file,) = configuration["data_files"]
        released = crowd / "public" / f"{configuration['config_name']}.parquet"
        assert pq.read_table(out / file["path"]).equals(pq.read_table(released))
        assert sha256_of(out / file["path"]) == sha256_of(released)
    assert "factor e²⁰" in body
    assert document(hubbub("card", out, "--check", "--json"))["holds"], "the export checks as the release does"


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("CC0-1.0", {"license": "cc0-1.0"}),
        ("not stated", {"license": "unknown"}),
        (
            "Ask us: \x85 first",
            {"license": "other", "license_name": "ask-us-first", "license_details": "Ask us:   first"},
        ),
        ("→", {"license": "other", "license_name": "as-stated", "license_details": "→"}),
    ],
)
def test_licences_by_the_hub_s_names(stated: str, expected: dict[str, str]) -> None:
    assert licence(stated) == expected


@pytest.mark.parametrize(("n", "words"), [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (10**6, "1M<n<10M")])
def test_sizes_by_the_hub_s_classes(n: int, words: str) -> None:
    assert size(n) == words


# ------------------------------------------------------------------ every format


def readme(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("to", formats())
def test_an_export_is_a_function_of_public_alone_and_carries_the_claim(crowd: Path, tmp_path: Path, to: str) -> None:
    shutil.copytree(crowd / "public", tmp_path / "received")
    one, other = tmp_path / "one", tmp_path / "other"
    made = export(crowd, to, one)
    export(tmp_path / "received", to, other)
    files = {path.relative_to(one): path.read_bytes() for path in one.rglob("*") if path.is_file()}
    assert files == {path.relative_to(other): path.read_bytes() for path in other.rglob("*") if path.is_file()}
    assert files[Path("card.json")] == (crowd / "public" / "card.json").read_bytes()
    assert made.private and made.sentence in readme(one) and "NOT PRIVATE" not in readme(one)
    assert all(f"`{file.name}`" in readme(one) and (one / file.name).is_file() for file in made.files)
    for text in (ASKED[0], CLICKED[0]):
        assert text not in readme(one), "no released text in the README"


@pytest.mark.parametrize("to", formats())
def test_the_stamp_stays(hubbub: Hubbub, tmp_path: Path, to: str) -> None:
    log = awkward(tmp_path / "log.ndjson", users=30)
    mechanism = "k-query" if FORMATS.named(to).needs == ("queries",) else "k-click"
    asked = ("--format", "ubi", "--columns", "user=client_id", "--mechanism", mechanism, "--set", "k=5")
    hubbub("release", log, *asked, "--not-private", "--out", tmp_path / "r")
    out = tmp_path / "out"
    result = hubbub("export", tmp_path / "r", "--to", to, "--out", out, "--json")
    assert document(result)["private"] is False and "NOT PRIVATE" in result.stderr
    assert "**NOT PRIVATE. " in readme(out) and "NOT PRIVATE" in (out / "NOT-PRIVATE.txt").read_text(encoding="utf-8")
    if to == "huggingface":
        head = yaml.safe_load(readme(out).split("---\n", 2)[1])
        assert head["pretty_name"].startswith("NOT PRIVATE: ") and "not-private" in head["tags"]
        assert "differential-privacy" not in head["tags"]
    if to == "orcas":
        assert {(int(n), float(sd)) for *_, n, sd in fields(out / "orcas-users.tsv")[1:]} == {(30, 0.0)}
    if to == "graph":
        graph = networkx.read_graphml(out / "click-graph.graphml")
        assert graph.graph["stamp"] == "NOT PRIVATE" and {e["users"] for _, _, e in graph.edges(data=True)} == {30}
    if to == "trec":
        assert {q.relevance for q in trec("qrels", out / "qrels.txt")} == {5}, "1 + ⌊log2 30⌋"
        assert (out / "run.random_walk.txt").read_text().splitlines()[0].endswith("hubbub-random_walk-NOT-PRIVATE")
    if to == "completion":
        assert "NOT PRIVATE. Do not publish." in (out / "search.html").read_text(encoding="utf-8")


def test_what_it_says(hubbub: Hubbub, released: Path, tmp_path: Path) -> None:
    said = hubbub("export", released, "--to", "tsv", "--out", tmp_path / "a").stdout
    assert "factor e²" in said and "queries.tsv" in said and "README.md" in said
    assert hubbub("export", released, "--to", "tsv", "--out", tmp_path / "b", "--quiet").output == ""
    made = document(hubbub("export", released, "--to", "tsv", "--out", tmp_path / "c", "--json"))
    assert made["private"] is True and made["files"] == {
        "queries.tsv": pq.read_metadata(released / "public" / "queries.parquet").num_rows
    }
    shown = hubbub("export", "--help").stdout
    assert "Example: hubbub export release --to tsv" in shown and all(name in shown for name in formats())


# ------------------------------------------------------------------ refusals


def test_a_release_that_does_not_check_is_refused(hubbub: Hubbub, released: Path, tmp_path: Path) -> None:
    table = released / "public" / "queries.parquet"
    table.write_bytes(table.read_bytes() + b"\0")
    failed = hubbub("export", released, "--to", "tsv", "--out", tmp_path / "out", code=2)
    assert "not as it was written" in failed.stderr and "queries.parquet has its hash" in failed.stderr
    assert "hubbub card" in failed.stderr and not (tmp_path / "out").exists()


def test_an_edited_card_is_refused(hubbub: Hubbub, released: Path, tmp_path: Path) -> None:
    card = released / "public" / "card.json"
    card.write_text(
        card.read_text(encoding="utf-8").replace('"licence": "not stated"', '"licence": "MIT"'), encoding="utf-8"
    )
    hubbub("export", released, "--to", "tsv", "--out", tmp_path / "out", code=2)
    card.write_text("{}", encoding="utf-8")
    hubbub("export", released, "--to", "tsv", "--out", tmp_path / "out", code=2)
    card.unlink()
    failed = hubbub("export", released, "--to", "tsv", "--out", tmp_path / "out", code=2)
    assert "There is no release here" in failed.stderr and not (tmp_path / "out").exists()


@pytest.mark.parametrize("to", ["orcas", "trec", "graph", "synonyms", "judgments"])
def test_without_clicks_it_says_what_is_missing(hubbub: Hubbub, released: Path, tmp_path: Path, to: str) -> None:
    failed = hubbub("export", released, "--to", to, "--out", tmp_path / "out", code=2)
    assert "clicks" in failed.stderr and "given:   queries: " in failed.stderr and "--to tsv" in failed.stderr
    assert not (tmp_path / "out").exists()


def test_other_mistakes(hubbub: Hubbub, released: Path, tmp_path: Path) -> None:
    unknown = hubbub("export", released, "--to", "xml", "--out", tmp_path / "out", code=2)
    known = "completion, graph, huggingface, judgments, kit, load, orcas, spelling, synonyms, trec, tsv"
    assert f"allowed: {known}" in unknown.stderr
    (tmp_path / "there").mkdir()
    hubbub("export", released, "--to", "tsv", "--out", tmp_path / "there", code=2)
    hubbub("export", released, "--to", "huggingface", "--gzip", "--out", tmp_path / "out", code=2)
    for inside in (released / "x", released / "public" / "x"):
        failed = hubbub("export", released, "--to", "tsv", "--out", inside, code=2)
        assert "inside the release" in failed.stderr and not inside.exists()
    hubbub("card", released, "--check")


def test_whole_or_not_at_all(released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hubbub.show.export import tsv

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tsv, "tab_separated", full)
    with pytest.raises(Exception, match="The disk is full"):
        export(released, "tsv", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == []


def test_an_empty_release_can_be_exported(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    """Nothing passes a threshold of a million: a header, and that is all."""
    high = ("--format", "aol", "--mechanism", "korolova", "--set", "b=10", "--set", "K=1000000", "--set", "d=3")
    hubbub("release", log_file, *high, "--out", tmp_path / "r")
    export(tmp_path / "r", "tsv", tmp_path / "out")
    assert (tmp_path / "out" / "queries.tsv").read_bytes() == b"query\tusers\tnoise_sd\n"
    export(tmp_path / "r", "huggingface", tmp_path / "hub")
    assert io.StringIO(readme(tmp_path / "hub")).readline() == "---\n"
