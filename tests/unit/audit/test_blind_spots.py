"""What the audit did not see once: each has rows in the quick audit, and mutants that these rows catch.

False alarms: rows that sample refute sound code with probability at most 2e-6 for each of the tests they stand for;
fewer than 400 of them are drawn here, so less than once in a thousand runs of this file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub.audit.checks import ballots, by_hand, clicked, groups, listed, prior, ties
from hubbub.audit.mutants.ballots import BALLOT_MUTANTS
from hubbub.audit.mutants.fault import Fault
from hubbub.audit.mutants.lists import LIST_MUTANTS
from hubbub.audit.mutants.shared import SHARED_MUTANTS
from hubbub.audit.mutants.sizes import SIZE_MUTANTS
from hubbub.audit.neighbours.closed import POOL
from hubbub.audit.protocols import AuditRow
from hubbub.audit.shared import DETECTORS
from hubbub.audit.subjects import PLANS
from hubbub.errors import ParameterError
from hubbub.mechanisms import build, mechanisms
from hubbub.mechanisms.base import Rows
from hubbub.noise import SecureNoise
from hubbub.steps.counts import LocalCounts

MUTANTS = {
    name: Fault(name, detector, changes) for name, detector, changes in (*SIZE_MUTANTS, *LIST_MUTANTS, *BALLOT_MUTANTS)
}


def refuted(rows: Any) -> list[AuditRow]:
    return [row for row in rows if row.refuted]


def test_every_blind_spot_is_in_the_audit() -> None:
    assert {by_hand.tests, ties.tests, listed.public} <= set(DETECTORS)
    besides = {name: plan.besides for name, plan in PLANS.items() if plan.besides}
    assert besides == {
        "crowd": (listed.of_rounds, listed.sampled, prior.known, ballots.tests, groups.tests),
        "korolova": (clicked.of_korolova,),
        "zealous": (clicked.of_zealous,),
    }
    assert {fault.name for fault in SHARED_MUTANTS} >= set(MUTANTS)


QUICKLY = (
    "both halves of a large draw are one",
    "threads draw the same",
    "a table draws what the table before drew",
    "listed queries without noise",
    "pages that nobody clicked are left out",
    "pages of queries that do not show, zealous",
    "half of the noise at listed pages",
    "round weights rounded up",
    "round weights by what others hold",
    "ties follow ids",
    "ties nearly follow ids",
    "replace states the ε of adding a user",
    "replace calibrated as adding a user",
    "ballots follow what others hold",
    "a look without a limit",
)


@pytest.mark.parametrize("name", QUICKLY)
def test_a_fault_of_each_kind_is_found(name: str) -> None:
    """The others are tried with all mutants, in tests/statistical/test_audit.py."""
    fault = MUTANTS[name]
    with fault.planted():
        assert next((row for row in fault.detector() if row.refuted), None), "not found"


def test_ties_of_optimal_are_broken_by_noise() -> None:
    """Twenty equal pairs, room for one row: were ties broken by id, the same pair would win 40 times (1e-50)."""
    mechanism = build("optimal", {"d": 1, "bins": 1, "b": "1/50", "b_a": "1/50", "T": 3, "goal": "diverse"})
    counts: dict[str, Any] = {
        "clicks": LocalCounts(np.full(20, 50, np.int64)),
        "activity": LocalCounts(np.array([1], np.int64)),
        "text": lambda ids: pa.table({"query": [str(i) for i in ids], "url": ["u"] * ids.size}),
    }
    won = set()
    for _ in range(40):
        made = mechanism.draw(counts, SecureNoise())["log"]
        assert isinstance(made, Rows)
        won |= set(made.rows.column("query").to_pylist())
    assert len(won) > 1
    assert refuted(ties.strict()) == []


def test_what_is_exchanged_is_every_mechanism_that_offers_it() -> None:
    """Whoever takes `neighbours="replace"` is among the subjects, in the variant that takes it."""
    offered = set()
    for name, kind in mechanisms().items():
        for variant in kind.variants:
            given: dict[str, Any] = {"epsilon": 1} if kind.takes_pool else {"epsilon": 1, "delta": "1e-3"}
            given |= {"U": 10} if (name, variant) == ("zealous", "published") else {}
            known = {"pool": POOL} if kind.takes_pool else {}
            try:
                made = build(name, given, variant=variant, neighbours="replace", **known)
            except ParameterError:
                continue
            if made.proven().private:
                offered.add((name, variant))
    seen = {(m.name, m.variant) for plan in PLANS.values() if plan.replaced for m in plan.replaced.small()}
    exchanged = {"korolova", "ngrams", "zealous", "sessions", "safelog", "optimal"}
    assert seen >= offered and exchanged == {name for name, _ in seen}
