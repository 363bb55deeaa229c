"""The budget book's rules: what counts, what is refused, what is remembered."""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests import ledgers

from hubbub.errors import LedgerError, OurBug, OverBudget, ParameterError
from hubbub.privacy.account import DiscreteLaplace, Gaussian, Generic, Loss, Pure
from hubbub.privacy.ledger import TABLES, Entry, Ledger, Spent, default_path

ONE = Loss(1.0, 0.0, (Pure(Fraction(1)),), tv=0.0)
CROWD = Loss(1.0, 1e-6, (Gaussian(Fraction("0.0551572795")),), tv=2.88193e-7 + 1.5e-7)
NOTHING = Loss(math.inf, 1.0, (), tv=0.0)


def spend(book: Ledger, loss: Loss = ONE, **stated: Any) -> Entry:
    return ledgers.spend(book, loss, parameters={"D": 100, "scale": Fraction(1, 3), "most": math.inf}, **stated)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def test_a_new_ledger_is_private_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger.sqlite"
    with Ledger(path) as book:
        assert book.entries() == [] and not book.exists and not path.parent.exists()
        book.looked("default", "default", "inspect")
        assert book.exists
        assert (path.parent.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)
        assert [p.name for p in path.parent.iterdir()] == ["ledger.sqlite"]
    with Ledger(path) as book:
        assert book.exists
        assert book.entries() == []
        assert book.spent("default") == Spent(0.0, 0.0, 0.0, 0.0, 0, 0, 0.0, 0.0)


def test_where_it_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HUBBUB_LEDGER", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("sys.platform", "linux")
    assert default_path() == tmp_path / "data" / "hubbub" / "ledger.sqlite"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert default_path() == tmp_path / ".local" / "share" / "hubbub" / "ledger.sqlite"
    monkeypatch.setattr("sys.platform", "darwin")
    assert default_path() == tmp_path / "Library" / "Application Support" / "hubbub" / "ledger.sqlite"
    monkeypatch.setenv("HUBBUB_LEDGER", "~/elsewhere.sqlite")
    with Ledger() as book:
        assert book.path == tmp_path.resolve() / "elsewhere.sqlite"


def test_an_entry_is_remembered_exactly(path: Path) -> None:
    loss = Loss(
        epsilon=0.1 + 0.2,
        delta=1e-6,
        atoms=(
            Gaussian(Fraction(10**40 + 1, 3**70)),
            DiscreteLaplace(Fraction(22, 7), 50),
            Pure(Fraction(1, 3)),
            Generic(Fraction(1, 7), Decimal("1.00000000000000000000000000000000000001e-7")),
        ),
        tv=5e-324,
    )
    with Ledger(path) as book:
        made = spend(book, loss, population="users of the library", dataset="März 2026", fingerprint="ab")
    with Ledger(path) as book:
        (read,) = book.entries()
    assert read == made
    assert read.loss == loss
    assert read.parameters == {"D": 100, "scale": "1/3", "most": "Infinity"}
    assert (read.state, read.private, read.time[-6:]) == ("reserved", True, "+00:00")


def test_a_draft_is_spent_and_is_committed_once(path: Path) -> None:
    with Ledger(path) as book:
        entry = spend(book)
        with pytest.raises(OurBug, match="draft"):
            book.drafted(entry)
        book.drawing(entry)
        book.drafted(entry)
        assert book.entries()[0].state == "draft" and book.spent(entry.population).releases == 1
        with pytest.raises(OurBug, match="draft"):
            book.drafted(entry)
        book.committed(entry)
        for step in (book.drafted, book.committed):
            with pytest.raises(OurBug):
                step(entry)


def test_states_go_one_way(path: Path) -> None:
    with Ledger(path) as book:
        entry = spend(book)
        with pytest.raises(OurBug, match="committed"):
            book.committed(entry)
        book.drawing(entry)
        assert book.entries()[0].state == "drawing"
        with pytest.raises(OurBug, match="drawing"):
            book.drawing(entry)
        book.committed(entry)
        assert book.entries()[0].state == "committed"
        for step in (book.drawing, book.committed):
            with pytest.raises(OurBug):
                step(entry)


def test_equality_with_the_cap_passes_and_one_more_does_not(path: Path) -> None:
    with Ledger(path) as book:
        assert book.cap("default", 2.0, 0.0) is None
        spend(book, dataset="May")
        book.would_allow("default", ONE, True)
        spend(book, dataset="June")  # budgets add over the data sets of a population
        with pytest.raises(OverBudget) as refused:
            spend(book, dataset="July")
        said = (
            "ε = 1, δ = 0",
            "ε = 2 at δ = 0",
            "spent so far: ε = 2 at δ = 0 in 2",
            "left: ε = 0 at δ = 0",
            "ledger cap default",
        )
        for part in said:
            assert part in str(refused.value)
        with pytest.raises(OverBudget):
            book.would_allow("default", ONE, True)
        spend(book, population="others")
        assert len(book.entries()) == 3
        assert book.spent("default").epsilon == 2.0


def test_there_is_no_cap_unless_set(path: Path) -> None:
    with Ledger(path) as book:
        assert book.cap_of("default") is None
        for _ in range(5):
            spend(book)
        assert book.spent("default") == Spent(5.0, 0.0, 5.0, 0.0, 5, 0, 5.0, 0.0)


def test_two_totals_so_far_and_as_if_decided_in_advance(path: Path) -> None:
    with Ledger(path) as book:
        book.cap("default", 1.5, 2e-6)
        spend(book, CROWD)
        spend(book, CROWD)  # 2.0 by adding, 1.43 composed
        spent = book.spent("default")
        assert spent.advance_epsilon == pytest.approx(1.4339, abs=1e-4)
        assert spent.epsilon > spent.advance_epsilon, "whoever looks at outputs pays for it"
        assert (spent.advance_delta, spent.basic_epsilon, spent.basic_delta, spent.releases) == (2e-6, 2.0, 2e-6, 2)
        assert book.spent("default", 1e-3).advance_epsilon < spent.advance_epsilon
        with pytest.raises(OverBudget, match="left: "):
            book.would_allow("default", Loss(0.01, 2e-6, (), tv=0.0), True)


def test_a_lower_cap_is_allowed_and_says_so(path: Path) -> None:
    with Ledger(path) as book:
        spend(book)
        assert book.cap("default", 1.0, 0.0) is None
        said = book.cap("default", 0.5, 0.0)
        assert said is not None and "has spent ε = 1" in said
        assert book.spent("default").epsilon == 1.0
        with pytest.raises(OverBudget):
            spend(book, Loss(0.1, 0.0, (), tv=0.0))
        book.cap("default", 3.0, 0.0)
        spend(book)


def test_not_private_voids_the_total(path: Path) -> None:
    with Ledger(path) as book:
        book.cap("default", 5.0, 1e-6)
        spend(book)
        spend(book, NOTHING, private=False)  # the owner's choice: recorded, not refused
        spent = book.spent("default")
        assert (spent.epsilon, spent.basic_epsilon, spent.releases, spent.not_private) == (math.inf, math.inf, 2, 1)
        with pytest.raises(OverBudget, match=r"entry 2 of .* is NOT PRIVATE"):
            spend(book)
        spend(book, ONE, private=False)
        assert "ε = ∞" in (book.cap("default", 9.0, 1e-6) or "")
        assert book.spent("others").epsilon == 0.0


def test_without_a_cap_private_releases_go_on_after_not_private(path: Path) -> None:
    with Ledger(path) as book:
        spend(book, NOTHING, private=False)
        spend(book)
        assert book.spent("default").epsilon == math.inf


@pytest.mark.parametrize("loss", [NOTHING, Loss(1.0, 1.0, (), 0.0), Loss(-1.0, 0.0, (), 0.0), Loss(1.0, 0.0, (), 2.0)])
def test_what_is_not_private_cannot_be_called_private(path: Path, loss: Loss) -> None:
    with Ledger(path) as book:
        with pytest.raises(OurBug):
            spend(book, loss)
        assert book.entries() == []


@pytest.mark.parametrize("name", ["", " default", "default\n", "a\x00b"])
def test_names_that_hide_a_second_budget(path: Path, name: str) -> None:
    with Ledger(path) as book:
        for call in (
            lambda: spend(book, population=name),
            lambda: spend(book, dataset=name),
            lambda: book.cap(name, 1.0, 0.0),
            lambda: book.looked(name, "default", "inspect"),
        ):
            with pytest.raises(ParameterError, match="name"):
                call()


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (math.inf, 0.0), (math.nan, 0.0), (1.0, 1.0), (1.0, -1e-9)])
def test_caps_out_of_range(path: Path, epsilon: float, delta: float) -> None:
    with Ledger(path) as book, pytest.raises(ParameterError):
        book.cap("default", epsilon, delta)


def test_looks(path: Path) -> None:
    with Ledger(path) as book:
        book.looked("default", "May", "inspect")
        book.looked("default", "May", "estimate")
        book.looked("default", "June", "compare")
        assert [look.command for look in book.looks("default", "May")] == ["inspect", "estimate"]


def test_export_is_json_and_complete(path: Path) -> None:
    with Ledger(path) as book:
        book.cap("default", 2.0, 1e-6)
        book.drawing(spend(book, CROWD))
        spend(book, NOTHING, private=False)
        book.looked("default", "default", "inspect")
        out = json.loads(json.dumps(book.export(), allow_nan=False))
    assert (out["format"], out["version"]) == ("hubbub-ledger", 2)
    assert {table: len(out[table]) for table in TABLES} == {"meta": 1, "entries": 2, "events": 3, "caps": 1, "looks": 1}
    assert out["entries"][0]["loss"]["atoms"] == [{"atom": "Gaussian", "mu2": "110314559/2000000000"}]
    assert out["entries"][1]["loss"]["epsilon"] == "inf"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "statement", ["UPDATE {} SET time = ''", "DELETE FROM {}", "INSERT OR REPLACE INTO {} SELECT * FROM {}"]
)
def test_nothing_is_ever_changed_or_removed(path: Path, table: str, statement: str) -> None:
    with Ledger(path) as book:
        spend(book)
        book.cap("default", 2.0, 1e-6)
        book.looked("default", "default", "inspect")
        before = book.export()
    with closing(sqlite3.connect(path)) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute(statement.format(table, table))
    with Ledger(path) as book:
        assert book.export() | {"exported": ""} == before | {"exported": ""}


def test_use_after_close_is_our_bug(path: Path) -> None:
    with Ledger(path) as book:
        pass
    with pytest.raises(OurBug, match="closed"):
        book.entries()


@pytest.mark.parametrize("table", TABLES)
def test_a_row_from_elsewhere_is_damage(path: Path, table: str) -> None:
    with Ledger(path) as book:
        spend(book)
        book.cap("default", 2.0, 1e-6)
        book.looked("default", "default", "inspect")
    with closing(sqlite3.connect(path)) as db, db:
        columns = ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] != "id")
        db.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {table}")
    with pytest.raises(LedgerError, match="damaged"):
        Ledger(path)
