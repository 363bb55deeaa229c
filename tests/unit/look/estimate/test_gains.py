"""What more of something would bring: by the model, and by runs on logs that really have it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Hubbub, document

from hubbub.log import SearchLog, read_log
from hubbub.look.compare.draws import drawn
from hubbub.look.estimate import estimate_log
from hubbub.look.estimate.gains import BUDGET, PERIOD, USERS, Gain, said
from hubbub.mechanisms import Mechanism, build
from hubbub.noise import SeededNoise
from hubbub.steps.mode import RunMode
from hubbub.synth import SYLLABIC
from hubbub.synth.run import synthesise

SEEDS = range(3)


def mechanism(epsilon: str) -> Mechanism:
    return build("gaussian", {"epsilon": epsilon, "delta": "1e-4"})


def rows(log: SearchLog, epsilon: str) -> float:
    """Rows of real runs of the mechanism, on average."""
    one = mechanism(epsilon)
    measured = one.measure(log, RunMode(SeededNoise(0).secret("bounding")))
    found = [drawn(one, measured, seed)["queries"] for seed in SEEDS]
    return sum(len(table.ids) for table in found) / len(SEEDS)


@pytest.mark.slow
def test_the_model_against_runs(tmp_path: Path) -> None:
    for users in (2000, 4000):
        synthesise(users, tmp_path / f"{users}.parquet", vocabulary=SYLLABIC)
    with read_log(tmp_path / "2000.parquet") as log, read_log(tmp_path / "4000.parquet") as larger:
        found = {gain.change: gain for gain in estimate_log(mechanism("8"), log, gains=True).gains}
        ran = {BUDGET: rows(log, "16"), PERIOD: 2 * rows(log, "4"), USERS: rows(larger, "8")}
    for change, expected in ran.items():
        assert found[change].then == pytest.approx(expected, rel=0.35), change
    assert found[USERS].then > found[USERS].now > 10 and found[BUDGET].then > found[BUDGET].now


def test_in_words() -> None:
    text = list(
        said([Gain(BUDGET, "queries", 100, 150), Gain(BUDGET, "clicks", 0.2, 8), Gain(USERS, "queries", 100, 90)])
    )
    assert text == [
        "  twice the ε: queries 100 → 150 (× 1.5), clicks 0 → 8; clicks gains most",
        "  twice the users: queries 100 → 90 (× 0.9)",
    ]


def test_the_command(hubbub: Hubbub, log_file: Path) -> None:
    how = ("--format", "aol", "--mechanism", "gaussian", "--epsilon", "4", "--delta", "1e-4", "--runs", 1)
    result = hubbub("estimate", log_file, *how, "--gains", "--json")
    changes = {gain["change"] for gain in document(result)["owner_only"]["gains"]}  # type: ignore[index]
    assert changes == {BUDGET, USERS, PERIOD}
