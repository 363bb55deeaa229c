"""How strong an ε is: said before it is spent, on the card and on the page, and in the studio."""

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Hubbub

import hubbub as package
from hubbub.card.strength import PUBLISHED, SCALE, beside, word
from hubbub.mechanisms import build
from hubbub.privacy.guarantee import number
from hubbub.privacy.ledger import Entry, Ledger
from hubbub.release.plan import Plan

CASES = [
    ("2", "1e-6", None, []),
    ("10", "1e-5", None, []),
    ("10.1", "1e-6", 1000, ["ε = 10.1 is above 10: the odds about a user may move by a factor of 24,343"]),
    ("25", "1e-6", 1000, ["a factor of more than 485,165,195"]),
    ("2", "1e-4", None, ["δ = ", "one user in 1"]),
    ("2", "1e-4", 5000, []),
]


@pytest.mark.parametrize(("epsilon", "delta", "users", "said"), CASES)
def test_what_an_owner_hears(epsilon: str, delta: str, users: int | None, said: list[str], tmp_path: Path) -> None:
    made = build("gaussian", {"epsilon": epsilon, "delta": delta})
    remarks = Plan(made, tmp_path / "out", users_public=users).remarks()
    assert bool(remarks) == bool(said) and all(text in " ".join(remarks) for text in said)


def test_a_release_that_is_not_private_has_no_strength(tmp_path: Path) -> None:
    made = build("gaussian", {"epsilon": "20", "delta": "1e-3"})
    assert Plan(made, tmp_path / "out", seed=1, not_private=True).remarks() == []


def test_before_anything_is_reserved(
    hubbub: Hubbub, log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    reserve = Ledger.reserve

    def reserved(book: Ledger, **what: Any) -> Entry:
        seen.append("reserved")
        return reserve(book, **what)

    monkeypatch.setattr(Ledger, "reserve", reserved)
    monkeypatch.setattr(
        "hubbub.cli.terminal.Terminal.warn", lambda self, text: seen.append(text.split(" is above")[0].split(" =")[0])
    )
    out = tmp_path / "out"
    words = ("release", log_file, "--format", "aol", "--mechanism", "gaussian", "--out", out)
    hubbub(*words, "--epsilon", "12", "--delta", "1e-3")
    assert seen[:3] == ["ε", "δ", "reserved"]
    claim = package.release.Release(out).card["claim"]  # type: ignore[attr-defined]
    assert claim["strength"] == "very weak" and len(claim["remarks"]) == 2
    page = (out / "public" / "index.html").read_text(encoding="utf-8")
    assert page.count('class="remark"') == 2 and "Very weak" in page and "This release" in page
    hubbub("card", out, "--check")


def test_python_warns(log_file: Path, tmp_path: Path) -> None:
    made = build("korolova", {"epsilon": "2", "delta": "1e-4"})
    with package.read_log(log_file, format="aol") as log, pytest.warns(UserWarning, match="no number of users"):
        package.release(log, made, tmp_path / "out")


def test_the_scale_has_a_word_for_everything_others_publish() -> None:
    assert [word(e) for e in (0.1, 1, 1.1, 3, 9, 10, 11, 1e9)] == (
        ["strong"] * 2 + ["moderate"] * 2 + ["weak"] * 2 + ["very weak"] * 2
    )
    assert {word(one.epsilon) for one in PUBLISHED} == {name for _, name in SCALE}
    assert all(one.source and one.unit for one in PUBLISHED)
    page = (Path(package.__file__).parents[2] / "docs" / "choose.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.endswith(tuple(f"| {one.source} |" for one in PUBLISHED))]
    assert [row.split("|")[1].strip() for row in rows] == [number(one.epsilon) for one in PUBLISHED]
    shown = beside(12, 1e-6)
    assert [one.epsilon for one in shown] == sorted(one.epsilon for one in shown)
    assert [one.who for one in shown if not one.source] == ["This release"]
