"""What an audit found is kept beside the ledger, and quoted by cards of the code that was audited, and no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import RELEASE, Hubbub, document

from hubbub.audit.protocols import AuditRow
from hubbub.card import audited, check
from hubbub.card.audited import SHARED, Found

FOUND = {
    "korolova strict": Found("2026-01-02", True, 120, 0, 2.0, 1.9),
    "korolova published": Found("2026-01-02", True, 90, 0, None, None),
    SHARED: Found("2026-01-02", False, 40, 1, None, None),
}


def test_cards_say_not_run_without_an_audit(released: Path) -> None:
    card = json.loads((released / "public" / "card.json").read_text())
    assert [(a["of"], a["verdict"]) for a in card["checks"]["audit"]] == [
        ("korolova strict", "not run"),
        ("shared code", "not run"),
    ]
    for page in ("index.html", "README.md"):
        assert "korolova strict: not run" in " ".join((released / "public" / page).read_text().split())
    facts = json.loads((released / "owner-only" / "facts.json").read_text())
    assert facts["epsilon"] == {"claimed": pytest.approx(2), "proven": pytest.approx(2), "audit": None}


def test_cards_quote_the_audit_of_their_own_code(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    assert audited.keep(FOUND) == tmp_path / "audit.json"
    assert audited.known() == FOUND
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    card = json.loads((tmp_path / "out" / "public" / "card.json").read_text())
    one, shared = card["checks"]["audit"]
    assert one["verdict"] == "not refuted" and one["checks"] == 120 and one["empirical_epsilon"] == 1.9
    assert shared["verdict"] == "refuted", "what an audit refuted is said as well"
    assert all(finding.holds for finding in check(tmp_path / "out"))
    page = " ".join((tmp_path / "out" / "public" / "README.md").read_text().split())
    assert "korolova strict: not refuted in 120 checks, 2026-01-02; shared code: refuted in 40 checks" in page
    facts = json.loads((tmp_path / "out" / "owner-only" / "facts.json").read_text())
    assert facts["epsilon"]["audit"] == {"empirical": 1.9, "of_proven": 2.0}


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": "hubbub-audit"}', "other source", "words"])
def test_of_other_code_or_a_damaged_file_nothing_is_quoted(damage: str) -> None:
    path = audited.keep(FOUND)
    stored = json.loads(path.read_text())
    if damage == "other source":
        path.write_text(json.dumps(stored | {"source": stored["source"][:-1] + "x"}))
    elif damage == "words":
        stored["found"][SHARED]["checks"] = "very private"
        path.write_text(json.dumps(stored))
    else:
        path.write_text(damage)
    assert audited.known() == {}


def test_a_card_that_was_given_better_words_is_broken(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    audited.keep(FOUND)
    hubbub("release", log_file, *RELEASE, "--out", tmp_path / "out")
    path = tmp_path / "out" / "public" / "card.json"
    card = json.loads(path.read_text())
    card["checks"]["audit"][1]["verdict"] = "not refuted"
    path.write_text(json.dumps(card))
    assert any(not f.holds and "checks" in f.what for f in check(tmp_path / "out"))


def test_what_is_kept_of_rows() -> None:
    def row(against: str, verdict: str, epsilon: float | None = None, empirical: float = 0.0) -> AuditRow:
        return AuditRow("korolova", "strict", "c", against, 1, 1, 1, verdict, epsilon=epsilon, empirical=empirical)

    rows = [row("proven", "not refuted", 1.0, 0.5), row("proven", "refuted", 2.0, 1.9), row("claimed", "refuted")]
    [found] = audited.summary(rows, quick=True).values()
    assert (found.checks, found.refuted, found.proven_epsilon, found.empirical_epsilon) == (2, 1, 2.0, 1.9)


@pytest.mark.slow
def test_the_command_keeps_what_it_found(hubbub: Hubbub) -> None:
    said = document(hubbub("audit", "--mechanism", "geometric", "--quick", "--json"))
    kept = audited.known()
    assert set(kept) == {"geometric strict"} and kept["geometric strict"].refuted == 0
    assert kept["geometric strict"].checks == len(said["rows"])  # type: ignore[arg-type]
    assert 0 < (kept["geometric strict"].empirical_epsilon or 0) <= (kept["geometric strict"].proven_epsilon or 0)
