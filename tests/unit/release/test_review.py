"""Review: a draft is nothing to publish; what is struck is in no file of the new release; no noise is drawn again."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub, document
from tests.drafted import TABLES, make_draft

from hubbub.card.check import check, load
from hubbub.errors import Refused
from hubbub.files import lock
from hubbub.privacy.ledger import Ledger
from hubbub.release.opened import Release
from hubbub.release.review import Flags, Strike, Strikes, approve, flagged
from hubbub.release.review.flags import near_duplicates


@pytest.fixture(scope="module")
def drafted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A draft and its ledger, made once."""
    folder = tmp_path_factory.mktemp("draft")
    make_draft(folder)
    return folder


@pytest.fixture
def draft(drafted_once: Path, own_ledger: Path, tmp_path: Path) -> Path:
    """The draft, of the test's own."""
    shutil.copytree(drafted_once / "draft", tmp_path / "draft")
    shutil.copy(drafted_once / "ledger.sqlite", own_ledger)
    return tmp_path / "draft"


def texts_in(folder: Path) -> str:
    """Every text in every file of a folder, tables included."""
    found = []
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            found.append(json.dumps(pq.read_table(path).to_pylist(), default=str))
        elif path.is_file():
            found.append(path.read_text(encoding="utf-8"))
    return "\n".join(found)


def struck_file(hubbub: Hubbub, draft: Path, file: Path, *marks: str) -> Path:
    """A review file of the draft, with lines of ours."""
    hubbub("review", draft, "--write", file)
    with file.open("a", encoding="utf-8") as text:
        text.writelines(f"x\t{mark}\n" for mark in marks)
    return file


def test_a_draft_is_not_public_and_nothing_can_be_made_of_it(hubbub: Hubbub, draft: Path, tmp_path: Path) -> None:
    assert not (draft / "public").exists() and not list((draft / "draft").glob("*.html"))
    assert (draft / "draft").stat().st_mode & 0o077 == 0
    with Ledger() as book:
        assert book.entries()[0].state == "draft" and book.spent("default").releases == 1
    card = json.loads((draft / "draft" / "card.json").read_text(encoding="utf-8"))
    assert card["release"]["draft"] is True and any("DRAFT" in words for words in card["claim"]["conditions"])
    for place in (draft, draft / "draft"):
        said = hubbub("export", place, "--to", "tsv", "--out", tmp_path / "tsv", code=2)
        assert "draft" in said.stderr and "hubbub review" in said.stderr
    assert "draft" in hubbub("card", draft, "--check", code=2).stderr
    assert [finding for finding in check(draft, draft=True) if not finding.holds] == []
    assert (draft / "owner-only" / "report.html").is_file()


def test_rows_are_flagged_with_reasons(hubbub: Hubbub, draft: Path) -> None:
    rows = document(hubbub("review", draft, "--json"))["rows"]
    flags = {row["key"]: row["flags"] for row in rows if row["table"] == "queries"}  # type: ignore[attr-defined]
    assert flags["call 212-555-0123"] == ["rule telephone"]
    assert flags["divorce lawyer"] == ["topic family"]
    assert flags["jane doe"] == ["name", "near janedoe"] and flags["janedoe"] == ["near jane doe"]
    assert "weather" not in flags
    assert {row["table"] for row in rows} == {"queries", "clicks", "transitions"}  # type: ignore[attr-defined]


def test_what_is_struck_is_in_no_file_and_the_rest_is_as_it_was_drawn(
    hubbub: Hubbub, draft: Path, tmp_path: Path
) -> None:
    """A struck query goes from later tables, too; numbers of other rows are those of the draft."""
    file = struck_file(
        hubbub, draft, tmp_path / "review.tsv", "queries\tjane doe\t\ta person", "queries\tjanedoe\t\ta person"
    )
    before = {
        table: Release(draft / "draft").__getattr__(table).to_arrow().to_pylist() for table in TABLES[1].split(",")
    }
    said = hubbub("review", draft, "--strike", file)
    assert "2 of queries, by hand: a person" in said.stdout and "Nothing was written" in said.stdout
    out = tmp_path / "out"
    hubbub(
        "review",
        draft,
        "--strike",
        file,
        "--strike-rules",
        "telephone",
        "--approve",
        "--by",
        "An Officer",
        "--out",
        out,
    )
    texts = texts_in(out)
    assert "jane" not in texts and "212-555-0123" not in texts and "weather" in texts
    after = {table: Release(out).__getattr__(table).to_arrow().to_pylist() for table in before}
    for table, rows in before.items():
        assert after[table] == [row for row in rows if "jane" not in str(row) and "212" not in str(row)]
        assert len(after[table]) < len(rows)
    assert [finding for finding in check(out) if not finding.holds] == []
    review = load(out)["release"]["review"]  # type: ignore[index]
    assert review["by"] == "An Officer" and review["revision"] == 1
    assert {(one["table"], one["rows"], one["by"]) for one in review["struck"]} >= {
        ("queries", 1, "rule telephone"),
        ("queries", 2, "by hand"),
    }
    assert "draft" not in load(out)["release"]  # type: ignore[operator]
    page = (out / "public" / "index.html").read_text(encoding="utf-8")
    assert "struck what should not be published" in page
    with Ledger() as book:
        assert [entry.state for entry in book.entries()] == ["committed"]
    assert (
        "approved already" in hubbub("review", draft, "--approve", "--by", "B", "--out", tmp_path / "b", code=2).stderr
    )
    hubbub("export", out, "--to", "tsv", "--out", tmp_path / "tsv")
    assert "jane" not in texts_in(tmp_path / "tsv")


def test_a_published_release_gets_a_successor_and_they_point_to_each_other(
    hubbub: Hubbub, draft: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    hubbub("review", draft, "--approve", "--by", "An Officer", "--out", first)
    file = struck_file(hubbub, first, tmp_path / "review.tsv", "clicks\t\t\tno clicks, please")
    hubbub("review", first, "--strike", file, "--approve", "--by", "Another", "--out", second)
    assert Release(second).tables == ("queries", "transitions") and not (second / "public" / "clicks.parquet").exists()
    card, old = load(second), load(first)
    assert card["release"]["id"] == old["release"]["id"] + ".2"  # type: ignore[index]
    assert card["release"]["supersedes"]["card"] == old["integrity"]  # type: ignore[index]
    assert [finding for finding in check(second) if not finding.holds] == []
    stands = next(finding for finding in check(first) if finding.what == "the release stands")
    assert stands.holds and str(card["release"]["id"]) in stands.seen  # type: ignore[index]
    assert "stands already" in hubbub("review", second, "--approve", "--by", "C", code=2).stderr


def test_a_pair_is_struck_alone(draft: Path) -> None:
    rows = {"clicks": pa.table({"query": ["a", "a"], "url": ["x", "y"], "users": [5, 4], "noise_sd": [1.0, 1.0]})}
    left, struck = Strikes((Strike("clicks", "a", "y", "why"),)).left(rows)
    assert left["clicks"].column("url").to_pylist() == ["x"]
    assert struck == [{"table": "clicks", "rows": 1, "by": "by hand", "reason": "why"}]
    sessions = {"sessions": pa.table({"queries": [["a", "b"], ["c"]], "users": [5, 4], "noise_sd": [1.0, 1.0]})}
    left, _ = Strikes((Strike("sessions", "a → b", "", "why"),)).left(sessions)
    assert left["sessions"].column("queries").to_pylist() == [["c"]]
    left, _ = Strikes((Strike("queries", "c", "", "why"),)).left(sessions)
    assert left["sessions"].column("queries").to_pylist() == [["a", "b"]]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("queries\tno such query\t\twhy", "strikes nothing"),
        ("nowhere\tweather\t\twhy", "strikes nothing"),
        ("queries\tweather\t\t", "no reason"),
        ("clicks\tweather\thttp://other.example\twhy", "strikes nothing"),
    ],
)
def test_a_line_that_cannot_be_meant_is_refused(
    hubbub: Hubbub, draft: Path, tmp_path: Path, line: str, says: str
) -> None:
    file = struck_file(hubbub, draft, tmp_path / "review.tsv", line)
    said = hubbub("review", draft, "--strike", file, "--approve", "--by", "A", "--out", tmp_path / "out", code=2)
    assert says in said.stderr and not (tmp_path / "out").exists()


def test_a_review_file_of_another_release_is_refused(
    hubbub: Hubbub, draft: Path, released: Path, tmp_path: Path
) -> None:
    file = struck_file(hubbub, released, tmp_path / "review.tsv", "queries\tweather\t\twhy")
    assert "another release" in hubbub("review", draft, "--strike", file, code=2).stderr
    (tmp_path / "none.tsv").write_text("x\tqueries\tweather\t\twhy\n", encoding="utf-8")
    assert "names none" in hubbub("review", draft, "--strike", tmp_path / "none.tsv", code=2).stderr


def test_of_two_reviewers_at_once_one_is_refused(draft: Path, tmp_path: Path) -> None:
    with Ledger() as book:
        held = lock(draft / "draft")
        with pytest.raises(Refused, match="Somebody else"):
            approve(draft, Strikes(), "A", tmp_path / "a", book)
        os.close(held)
        assert book.entries()[0].state == "draft" and not (tmp_path / "a").exists()
        assert approve(draft, Strikes(), "B", tmp_path / "b", book).rows["queries"] > 0
        with pytest.raises(Refused, match="approved already"):
            approve(draft, Strikes(), "A", tmp_path / "a", book)


def test_a_review_needs_a_name_and_the_ledger_of_its_release(hubbub: Hubbub, draft: Path, tmp_path: Path) -> None:
    assert "--by NAME" in hubbub("review", draft, "--approve", code=2).stderr
    other = ("--approve", "--by", "A", "--ledger", tmp_path / "other.sqlite", "--out", tmp_path / "out")
    assert "does not know the release" in hubbub("review", draft, *other, code=2).stderr
    assert not (tmp_path / "out").exists()
    path = draft / "draft" / "queries.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    assert "not as it was written" in hubbub("review", draft, "--approve", "--by", "A", code=2).stderr


def test_near_duplicates_and_names_of_the_owners(tmp_path: Path) -> None:
    texts = [
        "new york hotels",
        "hotels new york",
        "newyork hotels",
        "mapquest",
        "mapqest",
        "mapkuest",
        "abc",
        "abd",
        "zebra",
    ]
    near = near_duplicates(texts)
    assert set(near) == set(texts) - {"abc", "abd", "zebra"}
    from hubbub.public.sensitive import person_names, topics

    (tmp_path / "names.txt").write_text("Ada Lovelace\n", encoding="utf-8")
    (tmp_path / "topics.txt").write_text("strikes: walkout\n", encoding="utf-8")
    flags = Flags(topic=topics(tmp_path / "topics.txt"), names=person_names(tmp_path / "names.txt"))
    rows = {
        "queries": pa.table(
            {"query": ["walkout", "ada lovelace bridge", "john map"], "users": [3, 2, 1], "noise_sd": [1.0] * 3}
        )
    }
    assert [row.flags for row in flagged(rows, flags)] == [("topic strikes",), ("name",), ("given name",)]


def test_killed_before_it_is_in_place_the_same_approval_goes_on(
    draft: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger has heard of it, and nobody has seen it: the same strikes make the same bytes; others are refused."""
    strikes, out = Strikes((Strike("queries", "jane doe", "", "a person"),)), tmp_path / "out"

    def ends(*given: object) -> None:
        raise KeyboardInterrupt

    with Ledger() as book:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(os, "rename", ends)
            approve(draft, strikes, "The officer", out, book)
        assert not out.exists() and book.entries()[0].state == "draft"
        booked = book.outputs()
        with pytest.raises(Refused, match="approved already"):
            approve(draft, Strikes(), "The officer", out, book)
        approve(draft, strikes, "The officer", out, book)
        assert book.outputs() == booked and book.entries()[0].state == "committed"
    assert [finding for finding in check(out) if not finding.holds] == []


def test_a_struck_text_takes_no_group_with_it() -> None:
    days = pa.table({"weekday": ["monday", "monday", "tuesday"], "query": ["a", "monday", "b"], "users": [3, 2, 1]})
    days = days.append_column("noise_sd", pa.array([1.0] * 3))
    tables = {"queries_by_weekday": days}
    left, _ = Strikes((Strike("queries", "monday", "", "ours"),)).left(tables)
    assert left["queries_by_weekday"].column("query").to_pylist() == ["a", "b"]
    flags = Flags(None, {"monday": "days"}, (frozenset(), frozenset(), frozenset()))
    assert [row.second for row in flagged(tables, flags)] == ["monday"]
