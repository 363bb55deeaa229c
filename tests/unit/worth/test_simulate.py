"""`hubbub.simulate`: fresh noise of the published law, and intervals that cover as often as they say.

Seeds are fixed, so nothing here fails by chance; a rate over n runs is compared with its own spread, √(.95 · .05 / n).
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.conftest import RELEASE, Hubbub

import hubbub as package
from hubbub.errors import InputError, ParameterError
from hubbub.mechanisms import build
from hubbub.worth.simulate import Laplace, Normal, Replicates, RowNoise, Simulation, law_of

Statistic = Callable[[dict[str, pa.Table]], Any]
TRUTH = np.round(2000 / np.arange(1, 51)).astype(np.int64) + 100
RUNS, DRAWS = 300, 200


def table(values: npt.NDArray[np.int64], noise_sd: float) -> pa.Table:
    names = [f"q{n}" for n in range(values.size)]
    return pa.table({"query": names, "users": values, "noise_sd": np.full(values.size, noise_sd)})


def total(tables: dict[str, pa.Table]) -> float:
    return float(pc.sum(tables["queries"]["users"]).as_py())


def ratio(tables: dict[str, pa.Table]) -> float:
    users = tables["queries"]["users"].to_numpy()
    return float(users[0] / users[1])


def squares(tables: dict[str, pa.Table]) -> float:
    """Noise pushes it up, by the noise's variance for every row."""
    return float(np.sum(tables["queries"]["users"].to_numpy().astype(float) ** 2))


def coverage(statistic: Statistic, law: RowNoise, noise_sd: float) -> float:
    """How often the interval of a noisy copy of a known truth holds the statistic of the truth."""
    truth = statistic({"queries": table(TRUTH, noise_sd)})
    held = 0
    for run in range(RUNS):
        noisy = table(TRUTH + law.draw(np.random.default_rng([1, run])), noise_sd)
        found = Simulation({"queries": Replicates(noisy, law, DRAWS, (2, run))}, DRAWS).interval(statistic)
        held += bool(found.low <= truth <= found.high)
    return held / RUNS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "statistic"), [(Laplace, total), (Laplace, ratio), (Laplace, squares), (Normal, total)]
)
def test_an_interval_covers_as_often_as_it_says(kind: Any, statistic: Statistic) -> None:
    """Three standard deviations of the rate are .038; 200 draws cost another .005."""
    spread = np.full(TRUTH.size, 20.0)
    law: RowNoise = Laplace.of(spread) if kind is Laplace else Normal(spread)
    assert coverage(statistic, law, 20.0) == pytest.approx(0.945, abs=0.038)


@pytest.mark.slow
def test_noise_in_common_widens_a_total_and_not_a_row() -> None:
    """Half of each row's variance is shared by all: the total's spread grows from √50 to √(25 + 50²/2)."""
    half = np.full(50, 20 / math.sqrt(2))
    law = Normal(half, ((np.zeros(50, np.int64), half),))
    drawn = np.stack([law.draw(np.random.default_rng(n)) for n in range(4000)]).astype(float)
    assert drawn.std(axis=0) == pytest.approx(np.full(50, 20), rel=0.06)
    assert drawn.sum(axis=1).std() == pytest.approx(20 * math.sqrt(25 + 1250), rel=0.05)
    assert coverage(total, law, 20.0) == pytest.approx(0.945, abs=0.038)


@pytest.mark.parametrize("noise_sd", [0.3, 5.0, 4000.0])
def test_the_scale_of_laplace_noise_from_its_spread(noise_sd: float) -> None:
    law = Laplace.of(np.full(200_000, noise_sd))
    a = 1 - law.end[0]
    assert math.sqrt(2 * a) / (1 - a) == pytest.approx(noise_sd, rel=1e-9)
    drawn = law.draw(np.random.default_rng(7))
    assert drawn.std() == pytest.approx(noise_sd, rel=0.02)
    assert np.mean(drawn == 0) == pytest.approx((1 - a) / (1 + a), abs=0.004)


def test_no_noise_is_no_noise() -> None:
    assert not Laplace.of(np.zeros(5)).draw(np.random.default_rng(0)).any()


# ------------------------------------------------------------------ of a release


def test_a_release_drawn_again(released: Path) -> None:
    simulation = package.simulate(released, draws=400, seed=3)
    assert list(simulation.tables) == ["queries"]
    queries = simulation.tables["queries"]
    opened = package.Release(released)
    assert queries.rows.equals(opened.queries.to_arrow()) and len(queries) == 400
    drawn = queries.array()
    assert drawn.shape == (400, queries.rows.num_rows) and np.array_equal(drawn, queries.array()), "every time the same"
    centred = drawn - queries.rows["users"].to_numpy()
    assert centred.std() == pytest.approx(queries.rows["noise_sd"][0].as_py(), rel=0.1)
    first = next(iter(queries))
    assert first.schema == queries.rows.schema and first["query"].equals(queries.rows["query"])
    assert np.array_equal(first["users"].to_numpy(), drawn[0])
    assert not np.array_equal(package.simulate(opened, draws=400, seed=4).tables["queries"].array(), drawn)


def test_intervals_of_numbers_and_of_arrays(released: Path) -> None:
    simulation = package.simulate(released, draws=300)
    one = simulation.interval(total, level=0.9)
    assert one.low < one.estimate < one.high and (one.level, one.draws) == (0.9, 300)
    wide = simulation.interval(total, level=0.99)
    assert wide.low < one.low and one.high < wide.high
    shares = simulation.interval(lambda t: t["queries"]["users"].to_numpy() / total(t))
    assert shares.low.shape == shares.estimate.shape == (simulation.tables["queries"].rows.num_rows,)
    assert np.all(shares.low < shares.high) and shares.estimate.sum() == pytest.approx(1)


def test_exact_counts_have_no_spread(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    asked = ("--format", "aol", "--mechanism", "k-query", "--set", "k=20", "--not-private")
    hubbub("release", log_file, *asked, "--out", tmp_path / "r")
    release = package.Release(tmp_path / "r")
    found = package.simulate(release, draws=20).interval(total)
    assert found.low == found.estimate == found.high


def test_mistakes(hubbub: Hubbub, released: Path, log_file: Path, tmp_path: Path) -> None:
    for wrong in ({"draws": 0}, {"seed": -1}):
        with pytest.raises(ParameterError):
            package.simulate(released, **wrong)
    for level in (0.0, 1.0, 95.0):
        with pytest.raises(ParameterError, match="share"):
            package.simulate(released, draws=5).interval(total, level=level)
    keys_only = (*RELEASE[:2], "--mechanism", "sips", "--epsilon", "2", "--delta", "1e-5")
    hubbub("release", log_file, *keys_only, "--out", tmp_path / "sips")
    with pytest.raises(InputError, match="No table"):
        package.simulate(tmp_path / "sips")


@pytest.mark.slow
def test_no_release_draws_from_here() -> None:
    """Ordinary random numbers are for the reader of a release: the code that makes one never loads this module."""
    loaded = (
        "import sys, hubbub.cli.release, hubbub.release, hubbub.mechanisms; print('hubbub.simulate' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True).stdout == "False\n"
    )


@pytest.mark.parametrize("name", ["queries", "clicks", "transitions", "sessions", "keywords"])
def test_every_table_of_crowd_has_a_law_whose_rows_keep_their_noise_sd(name: str) -> None:
    """As its card states it; sessions of three and of four queries were counted apart."""
    mechanism = build("crowd", {"epsilon": 4, "delta": "1e-6"})
    steps = [SimpleNamespace(name=s.name, noise=s.noise, law=s.record()["law"]) for s in mechanism.steps()]
    card: Any = SimpleNamespace(steps=steps, mechanism=SimpleNamespace(name="crowd"))
    size = 90
    keys: list[Any] = [["a", "b", "c", "d"][: 3 + n % 2] for n in range(size)] if name == "sessions" else ["k"] * size
    spread = np.linspace(90, 9, size)
    rows = pa.table({"queries": keys, "users": np.linspace(9000, 30, size).astype(np.int64), "noise_sd": spread})
    law = law_of(card, name, rows)
    assert isinstance(law, Normal)
    assert np.allclose(law.own**2 + sum(width**2 for _, width in law.shared), spread**2)
    stages = len(set(law.shared[0][0].tolist()))
    assert stages == (2 if name == "sessions" else 1), "one kept total per stage"
    if name == "keywords":
        assert not law.shared[1][1].any(), "keywords are not selected, so nothing is learned from weights"


def test_noise_that_is_not_known_is_refused() -> None:
    card: Any = SimpleNamespace(steps=[SimpleNamespace(noise="coins")], mechanism=SimpleNamespace(name="geometric"))
    with pytest.raises(InputError, match="cannot be drawn again"):
        law_of(card, "queries", table(TRUTH, 1.0))
