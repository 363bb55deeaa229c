"""Noise that cannot be drawn is refused before anything is spent; and what is drawn was said beforehand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Hubbub, aol_lines

from hubbub.audit.neighbours.closed import PAGES, POOL
from hubbub.errors import OurBug, ParameterError
from hubbub.log import read_log
from hubbub.mechanisms import Mechanism, build
from hubbub.noise import SeededNoise
from hubbub.noise.absent import Exits, Rounds
from hubbub.noise.source import Integers
from hubbub.privacy.ledger import Ledger
from hubbub.release.plan import Plan
from hubbub.release.story import run_release

pytestmark = pytest.mark.usefixtures("no_report")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gaussian", {"epsilon": "1e-4", "delta": "1e-6"}),
        ("gaussian", {"epsilon": "0.01", "delta": "1e-6", "d": 1000, "grid": 12}),
        ("korolova", {"b": "1000000000000000000/12345678901234567", "K": 2000, "d": 1}),
    ],
    ids=["small epsilon", "fine grid", "long fraction"],
)
def test_refused_before_anything_is_spent(
    log_file: Path, tmp_path: Path, own_ledger: Path, name: str, settings: dict[str, Any]
) -> None:
    plan = Plan(build(name, settings), tmp_path / "out")
    with pytest.raises(ParameterError, match="cannot be drawn exactly"):
        plan.drafted()
    with (
        Ledger() as book,
        read_log(log_file, format="aol") as log,
        pytest.raises(ParameterError, match="cannot be drawn exactly"),
    ):
        run_release(log, plan, book)
    assert not own_ledger.exists() and not (tmp_path / "out").exists()


def test_from_the_command(hubbub: Hubbub, log_file: Path, tmp_path: Path, own_ledger: Path) -> None:
    budget = ("--mechanism", "gaussian", "--epsilon", "1e-4", "--delta", "1e-6")
    said = hubbub("release", log_file, "--format", "aol", *budget, "--out", tmp_path / "out", code=2).stderr
    assert "variance" in said and "raise epsilon" in said
    assert not own_ledger.exists()


class Recorded(SeededNoise):
    """Which laws were asked for."""

    def __init__(self) -> None:
        super().__init__(1)
        self.asked: set[tuple[str, Fraction]] = set()

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        self.asked.add(("scale", Fraction(scale)))
        return super().laplace(step, scale, size)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        self.asked.add(("variance", Fraction(variance)))
        return super().gaussian(step, variance, size)

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        self.asked |= {("variance", Fraction(m * rounds.variance)) for m in rounds.multiples}
        return super().absent(step, count, rounds)


BUDGET: dict[str, Any] = {"epsilon": 8, "delta": "1e-3"}
DRAWING: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "crowd": ("crowd", BUDGET, {"tables": ["queries", "clicks", "transitions", "sessions", "keywords", "log"]}),
    "crowd with a list": ("crowd", BUDGET, {"public_list": POOL, "tables": ["queries", "clicks"]}),
    "korolova": ("korolova", BUDGET | {"d": 3}, {"tables": ["queries", "clicks"]}),
    "korolova published": ("korolova", BUDGET | {"d": 3}, {"variant": "published"}),
    "zealous": ("zealous", BUDGET | {"m": 3}, {}),
    "sessions": ("sessions", BUDGET, {}),
    "safelog": ("safelog", {"epsilon": 8}, {"pool": POOL, "serp": PAGES}),
    "optimal": ("optimal", BUDGET, {}),
    **{name: (name, BUDGET, {}) for name in ("gaussian", "sips", "adaptive", "geometric")},
    "gaussian weighted": ("gaussian", BUDGET | {"weights": "sqrt"}, {}),
}


@pytest.mark.parametrize("case", DRAWING)
def test_what_is_drawn_was_said(tmp_path: Path, case: str) -> None:
    """A scale exactly; a variance at most: recounts draw less where users turn out to hold less."""
    name, settings, context = DRAWING[case]
    mechanism = build(name, settings, **context)
    (tmp_path / "log.tsv").write_text("\n".join(aol_lines(120)) + "\n")
    noise = Recorded()
    with Ledger() as book, read_log(tmp_path / "log.tsv", format="aol") as log:
        run_release(log, Plan(mechanism, tmp_path / "out", seed=1, not_private=True), book, noise=noise)
    said = {(law.parameter, Fraction(law.value)) for law in mechanism.laws()}
    widest = max((value for parameter, value in said if parameter == "variance"), default=Fraction(0))
    assert noise.asked or name == "geometric", "or this test says nothing"
    for parameter, value in noise.asked:
        assert (parameter, value) in said or (parameter == "variance" and value <= widest)


def test_gaussian_noise_of_which_nothing_is_said_is_our_bug() -> None:
    crowd = build("crowd", BUDGET)
    with pytest.raises(OurBug, match="does not say"):
        Mechanism.laws(crowd)
