"""On any log, every baseline is what it says it is."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub.audit.checks.anonymity import run
from hubbub.audit.protocols import Event, Subject
from hubbub.mechanisms import build
from hubbub.mechanisms.anonymity import Anonymity
from hubbub.mechanisms.anonymity.verify import CHECKS, violations

WORDS = st.sampled_from(["a", "ab", "abc", "abd", "b", "é", "日本"])
EVENTS = st.tuples(
    st.sampled_from([f"user {i}" for i in range(6)]),
    st.integers(0, 9000),
    st.lists(WORDS, min_size=1, max_size=3).map(" ".join),
    st.sampled_from([None, "site", "other"]),
)


@pytest.mark.parametrize("name", sorted(CHECKS))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(log=st.lists(EVENTS, min_size=1, max_size=25), k=st.integers(2, 4))
def test_what_is_stated_of_the_output_holds(name: str, log: list[Event], k: int) -> None:
    mechanism = build(name, {} if name in ("pseudonyms", "token-hash") else {"k": k})
    assert isinstance(mechanism, Anonymity)
    rows = [(u, q, url) for u, _, q, url in log]
    found = violations(mechanism, run(Subject.of(mechanism), tuple(log)), rows)
    known = ["every user stands under her own id", "users keep their ids"]  # small numbers may fall into place
    assert [v for v in found if v not in known] == []
