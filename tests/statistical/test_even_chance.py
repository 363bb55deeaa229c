"""From how many users on a key is released: the numbers a card prints, against releases that are counted here.

Draws are seeded, so nothing fails by chance; other seeds would fail a comparison of rates less than once in a million
(five standard errors).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from hubbub.card.build import build_card
from hubbub.card.facts import Booked, Facts
from hubbub.card.owner import Owner
from hubbub.look.estimate.source import made_up
from hubbub.mechanisms import build
from hubbub.noise import SeededNoise
from hubbub.steps.array_pools import ArrayPools
from hubbub.steps.mode import RunMode
from hubbub.steps.pools import EnginePools

BUDGET = {"epsilon": 2, "delta": "1e-6"}


def printed(mechanism: Any) -> tuple[list[int], list[int]]:
    """The even-chance and the 95 % numbers of queries, as the card has them: for 1, 5 and 20 keys in the running."""
    facts = Facts(Owner(), Booked("p", "d", 1, 0.0, 1.0, None, (), ()), "user", False, 0.05, None)
    words = build_card(mechanism, facts).accuracy.expect_missing
    queries = re.search(r"queries: an even chance to be released (.*?); 95 % from ([\d,]+), ([\d,]+), ([\d,]+)", words)
    assert queries, words
    even = [int(n.replace(",", "")) for n in re.findall(r"from ([\d,]+)", queries[1])]
    return even, [int(queries[i].replace(",", "")) for i in (2, 3, 4)]


def alone(holders: int, keys: int) -> ArrayPools:
    """So many keys, each held by as many users who hold nothing else."""
    rows = np.stack([np.arange(holders * keys), np.repeat(np.arange(keys), holders)], axis=1)
    return ArrayPools(rows, rows, keys, 16)


def rate(mechanism: Any, holders: int, runs: int = 40, keys: int = 250) -> float:
    pools = alone(holders, keys)
    assert pools.bits == mechanism.selection.bits
    seen = [mechanism.draw({"queries": pools}, SeededNoise(seed))["queries"].ids.size for seed in range(runs)]
    return float(np.sum(seen)) / (runs * keys)


@pytest.mark.parametrize("name", ["crowd", "sips", "adaptive"])
def test_users_who_hold_one_key(name: str) -> None:
    """10,000 keys at each number, through the mechanism's own selection; five standard errors are 2.5 points."""
    mechanism: Any = build(name, BUDGET | ({"language": "none"} if name == "crowd" else {}), tables=["queries"])
    even, sure = printed(mechanism)
    assert rate(mechanism, even[0]) >= 0.475 and rate(mechanism, even[0] - 1) <= 0.525
    assert rate(mechanism, sure[0]) >= 0.939 and rate(mechanism, sure[0] - 1) <= 0.961


@pytest.mark.parametrize(("name", "place"), [("crowd", 1), ("crowd", 2), ("adaptive", 1), ("sips", 2)])
def test_users_who_hold_several(name: str, place: int) -> None:
    """The rounds written down once more, for 100,000 keys whose users have 5 or 20 in the running to the end."""
    mechanism: Any = build(name, BUDGET, tables=["queries"])
    plan, random = mechanism.selection, np.random.default_rng(place)
    keys = (1, 5, 20)[place]

    def released(holders: int) -> float:
        gathered, live, passed = np.zeros(100_000), np.ones(100_000, bool), np.zeros(100_000, bool)
        for r, multiple in enumerate(plan.multiples):
            drawn = random.normal(multiple * 2**plan.bits * holders / keys**0.5, plan.variances[r] ** 0.5, 100_000)
            gathered = gathered + drawn if plan.recycled else drawn
            passed |= live & (gathered >= plan.thresholds[r])
            live &= ~passed
            if r < len(plan.drops):
                live &= gathered >= plan.drops[r]
        return float(passed.mean())

    even, sure = printed(mechanism)
    assert released(even[place]) >= 0.492 and released(even[place] - 1) <= 0.508
    assert released(sure[place]) >= 0.946 and released(sure[place] - 1) <= 0.954


def test_on_a_made_up_log_the_even_chance_is_near_what_is_printed_and_not_at_the_threshold() -> None:
    """Users of every query counted by SQL, releases counted over 12 draws: 8,000 users, the shape of AOL's log."""
    mechanism: Any = build("crowd", BUDGET | {"language": "none"}, tables=["queries"])
    even, _ = printed(mechanism)
    with made_up(8_000, "aol", 8_000) as source:
        rows = source.log.engine.fetch(
            "SELECT query, count(DISTINCT uid) AS n FROM log WHERE query IS NOT NULL GROUP BY query"
        )
        users = dict(zip(rows["query"].to_pylist(), rows["n"].to_pylist(), strict=True))
        pools: EnginePools = mechanism.measure(source.log, RunMode(b"0" * 32))["queries"]
        keys = source.log.engine.fetch(f"SELECT kid, query FROM {pools.keys} ORDER BY kid")["query"].to_pylist()
        held = np.array([users[query] for query in keys])
        shown = np.zeros(held.size)
        for seed in range(12):
            pools.again()
            shown[mechanism.draw({"queries": pools}, SeededNoise(seed))["queries"].ids] += 1 / 12

    def share(low: float, high: float) -> float:
        near = (held >= low) & (held <= high)
        assert near.sum() >= 8, "enough keys to tell"
        return float(shown[near].mean())

    threshold = mechanism.selection.users(-1)
    assert share(0.9 * threshold, 1.1 * threshold) < 0.25, "what cards called the even chance before"
    assert share(0.85 * even[0], 1.15 * even[0]) < 0.35
    assert 0.4 < share(0.85 * even[1], 1.15 * even[1]) < 0.95
    assert share(even[2], 10 * even[2]) > 0.9
