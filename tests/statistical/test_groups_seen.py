"""Does a table by group show whether one user was in a group where nobody else was? Many small logs in one run.

Every one is a query that many ask on Mondays; in one of two logs a user more asks it on a Tuesday. Cells of nobody
pass often here (F is large), so that a difference would show. By chance it fails less than once in 10^9 runs.
"""

from __future__ import annotations

import math

from hubbub.audit.checks.statistical import lower, upper
from hubbub.audit.protocols import Event
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.mechanisms import Crowd
from hubbub.noise import SecureNoise
from hubbub.public.groups import DAY, group_by
from hubbub.release.rows import named_rows

COPIES, MANY = 300, 60
MONDAY, TUESDAY = 4 * DAY, 5 * DAY


def test_a_cell_that_nobody_else_is_in_shows_no_more_than_it_may() -> None:
    made = Crowd(
        epsilon=1,
        delta="0.02",
        D=2,
        F=10**9,
        groups_weight=300,
        language="none",
        tables=["queries"],
        by=[group_by("weekday", values=["monday", "tuesday"])],
    )
    crowd: list[Event] = [(f"u{i}-{j}", MONDAY, f"q{i:04d}", None) for i in range(COPIES) for j in range(MANY)]
    hers: list[Event] = [(f"v{i}", TUESDAY, f"q{i:04d}", None) for i in range(COPIES)]
    shown = []
    for events in (crowd, crowd + hers):
        with tiny_log(events) as log:
            measured = made.measure(log, MODE)
            found = made.draw(measured, SecureNoise())
            rows = named_rows(log, made, "queries_by_weekday", measured, found).to_pylist()
        assert sum(row["weekday"] == "monday" for row in rows) > COPIES // 2
        shown.append(sum(row["weekday"] == "tuesday" for row in rows))
    nobody, somebody = shown
    assert 0 < nobody < COPIES
    factor = math.exp(made.loss().epsilon)
    for one, two in ((nobody, somebody), (somebody, nobody)):
        assert lower(two, COPIES) - factor * upper(one, COPIES) <= made.loss().delta
