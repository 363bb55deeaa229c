"""The papers' numbers: every one we noted is computed, verdicts follow from numbers, and a wrong number is an error."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Hubbub, document
from typer.testing import Result

from hubbub.errors import ParameterError
from hubbub.mechanisms.safelog import paper
from hubbub.papers.numbers import NumberRow, hong, korolova, reproduce
from hubbub.papers.numbers.losses import LossGrid, laplace
from hubbub.papers.numbers.rows import PaperPart, agrees, like
from hubbub.privacy.account import threshold_delta

ROOT = Path(__file__).parents[3]

NOTED = {
    "korolova": "0.1317986 0.1",
    "gotz": "6.6e-16 1.3e-37 2.438e-59 4.7e-81 7.2e-20 1.4e-41 2.7e-63 5.135e-85 1 3.147e-3 1.429e-7 6.5e-12 "
    "3.1e-4 1.4e-8 6.4e-13 2.9e-17 2.05e-39 81.1205 78.7260 78.6827 79.3368 80.3316 71.9101 78.5753 350 "
    "0.30 1.4427 2.4663 0.5 5.3e35 1.04e29 8.73 7.07e-4 0.135 9158 224664",
    "safelog": "4.27 21.36 42.73 64.09 85.45 5.17 26.26 52.63 78.99 105.35 0.8805 30.00 3.00 6.88 14.43 20.74 34.57 "
    "121.41 7.98 18.13 27.46 49.93 224.62 5.000 9 2.021651 6.2e-5 5.51 6.4365 69.3",
    "sessions": "8.00 2.67 22.00 11.00 16.00 4.9575e-3 2.25e-7 1.02e-11 9.66e-3 3.44e-4 6.79e-4 4.12e-4 2.46e-5 "
    "6.68e-5 1013 0.0497 1.525e-5 2.35e-8 109 109.2",
    "hong": "0.20 1372 1649 12 7.08 26.2 6931 0.850 0.9987 6.61 1.98 17.3 9840 625 990 198 1384 19",
    "strict": "4.096e-9 139.2 158.2 1.39e-4 3.1e-4 1 1.000 26.3 8 1.12e-8 16 2.24e-8 7.98e-8 46 3.00 1.64 3.90 2.69 "
    "39.9 10.7 15.9 3.000",
}
"""What our study of the papers found, paper by paper; written down here a second time."""

SAID = (
    "0.2273", "5.00 times", "6.69 times", "1.46 times", "2.8e-9", "14.12", "1.1051", "29.99",
    "3.369e-3 against 2.270e-5", "5.4366", "165 keys", "221 thousand times", "1.526e-5 against 1.717e-12",
    "774 pairs", "1849 pairs", "49 cells", "3.48", "0.9984", "has 692", "4007",
)  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> list[NumberRow]:
    return reproduce()


def test_nothing_computed_is_not_what_we_noted(rows: list[NumberRow]) -> None:
    assert [row.id for row in rows if row.wrong] == []
    assert len({row.id for row in rows}) == len(rows) > 150
    assert all(math.isfinite(row.computed) and row.why for row in rows)


@pytest.mark.parametrize("key", NOTED)
def test_every_noted_number_is_a_computed_one(rows: list[NumberRow], key: str) -> None:
    computed = [row.computed for row in rows if row.id.startswith(key + "/")]
    assert [digits for digits in NOTED[key].split() if not any(agrees(x, digits) for x in computed)] == []


def test_the_probabilities_of_counterexamples_are_said(rows: list[NumberRow]) -> None:
    text = " ".join(row.why for row in rows)
    assert [said for said in SAID if said not in text] == []


@pytest.mark.parametrize(
    ("prefix", "verdicts"),
    [
        ("korolova", {"match": 1, "holds": 6}),
        ("gotz/table-1", {"match": 13, "differs": 4}),
        ("gotz/table-2", {"match": 6, "differs": 1}),
        ("gotz/theorem-1", {"differs": 3}),
        ("gotz/proposition-4", {"differs": 5}),
        ("gotz/section-5.3", {"differs": 3}),
        ("gotz/theorem-3", {"differs": 2, "holds": 1}),
        ("gotz/corollary-1", {"match": 1, "holds": 1}),
        ("safelog/prefilter", {"differs": 3}),
        ("safelog/figure-5", {"match": 10, "differs": 1}),
        ("sessions/table-4", {"match": 17, "differs": 1}),
        ("sessions/section-5.4", {"differs": 2}),
        ("sessions/combined", {"holds": 2, "differs": 2}),
        ("hong/table-4", {"match": 3, "impossible": 14}),
        ("hong/forced", {"holds": 2, "differs": 3}),
        ("hong/section-6.3", {"differs": 1}),
        ("hong/tables-5-6", {"impossible": 6}),
        ("hong/table-7", {"impossible": 13}),
        ("strict", {"match": 26}),
    ],
)
def test_verdicts(rows: list[NumberRow], prefix: str, verdicts: dict[str, int]) -> None:
    of_part = [row.verdict for row in rows if row.id.startswith(prefix + "/")]
    assert {verdict: of_part.count(verdict) for verdict in set(of_part)} == verdicts


def test_a_number_agrees_with_its_own_rounding_only() -> None:
    assert agrees(4.2726, "4.27") and agrees(2.438e-59, "2.4e-59") and agrees(350, "350")
    assert not agrees(4.9575e-3, "4.95e-3") and not agrees(2.438e-59, "2.5e-59") and not agrees(29.9935, "30.00")
    assert (like(3.36897e-3, "3.369e-3"), like(5.0, "5.00"), like(12, "12")) == ("3.369e-3", "5.00", "12")


def test_verdicts_follow_from_the_numbers() -> None:
    part = PaperPart("somebody", "some/table", "Table")
    assert part.printed("a", "1.5", 1.54, "").verdict == "match"
    assert part.printed("a", "1.5", 1.56, "").verdict == "differs"
    assert part.claim("a", "1e-6", 1e-7, "").verdict == "holds"
    assert part.claim("a", "1e-6", 1e-3, "").verdict == "differs"
    assert part.fits("a", "3759", 0.2, "").verdict == "impossible"
    assert part.fits("a", "3759", 4000, "").verdict == "holds"
    assert part.stated("a", "2 < 3", 2, True, "", inequality=True).verdict == "holds"
    assert part.stated("a", "two", 2, True, "").verdict == "match"
    assert part.stated("a", "3 < 2", 2, False, "", inequality=True).verdict == "differs"
    assert part.printed("a", "1.5", 1.54, "", noted="1.53").wrong == ("1.54 where our study found 1.53",)
    assert PaperPart("us", "some/table", "Table", ours=True).printed("a", "1.5", 1.56, "").wrong


# ------------------------------------------------------------------ against other computations


def test_one_laplace_draw_in_closed_form() -> None:
    """δ(ε) = 1 − e^((ε − 1/b)/2) lies between losses rounded down and losses rounded up."""
    for b, epsilon in ((1.0, 0.3), (2.0, 0.1), (20.0, 0.02)):
        exact = -math.expm1((epsilon - 1 / b) / 2)
        down = LossGrid.at(*laplace(b, 1, "down"), 1 / b / 4096, "down")
        up = LossGrid.at(*laplace(b, 1, "up"), 1 / b / 4096, "up")
        assert down.delta(epsilon) < exact < up.delta(epsilon) < exact * 1.01
        assert math.isclose(up.mass.sum(), 1) and math.isclose(up.times(7).mass.sum(), 1)
        assert down.times(5).delta(epsilon) < up.times(5).delta(epsilon)
        assert math.isclose(up.epsilon(up.delta(epsilon)), epsilon)


def test_the_tight_delta_against_the_accountants_integer_law() -> None:
    """Real-valued noise above K and integers from K + 1 on differ by 2a/(1+a) for each key, and in nothing else."""
    for d, b, K in ((1, 1, 20), (5, 1, 20), (20, 10, 140)):
        a = math.exp(-1 / b)
        exact = korolova.tight_delta(d, Fraction(b), Fraction(K))
        discrete = float(threshold_delta(Fraction(b), K + 1, d, d, d))
        assert math.isclose(discrete, exact * 2 * a / (1 + a), rel_tol=1e-4)


def test_three_sentences_that_the_papers_own_numbers_refute(rows: list[NumberRow]) -> None:
    """By hand: the printed entries, without the code that holds them."""
    found = {row.id: row.computed for row in rows}
    deltas = (6.6e-16, 1.3e-37, 2.5e-59, 4.7e-81, 1, 3.2e-3, 1.5e-7, 6.5e-12)
    primes = (7.2e-20, 1.4e-41, 2.7e-63, 5.2e-85, 3.1e-4, 1.4e-8, 6.4e-13, 2.9e-17)
    assert sum(a < b for a, b in zip(deltas, primes, strict=True)) == found["gotz/section-5.3/printed"] == 0
    assert found["sessions/section-5.4/printed"] == 2.46e-5 / 2.25e-7
    # one row of a costs its users ln 2 = B, seven rows of b cost theirs 7 ln(10/9) > B: |O| = 7 leaves only (1, 6)
    assert 7 * math.log(10 / 9) > math.log(2) > 6 * math.log(10 / 9)
    assert 6 / 7 >= 1 / 5 > 1 / 7 and 90 / 100 >= 1 / 5 > 10 / 100, "b alone is frequent in the output, a in the log"
    assert found["hong/section-6.3/counterexample"] == 0


def test_the_optimum_of_one_pair() -> None:
    for n in (3, 4, 7, 50, 1000):
        assert hong.optimum(n) == math.floor(math.log(2) / math.log(n / (n - 1)))


# ------------------------------------------------------------------ the command and the page


def printed(result: Result) -> list[dict[str, Any]]:
    """The rows of the one JSON document."""
    data: dict[str, Any] = document(result)
    assert set(data) == {"rows"}
    return list(data["rows"])


def test_json_is_the_contract(hubbub: Hubbub) -> None:
    found = printed(hubbub("reproduce", "--json"))
    assert len(found) > 150
    assert all(set(row) == {"id", "paper", "expected", "computed", "verdict", "why"} for row in found)
    assert {row["verdict"] for row in found} == {"match", "holds", "differs", "impossible"}
    first = next(row for row in found if row["id"] == "sessions/table-4/1-delta")
    assert first["expected"] == 4.95e-3 and first["computed"] == 2 * math.exp(-6), "printed digits, and unrounded ones"


def test_one_row_with_all_its_digits(hubbub: Hubbub) -> None:
    text = hubbub("reproduce", "gotz/table-2/tau-1").stdout
    assert "Table 2" in text and re.search(r"computed: +81\.12047\d{8,}", text) and "equation (5)" in text


def test_a_part_of_an_id_selects(hubbub: Hubbub) -> None:
    assert len(printed(hubbub("reproduce", "gotz/table-2", "--json"))) == 7
    assert "7 rows: 6 match, 0 holds, 1 differs, 0 impossible." in hubbub("reproduce", "gotz/table-2/").stdout
    assert hubbub("reproduce", "gotz/table-2", "--quiet").stdout == ""


@pytest.mark.parametrize("wrong", ["gotz/table-9", "nobody", ""])
def test_an_unknown_row(hubbub: Hubbub, wrong: str) -> None:
    result = hubbub("reproduce", wrong, code=2)
    assert "There is no such row" in result.stderr and "allowed" in result.stderr
    with pytest.raises(ParameterError):
        reproduce(wrong)


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_lines_fit_the_terminal(hubbub: Hubbub, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = hubbub("reproduce", "hong").stdout.splitlines()
    assert max(map(len, lines)) <= min(columns, 120)


def test_help_has_an_example(hubbub: Hubbub) -> None:
    text = hubbub("reproduce", "--help").stdout
    assert "Example: hubbub reproduce gotz/table-1" in " ".join(text.split())


def test_a_number_that_is_not_ours_ends_with_1(hubbub: Hubbub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "table_3", lambda limit: 0.43 * limit)
    result = hubbub("reproduce", "safelog/table-3", "--json", code=1)
    assert "safelog/table-3/10: 4.3 where our study found 4.27" in result.stderr
    assert printed(result)[0]["verdict"] == "differs"
