"""crowd for items: calibration, the law of its test on neighbouring votes, its card, a release end to end."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub

from hubbub.audit.checks.ballots import items
from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.crowd.combine import BIN, combine
from hubbub.mechanisms.crowd.items import VOTE_BITS, CrowdOfItems
from hubbub.mechanisms.crowd.recount import Recounted
from hubbub.mechanisms.rounds import Selected, Selection
from hubbub.noise import SeededNoise
from hubbub.privacy.account import Domain, Step
from hubbub.privacy.gaussian import read_any

pytestmark = pytest.mark.usefixtures("no_report")


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-5"), ("1", "1e-6"), ("4", "1e-7"), ("8", "1e-9")])
def test_calibration_meets_what_was_asked(epsilon: str, delta: str) -> None:
    mechanism = items(epsilon=epsilon, delta=delta)
    proven = mechanism.proven()
    assert sum(step.epsilon for step in mechanism.steps()) == Fraction(epsilon) == Fraction(str(proven.epsilon))
    assert proven.delta is not None and 0.7 * float(delta) < proven.delta <= float(delta)
    assert all(read_any(json.loads(json.dumps(step.record()))) == step for step in mechanism.steps())
    again = build("crowd", {name: str(value) for name, value in mechanism.settings.items()}, tables=["queries"])
    assert isinstance(again, CrowdOfItems) and again.steps() == mechanism.steps()


def shown(step: Step, votes: int, most: int) -> list[float]:
    """P(nothing shows), then of every value at the threshold and above; the last one is all beyond."""
    if not votes:
        return [1.0] + [0.0] * most
    a = math.exp(-1 / step.scale)
    gaps = [step.threshold + i - (votes << VOTE_BITS) for i in range(most)]  # type: ignore[operator]
    law = [(1 - a) / (1 + a) * a ** abs(gap) for gap in gaps[:-1]]
    beyond = a ** gaps[-1] / (1 + a)
    return [1 - math.fsum(law) - beyond, *law, beyond]


@pytest.mark.parametrize("votes", [0, 1, 2, 7, 30])
def test_the_law_of_one_vote_more(votes: int) -> None:
    """Exact δ(ε) of the test, both ways: met for a new key, and 0 for others."""
    step = items().votes
    few, more = (shown(step, n, 2000) for n in (votes, votes + 1))
    grow = math.exp(float(step.epsilon))
    for one, two in ((few, more), (more, few)):
        delta = math.fsum(max(0.0, p - grow * q) for p, q in zip(one, two, strict=True))
        assert delta <= float(step.delta) * (1 + 1e-9) + 1e-13
        if not votes and one is more:
            assert delta == pytest.approx(float(step.delta), rel=1e-6)
        elif votes:
            assert delta < 1e-12


def test_what_nobody_sees_has_no_threshold() -> None:
    from hubbub.errors import OurBug

    with pytest.raises(OurBug):
        Step("look", Fraction(1), 3, 1, 1, 1, Domain.UNSEEN, "proof")


@pytest.mark.parametrize("wrong", [{"delta": None}, {"epsilon": None}])
def test_a_budget_is_needed(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match="budget"):
        items(**wrong)


def test_replace_and_result_lists_are_refused() -> None:
    settings = {"epsilon": 1, "delta": "1e-6", "kind": "items"}
    with pytest.raises(ParameterError, match="add-remove"):
        build("crowd", settings, tables=["queries"], neighbours="replace")


def test_few_keys_have_their_votes_as_counts() -> None:
    mechanism = items()
    found = mechanism._counted(np.arange(3), np.array([160, 167, 168]), np.array([9, 9, 9]), 5)
    assert found.values is not None and found.values.tolist() == [10, 10, 11]


def test_a_release_of_items(hubbub: Hubbub, tmp_path: Path) -> None:
    rows = [f"u{u}\titem {u % 25}" for u in range(900)] + [f"u{u}\titem {(u + 1) % 25}" for u in range(0, 900, 3)]
    (tmp_path / "items.tsv").write_text("user\tquery\n" + "\n".join([*rows, "one\tonly mine"]) + "\n")
    read = (tmp_path / "items.tsv", "--format", "table", "--columns", "user=user,query=query")
    options = ("--epsilon", "4", "--delta", "1e-12", "--tables", "queries", "--population", "shop")
    hubbub("release", *read, "--mechanism", "crowd", "--kind", "items", *options, "--out", tmp_path / "out")
    hubbub("card", tmp_path / "out", "--check")
    card = json.loads((tmp_path / "out" / "public" / "card.json").read_text())
    assert [step["noise"] for step in card["steps"]] == ["discrete-laplace"] * 3
    table = pq.read_table(tmp_path / "out" / "public" / "queries.parquet")
    assert set(table.column("query").to_pylist()) <= {f"item {i}" for i in range(25)}
    assert table.num_rows == 25 and min(table.column("users").to_pylist()) >= 1


def test_keys_that_tie_where_two_bins_part_get_one_sd() -> None:
    """The order of ids is the engine's, and another user may move it: it must show nowhere."""
    size = 4 * BIN
    votes = np.sort(np.arange(size) * 40 + 2000)
    looks = votes * 300
    votes[BIN - 1] = votes[BIN] = votes[BIN - 1]
    looks[BIN - 1] = looks[BIN]
    plan = Selection(VOTE_BITS, (1,), (900,), 1, (238,), ())
    recounted = Recounted(looks, np.full(size, 256), 10**8, int(looks.sum()) // 256, 10**4)
    there = combine(Selected(np.arange(size), votes, np.zeros(size, np.int64)), plan, recounted)
    assert there.noise_sd[BIN - 1] == there.noise_sd[BIN] and there.users[BIN - 1] == there.users[BIN]
    assert there.noise_sd[BIN - 2] != there.noise_sd[BIN - 1]


def test_seeded_noise_repeats_it() -> None:
    from hubbub.audit.checks.by_hand import others
    from hubbub.audit.tiny import MODE, tiny_log

    mechanism, seen = items(epsilon=8, delta="0.1"), []
    for rows in (others(), tuple(reversed(others()))):
        with tiny_log(rows) as log:
            found = mechanism.draw(mechanism.measure(log, MODE), SeededNoise(3))["queries"]
        assert found.values is not None
        seen.append((found.ids.tolist(), found.values.tolist()))
    assert seen[0] == seen[1] and seen[0][0]
