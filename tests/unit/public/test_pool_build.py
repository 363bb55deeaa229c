"""`hubbub pool build`: from n-grams, from files, from releases, and what is refused."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import RELEASE, Hubbub, document

from hubbub.errors import InputError
from hubbub.ingest.clean import clean_query
from hubbub.public import pool
from hubbub.public.lists import read_pool


def queries(path: Path) -> list[str]:
    return list(pq.read_table(path).column("query").to_pylist())


@pytest.mark.slow
def test_half_a_million_ngrams_in_seconds(hubbub: Hubbub, tmp_path: Path) -> None:
    out = tmp_path / "pool.parquet"
    made = document(hubbub("pool", "build", "--ngrams", "--out", out, "--json"))
    assert made["queries"] > 500_000 and made["seconds"] < 30  # type: ignore[operator]
    found = queries(out)
    assert found == sorted(set(found)) and len(found) == made["queries"]
    assert all(clean_query(q) == q and q for q in found[::1000])
    assert {"the", "new york", "united states"} <= set(found)
    back = read_pool(out)
    assert back.size == made["queries"] and back.source == made["source"] and back.sha256 == made["sha256"]
    assert "wordsegment" in back.source


def test_the_most_frequent(hubbub: Hubbub, tmp_path: Path) -> None:
    hubbub("pool", "build", "--size", 10, "--out", tmp_path / "p.parquet")
    assert queries(tmp_path / "p.parquet") == ["a", "and", "for", "in", "is", "of", "on", "that", "the", "to"]


@pytest.mark.parametrize("name", ["q.txt", "q.tsv", "q.parquet"])
def test_a_file_of_queries_is_cleaned_as_the_log_is(hubbub: Hubbub, tmp_path: Path, name: str) -> None:
    given = ["  New   York ", "new york", "ＡＢＣ", "", 'a "quoted" one', "STRASSE", "straße"]
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(pa.table({"query": given, "other": given}), path)
    else:
        header = ["query"] if name.endswith("tsv") else []
        path.write_text("\n".join(header + given) + "\n", encoding="utf-8")
    hubbub("pool", "build", "--queries", path, "--out", tmp_path / "p.parquet")
    assert queries(tmp_path / "p.parquet") == ['a "quoted" one', "abc", "new york", "strasse"]
    assert read_pool(tmp_path / "p.parquet").source == f"a file of queries named {name}"


def test_a_private_release_makes_a_pool(hubbub: Hubbub, released: Path, tmp_path: Path) -> None:
    hubbub("pool", "build", "--release", released, "--out", tmp_path / "p.parquet")
    assert queries(tmp_path / "p.parquet") == sorted(queries(released / "public" / "queries.parquet"))
    assert read_pool(tmp_path / "p.parquet").source.startswith("the queries of release default-r1 (ε = 2, δ = ")


def test_a_release_that_is_not_private_does_not(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    hubbub("release", log_file, *RELEASE, "--seed", 1, "--not-private", "--out", tmp_path / "seeded")
    result = hubbub("pool", "build", "--release", tmp_path / "seeded", "--out", tmp_path / "p.parquet", code=2)
    assert "not private" in result.output and not (tmp_path / "p.parquet").exists()


def test_nor_one_that_was_changed(hubbub: Hubbub, released: Path, tmp_path: Path) -> None:
    path = released / "public" / "queries.parquet"
    rows = pq.read_table(path)
    pq.write_table(pa.concat_tables([rows, rows]), path)
    result = hubbub("pool", "build", "--release", released, "--out", tmp_path / "p.parquet", code=2)
    assert "not as it was written" in result.output


def test_a_stamp_taken_off_is_seen(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "seeded"
    hubbub("release", log_file, *RELEASE, "--seed", 1, "--not-private", "--out", out)
    card = json.loads((out / "public" / "card.json").read_text())
    card["mechanism"]["private"] = True
    (out / "public" / "card.json").write_text(json.dumps(card))
    assert (
        "not as it was written"
        in hubbub("pool", "build", "--release", out, "--out", tmp_path / "p.parquet", code=2).output
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--ngrams", "--queries", "x"), "one source"),
        (("--queries", "x", "--release", "y"), "one source"),
        (("--queries", "none.txt"), "does not exist"),
        (("--release", "none"), "no release here"),
        (("--size", 0), "at least 1"),
        (("--queries", "x", "--size", 3), "n-grams"),
    ],
)
def test_what_is_refused(hubbub: Hubbub, tmp_path: Path, options: tuple[object, ...], says: str) -> None:
    result = hubbub("pool", "build", "--out", tmp_path / "p.parquet", *options, code=2)
    assert says in result.output and not (tmp_path / "p.parquet").exists()


def test_places_and_files_that_are_wrong(hubbub: Hubbub, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text(" \n\n", encoding="utf-8")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    (tmp_path / "cols.tsv").write_text("url\nx\n", encoding="utf-8")
    (tmp_path / "there.parquet").write_text("mine", encoding="utf-8")
    for name, says in (("empty.txt", "no query"), ("latin.txt", "cannot be read"), ("cols.tsv", "lacks its column")):
        result = hubbub("pool", "build", "--queries", tmp_path / name, "--out", tmp_path / "p.parquet", code=2)
        assert says in result.output
    (tmp_path / "q.txt").write_text("a\n", encoding="utf-8")
    for out, says in (
        ("there.parquet", "exists already"),
        ("p.txt", ".parquet"),
        ("no/where/p.parquet", "Cannot write"),
    ):
        result = hubbub("pool", "build", "--queries", tmp_path / "q.txt", "--out", tmp_path / out, code=2)
        assert says in result.output
    assert (tmp_path / "there.parquet").read_text() == "mine"
    assert not list(tmp_path.glob(".*partial*"))


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> object:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(resources, "files", missing)
    with pytest.raises(InputError, match=r"pip install wordsegment"):
        pool.build(tmp_path / "p.parquet")
