"""Estimates against the mechanisms themselves: seeded runs on a made-up log, beside what was expected of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from hubbub.look.estimate import Source, estimate_log, estimate_users, laplace, simulate
from hubbub.look.estimate.result import TableEstimate
from hubbub.look.estimate.scale import scaled
from hubbub.look.estimate.source import made_up
from hubbub.mechanisms import Mechanism, build
from hubbub.noise import SeededNoise
from hubbub.public.lists import UrlList
from hubbub.steps.mode import RunMode

USERS, RUNS = 5000, 10
BUDGET = {"epsilon": "2", "delta": "1e-4"}
MECHANISMS = {
    "korolova d=1": build("korolova", BUDGET),
    "korolova d=5": build("korolova", BUDGET | {"d": 5}),
    "korolova random": build("korolova", BUDGET | {"d": 2, "keep": "random"}),
    "korolova clicks": build("korolova", BUDGET | {"d": 1, "d_c": 1}, tables=["queries", "clicks"]),
    "korolova published": build("korolova", BUDGET | {"d": 5}, variant="published"),
    "crowd": build("crowd", BUDGET, tables=["queries"]),
    "gaussian": build("gaussian", BUDGET),
    "sips": build("sips", BUDGET),
}
EXACT = [name for name in MECHANISMS if name.startswith("korolova")]


@pytest.fixture(scope="module")
def source() -> Iterator[Source]:
    with made_up(USERS, "aol", USERS) as made:
        yield Source(made.log, USERS)


def near(expected: float, seen: list[float], relative: float = 0.1) -> bool:
    """Within a tenth, or within three standard errors of the mean over runs."""
    error = float(np.std(seen, ddof=1)) / len(seen) ** 0.5
    return bool(abs(expected - float(np.mean(seen))) <= max(relative * abs(expected), 3 * error))


def runs(
    mechanism: Mechanism, source: Source, first: int = 100
) -> Iterator[dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]]:
    """Whole runs, each with its own secret: nothing of the estimate's own code."""
    for seed in range(first, first + RUNS):
        noise = SeededNoise(seed)
        tables = mechanism.draw(mechanism.measure(source.log, RunMode(noise.secret("bounding"))), noise)
        yield {table: found.ids for table, found in tables.items()}


@pytest.mark.parametrize("name", MECHANISMS)
def test_expected_rows_are_those_of_the_mechanism(name: str, source: Source) -> None:
    mechanism = MECHANISMS[name]
    found = estimate_log(mechanism, source.log)
    seen = list(runs(mechanism, source))
    for table in mechanism.tables:
        rows = [float(one[table].size) for one in seen]
        assert min(rows) > 4, "too few rows to tell anything"
        assert near(found.tables[table].rows, rows), (table, found.tables[table].rows, rows)


def both(
    mechanism: Mechanism, source: Source, table: str = "queries"
) -> tuple[TableEstimate, list[simulate.SimulatedRun]]:
    """The exact estimate, and simulated runs of the same."""
    exact = laplace.estimate(mechanism, source, 0)[table]
    return exact, [one[table] for one in simulate.each(mechanism, source, 30)]


@pytest.mark.parametrize("name", EXACT)
def test_error_and_volume_add_up(name: str, source: Source) -> None:
    """Bounding, noise and threshold of the formulas sum to the error of simulated values, and so does the volume."""
    mechanism = MECHANISMS[name]
    exact, seen = both(mechanism, source)
    error, volume = exact.error, exact.volume
    assert error is not None
    total = error.bounding + error.noise + error.threshold
    assert error.rms**2 == pytest.approx(total)
    assert near(total, [one.square or 0.0 for one in seen], 0.02)
    assert near(error.bounding, [one.bounding or 0.0 for one in seen], 0.02)
    assert near(error.noise, [float((one.noise**2).mean()) for one in seen], 1e-9)
    assert near(error.bias, [one.bias for one in seen], 0.02)
    assert near(error.cut, [one.cut for one in seen], 0.02)
    assert volume.bounding + volume.threshold + volume.published == pytest.approx(1)
    for part in ("bounding", "threshold", "published", "searches"):
        assert near(getattr(volume, part), [getattr(one.volume, part) for one in seen], 0.02), part


@pytest.mark.parametrize("name", ["korolova d=1", "korolova d=5", "crowd"])
def test_the_curve_is_the_share_of_keys_that_survive(name: str, source: Source) -> None:
    mechanism = MECHANISMS[name]
    curve = estimate_log(mechanism, source.log).tables["queries"].curve
    assert (np.diff(curve.chance) >= 0).all()
    seen = [one["queries"] for one in simulate.each(mechanism, source, RUNS // 2)]
    users = np.concatenate([one.shape.users for one in seen])
    released = np.concatenate([one.released for one in seen])
    for low, high in ((1, 3), (3, 10), (10, 20), (20, 40), (40, 100)):
        inside = (users >= low) & (users < high)
        expected = np.interp(users[inside], curve.users, curve.chance).mean()
        assert abs(expected - released[inside].mean()) < 0.1


@pytest.mark.parametrize("name", ["korolova d=5", "crowd", "gaussian"])
def test_a_sample_tells_about_more_users(name: str, source: Source) -> None:
    """A fifth of the users, scaled, gives the rows of all of them within a third."""
    mechanism = MECHANISMS[name]
    found = estimate_users(mechanism, USERS, sample=USERS // 5).tables["queries"]
    whole = estimate_log(mechanism, source.log).tables["queries"]
    assert 0.65 < found.rows / whole.rows < 1.5
    assert 0.65 < found.volume.searches / whole.volume.searches < 1.5
    assert found.volume.bounding == pytest.approx(whole.volume.bounding, abs=0.05)


@pytest.mark.parametrize("name", ["crowd", "gaussian", "sips"])
def test_what_was_measured_once_serves_every_run(name: str, source: Source) -> None:
    mechanism = MECHANISMS[name]
    first, again = SeededNoise(1), SeededNoise(1)
    pools = mechanism.measure(source.log, RunMode(bytes(16)))
    users = np.zeros(0, np.int64)
    ids = mechanism.draw({"queries": scaled(pools["queries"], users, 1.0)}, first)["queries"].ids
    twice = mechanism.draw({"queries": scaled(pools["queries"], users, 1.0)}, again)["queries"].ids
    assert ids.size and (ids == twice).all()


def test_a_result_list(source: Source) -> None:
    rows = source.log.engine.fetch(
        "SELECT query, url FROM (SELECT query, url, count(DISTINCT uid) AS n FROM log WHERE url IS NOT NULL "
        "GROUP BY query, url) AS listed WHERE n > 3"
    )
    listed = UrlList("made up", pa.table({"query": rows["query"], "url": rows["url"]}), "0" * 64)
    for variant in ("strict", "published"):
        mechanism = build("korolova", BUDGET | {"d": 2, "d_c": 2}, serp=listed, variant=variant)
        exact, seen = both(mechanism, source, "clicks")
        rows = [float(one.released.sum()) for one in seen]
        assert near(exact.rows, rows, 0.02)
        assert exact.rows_sd == pytest.approx(float(np.std(rows, ddof=1)), rel=0.5)
        assert exact.error is not None and exact.error.threshold == pytest.approx(0, abs=1e-6)
        assert near(exact.error.rms**2, [one.square or 0.0 for one in seen], 0.05)
