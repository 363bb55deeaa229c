"""What would bring more rows, on the studio's page: quick, and as the estimate says it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.made_up import synthesise
from tests.unit.studio.asking import QUESTION, Client, post

from hubbub.log import read_log
from hubbub.look.estimate import estimate_log
from hubbub.look.estimate.gains import BUDGET, PERIOD, USERS
from hubbub.mechanisms import build
from hubbub.studio.more import gains
from hubbub.studio.sketch import sketches
from hubbub.studio.state import Studio


@pytest.mark.slow
def test_quick_gains_agree_with_estimate(tmp_path: Path) -> None:
    synthesise(2000, tmp_path / "log.parquet")
    mechanism = build("gaussian", {"epsilon": "10", "delta": "1e-3", "d": "20"})
    with read_log(tmp_path / "log.parquet") as log:
        slow = {gain.change: gain for gain in estimate_log(mechanism, log, runs=2, gains=True).gains}
        fast = {gain.change: gain for gain in gains(mechanism, sketches(log))}
    assert set(fast) == set(slow) == {BUDGET, PERIOD, USERS}
    for change, gain in slow.items():
        assert fast[change].then == pytest.approx(gain.then, rel=0.2, abs=10), change


def test_the_plan_says_what_would_help(client: Client, studio: Studio) -> None:
    said = post(client, "/api/plan", QUESTION)["gains"]
    assert [text.split(":")[0] for text in said] == [BUDGET, PERIOD, USERS]
