"""`hubbub card --check`: what a forger may change, with every hash computed again, and what is noticed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import RELEASE, Hubbub
from tests.unit.card.forging import Change, broken, edit, read, write

from hubbub.card import check
from hubbub.errors import InputError
from hubbub.release.opened import Release


def test_a_forged_claim_is_named(released: Path) -> None:
    """The forgeries of the review: words rewritten, hashes computed again."""
    forgeries: list[tuple[str, Change]] = [
        ("claim", lambda c: c["claim"].update(sentence="This release is anonymous.")),
        ("claim", lambda c: c["claim"].update(conditions=[])),
        ("claim", lambda c: c["claim"]["also_holds_as"].append({"definition": "pure", "how": "trust us"})),
        ("bounding", lambda c: c["bounding"][0].update(limit=1)),
        ("unit", lambda c: c["unit"].update(means="a person, whatever accounts she has", not_protected=[])),
        ("accuracy", lambda c: c["accuracy"].update(spurious_rows="exact counts")),
        ("hazards", lambda c: c["hazards"].clear()),
        ("checks", lambda c: c["checks"].update(reviewed_by=["a great authority"])),
        ("data_dependent_choices", lambda c: c["data_dependent_choices"][0].update(note="none whatsoever")),
        ("mechanism", lambda c: c["mechanism"]["claimed"].update(by="everybody")),
    ]
    original = read(released)
    for section, change in forgeries:
        edit(released, change)
        assert f"{section}: every word and number follows" in broken(released), section
        write(released, original)
    assert broken(released) == []


@pytest.mark.parametrize("page", ["index.html", "README.md"])
def test_a_forged_page_is_noticed(released: Path, page: str) -> None:
    path = released / "public" / page
    path.write_text(path.read_text(encoding="utf-8").replace("at most a factor", "by no factor"), encoding="utf-8")
    edit(released, lambda card: None)
    assert broken(released) == [f"{page} says what the card says"]


@pytest.mark.parametrize("field", ["software", "python"])
def test_a_version_is_no_place_for_words(released: Path, field: str) -> None:
    edit(released, lambda card: card["implementation"].update({field: "hubbub 9, certified by everybody"}))
    assert "the card can be made again from its parameters and facts" in broken(released)


def claim_less(card: Any) -> None:
    card["claim"]["epsilon"] = 0.5


def move_step(card: Any) -> None:
    card["steps"][0]["threshold"] = 3


def move_step_and_claim(card: Any) -> None:
    card["steps"][0]["scale"] = "30"
    card["steps"][0]["epsilon"] = card["claim"]["epsilon"] = card["accounting"]["total_epsilon"] = 0.1


def more_bound(card: Any) -> None:
    card["steps"][0]["sensitivity"]["l0"] = 1


def rename_noise(card: Any) -> None:
    card["steps"][0]["noise"] = "something else"


def other_parameter(card: Any) -> None:
    card["mechanism"]["parameters"]["d"] = "1"


def parameter_of_another_kind(card: Any) -> None:
    card["mechanism"]["parameters"]["variant"] = "strict"


def seeded(card: Any) -> None:
    card["implementation"]["randomness"]["seeded"] = True


def no_epsilon(card: Any) -> None:
    card["claim"]["epsilon"] = None


def new_field(card: Any) -> None:
    card["surprise"] = 1


def no_day(card: Any) -> None:
    card["release"]["published"] = "soon"


def newer(card: Any) -> None:
    card["card_version"] = "1.9"


@pytest.mark.parametrize("reseal", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        claim_less,
        move_step,
        move_step_and_claim,
        more_bound,
        rename_noise,
        other_parameter,
        parameter_of_another_kind,
        seeded,
        no_epsilon,
        new_field,
        no_day,
        newer,
    ],
)
def test_changing_a_number_or_step_breaks_the_check(released: Path, change: Change, reseal: bool) -> None:
    edit(released, change, reseal=reseal)
    assert broken(released)


def test_any_edit_breaks_the_cards_own_hash(released: Path) -> None:
    edit(released, lambda card: card["release"].update(region="Elsewhere"), reseal=False)
    assert broken(released) == ["the card is as it was written", "index.html says what the card says"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_what_is_no_number_cannot_be_read(released: Path, number: str) -> None:
    path = released / "public" / "card.json"
    path.write_text(path.read_text().replace('"max_rejects": 0.05', f'"max_rejects": {number}'))
    with pytest.raises(InputError, match="cannot be read"):
        check(released)


def test_changing_a_row_breaks_the_check(released: Path) -> None:
    path = released / "public" / "queries.parquet"
    rows = pq.read_table(path)
    users = [u + 1 for u in rows.column("users").to_pylist()]
    pq.write_table(rows.set_column(1, "users", pa.array(users)), path)
    assert broken(released) == ["queries.parquet has its hash", "index.html says what the card says"]


def test_a_missing_or_added_file_breaks_the_check(released: Path) -> None:
    (released / "public" / "extra.txt").write_text("hello")
    assert broken(released) == ["public/ holds the listed files and no other"]
    (released / "public" / "extra.txt").unlink()
    (released / "public" / "queries.parquet").unlink()
    assert broken(released) == [
        "public/ holds the listed files and no other",
        "the pages can be made again from the card and the tables",
    ]


def test_a_listed_file_of_ones_own_breaks_the_check(released: Path) -> None:
    (released / "public" / "extra.txt").write_text("hello")
    edit(released, lambda card: card["release"]["files"].append({"path": "extra.txt", "sha256": ""}))
    assert broken(released) == ["release: every word and number follows"]


def test_the_public_folder_checks_by_itself(released: Path, tmp_path: Path) -> None:
    shutil.copytree(released / "public", tmp_path / "published")
    assert broken(tmp_path / "published") == []


def test_a_seeded_release_checks(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", "--seed", "1", "--not-private")
    assert broken(tmp_path / "out") == []
    edit(tmp_path / "out", lambda card: card["mechanism"].update(private=True, stamp=None))
    assert broken(tmp_path / "out")


@pytest.mark.parametrize("command", [("report",), ("export", "--to", "tsv", "--out", "exported")])
def test_a_card_of_another_version_is_told_as_such(
    hubbub: Hubbub, released: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    edit(released, lambda card: card["accounting"]["ledger"].pop("stands_on"))
    name, *rest = command
    said = hubbub(name, released, *rest, code=2).stderr
    assert "accounting.ledger.stands_on" in said
    with pytest.raises(InputError, match="version that wrote it"):
        Release(released)
