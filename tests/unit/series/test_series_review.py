"""A draft of a period of a series: what is struck is in no file and does not come back; nothing is drawn again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub, document
from tests.series_made_up import Row, asked, log_of, seeded

from hubbub.card.check import check, load, parsed
from hubbub.card.schema import Card
from hubbub.errors import InputError, OutputError, ParameterError, Refused
from hubbub.noise import SeededNoise
from hubbub.privacy.ledger import Ledger
from hubbub.release.review import Strike, Strikes, approve
from hubbub.series import SeriesPeriod, add, end, fix, published, show
from hubbub.series.reviewed import approve_drawn
from hubbub.series.state import alone
from hubbub.series.struck import allow, earlier_strikes

JANE = Strikes((Strike("queries", "jane doe", "", "a person"),))


def year() -> list[Row]:
    """Three queries of everybody in every period: one that names a person, and one that reads like a period."""
    return [row for p in range(3) for text in ("weather", "jane doe", "2020-01") for row in asked(range(80), text, p)]


@pytest.fixture(scope="module")
def drafted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A series whose first period is a draft, and its ledger."""
    place = tmp_path_factory.mktemp("drafted")
    with Ledger(place / "book.sqlite") as book:
        fix(seeded(tables=("queries", "keywords"), epsilon=60, delta="0.1"), place / "s", book, new_population=True)
        run(place, book, review=True)
    return place


@pytest.fixture
def place(drafted_once: Path, tmp_path: Path) -> Path:
    """The same, of the test's own."""
    shutil.copytree(drafted_once, tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture
def book(place: Path) -> Iterator[Ledger]:
    with Ledger(place / "book.sqlite") as opened:
        yield opened


def run(place: Path, book: Ledger, **how: bool) -> SeriesPeriod:
    with log_of(place, year()) as log:
        return add(place / "s", log, book, **how)  # type: ignore[arg-type]


def card_of(release: Path) -> Card:
    return parsed(load(release, draft=True))


def approved(place: Path, book: Ledger, label: str = "2020-01", strikes: Strikes = JANE) -> list[dict[str, object]]:
    release = place / "s" / label
    return approve_drawn(release, card_of(release), strikes, "The officer", None, book).struck


def public_texts(folder: Path) -> str:
    """Every text in every file that may be uploaded, tables included."""
    found = []
    for path in (path for path in folder.rglob("*") if "owner-only" not in path.parts and path.is_file()):
        table = path.suffix == ".parquet"
        found.append(json.dumps(pq.read_table(path).to_pylist()) if table else path.read_text(encoding="utf-8"))
    return "\n".join(found)


def rows(folder: Path) -> dict[str, object]:
    return {row["query"]: row for row in pq.read_table(folder / "queries.parquet").to_pylist()}


def test_a_draft_is_not_public_and_the_next_period_waits(place: Path, book: Ledger) -> None:
    draft = place / "s/2020-01/draft"
    assert draft.stat().st_mode & 0o077 == 0 and not list(draft.glob("*.html"))
    assert not (place / "s/2020-01/public").exists() and not (place / "s/public").exists()
    assert published(place / "s") == [] and show(place / "s", book).draft == "2020-01"
    assert rows(draft).keys() == {"weather", "jane doe", "2020-01"}
    assert [finding for finding in check(place / "s/2020-01", draft=True) if not finding.holds] == []
    before = book.outputs()
    with pytest.raises(Refused, match="a draft that nobody has approved"):
        run(place, book)
    assert add(place / "s", None, book, period="2020-01").draft and book.outputs() == before


def test_what_is_struck_is_in_no_file_and_does_not_come_back(place: Path, book: Ledger) -> None:
    """The other rows have the numbers of the draft; the next period is a draft by itself, and keeps to the strikes."""
    drawn = rows(place / "s/2020-01/draft")
    assert approved(place, book) == [{"table": "queries", "rows": 1, "by": "by hand", "reason": "a person"}]
    assert rows(place / "s/2020-01/public") == {key: row for key, row in drawn.items() if key != "jane doe"}
    assert published(place / "s") == ["2020-01"] and show(place / "s", book).draft is None
    made = run(place, book)
    assert made.draft and "jane doe" in rows(place / "s/2020-02/draft"), "drawn, and shown to the reviewer"
    review = {"table": "queries", "rows": 1, "by": "review of 2020-01", "reason": "a person"}
    assert approved(place, book, "2020-02", Strikes()) == [review]
    for label in published(place / "s"):
        assert [finding for finding in check(place / "s" / label) if not finding.holds] == []
        card = card_of(place / "s" / label)
        assert card.release.review is not None and card.release.review.by == "The officer"
    said = public_texts(place / "s")
    assert "jane doe" not in said and "weather" in said
    assert {"index.html", "series.parquet", "series.csv", "feed.xml"} <= {
        p.name for p in (place / "s/public").iterdir()
    }


def test_a_text_that_reads_like_a_period_takes_no_other_row(place: Path, book: Ledger) -> None:
    approved(place, book, strikes=Strikes((Strike("queries", "2020-01", "", "no query"),)))
    assert rows(place / "s/2020-01/public").keys() == {"weather", "jane doe"}


def test_allowed_again_it_comes_back_with_the_next_period(place: Path, book: Ledger) -> None:
    approved(place, book)
    run(place, book)
    assert allow(place / "s", book, "jane doe") == 1
    with pytest.raises(InputError, match="Nothing of this name"):
        allow(place / "s", book, "jane doe")
    assert approved(place, book, "2020-02", Strikes()) == []
    assert "jane doe" in rows(place / "s/2020-02/public") and "jane doe" not in rows(place / "s/2020-01/public")
    assert not run(place, book).draft, "nothing is struck, and no review was asked for"


def test_struck_later_it_goes_from_the_index_at_once(place: Path, book: Ledger) -> None:
    """A period that stands can be reviewed, too: it gets a successor in its place."""
    approved(place, book, strikes=Strikes())
    first = card_of(place / "s/2020-01")
    assert "jane doe" in (place / "s/public/series.csv").read_text(encoding="utf-8")
    run(place, book, review=True)
    approved(place, book, "2020-02")
    assert "jane doe" not in public_texts(place / "s/public")
    assert "jane doe" in rows(place / "s/2020-01/public"), "what was published stands until it is reviewed"
    approved(place, book)
    later = card_of(place / "s/2020-01")
    assert later.release.supersedes is not None and later.release.supersedes.card == first.integrity
    assert "jane doe" not in public_texts(place / "s")
    with pytest.raises(ParameterError, match="stands already"):
        approved(place, book, strikes=Strikes())


def test_a_struck_table_is_gone_from_every_place(place: Path, book: Ledger) -> None:
    approved(place, book, strikes=Strikes())
    assert (place / "s/public/series-keywords.csv").exists()
    approved(place, book, strikes=Strikes((Strike("keywords", "", "", "too many names"),)))
    assert card_of(place / "s/2020-01").release.contains == ["queries"]
    assert not list((place / "s/public").glob("*keywords*"))


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("moves", range(-1, 4))
def test_killed_anywhere_nothing_is_lost_and_nothing_drawn(
    place: Path, book: Ledger, moves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the ledger hears of it, after that, around the move of the draft, in the index: at last the same bytes."""
    whole = shutil.copytree(place, place.with_name("whole"))
    with Ledger(whole / "book.sqlite") as other:
        approved(whole, other)
    left, real = [moves], {name: getattr(os, name) for name in ("replace", "rename")}

    def counted(name: str) -> Callable[..., None]:
        def moved(*given: object) -> None:
            if not left[0]:
                raise Killed
            left[0] -= 1
            real[name](*given)

        return moved

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(SeededNoise, "gaussian", None)
        for name in real:
            patch.setattr(os, name, counted(name))
        if moves < 0:
            left[0] = 0
            patch.setattr(Ledger, "released", counted("replace"))
        approved(place, book)
    if moves >= 0:
        assert not add(place / "s", None, book, period="2020-01").draft, "the review was booked: it stands"
    else:
        approved(place, book)
    tables = [{p.name: p.read_bytes() for p in (at / "s/2020-01/public").glob("*.parquet")} for at in (place, whole)]
    assert tables[0] == tables[1] and "jane doe" not in public_texts(place / "s")
    assert [key.key for key in earlier_strikes(place / "s").by_hand] == ["jane doe"]


def test_of_two_reviewers_one_is_told(place: Path, book: Ledger) -> None:
    release = place / "s/2020-01"
    card = card_of(release)
    with alone(place / "s/owner-only"), pytest.raises(OutputError, match="Another process"):
        approved(place, book)
    approved(place, book)
    with pytest.raises(Refused, match="approved already, meanwhile"):
        approve_drawn(release, card, Strikes(), "Another officer", None, book)


def test_only_in_its_place_and_by_its_own_ledger(place: Path, book: Ledger, tmp_path: Path) -> None:
    release = place / "s/2020-01"
    with pytest.raises(ParameterError, match="stands in its place"):
        approve_drawn(release, card_of(release), JANE, "The officer", tmp_path / "out", book)
    with pytest.raises(Refused, match="a period of a series"):
        approve(release, JANE, "The officer", tmp_path / "out", book)
    with Ledger(tmp_path / "other.sqlite") as other, pytest.raises(Refused, match="knows no such series"):
        approved(place, other)
    end(place / "s", book)
    approved(place, book)
    assert "jane doe" not in rows(release / "public"), "a series that has ended can still be approved"


@pytest.mark.slow
def test_from_the_command_line(hubbub: Hubbub, place: Path, tmp_path: Path) -> None:
    year, book = place / "s", ("--ledger", place / "book.sqlite")
    assert document(hubbub("series", "show", year, *book, "--json"))["draft"] == "2020-01"
    hubbub("review", year / "2020-01", *book, "--write", tmp_path / "review.tsv")
    with (tmp_path / "review.tsv").open("a", encoding="utf-8") as file:
        file.write("x\tqueries\tjane doe\t\ta person\n")
    strike = ("--strike", tmp_path / "review.tsv")
    said = hubbub("review", year / "2020-01", *book, *strike, "--approve", "--by", "The officer")
    assert "Approved by The officer" in said.stdout and not (year / "2020-01/draft").exists()
    assert "jane doe" in hubbub("series", "struck", year).stdout
    hubbub("card", year / "2020-01", "--check")
    again = hubbub("review", year / "2020-01", *book, *strike, "--approve", "--by", "The officer", code=2)
    assert "of another release" in again.stderr
    assert "1 strike taken back" in hubbub("series", "struck", year, "--allow", "jane doe", *book).stdout
    assert "Nothing is struck" in hubbub("series", "struck", year).stdout
