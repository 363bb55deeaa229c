"""Faults in the code that later stages of crowd share, found by a run without noise that writes down every draw."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.audit.checks import chain
from hubbub.audit.mutants.fault import Planted
from hubbub.audit.protocols import AuditRow, Subject
from hubbub.mechanisms import build
from hubbub.steps.keys import CLICKS


def _draws() -> Iterator[AuditRow]:
    """Pools that hold all of a user's steps, and pools that hold one of them."""
    tables = ["queries", "clicks", "transitions"]
    for most in (3, 1):
        settings = {"epsilon": 1, "delta": "0.02", "D": 3, "D_t": most, "language": "none"}
        yield from chain.draws(Subject.of(build("crowd", settings, tables=tables)))


def _shares() -> Iterator[AuditRow]:
    """One user's share of later pools."""
    settings = {"epsilon": 1, "delta": "0.02", "D": 3, "language": "none"}
    yield from chain.later_shares(Subject.of(build("crowd", settings, tables=["queries", "clicks", "transitions"])))


def _present_only(known: Any) -> Any:
    """The threshold of a closed domain follows from how many of its keys somebody holds."""

    def wrong(domain: Any, pools: Any, stage: Any, false: Fraction) -> Any:
        from hubbub.mechanisms.crowd.calibrate import closed

        return replace(known(domain, pools, stage, false), plan=closed(stage.rounds, pools.size, false))

    return wrong


def _beyond(holds: Any) -> Any:
    """Keys that a user holds beyond her pool are taken for keys of the pools: then she keeps noise away from them."""

    def wrong(pools: Any, rows: pa.Table) -> Any:
        whole = copy(pools)
        whole.keys = pools.held
        return holds(whole, rows)

    return wrong


def _popular(holds: Any) -> Any:
    """Keys that one user holds are taken for keys of nobody."""

    def wrong(pools: Any, rows: pa.Table) -> Any:
        few = copy(pools)
        few.keys = f"(SELECT * FROM {pools.keys} WHERE w > {1 << pools.bits})"
        return holds(few, rows)

    return wrong


def _without_kept(steps: Any) -> Any:
    """The kept total is drawn beside the budget."""
    return lambda stage, proof, *, tightened: tuple(
        s for s in steps(stage, proof, tightened=tightened) if "kept" not in s.name
    )


CHAIN_MUTANTS: tuple[Planted, ...] = (
    ("closed threshold from present keys", _draws, {"hubbub.mechanisms.crowd.chain:CodedDomain.known": _present_only}),
    (
        "the noise of nobody at keys of somebody, too",
        _draws,
        {"hubbub.steps.holdings:Holdings.holds": lambda _: lambda pools, rows: np.zeros(rows.num_rows, bool)},
    ),
    ("one user's key drawn as nobody's, too", _draws, {"hubbub.steps.holdings:Holdings.holds": _popular}),
    ("keys beyond a user's pool not drawn at all", _draws, {"hubbub.steps.holdings:Holdings.holds": _beyond}),
    (
        "no noise of nobody at all",
        _draws,
        {"hubbub.steps.holdings:Holdings.holds": lambda _: lambda pools, rows: np.ones(rows.num_rows, bool)},
    ),
    (
        "clicks of unreleased queries in later pools",
        _shares,
        {"hubbub.mechanisms.crowd.chain:CHOSEN_CLICKS": lambda _: CLICKS},
    ),
    ("kept total outside the sum", _draws, {"hubbub.mechanisms.crowd.calibrate:Stage.steps": _without_kept}),
    (
        "exit test without one user's own weight",
        _draws,
        {"hubbub.mechanisms.rounds:threshold_for": lambda right: lambda mean, v, p: right(mean, v, p) - mean},
    ),
    (
        "tightened by the whole share of a stage",
        _draws,
        {
            "hubbub.mechanisms.crowd.calibrate:novel_delta": lambda right: (
                lambda e, d, m, first, k: right(e, d, m, first / 0.85, k)
            )
        },
    ),
)
