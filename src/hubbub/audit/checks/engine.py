"""Sums inside the engine: one user's share of the recount and of the kept total, as SQL adds them up.

The other audits of pools count arrays; what a release adds up is SQL, and its roots and quotients must be integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np

from hubbub.audit.neighbours import crowd_of, one_user
from hubbub.audit.protocols import AuditRow, Event, Kind, shared_row
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.mechanisms import build
from hubbub.noise.source import Integers

KEYS = 8
SCALES = (10**6, 5 * 10**6, 5 * 10**6 + 1, 10**9)
MOST = (1, 5)


def shares() -> Iterator[AuditRow]:
    """A user who holds more released keys than her length allows, beside a crowd that holds one each."""
    crowd = sum((crowd_of(2, f"k{i}") for i in range(KEYS)), ())
    small, large = (_sums(log) for log in (crowd, crowd + one_user([(f"k{i}", None) for i in range(KEYS)], 3)))
    for cap2, one, two in zip(SCALES, small[0], large[0], strict=True):
        share = sqrt(float(((two - one).astype(object) ** 2).sum()) / cap2)
        yield shared_row(
            f"one user's share of the recount, in the engine: C² = {cap2}", 1.0, share, 1e-6, kind=Kind.EXACT
        )
    for most, before, after in zip(MOST, small[1], large[1], strict=True):
        check = f"one user's share of the kept total, in the engine: B = {most}"
        yield shared_row(check, most, abs(after - before), 1.0, kind=Kind.EXACT)


def _sums(events: tuple[Event, ...]) -> tuple[list[Integers], list[int]]:
    mechanism = build("crowd", {"epsilon": 1, "delta": "0.02", "D": KEYS}, tables=["queries"])
    with tiny_log(events) as log:
        pools = mechanism.measure(log, MODE)["queries"]
        ids, lam = np.arange(KEYS), np.arange(1000, 1000 + KEYS)
        return [pools.recount(ids, lam, cap2) for cap2 in SCALES], [pools.kept(ids, most) for most in MOST]
