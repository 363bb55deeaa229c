"""A mistyped name opens no budget in silence: releases, caps, pages and reading, under a name that nobody knows."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RELEASE, Hubbub, document
from tests.ledgers import entry, write_first_version

import hubbub as package
from hubbub.errors import Refused
from hubbub.privacy.ledger import Ledger
from hubbub.release.plan import Plan
from hubbub.release.refusals import admit
from hubbub.release.story import run_admitted, run_release

KOROLOVA: dict[str, Any] = {"epsilon": 2, "delta": "1e-5", "d": 3}


@pytest.fixture
def known(own_ledger: Path) -> Path:
    """A ledger that knows two populations."""
    with Ledger() as book:
        book.cap("library", 9.0, 1e-3)
        book.cap("shop", 9.0, 1e-3)
    return own_ledger


def populations(path: Path) -> list[str]:
    with Ledger(path) as book:
        return book.populations()


def test_a_mistyped_name_is_refused_and_the_known_ones_named(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, known: Path
) -> None:
    out = ("--out", tmp_path / "out")
    said = hubbub("release", log_file, *RELEASE, *out, "--population", "Libary", code=2).stderr
    for part in ("'Libary'", "library, shop", "Did you mean library?", "--new-population"):
        assert part in said
    said = hubbub("release", log_file, *RELEASE, *out, code=2).stderr
    assert "'default'" in said and "Name one of those with --population" in said and "mean" not in said
    assert populations(known) == ["library", "shop"] and not (tmp_path / "out").exists()


def test_a_new_one_is_announced(hubbub: Hubbub, log_file: Path, tmp_path: Path, own_ledger: Path) -> None:
    """The first needs no word; the second does; the word stands in run.toml, and the run can be made again."""
    said = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "one", "--population", "library").stdout
    assert "library is new to the ledger" in said
    said = hubbub("release", log_file, *RELEASE, "--out", tmp_path / "two", "--population", "library").stdout
    assert "is new" not in said
    other = tmp_path / "other.tsv"
    other.write_text(log_file.read_text().replace("2006-", "2007-"))
    new = ("--population", "shop", "--new-population")
    said = hubbub("release", other, *RELEASE, "--out", tmp_path / "three", *new).stdout
    assert "shop is new to the ledger" in said
    config = tmp_path / "three" / "owner-only" / "run.toml"
    assert tomllib.loads(config.read_text())["new_population"] is True
    hubbub("release", "--config", config, "--out", tmp_path / "four")
    assert populations(own_ledger) == ["library", "shop"]
    with Ledger() as book:
        assert [e.population for e in book.entries()] == ["library", "library", "shop", "shop"]


def test_a_configuration_that_means_no_does_not_mean_yes(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, known: Path
) -> None:
    (tmp_path / "c.toml").write_text("new_population = false\n")
    options = ("--population", "x", "--config", tmp_path / "c.toml", "--out", tmp_path / "out")
    assert "--new-population" in hubbub("release", log_file, *RELEASE, *options, code=2).stderr
    (tmp_path / "c.toml").write_text('new_population = "no"\n')
    assert "true or false" in hubbub("release", log_file, *RELEASE, *options, code=2).stderr


def test_in_python(log_file: Path, tmp_path: Path, known: Path) -> None:
    mechanism = package.Korolova(**KOROLOVA)
    with package.read_log(log_file, format="aol") as log:
        with pytest.raises(Refused, match=r"library, shop"):
            package.release(log, mechanism, tmp_path / "out", population="libraries")
        package.release(log, mechanism, tmp_path / "out", population="libraries", new_population=True)
    assert populations(known) == ["libraries", "library", "shop"]


def test_show_and_cap(hubbub: Hubbub, known: Path) -> None:
    said = hubbub("ledger", "show", "shpo", code=2).stderr
    assert "library, shop" in said and "Did you mean shop?" in said
    shown = document(hubbub("ledger", "show", "shop", "--json"))
    assert [p["population"] for p in shown["populations"]] == ["shop"]  # type: ignore[attr-defined]
    cap = ("--epsilon", "1", "--delta", "1e-6")
    assert "Did you mean shop?" in hubbub("ledger", "cap", "shpo", *cap, code=2).stderr
    hubbub("ledger", "cap", "shpo", *cap, "--new-population")
    hubbub("ledger", "cap", "shop", *cap)
    assert populations(known) == ["library", "shop", "shpo"]


def test_looks_open_no_budget(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    hubbub("inspect", log_file, "--format", "aol", "--population", "libary")
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", "--population", "library")
    assert "Did you mean library?" in hubbub("ledger", "show", "libary", code=2).stderr


def test_an_old_ledger_knows_its_populations(hubbub: Hubbub, log_file: Path, tmp_path: Path, own_ledger: Path) -> None:
    write_first_version(own_ledger, {"entries": [entry("library")], "events": [{"entry": 1, "state": "committed"}]})
    before = own_ledger.read_bytes()
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out", "--population", "libary", code=2)
    assert own_ledger.read_bytes() == before


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("ledger", "show"), 0),
        (("ledger", "show", "somebody"), 2),
        (("ledger", "export"), 0),
        (("release", "LOG", *RELEASE, "--users-public", "100000", "--out", "OUT"), 2),
        (("release", "LOG", *RELEASE, "--seed", "1", "--out", "OUT"), 2),
        (("release", "nowhere", *RELEASE, "--out", "OUT"), 2),
        (("inspect", "nowhere", "--format", "aol"), 2),
        (("estimate", "--users", "1000", "--mechanism", "korolova", "--epsilon", "1", "--delta", "1e-6"), 0),
    ],
)
def test_reading_makes_no_ledger(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, own_ledger: Path, command: tuple[str, ...], code: int
) -> None:
    words = [{"LOG": log_file, "OUT": tmp_path / "out"}.get(word, word) for word in command]
    hubbub(*words, code=code)
    assert not own_ledger.exists() and not list(tmp_path.iterdir())


def test_asking_makes_no_ledger(tmp_path: Path) -> None:
    mechanism = package.Korolova(**KOROLOVA)
    with Ledger() as book:
        book.would_allow("library", mechanism.loss(), True)
        assert book.spent("library").epsilon == 0 and book.looks("a", "b") == [] and book.cap_of("a") is None
        assert book.export()["entries"] == []
    assert not list(tmp_path.iterdir())


def test_a_population_that_another_run_began_meanwhile_makes_this_one_a_second(log_file: Path, tmp_path: Path) -> None:
    mechanism = package.Korolova(**KOROLOVA)
    with Ledger() as book, package.read_log(log_file, format="aol") as log:
        late = admit(Plan(mechanism, tmp_path / "late", population="shop").drafted(), book)
        run_release(log, Plan(mechanism, tmp_path / "first", population="library", other_people=True), book)
        with pytest.raises(Refused, match="a new one is a new budget"):
            run_admitted(log, replace(late, plan=replace(late.plan, other_people=True)), book)
        assert book.populations() == ["library"] and not (tmp_path / "late").exists()
