"""One law of survival: cards, estimates, the studio and reports give the same chances, and these are the right ones.

Draws are seeded, so nothing fails by chance; other seeds would fail a comparison of rates less than once in a million.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.ingest import SCHEMA
from hubbub.log import read_log
from hubbub.look.estimate import estimate_log
from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.survival import LaplaceTest, RoundsTest
from hubbub.noise import SeededNoise
from hubbub.privacy.account import Domain, Step
from hubbub.show.tried import other_budgets
from hubbub.studio import quick
from hubbub.studio.sketch import sketches

BUDGET = {"epsilon": 1, "delta": "1e-3"}
USERS = range(1, 41)


@pytest.fixture(scope="module")
def plain_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For every number of users a few queries that so many hold; everybody holds one query, so no bound takes any."""
    path = tmp_path_factory.mktemp("plain") / "log.parquet"
    asked = [f"q {n} {copy}" for n in USERS for copy in range(40) for _ in range(n)]
    columns = {"user": [f"u{i}" for i in range(len(asked))], "time": list(range(len(asked))), "query": asked}
    rows = pa.table(columns | {name: pa.nulls(len(asked), SCHEMA.field(name).type) for name in ("rank", "url")})
    pq.write_table(rows.cast(SCHEMA), path)
    return path


def laplace(mechanism: Mechanism) -> LaplaceTest:
    law = mechanism.survival()["queries"]
    assert isinstance(law, LaplaceTest)
    return law


def rounds(mechanism: Mechanism) -> RoundsTest:
    law = mechanism.survival()["queries"]
    assert isinstance(law, RoundsTest)
    return law


@pytest.mark.parametrize(("name", "more"), [("korolova", {}), ("zealous", {}), ("zealous", {"tau": 6})])
def test_everybody_asks_the_same_law(plain_log: Path, name: str, more: dict[str, Any]) -> None:
    mechanism = build(name, BUDGET | more)
    law, at = laplace(mechanism), np.array(USERS, float)
    (step,) = mechanism.steps()
    assert isinstance(step, Step)
    assert law.chance(at) == pytest.approx([step.chance(n) for n in USERS], rel=1e-12)  # the accountant, in decimals
    sure = law.fewest(0.95)
    assert step.chance(sure) >= 0.95 > step.chance(sure - 1)
    (told,) = mechanism.missing()
    assert f"from {sure:,} times on it has a chance of 95 %" in told  # the card
    with read_log(plain_log) as log:
        estimated = estimate_log(mechanism, log).tables["queries"].curve
        chances = law.chance(estimated.users.astype(float))
        assert estimated.chance == pytest.approx(chances, abs=1e-9)
        at_once = quick.estimate(mechanism, sketches(log))["queries"].curve  # the studio
        assert at_once.users.tolist() == estimated.users.tolist()
        assert at_once.chance == pytest.approx(chances, abs=1e-6)
        _, lines = other_budgets(mechanism, log)  # the report
        assert lines["queries"].chance == pytest.approx(chances, abs=1e-9)


def test_the_law_of_a_count_against_draws() -> None:
    """40,000 draws of the mechanism's own code for each count; five standard errors are 1.25 points."""
    from hubbub.steps.counts import LocalCounts

    mechanism = build("korolova", BUDGET)
    law, tries = laplace(mechanism), 40_000
    for n in (law.threshold or 0, law.fewest(0.25), law.fewest(0.95)):
        counts = LocalCounts(np.full(tries, n, np.int64))
        shown = mechanism.draw({"queries": counts}, SeededNoise(n))["queries"].ids.size / tries
        assert shown == pytest.approx(float(law.chance(np.array([float(n)]))[0]), abs=0.0125)


def test_without_a_threshold_every_key_shows() -> None:
    every = LaplaceTest(Fraction(2), None)
    chance, first, second = every.moments(np.array([0.0, 3.0]))
    assert chance.tolist() == [1, 1] and first.tolist() == [0, 0] and second == pytest.approx([every.variance] * 2)


def test_a_known_domain_tests_what_nobody_holds() -> None:
    known = Step("queries", Fraction(2), 1, 1, 1, 1, Domain.CLOSED, "proof")
    assert LaplaceTest.of(known).chance(np.zeros(1))[0] == pytest.approx(0.378, abs=1e-3)  # a/(1 + a)
    opened = Step("queries", Fraction(2), 1, 1, 1, 1, Domain.OPEN, "proof")
    assert LaplaceTest.of(opened).chance(np.zeros(1))[0] == 0


def test_unit_weights_have_one_law_in_two_forms() -> None:
    """The normal form that the studio asks, against the rounds that the card asks."""
    law, users = rounds(build("gaussian", BUDGET)), np.arange(1.0, 60.0)
    assert law.unit
    assert law.normal(users, np.zeros(users.size))[0] == pytest.approx(
        [law.chance(int(n), 1) for n in users], abs=1e-12
    )


@pytest.mark.parametrize("name", ["crowd", "sips", "adaptive", "gaussian"])
def test_the_studio_follows_the_law_of_rounds(plain_log: Path, name: str) -> None:
    """32 paths through the rounds for each of 40 keys, against the integral over them: up to 6 points off."""
    mechanism = build(name, BUDGET, tables=["queries"])
    law = rounds(mechanism)
    with read_log(plain_log) as log:
        curve = quick.estimate(mechanism, sketches(log))["queries"].curve
    assert [curve.at(n) for n in USERS] == pytest.approx([law.chance(n, 1) for n in USERS], abs=0.06)
    even = re.search(r"an even chance to be released from ([\d,]+) users", mechanism.missing()[0])
    if even:  # unit weights tell a count instead
        assert int(even[1].replace(",", "")) == law.fewest(0.5)
