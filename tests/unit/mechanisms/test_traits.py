"""A mechanism that declares nothing about itself gets generic answers everywhere, and never a KeyError."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Hubbub, document
from tests.unit.audit.test_audit_plugins import Plain

import hubbub as package
from hubbub.errors import InputError, ParameterError
from hubbub.log import read_log
from hubbub.look.estimate import estimate_log
from hubbub.look.estimate.words import lines
from hubbub.mechanisms import Mechanism, build, mechanisms
from hubbub.mechanisms.base import Released, Tables
from hubbub.mechanisms.traits import Wording
from hubbub.noise import NoiseSource
from hubbub.studio import quick
from hubbub.studio.app import create_app
from hubbub.studio.asked import Question, choices, offered, rivals
from hubbub.studio.sketch import sketches

BUDGET = ("--mechanism", "plain", "--epsilon", "2", "--delta", "1e-4")


@dataclass(frozen=True)
class Arrays:
    """Counts that nobody can scale, and whose keys stand in no table."""

    n: Any
    keys: str = ""


class Strange(Plain):
    """What it measures is nothing that hubbub knows."""

    name = "strange"

    def measure(self, log: Any, mode: Any) -> dict[str, Any]:
        return {"secret sauce": {"queries": np.array([500, 3])}}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        return {"queries": Released(np.zeros(1, np.int64), np.array([500]), 1.0)}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with Mechanism.registry.added(Plain, Strange):
        yield


@pytest.fixture
def plain_release(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> Path:
    hubbub("release", log_file, "--format", "aol", *BUDGET, "--out", tmp_path / "plain")
    return tmp_path / "plain"


def test_estimate_runs_its_own_code(hubbub: Hubbub, log_file: Path) -> None:
    found: Any = document(hubbub("estimate", log_file, "--format", "aol", *BUDGET, "--json"))
    table = found["owner_only"]["estimate"]["queries"]
    assert table["method"] == "simulated" and table["rows"] >= 1
    hubbub("estimate", "--users", "500", "--sample", "500", *BUDGET)


def test_what_cannot_be_estimated_says_so(log_file: Path) -> None:
    with read_log(log_file, format="aol") as log:
        found = estimate_log(build("strange", {"epsilon": 1, "delta": "1e-3"}), log)
    assert not found.tables and found.warnings == ("queries: strange has no estimate for this table",)
    assert "threshold" in "\n".join(lines(found))


def test_the_studio_makes_controls_of_its_parameters(log_file: Path) -> None:
    assert {"plain", "strange"} <= set(offered()) and offered()[0] == "crowd"
    assert choices(Plain) == []  # ε and δ have controls of their own
    asked = Question("plain", (("delta", "1e-4"), ("epsilon", "2")), ("queries",))
    assert rivals("2", "1e-4")["plain"] == [asked]
    with read_log(log_file, format="aol") as log:
        assert quick.estimate(asked.build(), sketches(log)) == {}
    assert create_app is not None


def test_own_mechanisms_keep_their_controls() -> None:
    assert [p.name for p in choices(mechanisms()["korolova"])] == ["d", "d_c", "keep"]
    assert [p.name for p in choices(mechanisms()["zealous"])] == ["m", "tau", "keep"]
    own = set(offered()) - {"plain", "strange"}
    assert own == {"crowd", "korolova", "zealous", "gaussian", "sips", "adaptive"}
    assert {name for name in own if quick_table(name)} == own


def quick_table(name: str) -> bool:
    return "queries" in build(name, {"epsilon": 1, "delta": "1e-4"}, tables=["queries"]).survival()


def test_intervals_come_from_what_its_card_states(plain_release: Path) -> None:
    found = package.simulate(plain_release, draws=50).interval(lambda tables: tables["queries"]["users"].to_numpy())
    assert (found.low <= found.estimate).all() and (found.high >= found.estimate).all()


def test_gaussian_noise_of_a_mechanism_that_is_not_installed_is_refused(released: Path) -> None:
    from hubbub.card.schema import Card
    from hubbub.release.opened import Release
    from hubbub.worth.simulate import law_of

    card = Card.model_validate(Release(released).card)
    gone = card.mechanism.model_copy(update={"name": "gone"})
    steps = [step.model_copy(update={"noise": "discrete-gaussian"}) for step in card.steps]
    rows = Release(released).queries.to_arrow()
    with pytest.raises(ParameterError, match="There is no such mechanism"):  # its rows may share noise
        law_of(card.model_copy(update={"mechanism": gone, "steps": steps}), "queries", rows)
    steps = [step.model_copy(update={"noise": "sawtooth"}) for step in card.steps]
    with pytest.raises(InputError, match="cannot be drawn again"):
        law_of(card.model_copy(update={"steps": steps}), "queries", rows)


def test_attacks_go_by_its_threshold(hubbub: Hubbub, plain_release: Path, log_file: Path) -> None:
    found: Any = document(
        hubbub("attack", plain_release, "--log", log_file, "--kind", "active", "--kind", "membership", "--json")
    )
    text = str(found)
    threshold = build("plain", {"epsilon": 2, "delta": "1e-4"}).thresholds()["queries"]
    assert f"{threshold - 1} accounts for each" in text and "within the guarantee" in text


def test_compare_takes_it_along(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    result = hubbub("compare", log_file, "--format", "aol", *BUDGET, "--draws", "1", "--jobs", "1", "--json")
    assert "plain" in result.stdout


def test_what_own_mechanisms_declare() -> None:
    known = mechanisms()
    assert {n for n, m in known.items() if m.wording is Wording.HASHED} == {"token-hash"}
    assert {n for n, m in known.items() if m.wording is Wording.CHANGED} == {"k-session", "k-similar", "k-vocabulary"}
    assert {n for n, m in known.items() if m.wording is Wording.SEALED} == {"secret-sharing"}
    assert {n for n, m in known.items() if m.exact} == {n for n in known if n.startswith("k-")} | {
        "pseudonyms",
        "secret-sharing",
        "token-hash",
    }
