"""`hubbub ledger plan`, refusals that name what would fit, and what a card says its totals stand on."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests import ledgers
from tests.conftest import Hubbub

from hubbub.card.check import check
from hubbub.errors import OverBudget, ParameterError
from hubbub.mechanisms import Mechanism, build
from hubbub.privacy.account import Gaussian, Loss
from hubbub.privacy.fitting import another, largest_epsilon, part_of, plan, require_room
from hubbub.privacy.ledger import Ledger

pytestmark = pytest.mark.usefixtures("no_report")

WHOLE = Fraction(1)


def gaussian(epsilon: Decimal, part: Fraction = WHOLE) -> Mechanism:
    return build("gaussian", {"epsilon": str(epsilon), "delta": str(Fraction("8e-7") * part)})


def spend(book: Ledger, loss: Loss) -> None:
    ledgers.spend(book, loss, population="us", dataset="may", mechanism="gaussian")


@pytest.fixture
def book(tmp_path: Path) -> Any:
    with Ledger(tmp_path / "ledger.sqlite") as book:
        yield book


@pytest.mark.parametrize("declared", [True, False])
def test_what_a_plan_names_fits_so_often_and_a_little_more_does_not(book: Ledger, declared: bool) -> None:
    book.cap("us", 4.0, 1e-5)
    found = plan(book, "us", 12, gaussian)
    assert Decimal("0.9") < found.epsilon < Decimal("1.1")
    with pytest.raises(OverBudget, match="no room for 12"):
        plan(book, "us", 12, lambda _, part: gaussian(found.epsilon + Decimal("0.01"), WHOLE))
    if declared:
        book.declare("us", found.envelope)
    for _ in range(12):
        spend(book, gaussian(found.epsilon).loss())
    assert book.promised("us") == (4.0, 1e-5)
    if declared:
        assert not book.allows("us", gaussian(found.epsilon).loss())


def test_a_plan_within_what_is_promised(book: Ledger) -> None:
    book.cap("us", 4.0, 1e-5)
    spend(book, gaussian(Decimal(1)).loss())
    found = plan(book, "us", 5, gaussian)
    assert found.inside and found.epsilon > 1
    for _ in range(5):
        spend(book, gaussian(found.epsilon).loss())


def test_a_refusal_names_the_largest_epsilon_that_fits(book: Ledger) -> None:
    """Earlier versions said what was left of ε, and then accepted three times that."""
    book.cap("us", 1.5, 2e-6)
    one = build("crowd", {"epsilon": 1, "delta": "9e-7"}, tables=["queries"])
    require_room(book, "us", one, True)
    spend(book, one.loss())
    with pytest.raises(OverBudget) as refused:
        require_room(book, "us", build("crowd", {"epsilon": 2, "delta": "9e-7"}, tables=["queries"]), True)
    words = refused.value.next.replace(",", "").split()
    named = Decimal(words[words.index("--epsilon") + 1])
    assert "--delta" not in refused.value.next.partition("or raise")[0]
    fits, more = (another(one)(named + step, WHOLE).loss() for step in (Decimal(0), Decimal("0.01")))
    assert book.allows("us", fits) and not book.allows("us", more)
    spend(book, fits)


def test_where_thresholds_are_too_dear_a_smaller_delta_is_named_too(book: Ledger) -> None:
    """The first release fixed what thresholds may use; at the same δ no ε of another release fits that."""
    book.cap("us", 2.0, 2e-6)
    spend(book, Loss(1.0, 1e-6, (Gaussian(Fraction(1, 20)),), tv=1e-7))
    with pytest.raises(OverBudget) as refused:
        require_room(book, "us", gaussian(Decimal(1)), True)
    words = refused.value.next.replace(",", "").split()
    epsilon, delta = (words[words.index(name) + 1] for name in ("--epsilon", "--delta"))
    assert book.allows("us", build("gaussian", {"epsilon": epsilon, "delta": delta}).loss())


def test_where_no_epsilon_helps_none_is_named(book: Ledger) -> None:
    book.cap("us", 1.0, 0.0)
    with pytest.raises(OverBudget) as refused:
        require_room(book, "us", gaussian(Decimal(1)), True)
    assert "--epsilon E" in refused.value.next, "the way to raise the cap, and no number"
    raw = build("korolova", {"d": 1, "b": 1, "K": 40})
    with pytest.raises(OverBudget, match="ask for less"):
        require_room(book, "us", raw, True)


def test_the_search_returns_what_was_tried() -> None:
    tried = []

    def fits(loss: Loss) -> bool:
        tried.append(loss.epsilon)
        return loss.epsilon <= 0.7654

    found = largest_epsilon(gaussian, fits, Decimal(4))
    assert found is not None
    assert (found[0], found[1].loss().epsilon) == (Decimal("0.765"), 0.765)
    assert 0.765 in tried
    assert largest_epsilon(gaussian, lambda _: False, Decimal(4)) is None


def test_equal_parts_of_delta() -> None:
    assert part_of(Fraction("1e-5"), Fraction(1, 12)) == "8.33E-7"
    assert part_of(Fraction("1e-5"), WHOLE) == "1/100000"


@pytest.mark.parametrize("releases", [0, -1, 1001])
def test_a_plan_needs_releases(book: Ledger, releases: int) -> None:
    book.cap("us", 1.0, 1e-6)
    with pytest.raises(ParameterError, match="number of releases"):
        plan(book, "us", releases, gaussian)


# ------------------------------------------------------------------ the commands


def test_the_command(hubbub: Hubbub, tmp_path: Path) -> None:
    book = tmp_path / "ledger.sqlite"
    missing = hubbub("ledger", "plan", "us", "--releases", "4", "--ledger", book, code=2)
    assert "A plan needs a cap" in missing.stderr and "hubbub ledger cap us" in missing.stderr
    assert not book.exists(), "asking makes no ledger"
    hubbub("ledger", "cap", "us", "--epsilon", "4", "--delta", "1e-5", "--ledger", book)
    ask = ("ledger", "plan", "us", "--releases", "4", "--mechanism", "gaussian", "--ledger", book)
    said = hubbub(*ask).stdout
    assert "4 releases of gaussian (queries) fit the cap of us" in said and "--declare" in said
    found = json.loads(hubbub(*ask, "--declare", "--json").stdout)
    assert found["declared"] and found["promised"] == {"epsilon": 4.0, "delta": 1e-5}
    assert found["delta"] <= 2.5e-6
    again = json.loads(hubbub(*ask, "--json").stdout)
    assert again["inside"] and 0.9 * found["epsilon"] < again["epsilon"] <= found["epsilon"]
    shown = hubbub("ledger", "show", "us", "--ledger", book).stdout
    assert "a declared plan" in shown and "used: 0.0% of gaussian" in shown


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--mechanism", "nothing"), "There is no such mechanism."),
        (("--set", "epsilon=1"), "A plan looks for ε."),
        (("--set", "nonsense=1"), "has no such parameter"),
        (("--releases", "0"), "number of releases"),
    ],
)
def test_bad_plans(hubbub: Hubbub, tmp_path: Path, more: tuple[str, str], words: str) -> None:
    book = tmp_path / "ledger.sqlite"
    hubbub("ledger", "cap", "us", "--epsilon", "4", "--delta", "1e-5", "--ledger", book)
    base = () if "--releases" in more else ("--releases", "2")
    assert words in hubbub("ledger", "plan", "us", *base, *more, "--ledger", book, code=2).stderr


def test_a_share_is_a_share(hubbub: Hubbub, tmp_path: Path) -> None:
    cap = ("ledger", "cap", "us", "--epsilon", "1", "--delta", "1e-6", "--ledger", tmp_path / "l.sqlite")
    assert "share of δ" in hubbub(*cap, "--thresholds", "1", code=2).stderr
    hubbub(*cap, "--thresholds", "0.5")
    assert "divided as stated" in hubbub("ledger", "show", "us", "--ledger", tmp_path / "l.sqlite").stdout


@pytest.mark.parametrize("cap", [True, False])
def test_a_card_says_what_its_totals_stand_on(hubbub: Hubbub, log_file: Path, tmp_path: Path, cap: bool) -> None:
    book = tmp_path / "ledger.sqlite"
    if cap:
        hubbub("ledger", "cap", "us", "--epsilon", "9", "--delta", "1e-4", "--ledger", book)
    made = [tmp_path / name for name in ("one", "two")]
    for out in made:
        run = ("--mechanism", "gaussian", "--epsilon", "2", "--delta", "1e-5", "--population", "us")
        hubbub("release", log_file, "--format", "aol", *run, "--ledger", book, "--out", out)
        assert all(finding.holds for finding in check(out))
    ledger = json.loads((made[1] / "public" / "card.json").read_text())["accounting"]["ledger"]
    assert 2 < ledger["epsilon_after"] < 4 and 2 < ledger["in_advance_epsilon"] < 4
    assert ledger["in_advance_delta"] == 1e-4 if cap else ledger["in_advance_delta"] < ledger["delta_after"]
    if cap:
        assert (ledger["promised_epsilon"], ledger["promised_delta"]) == (9.0, 1e-4)
        assert "theorems 1 and 3" in ledger["stands_on"]
    else:
        assert ledger["promised_epsilon"] is None
        assert "theorem 2" in ledger["stands_on"]
    page = (made[1] / "public" / "index.html").read_text()
    assert ledger["stands_on"] in page
