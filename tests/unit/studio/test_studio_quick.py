"""How good the studio's quick estimates are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.made_up import synthesise
from tests.unit.studio.asking import QUESTION, Client, post

from hubbub.audit.tiny import MODE
from hubbub.log import SearchLog, read_log
from hubbub.look.estimate import estimate_log
from hubbub.mechanisms import build
from hubbub.steps import bound
from hubbub.steps.count import count
from hubbub.steps.keys import QUERIES
from hubbub.studio import quick
from hubbub.studio.asked import rivals
from hubbub.studio.sketch import Sketch, sketches
from hubbub.studio.state import Studio


@pytest.fixture(scope="module")
def shape(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SearchLog, dict[str, Sketch]]]:
    """A made-up log of the usual shape, and its sketch."""
    path = tmp_path_factory.mktemp("shape") / "log.parquet"
    synthesise(2000, path)
    with read_log(path) as log:
        yield log, sketches(log)


MECHANISMS: list[tuple[str, dict[str, str], tuple[str, ...]]] = [
    ("crowd", {}, ("queries", "clicks")),
    ("crowd", {"epsilon": "30"}, ("queries", "transitions")),
    ("korolova", {"d": "2"}, ("queries", "clicks")),
    ("zealous", {"m": "10", "keep": "random"}, ("queries",)),
    ("gaussian", {"d": "20"}, ("queries",)),
    ("gaussian", {"d": "20", "weights": "sqrt"}, ("queries",)),
    ("sips", {"d": "30"}, ("queries",)),
    ("adaptive", {"d": "100", "rounds": "4"}, ("queries",)),
]


@pytest.mark.parametrize(("name", "settings", "tables"), MECHANISMS)
def test_quick_estimates_agree_with_estimate(
    shape: tuple[SearchLog, dict[str, Sketch]], name: str, settings: dict[str, str], tables: tuple[str, ...]
) -> None:
    log, sketched = shape
    mechanism = build(name, {"epsilon": "10", "delta": "1e-3"} | settings, tables=tables)
    slow, fast = estimate_log(mechanism, log, runs=3).tables, quick.estimate(mechanism, sketched)
    assert set(fast) == set(tables)
    for table in tables:
        few = max(quick.TOLERANCE_ROWS, 3 * slow[table].rows_sd / 3**0.5)
        assert slow[table].rows > 15
        assert fast[table].rows == pytest.approx(slow[table].rows, rel=quick.TOLERANCE, abs=few)
        assert fast[table].volume.searches == pytest.approx(slow[table].volume.searches, rel=0.15, abs=0.002)
        assert fast[table].volume.bounding == pytest.approx(slow[table].volume.bounding, abs=1e-6)
        half, sure = (slow[table].curve.reaches(chance) for chance in (0.25, 0.75))
        found = fast[table].curve.reaches(0.5)
        assert half is not None and sure is not None and found is not None
        assert half / 1.3 <= found <= sure * 1.3
        if slow[table].half_width is not None:
            assert fast[table].half_width == pytest.approx(slow[table].half_width, rel=0.35, abs=0.5)


@pytest.mark.parametrize("d", [1, 3, 20])
def test_bounded_counts_of_a_sketch_are_exact_where_nothing_is_left_out(studio: Studio, log_path: Path, d: int) -> None:
    assert studio.opened is not None
    sketched = studio.opened.sketches["queries"]
    with read_log(log_path, format="aol") as log:
        exact = count(log, QUERIES, bound.first_keys(QUERIES, d), MODE).local().n
    rare = sketched.users <= 64  # of popular keys a sample of users is looked at
    found = np.sort(quick.kept(sketched, d, first=True)[0][rare])
    assert np.array_equal(found[found > 0], np.sort(exact[exact <= 64]))
    popular = np.sort(quick.kept(sketched, d, first=True)[0][~rare])
    assert popular[popular > 0] == pytest.approx(np.sort(exact[exact > 64]).astype(float), rel=0.25)
    assert sketched.cut(d) == pytest.approx(1 - exact.sum() / sketched.whole)


def test_less_noise_keeps_more_and_a_wider_share_too(shape: tuple[SearchLog, dict[str, Sketch]]) -> None:
    rows = []
    for epsilon, weight in (("0.5", "45"), ("2", "45"), ("8", "45"), ("8", "400")):
        settings = {"epsilon": epsilon, "delta": "1e-4", "queries_weight": weight}
        mechanism = build("crowd", settings, tables=("queries", "clicks"))
        rows.append(quick.estimate(mechanism, shape[1])["queries"].rows)
    assert rows[0] < rows[1] < rows[2] < rows[3]


def test_a_slider_is_answered_soon(client: Client) -> None:
    """Far from a bench: only that nobody counts the log again."""
    post(client, "/api/estimate", QUESTION)
    best = min(
        post(client, "/api/estimate", QUESTION | {"settings": {"epsilon": e, "delta": "1e-4"}})["milliseconds"]
        for e in ("1.1", "1.2", "1.3", "1.4")
    )
    assert best < 1500


def test_rivals_have_the_same_budget() -> None:
    for name, tries in rivals("2", "1e-5").items():
        for asked in tries:
            loss = asked.build().loss()
            assert loss.epsilon <= 2 * (1 + 1e-9) and loss.delta <= 1e-5 * (1 + 1e-9), name
