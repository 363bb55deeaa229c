"""Other budgets at once: the law of survival, fitted to what was released; and the first line of the report."""

import numpy as np
import pytest
from tests.unit.show.tiny_exact import HELD, table

from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.survival import LaplaceTest
from hubbub.show.exact import Sampled, UsersHistogram
from hubbub.show.still_there import StillThere, still_there
from hubbub.show.tried import by_law

USERS = np.array([1, 2, 5, 20, 50, 100, 300, 1000])
KEYS = np.array([90_000, 9_000, 2_000, 300, 100, 40, 12, 3])


def released_by(mechanism: Mechanism, share: float) -> UsersHistogram:
    """What a release would show on average if this share of each key's users counted."""
    law = mechanism.survival()["queries"]
    counted = np.rint(USERS * share)
    assert isinstance(law, LaplaceTest)
    chance = law.chance(counted)
    events = USERS * KEYS
    return UsersHistogram(USERS, KEYS, events, np.rint(KEYS * chance), np.rint(events * chance))


def test_the_law_is_fitted_to_what_was_released() -> None:
    """A half of all users counts: what other budgets would keep is what their own law says of halved counts."""
    mechanism = build("korolova", {"epsilon": "2", "delta": "1e-6"})
    held = released_by(mechanism, 0.5)
    tried = by_law(mechanism, [table(held=held)])
    assert [one.epsilon for one in tried] == [0.5, 1.0, 2.0, 4.0, 8.0] and all(one.by_law for one in tried)
    shares = [one.searches for one in tried]
    assert shares == sorted(shares) and shares[0] < shares[-1]
    assert shares[2] == pytest.approx(held.released_events.sum() / held.events.sum(), rel=1e-3)
    four = released_by(mechanism.remade({**mechanism.given, "epsilon": 4}), 0.5)
    assert shares[3] == pytest.approx(four.released_events.sum() / four.events.sum(), rel=0.1)


def test_rounds_have_a_law_too_and_other_mechanisms_have_none() -> None:
    crowd = build("crowd", {"epsilon": "2", "delta": "1e-6"})
    tables = [table(name) for name in ("queries", "transitions")]
    assert {one.table for one in by_law(crowd, tables)} == {"queries"}  # of pairs of released queries there is no law
    assert by_law(build("optimal", {"epsilon": "2", "delta": "1e-6"}), [table()]) == ()
    assert by_law(build("korolova", {"b": "1", "K": "20", "d": "1"}), [table()]) == ()  # no ε was chosen
    nothing = UsersHistogram(*(np.array(column) for column in ([1], [2], [3], [0], [0])))
    assert by_law(crowd, [table(held=nothing)]) == ()


def test_the_report_begins_with_how_much_is_still_there() -> None:
    found = still_there([table(), table("clicks", sampled=Sampled(10, 50, 1.0, 2.0))], {"queries": 1, "clicks": 1})
    assert found[0] == StillThere("1 of 4 queries", "58.8 % of searches")
    assert found[1] == StillThere("1 of about 4 (query, address) pairs", "about 58.8 % of clicks")
    assert still_there([], {"queries": 1, "keywords": 2}) == [StillThere("1 query", ""), StillThere("2 keywords", "")]
    assert int(HELD.keys.sum()) == 4
