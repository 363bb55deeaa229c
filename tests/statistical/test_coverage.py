"""How often the interval on a card holds the right number: what cards quote, measured again on a smaller scale.

`bench/coverage.py` measured it, and runs here with fewer draws. Seeds are fixed; with others a region would leave the
stated span by more than the room that is left (four standard errors of ten draws) less than once in a thousand runs.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hubbub.look.estimate.source import made_up
from hubbub.mechanisms import build, measured
from hubbub.mechanisms.base import Mechanism

ROOT = Path(__file__).resolve().parents[2]
ROOM = {"largest tenth": 0.05, "middle": 0.03, "smallest tenth": 0.08}


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_bench", ROOT / "bench" / "coverage.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def shares(bench: ModuleType, mechanism: Mechanism, draws: int) -> Any:
    with made_up(20_000, "aol", 20_000) as source:
        return bench.shares([run["queries"] for run in bench.draws(mechanism, source.log, draws, first=1000)])


def within(found: Any, of: str, stated: measured.Covered) -> None:
    for (region, room), (low, high) in zip(ROOM.items(), stated.spans, strict=True):
        assert low / 100 - room <= found[f"{of}, {region}"].mean <= high / 100 + room, region


def test_crowd_and_exact_numbers(bench: ModuleType) -> None:
    """In every region, and 1.96 noise_sd would not do: cards promised that once."""
    mechanism = build("crowd", {"epsilon": 2, "delta": "1e-6"}, tables=["queries"])
    stated, (low, high) = measured.CROWD["queries"], measured.TOTALS
    assert mechanism.intervals()["queries"] == f"{measured.HALF_WIDTH} {stated.sentence()}"
    assert f"{low:g} to {high:g} of the exact ones" in mechanism.values() and "at most" not in mechanism.values()
    found = shares(bench, mechanism, 10)
    within(found, "exact", stated)
    for region, room in ROOM.items():
        assert found[f"exact, {region}"].mean > 0.95 - room / 2, region
    assert 0.925 < found["quiet, all"].mean < 0.965, "the noise alone"
    assert low - 0.02 <= found["total"].mean <= high + 0.02


def test_one_laplace_draw_that_selects(bench: ModuleType) -> None:
    mechanism = build("korolova", {"epsilon": 2, "delta": "1e-6", "d": 5}, tables=["queries"])
    assert measured.LAPLACE.sentence() in mechanism.intervals()["queries"]
    assert "at most the exact number" in mechanism.values()
    found = shares(bench, mechanism, 60)
    within(found, "quiet", measured.LAPLACE)
    assert found["total"].mean < 0.5


def test_one_gaussian_draw_that_selects(bench: ModuleType) -> None:
    mechanism = build("gaussian", {"epsilon": 2, "delta": "1e-6", "d": 5})
    assert measured.GAUSSIAN.sentence() in mechanism.intervals()["queries"]
    within(shares(bench, mechanism, 60), "quiet", measured.GAUSSIAN)
    assert build("sips", {"epsilon": 2, "delta": "1e-6"}).intervals() == {"queries": "no counts are published"}
