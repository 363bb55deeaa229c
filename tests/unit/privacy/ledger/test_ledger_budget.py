"""Caps by envelopes: late, raised, lowered and declared ones; the counterexamples; ledgers that knew none of it."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest
from tests import ledgers

from hubbub.errors import OverBudget, Refused
from hubbub.privacy.account import Gaussian, Loss, Pure
from hubbub.privacy.compose import compose, written
from hubbub.privacy.envelope import Envelope, planned
from hubbub.privacy.ledger import Entry, Ledger
from hubbub.privacy.ledger.budget import ADOPTED, PLANNED, STATED
from hubbub.privacy.ledger.words import standing_of

CROWD = Loss(1.0, 1e-6, (Gaussian(Fraction("0.0551572795")),), tv=4.2462046e-7)
NOVEL = Loss(0.0, 3e-6, (Pure(Fraction(0)),), tv=3e-6)


def pure(epsilon: str) -> Loss:
    return Loss(float(epsilon), 0.0, (Pure(Fraction(epsilon)),), tv=0.0)


def spend(book: Ledger, loss: Loss) -> Entry:
    return ledgers.spend(book, loss, population="us", dataset="may")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def test_the_first_release_divides_the_cap(path: Path) -> None:
    with Ledger(path) as book:
        book.cap("us", 3.527, 1.2e-5)
        for _ in range(12):
            spend(book, CROWD)
        with pytest.raises(OverBudget):
            spend(book, CROWD)
        (opened,) = book.standing("us").opened
        assert opened.used() == pytest.approx({"gaussian": 0.998, "thresholds": 0.998}, abs=1e-3)
        assert book.promised("us") == (3.527, 1.2e-5)
        with pytest.raises(OverBudget):
            spend(book, NOVEL)  # the tight sum alone would leave room for it
        assert compose([CROWD] * 12 + [NOVEL], 1.2e-5) == pytest.approx(3.7, abs=0.1)


def test_a_threshold_cannot_be_bought_with_unused_gaussian_noise(path: Path) -> None:
    """The counterexample: after one Gaussian release both ways on are within the tight sum, and only one may be."""
    with Ledger(path) as book:
        book.cap("us", 3.527, 1.2e-5)
        spend(book, CROWD)
        big = Loss(0.0, 1.1e-5, (Pure(Fraction(0)),), tv=1.1e-5)
        assert compose([CROWD, big], 1.2e-5) < 3.527, "allowed by the rule of version 1"
        assert not book.allows("us", big)


def test_a_share_for_thresholds_can_be_stated(path: Path) -> None:
    with Ledger(path) as book:
        book.cap("us", 1.0, 1e-6, thresholds=Fraction(1, 2))
        (opened,) = book.standing("us").opened
        assert (opened.origin, opened.whole.threshold) == (STATED, Fraction("5e-7"))
        assert float(opened.whole.gaussian) == pytest.approx(0.0524808273286, rel=1e-7)
        with pytest.raises(Refused, match="left to divide"):
            book.cap("us", 1.0, 1e-6, thresholds=Fraction(1, 2))
    with Ledger(path) as book:
        assert len(book.standing("us").opened) == 1, "the refused cap left nothing behind"


def test_a_declared_plan_holds_exactly_what_was_planned(path: Path) -> None:
    plan = planned([CROWD] * 6 + [pure("0.1")] * 6)
    with Ledger(path) as book:
        with pytest.raises(Refused, match="needs a cap"):
            book.declare("us", plan)
        book.cap("us", 2.5, 1e-5)
        with pytest.raises(Refused, match="does not fit"):
            book.declare("us", plan)
        book.cap("us", 2.59, 1e-5)
        assert book.declare("us", plan).origin == PLANNED
        for n in range(6):  # in another order than planned
            spend(book, pure("0.1"))
            spend(book, CROWD)
            assert book.promised("us") == (2.59, 1e-5), n
        for loss in (CROWD, pure("0.1"), pure("0.0001")):
            with pytest.raises(OverBudget):
                spend(book, loss)


def test_a_cap_that_comes_late_has_what_is_left_of_it(path: Path) -> None:
    with Ledger(path) as book:
        spend(book, CROWD)
        assert book.promised("us") is None
        assert book.cap("us", 4.0, 1e-5) is None
        rest = book.standing("us").unpromised
        assert rest.epsilon == 3.0
        assert rest.delta == pytest.approx(1e-5 - 2.42462046e-6, rel=1e-12)
        spend(book, CROWD)
        (opened,) = book.standing("us").opened
        assert float(opened.epsilon) == 3.0
        assert book.promised("us") == (4.0, 1e-5)


def test_a_raised_cap_opens_a_second_envelope_and_the_first_goes_on(path: Path) -> None:
    with Ledger(path) as book:
        book.cap("us", 3.527, 1.2e-5)
        for _ in range(12):
            spend(book, CROWD)
        book.cap("us", 5.0, 1.4e-5)
        spend(book, CROWD)
        first, second = book.standing("us").opened
        assert book.promised("us") == (5.0, 1.4e-5)
        assert second.epsilon == Fraction("1.473")
        small = Loss(0.01, 1e-9, (Gaussian(Fraction(1, 10**6)),), tv=1e-12)
        spend(book, small)
        assert book.standing("us").opened[0].left.gaussian == first.left.gaussian - Fraction(1, 10**6)


def test_envelopes_by_sums_are_one(path: Path) -> None:
    """A release that fits neither alone is paid from both; to the last of it and not beyond."""
    with Ledger(path) as book:
        book.cap("us", 1.0, 0.0)
        spend(book, pure("0.7"))
        book.cap("us", 2.0, 0.0)
        spend(book, pure("1.3"))
        with pytest.raises(OverBudget):
            spend(book, pure("0.001"))
        assert book.promised("us") == (2.0, 0.0)
        (line,) = standing_of(book.standing("us"))
        assert line.startswith("promised: ε = 2, δ = 0") and line.endswith("used: 100.0% of slots")


def test_an_envelope_certified_below_its_slot_is_not_merged(path: Path) -> None:
    """A slot of 1 is worth less than 1 at δ = 1e-6; two caps' worth of slots must not pass for their sum."""
    slot = Envelope(slots=(Fraction(1),))
    worth = slot.epsilon(1e-6)
    assert worth < 1
    with Ledger(path) as book:
        book.cap("us", worth, 1e-6)
        book.declare("us", slot)
        book.cap("us", 2 * worth, 2e-6)
        (opened,) = book.standing("us").opened
        assert not opened.adds
        with pytest.raises(OverBudget):
            spend(book, pure("1.9999999"))
        spend(book, pure("1"))
        with pytest.raises(OverBudget):
            spend(book, pure("1"))


def test_a_lowered_cap_limits_and_takes_nothing_back(path: Path) -> None:
    with Ledger(path) as book:
        book.cap("us", 4.0, 1e-5)
        spend(book, CROWD)
        said = book.cap("us", 1.5, 1e-5)
        assert said is not None and "was promised under an earlier cap" in said
        assert book.promised("us") == (4.0, 1e-5)
        with pytest.raises(OverBudget):
            spend(book, CROWD)  # 1.73 so far with it
        book.cap("us", 4.0, 1e-5)
        spend(book, CROWD)
        assert len(book.standing("us").opened) == 1, "down and up again promises nothing new"
        assert book.promised("us") == (4.0, 1e-5)


# ------------------------------------------------------------------ ledgers of version 1


def as_version_1(path: Path, *, cap_first: bool) -> None:
    """Take away what version 2 writes, and put the cap a day before or after the releases."""
    db = sqlite3.connect(path)
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in ("envelopes", "charges"):
        assert table in tables
        for trigger in ("update", "delete", "replace"):
            db.execute(f"DROP TRIGGER {table}_{trigger}")
        db.execute(f"DELETE FROM {table}")
    db.execute("DROP TRIGGER caps_update")
    db.execute("UPDATE caps SET time = ?", ("2000-01-01T00:00:00+00:00" if cap_first else "2100-01-01T00:00:00+00:00",))
    db.commit()
    db.close()


def opened_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setattr(
        "hubbub.privacy.ledger.file.LedgerFile._refuse_unfit", lambda _: None
    )  # seals are another test's
    return Ledger(path)


@pytest.mark.parametrize("cap_first", [True, False])
def test_an_old_ledger_is_summed_under_the_new_rule(
    path: Path, cap_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger(path) as book:
        book.cap("us", 3.527, 1.2e-5)
        for _ in range(3):
            spend(book, CROWD)
    as_version_1(path, cap_first=cap_first)
    with opened_again(path, monkeypatch) as book:
        standing, spent = book.standing("us"), book.spent("us")
        assert spent.advance_epsilon == compose([CROWD] * 3, 1.2e-5), "what version 1 printed"
        assert spent.epsilon == pytest.approx(2.1922, abs=1e-4)
        assert len(standing.losses) == 3
        if cap_first:
            (opened,) = standing.opened
            assert (opened.origin, standing.loose) == (ADOPTED, ())
        else:
            assert (standing.opened, len(standing.loose)) == ((), 3)
            (line,) = standing_of(standing)
            assert line.startswith("3 releases charged") and "version 1 summed them as if decided in advance" in line
            assert standing.promised[0] == written(spent.epsilon)
        spend(book, CROWD)
        rows = book.export()
        charges = rows["charges"]
        assert isinstance(charges, list)
        assert [c["entry"] for c in charges] == ([1, 2, 3, 4] if cap_first else [4])
        assert json.dumps(rows), "everything can be exported"
        assert book.promised("us") == (3.527, 1.2e-5)


def test_an_old_ledger_whose_releases_do_not_fit_counts_them_as_they_came(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger(path) as book:
        spend(book, CROWD)
        spend(book, NOVEL)
        book.cap("us", 1.2, 4.5e-6)
    as_version_1(path, cap_first=True)
    with opened_again(path, monkeypatch) as book:
        standing = book.standing("us")
        assert (standing.opened, len(standing.loose)) == ((), 2)
        assert not book.allows("us", CROWD)
