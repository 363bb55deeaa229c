"""zealous from the command line: a filtered release and its card, refusals that cost nothing, the estimate."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from tests.conftest import Hubbub, aol_lines, document

from hubbub import Zealous
from hubbub.log import read_log
from hubbub.look.estimate import Source
from hubbub.look.estimate.simulate import estimate as simulated
from hubbub.look.estimate.words import lines
from hubbub.look.estimate.zealous import estimate as exact
from hubbub.privacy.account import Step
from hubbub.steps.mode import RunMode


def written(folder: Path, users: int = 60) -> Path:
    log = folder / "log.tsv"
    log.write_text("\n".join(aol_lines(users)) + "\n", encoding="utf-8")
    return log


def test_a_published_release_says_what_is_claimed_proven_and_also_true(hubbub: Hubbub, tmp_path: Path) -> None:
    out, ledger = tmp_path / "out", tmp_path / "ledger.sqlite"
    given = ["--set", "U=1000", "--epsilon", "1", "--delta", "0.001", "--variant", "published", "--tables", "keywords"]
    where = ["--format", "aol", "--out", str(out), "--ledger", str(ledger)]
    found = document(hubbub("release", str(written(tmp_path, 200)), "--mechanism", "zealous", *given, *where, "--json"))
    assert found["private"] is True
    assert found["thresholds"] == {"keywords": 28}  # τ′ = 2 + 2 ln(1000/(2 · 0.001 · 2)) = 26.86, so 27, and > is >= 28
    rows = pq.read_table(out / "public" / "keywords.parquet").to_pylist()
    assert rows and all(row["users"] >= 28 for row in rows)
    card = json.loads((out / "public" / "card.json").read_text(encoding="utf-8"))
    assert card["mechanism"]["parameters"]["tau"] == "2"
    assert card["steps"][0]["law"] == {"floor": 2}
    assert card["unit"]["neighbouring"] == "replace" and card["claim"]["epsilon"] == 1
    assert card["mechanism"]["claimed"]["holds"] and card["mechanism"]["claimed"]["delta"] <= 0.001
    also = {(a["definition"], a["neighbouring"]): a for a in card["claim"]["also_holds_as"]}
    assert also["approximate", "add-remove"]["epsilon"] == 0.5
    assert card["claim"]["delta"] < also["probabilistic", "replace"]["delta"] <= 0.001
    page = (out / "public" / "index.html").read_text(encoding="utf-8")
    assert "its exact count is at least 2, and its noisy count is at least 28" in page
    hubbub("card", str(out), "--check", "--quiet")
    shown = document(hubbub("ledger", "show", "--ledger", str(ledger), "--json"))
    assert '"epsilon": 0.5' in json.dumps(shown), "add-remove goes to the ledger"


def test_refusals_spend_nothing(hubbub: Hubbub, tmp_path: Path) -> None:
    log, ledger = written(tmp_path), tmp_path / "ledger.sqlite"
    for given in (
        ["--epsilon", "1", "--delta", "1e-3", "--variant", "published"],
        ["--set", "lambda=1", "--set", "tau=9", "--set", "tau_prime=4"],
        ["--epsilon", "1", "--delta", "1e-3", "--set", "lambda=1"],
    ):
        where = ["--format", "aol", "--out", str(tmp_path / "out"), "--ledger", str(ledger)]
        hubbub("release", str(log), "--mechanism", "zealous", *given, *where, code=2)
        assert not (tmp_path / "out").exists() and not ledger.exists()


def test_the_estimate_is_what_runs_show_with_the_papers_measures(tmp_path: Path) -> None:
    """Rows of 300 simulated runs lie within six standard errors of the exact mean."""
    mechanism = Zealous(lambda_=4, tau=5, tau_prime=30, m=2, tables=["keywords", "queries"])
    with read_log(written(tmp_path), format="aol") as log:
        source = Source(log, log.users())
        known, seen = exact(mechanism, source, 1), simulated(mechanism, source, 300)
        counts = mechanism.measure(log, RunMode(bytes(16)))
    for step in mechanism.steps():
        assert isinstance(step, Step)
        table = known[step.name]
        chances = np.array([step.chance(n) for n in counts[step.name].local().n.tolist()])
        assert np.isclose(table.rows, chances.sum())
        assert abs(seen[step.name].rows - table.rows) <= 6 * table.rows_sd / 300**0.5 + 1e-9
        frequent = counts[step.name].local().n >= 31
        assert table.utility["very_frequent"] == frequent.sum()
        assert np.isclose(table.utility["inaccuracy"], (1 - chances[frequent]).sum())
        assert np.isclose(table.utility["c_accuracy"], 1 / (1 + np.exp(-1 / 4)))
        assert table.utility["c_accuracy_printed"] > 0.9
        assert step.chance(int(table.utility["users_for_95"])) >= 0.95
        assert step.chance(int(table.utility["users_for_95"]) - 1) < 0.95
        assert len(table.notes) == 3 and json.dumps(table.record()["utility"])


def test_the_estimate_prints_its_utility(hubbub: Hubbub) -> None:
    from hubbub.look.estimate import estimate_users

    text = "\n".join(lines(estimate_users(Zealous(epsilon=4, delta="1e-4", tau=3), 2000, sample=500)))
    for word in ("utility", "c-accuracy", "inaccuracy", "pure ε", "3 (fewer are dropped before the noise"):
        assert word in text
