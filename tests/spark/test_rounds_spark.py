"""What Spark adds up in a round, beside the same by hand: one user's share, pools and weights, the recount."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hubbub.audit.checks import by_hand
from hubbub.engines import Engine
from hubbub.steps.keys import QUERIES


def test_rounds_and_recounts_are_those_done_by_hand(make_engine: Callable[[Path], Engine]) -> None:
    """Exact: nothing is left to chance but the noise, and that is written down."""

    def make(work: Path, threads: int | None = None) -> Engine:
        return make_engine(work)

    rows = [by_hand.share(make, QUERIES, 2, "", repeatable=True, listed=True), *by_hand.recounts(make)]
    assert len(rows) == 4 and [row.check for row in rows if row.refuted] == []
