"""Where the paper's claim fails, found by the audit in the published variant and absent from the strict one.

All of it is exact enumeration: nothing here can fail by chance, but for the audit's own sampled rows (2e-6 each).
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from hubbub import Safelog
from hubbub.audit.checks import closed
from hubbub.audit.mutants.safelog import SAFELOG
from hubbub.audit.neighbours import crowd_of, one_user
from hubbub.audit.neighbours.closed import ONE, POOL, TWO, closed_pairs
from hubbub.audit.protocols import AuditRow, Subject
from hubbub.audit.subjects import PLANS
from hubbub.audit.tiny import measured
from hubbub.public.lists import QueryPool

A: dict[str, Any] = {"q_f": 1, "b": 1, "K": 10, "b_q": 1}


def published(pool: QueryPool = ONE, **settings: object) -> Subject:
    return Subject.of(Safelog(variant="published", pool=pool, tables=["queries"], **settings))


def shows(subject: Subject, events: tuple[object, ...], query: str = "new") -> float:
    """P(the query is released)."""
    log = measured(subject, events)  # type: ignore[arg-type]
    high = max(*subject.mechanism.thresholds().values(), int(log.counts["queries"].n.max(initial=0))) + 1
    law = closed.law(subject, log, high)
    return math.fsum(mass for outcome, mass in law.items() if any(row[1] == query for row in outcome))


def rows_of(subject: Subject, name: str) -> list[AuditRow]:
    (pair,) = [p for p in closed_pairs(subject.mechanism) if p.name == name]
    return list(closed.divergence(subject, pair))


def test_a_the_filter_multiplies_one_user_by_five() -> None:
    """Four ask q, or five: the count of q after the filter is 0 or 5, and e^5 is the ratio where e^1 is claimed."""
    before, after = crowd_of(4, "new"), crowd_of(4, "new") + one_user([("new", None)])
    ratio = math.log(shows(published(**A), after) / shows(published(**A), before))
    assert math.isclose(ratio, 5.0, abs_tol=1e-9)
    claim = Safelog(variant="published", pool=ONE, tables=["queries"], **A).claimed()
    assert math.isclose((claim.epsilon or 0) - 1, 1.0), "selection alone"
    strict = Subject.of(Safelog(pool=ONE, tables=["queries"], q_f=1, b=1, K=10))
    assert math.log(shows(strict, after) / shows(strict, before)) <= 1 + 1e-9


@pytest.mark.parametrize("raw", [1, 3, 10])
def test_a_and_by_as_much_as_she_ever_asked(raw: int) -> None:
    """One user who asks R queries that four others each ask moves the counts by 4R, though she may keep one."""
    names = [f"q{i}" for i in range(raw)]
    before = sum((crowd_of(4, q) for q in names), ())
    after = before + one_user([(q, None) for q in names])
    moved = {}
    for variant in ("published", "strict"):
        more = {"b_q": 1} if variant == "published" else {}
        subject = Subject.of(Safelog(variant=variant, pool=POOL, tables=["queries"], q_f=1, b=1, K=10, **more))
        small, large = (measured(subject, log).by_key("queries") for log in (before, after))
        moved[variant] = sum(abs(large.get(k, 0) - small.get(k, 0)) for k in large.keys() | small.keys())
    assert moved["published"] == 4 * raw + 1 and moved["strict"] <= 1


def test_a_repeating_passes_the_filter_alone() -> None:
    subject = published(**(A | {"q_f": 5}))
    found = measured(subject, one_user([("new", None)], 5)).by_key("queries")
    assert found[("new",)] == 5


def test_b_with_a_secret_independent_pool_and_no_filter_the_theorem_holds_and_is_met() -> None:
    """ε = q_f/b + q_f ln(1/p_g) + q_f/b_q exactly."""
    subject = published(q_f=1, b=1, K=3, b_q=1, p_g="1/2", tau=1)
    ratio, delta = rows_of(subject, "a query nobody else asks")
    assert not ratio.refuted and not delta.refuted
    assert math.isclose(ratio.observed, 1 + math.log(2) + 1, abs_tol=1e-9)


def test_b_a_query_outside_the_pool_has_no_other_way_to_show() -> None:
    """Any finite pool, or one that is known: δ is the chance that the new query passes, and no ε helps."""
    subject = published(q_f=1, b=1, K=3, b_q=1, p_g="1/2", tau=1)
    assert shows(subject, one_user([("outside", None)]), "outside") == pytest.approx(math.exp(-3) / (1 + math.exp(-1)))
    assert shows(subject, (), "outside") == 0
    _, delta = rows_of(subject, "a query outside the pool")
    assert delta.refuted and delta.against == "claimed"
    for row in rows_of(Subject.of(Safelog(pool=ONE, tables=["queries"], q_f=1, b=1, K=3)), "a query outside the pool"):
        assert not row.refuted and row.observed == 0


def test_b_a_pool_of_fixed_size_costs_more_than_the_theorem_says() -> None:
    """500 of 1000 without replacement are negatively dependent: 100 queries at once cost 5.51 more than 100 ln 2."""
    together = sum(math.log((500 - i) / (1000 - i)) for i in range(100))
    assert round(-together - 100 * math.log(2), 2) == 5.51


def test_b_two_draws_for_a_query_in_log_and_pool() -> None:
    """As lists, a query of both passes twice as easily: the mutant is refuted, one draw is not."""
    (mutant,) = [m for m in SAFELOG if m.name.startswith("two draws")]
    mechanism = Safelog(pool=ONE, tables=["queries"], q_f=1, b=1, K=3)
    fine, broken = Subject.of(mechanism), mutant.make(mechanism)
    assert not any(row.refuted for row in rows_of(fine, "a query nobody else asks"))
    assert rows_of(broken, "a query nobody else asks")[0].refuted


def test_c_a_click_row_shows_that_somebody_clicked() -> None:
    subject = Subject.of(
        Safelog(
            variant="published", pool=TWO, tables=["queries", "clicks"], q_f=1, c_f=1, b=1, b_q=1, b_c=1, K=1, tau=1
        )
    )
    log = one_user([("new", "site")])
    law = closed.law(subject, measured(subject, log), 3)
    seen = math.fsum(m for o, m in law.items() if any(r[0] == "clicks" for r in o))
    assert seen > 0.25, "the row exists whenever its query is released"
    assert any(r.refuted and r.against == "claimed" for r in rows_of(subject, "a query nobody else asks"))


def test_c_only_transitions_that_somebody_made() -> None:
    (mutant,) = [m for m in SAFELOG if m.name.startswith("only transitions")]
    mechanism = Safelog(pool=TWO, tables=["queries", "transitions"], q_f=2, c_t=1, b=1, b_t=1, K=1, K_t=1)
    name = "a transition nobody else makes"
    assert not any(row.refuted for row in rows_of(Subject.of(mechanism), name))
    assert any(row.refuted for row in rows_of(mutant.make(mechanism), name))


def test_correction_6_distinct_transitions_need_a_cap_of_their_own() -> None:
    """Three distinct queries, asked a b c a c b a, make all six ordered pairs."""
    walk = one_user([(q, None) for q in ("known", "next", "new", "known", "new", "next", "known")])
    for c_t, counted in ((2, 2), (6, 6), (1000, 6)):
        mechanism = Safelog(pool=POOL, tables=["queries", "transitions"], q_f=3, c_t=c_t, b=1, b_t=1, K=1, K_t=1)
        assert sum(measured(Subject.of(mechanism), walk).by_key("transitions").values()) == counted


def test_the_audit_finds_them() -> None:
    """Against the claim of every published subject something is refuted; against a proof, nothing."""
    found: dict[str, list[AuditRow]] = {"strict": [], "published": []}
    few = [*PLANS["safelog"].small()]
    for mechanism in few[3:4] + [m for m in few if m.variant == "published"]:
        rows = list(closed.tests(Subject.of(mechanism), 2000))
        found[mechanism.variant] += rows
        if mechanism.variant == "published":
            assert any(r.refuted for r in rows) and all(r.against == "claimed" for r in rows)
    assert not [r for r in found["strict"] if r.refuted]
    refuted = {r.check.partition(": ")[2] for r in found["published"] if r.refuted}
    assert {
        "a query one short of the filter",
        "a query outside the pool",
        "searches that move up after the filter",
        "a query nobody else asks",
    } <= refuted


def test_refill_moves_nine() -> None:
    """claims (a): the four users' kept search changes from `known` to `new`."""
    subject = published(pool=POOL, **A)
    (pair,) = [p for p in closed_pairs(subject.mechanism) if p.name.startswith("searches that move up")]
    before, after = (measured(subject, log).by_key("queries") for log in (pair.smaller, pair.larger))
    assert sum(abs(after.get(k, 0) - before.get(k, 0)) for k in after) == 9


def test_an_audit_pair_is_a_pair_of_neighbours() -> None:
    for mechanism in PLANS["safelog"].small():
        for pair in closed_pairs(mechanism):
            users = {e[0] for e in pair.larger} - {e[0] for e in pair.smaller}
            assert len(users) == 1, pair.name
            (victim,) = users
            assert sorted(e for e in pair.larger if e[0] != victim) == sorted(pair.smaller), pair.name
