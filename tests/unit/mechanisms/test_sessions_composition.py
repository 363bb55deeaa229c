"""The 2017 paper says that sessions and clicks together are as private as the weaker of them. They are not.

Every number is that of the paper's headline run: one user more, who has a session of three queries and four clicks, so
eight keys move by one. Real-valued noise first, as the paper has it; then the integer law that runs, through the audit.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from hubbub import Sessions
from hubbub.audit.checks.composed import LossLaw, composed
from hubbub.audit.checks.counts import sensitivity
from hubbub.audit.checks.statistical import sampled
from hubbub.audit.mutants.sessions import SESSIONS
from hubbub.audit.neighbours.sessions import session_pairs, visit
from hubbub.audit.protocols import AuditRow, Pair, Subject
from hubbub.audit.tiny import measured
from hubbub.steps.sessions import SEPARATOR

CLAIMED = 2.2507e-7
GRID = 1 / 128


def continuous(count: int, more: int, K: int) -> LossLaw:
    """One key of the paper's algorithm at b = 1: the loss of `more` against `count`, rounded down to the grid."""

    def passes(c: int) -> float:
        return 0.5 * math.exp(c - K) if c <= K else 1 - 0.5 * math.exp(K - c)

    steps = 20_000  # between the two counts the loss of a value y is 2y − count − more; outside it is ±1
    edges = np.linspace(count, more, steps + 1)
    between = np.diff(0.5 * np.exp(edges - more))
    slope = np.concatenate([[-1.0], 2 * edges[:-1] - count - more, [1.0]])
    mass = np.concatenate([[0.5 * math.exp(count - more)], between, [0.5]])
    shown = math.log(passes(more) / passes(count))
    losses = np.append(slope + shown, math.log((1 - passes(more)) / (1 - passes(count))))
    at = np.floor(losses / GRID + 1e-9).astype(int)
    weights = np.append(mass * passes(more), 1 - passes(more))
    return LossLaw(int(at.min()), np.bincount(at - at.min(), weights).astype(float), 0.0)


def test_the_papers_own_law_breaks_its_claim() -> None:
    """19 users against 20, K = 20: δ(8) is 0.0497 at least, 221,000 times the claim; δ(16) is nothing."""
    one = continuous(19, 20, 20)
    assert math.isclose(one.mass.sum(), 1, rel_tol=1e-12)
    total = one
    for _ in range(7):
        total = total.plus(one)
    assert 0.049 < total.delta(8) < 0.051
    assert total.delta(8) > 200_000 * CLAIMED
    assert total.delta(16) == 0, "what is proven is enough"
    part = one.plus(one).plus(one).plus(one)
    assert part.delta(8) == 0, "each part alone is what the paper says"


def test_one_event_is_enough() -> None:
    """All eight selected and every count at least 20: 1.526e-5 against 1.717e-12."""
    with_her = (0.5 * 0.5) ** 8
    without = (0.5 * math.exp(-1) * 0.5 * math.exp(-1)) ** 8
    assert (f"{with_her:.3e}", f"{without:.3e}") == ("1.526e-05", "1.717e-12")
    assert with_her - math.exp(8) * without > CLAIMED


def below(mechanism: Sessions) -> Pair:
    return next(p for p in session_pairs(mechanism) if p.name.startswith("every key from just below"))


def rows(mechanism: Sessions) -> dict[str, AuditRow]:
    return {row.against: row for row in composed(Subject.of(mechanism), below(mechanism))}


def test_the_audit_refutes_the_claim_of_the_headline_run_and_not_what_is_proven() -> None:
    found = rows(Sessions(b=1, K=20, variant="published"))
    assert found["claimed"].refuted and found["claimed"].observed > 0.0497
    assert not found["proven"].refuted
    strict = rows(Sessions(b=1, K=20))
    assert set(strict) == {"proven"} and not strict["proven"].refuted
    assert strict["proven"].detail.endswith("8 keys")


def test_the_running_law_by_hand() -> None:
    """Counts at 20 and 21, rule >= 21: a key's loss is −1 (absent), 0 or 2, with exact masses."""
    a = math.exp(-1)
    up = 1 / (1 + a)  # P(21 + Z >= 21)
    law = {-1: 1 - up, 2: up * up, 0: up * (1 - up)}
    total = {0: 1.0}
    for _ in range(8):
        moved: dict[int, float] = {}
        for loss, mass in total.items():
            for more, p in law.items():
                moved[loss + more] = moved.get(loss + more, 0.0) + mass * p
        total = moved
    delta = sum(mass * -math.expm1(8 - loss) for loss, mass in total.items() if loss > 8)
    found = rows(Sessions(b=1, K=20, variant="published"))["claimed"]
    assert found.observed < delta < found.observed + 3 * found.power


def test_a_small_case_is_visible_in_sampled_runs() -> None:
    """l_q = 2 and one click: two keys, each selected and counted. The claim is (2, …), what runs is (4, …)."""
    mechanism = Sessions(b=1, K=6, l_q=2, l=1, variant="published")
    seen = {row.against: row for row in sampled(20_000)(Subject.of(mechanism), below(mechanism))}
    assert seen["claimed"].refuted and not seen["proven"].refuted
    strict = Sessions(b=1, K=6, l_q=2, l=1)
    [row] = sampled(20_000)(Subject.of(strict), below(strict))
    assert row.against == "proven" and not row.refuted


@pytest.mark.parametrize(("variant", "counts"), [("published", 1013), ("strict", 165)])
def test_mining_before_trimming_bounds_nothing(variant: str, counts: int) -> None:
    """A session of ten queries: 1013 counts over 165 keys where four are promised."""
    mechanism = Sessions(b=1, K=20, variant=variant, tables=["sessions"])
    pair = next(p for p in session_pairs(mechanism) if p.name == "a session of ten queries")
    broken = next(m for m in SESSIONS if m.name == "mined before trimmed").make(mechanism)
    before, after = (measured(broken, log).by_key("sessions") for log in (pair.smaller, pair.larger))
    moved = [after[key] - before.get(key, 0) for key in after if after[key] != before.get(key, 0)]
    assert (len(moved), sum(moved)) == (165, counts)
    assert any(row.refuted for row in sensitivity(broken, pair))
    assert not any(row.refuted for row in sensitivity(Subject.of(mechanism), pair))


def test_searches_of_others_never_end_up_in_a_session() -> None:
    mechanism = Sessions(b=1, K=20, tables=["sessions"])
    pair = next(p for p in session_pairs(mechanism) if p.name == "searches in between the others'")
    broken = next(m for m in SESSIONS if m.name == "sessions across users").make(mechanism)
    assert any(row.refuted for row in sensitivity(broken, pair))
    assert not any(row.refuted for row in sensitivity(Subject.of(mechanism), pair))


def test_equation_5() -> None:
    """Four queries have eleven subsequences."""
    queries = ["q1", "q2", "q3", "q4"]
    found = measured(Subject.of(Sessions(b=1, K=20, l_q=4, tables=["sessions"])), visit("u", queries, None))
    expected = {SEPARATOR.join(c) for k in (2, 3, 4) for c in combinations(queries, k)}
    assert len(expected) == 11
    assert found.by_key("sessions") == {(key,): 1 for key in expected}
