"""What Spark adds up in a round, beside the same by hand: one user's share, pools and weights, the recount."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.audit.checks import ballots, by_hand
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.engines import Engine
from hubbub.mechanisms.crowd.items import LOOK_MOST, LOOK_UNIT, LookNoise
from hubbub.noise import SecureNoise
from hubbub.steps.ballots import Ballots
from hubbub.steps.keys import QUERIES
from hubbub.steps.mode import Where
from hubbub.steps.weights import EngineWeights


def test_rounds_and_recounts_are_those_done_by_hand(make_engine: Callable[[Path], Engine]) -> None:
    """Exact: nothing is left to chance but the noise, and that is written down."""

    def make(work: Path, threads: int | None = None) -> Engine:
        return make_engine(work)

    rows = [by_hand.share(make, QUERIES, 2, "", repeatable=True, listed=True), *by_hand.recounts(make)]
    assert len(rows) == 4 and [row.check for row in rows if row.refuted] == []


def test_votes_are_those_done_by_hand(make_engine: Callable[[Path], Engine]) -> None:
    """Looks with noise that stays in the workers; ballots, seats and votes follow from them exactly."""
    events, mode = by_hand.others() + by_hand.hers(), replace(MODE, repeatable=False, where=Where.ENGINE)
    mechanism = ballots.items()
    with tiny_log(events, lambda work, threads: make_engine(work)) as log:
        held = Ballots(log, QUERIES, LOOK_UNIT, LOOK_MOST, mode)
        looks = held.looked().test(LookNoise(mechanism.look), SecureNoise()).running
        weights = held.voted(looks, 0, seats=2, passes=2)
        assert isinstance(weights, EngineWeights)
        texts = dict(_columns(log.engine.fetch(f"SELECT kid, query FROM {held.keys}")))
        said = {texts[kid]: z for kid, z in _columns(log.engine.fetch(f"SELECT kid, accumulator FROM {looks}"))}
        votes = {texts[kid]: w for kid, w in _columns(log.engine.fetch(f"SELECT kid, w FROM ({weights.sql}) AS v"))}
        ids = np.array(sorted(texts)[::3], np.int64)
        assert held.noisy(looks, ids).tolist() == [said[texts[i]] for i in ids.tolist()]
        kept = held.kept(ids, 2)
    right = ballots.votes_by_hand(by_hand.held_by(events, QUERIES), said, 0, seats=2, passes=2)
    assert votes == {text: right[text] for text in said} and sum(votes.values()) == 13
    chosen = {texts[i] for i in ids.tolist()}
    assert kept == sum(min(2, len(keys & chosen)) for keys in by_hand.held_by(events, QUERIES).values())


def _columns(rows: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in rows.itercolumns()), strict=True))
