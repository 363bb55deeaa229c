"""crowd and the selection baselines: contracts, parameters, a release end to end."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub

import hubbub as package
from hubbub.audit.checks.counts import NoNoise
from hubbub.errors import ParameterError
from hubbub.mechanisms import build, mechanisms
from hubbub.privacy.coins import WHOLE, CoinStep
from hubbub.privacy.gaussian import certify
from hubbub.steps.mode import RunMode
from hubbub.testing import check_mechanism

pytestmark = pytest.mark.usefixtures("no_report")

SELECTORS: dict[str, list[dict[str, Any]]] = {
    "crowd": [{}, {"D": 3, "rounds": 2}, {"rounds": 1, "D": 2}, {"rounds": 12}],
    "gaussian": [{"d": 2, "grid": 0}, {"d": 3, "weights": "sqrt"}],
    "geometric": [{}, {"d": 2}],
    "sips": [{"d": 3}],
    "adaptive": [{"d": 3}, {"d": 3, "rounds": 4, "margin": "1/2"}],
}
CASES = [(name, settings) for name, all_settings in SELECTORS.items() for settings in all_settings]


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_the_contract_holds(name: str, settings: dict[str, Any]) -> None:
    plain = {"language": "none"} if name == "crowd" else {}  # words have audits of their own
    check_mechanism(build(name, {"epsilon": 1, "delta": "0.01", **plain, **settings}, tables=["queries"]))


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-5"), ("1", "1e-6"), ("4", "1e-7"), ("8", "1e-9")])
def test_calibration_meets_what_was_asked(name: str, epsilon: str, delta: str) -> None:
    proven = build(name, {"epsilon": epsilon, "delta": delta}).proven()
    assert proven.epsilon == float(epsilon)
    assert proven.delta is not None and 0.8 * float(delta) < proven.delta <= float(delta)


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize(
    "settings",
    [{}, {"epsilon": 1}, {"epsilon": 1, "delta": 0}, {"epsilon": 1, "delta": "1e-6", "K": 3}],
)
def test_bad_parameters_are_refused(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        build(name, settings)


@pytest.mark.parametrize("name", SELECTORS)
def test_replace_is_not_claimed(name: str) -> None:
    with pytest.raises(ParameterError):
        build(name, {"epsilon": 1, "delta": "1e-6"}, neighbours="replace")


def test_every_mechanism_has_a_proof_page_and_an_audit() -> None:
    from hubbub.audit.subjects import PLANS

    root = Path(__file__).parents[4]
    for name, kind in mechanisms().items():
        assert (root / kind.proof).is_file(), f"{name} has no proof page"
        assert PLANS[name].small() and PLANS[name].used() and PLANS[name].mutants()


@pytest.mark.parametrize("name", SELECTORS)
def test_a_release_end_to_end(hubbub: Hubbub, log_file: Path, tmp_path: Path, name: str) -> None:
    """A query of one user comes out in one run of fifty thousand, or fewer (at δ = 1e-4: in 12 of 8,000)."""
    out = tmp_path / name
    words = ("--no-known-words",) if name == "crowd" else ()  # or one row of nobody would be expected
    budget = ("--epsilon", "4", "--delta", "1e-6")
    hubbub("release", log_file, "--format", "aol", "--mechanism", name, *budget, *words, "--out", out)
    hubbub("card", out, "--check")
    rows = pq.read_table(out / "public" / "queries.parquet")
    assert set(rows.column("query").to_pylist()) <= {"weather", "news", "maps"}
    assert rows.num_rows >= 2
    card = json.loads((out / "public" / "card.json").read_text())
    assert card["claim"]["epsilon"] == 4.0


def test_crowd_counts_are_close(log_file: Path, tmp_path: Path) -> None:
    with package.read_log(log_file, format="aol") as log:
        crowd = package.Crowd(epsilon=8, delta="1e-4", tables=["queries"])
        made = package.release(log, crowd, tmp_path / "out", users_public=300)
    rows = {r["query"]: r for r in made.queries.to_arrow().to_pylist()}
    for query, users in (("weather", 300), ("news", 300), ("maps", 150)):
        assert abs(rows[query]["users"] - users) < 6 * rows[query]["noise_sd"] + 30


def test_the_same_seed_gives_the_same_release(log_file: Path) -> None:
    from hubbub.noise import SeededNoise

    mechanism = package.Crowd(epsilon=2, delta="1e-4", tables=["queries"])
    found = []
    for _ in range(2):
        with package.read_log(log_file, format="aol") as log:
            out = mechanism.draw(mechanism.measure(log, RunMode(bytes(16))), SeededNoise(3))["queries"]
            found.append((out.ids.tolist(), np.asarray(out.values).tolist()))
    assert found[0] == found[1]


def test_coins_keep_the_recursion_on_the_grid() -> None:
    """π_{n+1} <= e^ε₀ π_n + δ₀ and 1 − π_n <= e^ε₀ (1 − π_{n+1}) + δ₀, in exact integers with rounded constants."""
    from fractions import Fraction

    step = CoinStep("queries", Fraction(1, 2), Fraction(1, 10**6), 2, "proof")
    up = Fraction(164872127070012814, 10**17)  # just below e^(1/2)
    chances = [int(c) for c in step.chances]
    assert chances[0] == 0 and chances == sorted(chances)
    for a, b in itertools.pairwise(chances):
        assert Fraction(b, WHOLE) <= Fraction(a, WHOLE) * (up + Fraction(1, 10**16)) + step.delta0
        assert 1 - Fraction(a, WHOLE) <= (1 - Fraction(b, WHOLE)) * (up + Fraction(1, 10**16)) + step.delta0
    assert step.chance(10**6) > 1 - 1e-15
    assert NoNoise().coins("x", step.chances)[-1]


@pytest.mark.parametrize("keys", [1, 3, 100])
def test_one_round_has_the_threshold_of_keys_that_share_a_weight(keys: int) -> None:
    """As low as the bound of section 14 allows, and no lower; several rounds do not have it."""
    made = build("crowd", {"epsilon": 1, "delta": "1e-6", "rounds": 1, "D": keys}, tables=["queries"])
    assert isinstance(made, package.Crowd)
    selection, *others = made.steps()
    plan = made.selection
    lower = replace(plan, thresholds=(plan.thresholds[0] - (plan.unit >> 9),)).step("queries", "", tightened=True)
    assert selection.shrinking and certify([selection, *others], 1.0) <= 1e-6 < certify([lower, *others], 1.0)
    rounds = build("crowd", {"epsilon": 1, "delta": "1e-6", "rounds": 2, "D": keys}, tables=["queries"])
    assert not any(step.record()["law"]["shrinking"] for step in rounds.steps())  # type: ignore[index]
