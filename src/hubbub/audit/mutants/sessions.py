"""Broken versions of sessions: what breaks any thresholded count, then sessions, trimming and what the counts cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from hubbub.audit.mutants import COUNTS, Make, Mutant, _loosened, _measured, _Noise, _with_noise
from hubbub.audit.protocols import Subject
from hubbub.log import SearchLog
from hubbub.mechanisms import Mechanism, build
from hubbub.noise import NoiseSource
from hubbub.noise.source import Integers
from hubbub.steps.count import count
from hubbub.steps.counts import LocalCounts
from hubbub.steps.keys import subsequences
from hubbub.steps.mode import RunMode
from hubbub.steps.subsequences import MINED, TABLE, mine, trimmed

LONG = 10
OF_ITS_OWN = ("bound not enforced", "repeats counted")
"""What breaks other counts, too, and is broken in another way here."""


def _published(mechanism: Mechanism) -> Mechanism:
    """The paper's way with the same parameters."""
    settings = {name: value for name, value in mechanism.settings.items() if name != "again"}
    return build("sessions", settings, variant="published", tables=mechanism.tables)


def _repeats(mechanism: Mechanism) -> Subject:
    """Occurrences are counted where distinct users are promised."""
    return replace(Subject.of(mechanism), measure=_published(mechanism).measure)


def _fresh_counts(mechanism: Mechanism) -> Subject:
    """LocalCounts are drawn anew where the value that passed is promised."""
    return replace(Subject.of(mechanism), perturb=_published(mechanism).perturb)


class _OneNoise(_Noise):
    """The second table is given the noise of the first."""

    def __init__(self, source: NoiseSource) -> None:
        super().__init__(source)
        self.drawn = np.zeros(0, np.int64)

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        if self.drawn.size < size or not self.drawn.size:
            self.drawn = self.source.laplace(step, scale, size)
        return self.drawn[:size]


def _sessions(change: Callable[[Mechanism, SearchLog, int, int, int], str]) -> Make:
    """Sessions are counted another way, clicks as they should be; `change` mines and gives the rows to count."""

    def measure(mechanism: Mechanism, log: SearchLog, mode: RunMode) -> dict[str, LocalCounts]:
        counts: dict[str, LocalCounts] = mechanism.measure(log, mode)
        if "sessions" in counts:
            gap = math.floor(60 * Fraction(mechanism.settings["T_gap"]))
            l_q, l_s = int(mechanism.settings["l_q"]), int(mechanism.settings["l_s"])
            rows = change(mechanism, log, gap, l_q, l_s)
            distinct = "DISTINCT" if mechanism.variant == "strict" else ""
            keys = replace(subsequences(gap, l_q), prepare=None)
            kept = f"SELECT {distinct} uid, queries FROM ({rows}) AS rows"
            counts["sessions"] = count(log, keys, kept, mode).local()
        return counts

    return _measured(measure)


def _mined_first(mechanism: Mechanism, log: SearchLog, gap: int, l_q: int, l_s: int) -> str:
    """Subsequences of the whole session, each then trimmed to l_q queries: the paper's steps 2 and 3 as printed."""
    subsequences(gap, LONG, l_s, each=True).ready(log)
    parts = "string_split(queries, chr(31))"
    return f"SELECT uid, array_to_string(list_slice({parts}, 1, {l_q}), chr(31)) AS queries FROM {TABLE}"


def _across_users(mechanism: Mechanism, log: SearchLog, gap: int, l_q: int, l_s: int) -> str:
    """The window that finds a search's followers is not partitioned by user."""
    sql = trimmed(gap, l_q, l_s)
    broken = sql.replace('OVER (PARTITION BY uid ORDER BY "time", query)', 'OVER (ORDER BY "time", query)')
    log.engine.map_batches(TABLE, broken, partial(mine, l_q=l_q), MINED)
    return f"SELECT uid, queries FROM {TABLE}"


SESSIONS = (
    *(m for m in COUNTS if m.name not in OF_ITS_OWN),
    Mutant("l_s not enforced", _loosened(l_s=9)),
    Mutant("l_q not enforced", _loosened(l_q=9)),
    Mutant("l not enforced", _loosened(l=1000), "clicks"),
    Mutant("mined before trimmed", _sessions(_mined_first)),
    Mutant("sessions across users", _sessions(_across_users)),
    Mutant("repeats counted", _repeats, "clicks"),
    Mutant("fresh counts, not paid for", _fresh_counts),
    Mutant("one noise for both tables", _with_noise(_OneNoise), "clicks"),
)
