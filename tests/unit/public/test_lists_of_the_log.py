"""Lists and priors that were made from the log, refused where it can be known: files, metadata, the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub

from hubbub.errors import Refused
from hubbub.public.lists import ReleaseOrigin, pool_metadata, read_list, read_pool, read_prior
from hubbub.release.opened import Release

pytestmark = pytest.mark.usefixtures("no_report")

OPTIONS = ("--mechanism", "crowd", "--epsilon", "4", "--delta", "1e-4", "--format", "aol", "--tables", "queries")
ROWS = "query\tweight\nweather\t5\n"


@pytest.fixture
def first(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> Path:
    hubbub("release", log_file, *OPTIONS, "--language", "none", "--out", tmp_path / "first")
    return tmp_path / "first"


def weighed(release: Path, path: Path) -> Path:
    """The queries of a release with its counts as weights, as a careful owner might write them down."""
    queries = Release(release).queries.to_arrow().sort_by([("query", "descending")])
    rows = zip(queries.column("query").to_pylist(), queries.column("users").to_pylist(), strict=True)
    path.write_text("query\tweight\n" + "".join(f"{q.upper()}\t{min(1000, max(1, n))}\n" for q, n in rows))
    return path


def test_a_prior_that_holds_a_release_is_refused(hubbub: Hubbub, log_file: Path, first: Path, tmp_path: Path) -> None:
    prior = ("--prior", weighed(first, tmp_path / "prior.tsv"), "--out", tmp_path / "x")
    said = hubbub("release", log_file, *OPTIONS, *prior, code=2).stderr
    assert "This prior holds the queries of an earlier release" in said and "default-r1 of default" in said
    assert "--previous" in said
    others = ("--population", "others", "--new-population", "--other-people")
    said = hubbub("release", log_file, *OPTIONS, *prior, *others, code=2).stderr
    assert "default-r1 of default" in said, "whoever the next release is about"
    assert not (tmp_path / "x").exists()


def test_a_prior_of_other_queries_is_taken(hubbub: Hubbub, log_file: Path, first: Path, tmp_path: Path) -> None:
    more = weighed(first, tmp_path / "prior.tsv")
    more.write_text(more.read_text() + "somewhere else\t7\n")
    hubbub("release", log_file, *OPTIONS, "--prior", more, "--out", tmp_path / "x")
    card = json.loads((tmp_path / "x" / "public" / "card.json").read_text())
    assert "The owner's weights of queries must not have been learned from this log." in card["claim"]["conditions"]


@pytest.mark.parametrize("reader", [read_list, read_pool, read_prior])
@pytest.mark.parametrize("below", [".", "tables"])
def test_a_file_among_copies_of_a_raw_log_is_refused(
    tmp_path: Path, reader: Callable[[Path], object], below: str
) -> None:
    inside = tmp_path / "owner-only" / below
    inside.mkdir(parents=True)
    (tmp_path / "owner-only" / "NOT-PRIVATE.txt").write_text("DO NOT PUBLISH")
    (inside / "list.tsv").write_text(ROWS)
    with pytest.raises(Refused, match="made from a raw log"):
        reader(inside / "list.tsv")
    (tmp_path / "list.tsv").write_text(ROWS)
    reader(tmp_path / "list.tsv")


def test_a_prior_that_says_it_is_of_a_release_is_refused(tmp_path: Path) -> None:
    made = pool_metadata("x", ReleaseOrigin("crowd", "strict", {}, "r1", "0" * 64))
    rows = pa.table({"query": ["a"], "weight": [1]}).replace_schema_metadata(made)
    pq.write_table(rows, tmp_path / "p.parquet")
    with pytest.raises(Refused, match="made from a release"):
        read_prior(tmp_path / "p.parquet")


@pytest.mark.parametrize("option", ["--public-list", "--prior"])
def test_the_log_itself_is_no_list(hubbub: Hubbub, log_file: Path, tmp_path: Path, option: str) -> None:
    link = tmp_path / "by-another-name.tsv"
    link.symlink_to(log_file)
    said = hubbub("release", log_file, *OPTIONS, option, link, "--out", tmp_path / "x", code=2).stderr
    assert "The log itself cannot be a public list" in said
