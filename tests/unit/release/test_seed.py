"""A seed repeats a release exactly, and is never private; without one, no two releases are alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.conftest import RELEASE, Hubbub, document

from hubbub.card import check
from hubbub.card.schema import STAMP
from hubbub.privacy.ledger import Ledger

SEEDED = ("--seed", "7", "--not-private")
TABLES = ("--tables", "queries,clicks", "--set", "keep=random")


def run(hubbub: Hubbub, log: Path, folder: Path, *options: str, ledger: str = "ledger.sqlite") -> Path:
    out = folder / f"release-{len(list(folder.iterdir()))}"
    hubbub("release", log, *RELEASE, *TABLES, *options, "--out", out, "--ledger", folder / ledger)
    return out / "public"


def contents(public: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in public.iterdir()}


def card(public: Path) -> Any:
    return json.loads((public / "card.json").read_text())


@pytest.mark.slow
def test_a_seed_repeats_every_byte(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    first, second = (run(hubbub, log_file, tmp_path, *SEEDED, ledger=f"{n}.sqlite") for n in "ab")
    assert contents(first) == contents(second)
    third = run(hubbub, log_file, tmp_path, *SEEDED, ledger="a.sqlite")
    differ = {name for name, data in contents(third).items() if data != contents(first)[name]}
    assert "queries.parquet" not in differ
    assert "clicks.parquet" not in differ
    cards = card(first), card(third)
    for one in cards:
        del one["integrity"], one["release"]["id"], one["accounting"], one["release"]["files"]
        del one["data_dependent_choices"]  # the first release was a look at the log
    assert cards[0] == cards[1], "only its place in the ledger tells one from the other"
    other = run(hubbub, log_file, tmp_path, "--seed", "8", "--not-private", ledger="b.sqlite")
    assert contents(other)["queries.parquet"] != contents(first)["queries.parquet"]


def test_a_seeded_release_is_stamped_everywhere(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    public = run(hubbub, log_file, tmp_path, *SEEDED)
    assert card(public)["mechanism"]["stamp"] == STAMP
    assert card(public)["mechanism"]["private"] is False
    assert card(public)["claim"]["epsilon"] is None
    assert card(public)["implementation"]["randomness"]["seeded"] is True
    for page in ("index.html", "README.md"):
        assert STAMP in (public / page).read_text(encoding="utf-8")
    assert all(finding.holds for finding in check(public.parent))


def test_the_ledger_never_forgets_a_seeded_release(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    book = tmp_path / "ledger.sqlite"
    run(hubbub, log_file, tmp_path, *SEEDED)
    with Ledger(book) as ledger:
        assert ledger.spent("default").epsilon == float("inf")
    assert "ε = ∞" in hubbub("ledger", "show", "--ledger", book).stdout
    shown: Any = document(hubbub("ledger", "show", "--ledger", book, "--json"))
    assert shown["populations"][0]["epsilon"] is None
    assert shown["entries"][0]["private"] is False
    hubbub("ledger", "cap", "default", "--epsilon", "100", "--delta", "0.01", "--ledger", book)
    refused = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "late", "--ledger", book, code=2)
    assert "NOT PRIVATE, so the total is infinite already" in refused.stderr
    assert not (tmp_path / "late").exists()


@pytest.mark.parametrize("seed", ["0", "7"])
def test_a_seed_alone_is_refused(hubbub: Hubbub, log_file: Path, tmp_path: Path, seed: str) -> None:
    result = hubbub("release", log_file, *RELEASE, "--seed", seed, "--out", tmp_path / "out", code=2)
    assert "--not-private" in result.stderr
    assert list(tmp_path.iterdir()) == [], "refused before anything was opened"


@pytest.mark.slow
def test_without_a_seed_no_two_releases_are_alike(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    """Three noisy counts of scale 3/2 agree by chance once in a few hundred: five releases never all do."""
    publics = [run(hubbub, log_file, tmp_path) for _ in range(5)]
    values = {tuple(sorted(map(str, pq.read_table(public / "queries.parquet").to_pylist()))) for public in publics}
    assert len(values) > 1
    assert not any(STAMP in (public / "README.md").read_text(encoding="utf-8") for public in publics)
    assert all(card(public)["mechanism"]["stamp"] is None for public in publics)


def test_not_private_changes_nothing_for_a_private_release(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    public = run(hubbub, log_file, tmp_path, "--not-private")
    assert card(public)["mechanism"]["private"] is True
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.spent("default").epsilon == 2
