"""Rules of the field against their papers: printed formulas, norm bounds, thresholds, on instances of a few users."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from field import bernoulli, gauss, parallel, sequential
from field.sets import Floats, Ints, Sets


def sets(*users: tuple[int, ...], size: int = 8) -> Sets:
    """Users by their keys."""
    rows = [(u, k) for u, keys in enumerate(users) for k in sorted(keys)]
    u, k = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return Sets(u, k, np.ones(u.size, np.int64), size)


def some(rng: np.random.Generator, users: int, size: int = 8, most: int = 4) -> list[tuple[int, ...]]:
    """Users with one to four keys."""
    return [tuple(rng.choice(size, rng.integers(1, most + 1), replace=False)) for _ in range(users)]


def test_sigma_and_threshold_of_the_weighted_gaussian() -> None:
    """σ at δ itself is known to five digits; the threshold is the largest over t, above that of one key."""
    for epsilon, delta, sigma in ((1, 1e-6, 4.2247), (2, 1e-6, 2.2305), (4, 1e-7, 1.2978)):
        assert 1 / gauss.mu_for(epsilon, delta) == pytest.approx(sigma, rel=5e-5)
    assert gauss.rounds(1, 1e-6, (1,), 10)[0] == pytest.approx((4.365, 23.57), rel=5e-4)
    one, many = gauss.threshold(4.0, 1e-6, 1), gauss.threshold(4.0, 1e-6, 50)
    assert one == pytest.approx(1 + 4 * 4.75342, rel=1e-4) and many > one


def test_rounds_share_what_one_would_have() -> None:
    plan = gauss.rounds(1, 1e-6, (1, 3, 9), 20)
    whole = gauss.rounds(1, 1e-6, (1,), 20)[0]
    assert sum(1 / sigma**2 for sigma, _ in plan) == pytest.approx(1 / whole[0] ** 2)
    assert [level for _, level in plan] == sorted((level for _, level in plan), reverse=True)


def test_a_user_moves_mad_by_at_most_one() -> None:
    """Over random neighbours; without the discount the two-key case of the docstring exceeds 1."""
    rng = np.random.default_rng(5)
    most = 0.0
    for _ in range(300):
        users = some(rng, int(rng.integers(2, 9)))
        d_max, tau = int(rng.integers(1, 5)), float(rng.uniform(1.0, 2.0))
        with_, without = (parallel.mad(sets(*us), tau, d_max) for us in (users, users[:-1]))
        most = max(most, float(np.linalg.norm(with_ - without)))
    assert 0.9 < most <= 1 + 1e-9


def test_mad_as_remembered_needs_its_discount() -> None:
    """Forty users of one key, and one of it and another: the excess that she brings comes back to both of hers."""
    crowd: list[tuple[int, ...]] = [(0,)] * 40

    def moved(discount: float | None) -> float:
        weights = [parallel.mad(sets(*us), 1.0, 2, discount) for us in ([*crowd, (0, 1)], crowd)]
        return float(np.linalg.norm(weights[0] - weights[1]))

    assert 1.05 < moved(1.0) < 1.07 and moved(None) <= 1


def test_mad_leaves_weights_below_the_threshold_alone_and_moves_the_rest() -> None:
    quiet = sets((0, 1), (2, 3))
    assert np.allclose(parallel.mad(quiet, 5.0, 4), parallel.weighted(quiet))
    busy = sets(*[(0, 1)] * 9, (1, 2))
    routed = parallel.mad(busy, 1.5, 4)
    assert routed[0] < parallel.weighted(busy)[0] and routed[2] > parallel.weighted(busy)[2]


def test_one_user_adds_a_length_of_one() -> None:
    added = parallel.weighted(sets((0, 1), (1, 2, 3))) - parallel.weighted(sets((0, 1)))
    assert np.linalg.norm(added) == pytest.approx(1)


def gaps(*values: float) -> Floats:
    return np.array(values, float)


def test_policies_keep_their_budget_and_never_pass_the_goal() -> None:
    """Policy Gaussian in L2, the other two in L1: exactly 1 while there is room."""
    times = np.array([1, 5, 2], np.int64)
    wide = gaps(3, 0.2, 9)
    assert np.linalg.norm(sequential.towards(wide, times)) == pytest.approx(1)
    assert sequential.evenly(wide, times).tolist() == pytest.approx([0.4, 0.2, 0.4])
    assert sequential.most_frequent(wide, times).tolist() == pytest.approx([0, 0.2, 0.8])
    near = gaps(0.1, 0.2, 0.3)
    for policy in (sequential.towards, sequential.evenly, sequential.most_frequent):
        assert policy(near, times).tolist() == near.tolist()


@pytest.mark.parametrize(("policy", "order"), [(sequential.towards, 2), (sequential.evenly, 1)])
def test_policies_are_contractive(policy: sequential.Policy, order: int) -> None:
    """One user more, anywhere in the order: what all gathered differs by at most 1 in the policy's norm."""
    rng = np.random.default_rng(11)
    most = 0.0
    for _ in range(100):
        users = some(rng, 6)
        at = int(rng.integers(0, 7))
        ordered = [users, [*users[:at], some(rng, 1)[0], *users[at:]]]
        ends = []
        for us in ordered:
            weights = np.zeros(8)
            for keys in us:
                mine = np.array(keys)
                weights[mine] += policy(np.maximum(0, 2.0 - weights[mine]), np.ones(mine.size, np.int64))
            ends.append(weights)
        most = max(most, float(np.linalg.norm(ends[1] - ends[0], order)))
    assert 0.9 < most <= 1 + 1e-9


def test_threshold_of_laplace() -> None:
    """One key of one user passes with δ; the greedy paper's 1 − ln(2δ)/ε is that, and too low for two keys at ε = 1."""
    printed = 1 - math.log(2e-6)
    assert sequential.laplace_threshold(1, 1e-6, 1) == pytest.approx(printed, rel=1e-6)
    assert sequential.laplace_threshold(1, 1e-6, 20) > printed + 0.1


def test_coins_of_the_non_additive_rule_keep_their_room() -> None:
    """Every step that a user can make, both ways, costs at most c x²; her own keys show with at most δ/2 x²."""
    epsilon, delta, alpha, d = 4.0, 1e-4, 5.0, 4
    found = bernoulli.chances(epsilon, delta, alpha, d)
    logs = np.log(found.each[1:])
    assert np.all(np.diff(found.each) >= 0) and found.each[0] == 0
    for k in range(1, d + 1):
        lag = int(bernoulli.STEPS / math.sqrt(k))
        for one, other in ((logs[lag:], logs[:-lag]), (logs[:-lag], logs[lag:])):
            spent = bernoulli.renyi(one, other, alpha)
            assert float(spent.max()) <= found.room * (lag / bernoulli.STEPS) ** 2 + 1e-7
        assert found.each[lag] <= delta / 2 * (lag / bernoulli.STEPS) ** 2 * (1 + 1e-9)


def test_coins_beat_the_gaussian_where_users_bring_one_key() -> None:
    """A weight a quarter below the threshold has an even chance already."""
    epsilon, delta = 4.0, 1e-6
    alpha = 1 + 8 * math.log(1 / delta) / epsilon
    assert bernoulli.chances(epsilon, delta, alpha, 1).even < 0.75 * gauss.rounds(epsilon, delta, (1,), 1)[0][1]


def test_every_rule_finds_what_everybody_holds_and_nothing_of_one_user() -> None:
    rng = np.random.default_rng(1)
    crowd = sets(*[(0, 1)] * 400, (2, 3))
    rules: list[Callable[[], Ints]] = [
        lambda: parallel.weighted_gaussian(crowd, 4, 1e-6, rng, d=2),
        lambda: parallel.sips(crowd, 4, 1e-6, rng, d=2, shares=(1, 3, 9)),
        lambda: parallel.mad2r(crowd, 4, 1e-6, rng, d=2, d_max=2, first=0.1, margin=1),
        lambda: sequential.policy_gaussian(crowd, 4, 1e-6, rng, d=2, alpha=3),
        lambda: sequential.policy_laplace(crowd, 4, 1e-6, rng, d=2, alpha=3),
        lambda: sequential.greedy(crowd, 4, 1e-6, rng, d=2, alpha=3),
    ]
    for rule in rules:
        assert sorted(rule().tolist()) == [0, 1]


def test_bounding_keeps_so_many_keys_of_a_user_and_no_rule_of_others() -> None:
    all_ = sets((0, 1, 2, 3, 4), (5,), (0, 1, 2))
    kept = all_.bounded(2, np.random.default_rng(0))
    assert np.bincount(kept.users).tolist() == [2, 1, 2]
    assert set(zip(kept.users.tolist(), kept.keys.tolist(), strict=True)) <= set(
        zip(all_.users.tolist(), all_.keys.tolist(), strict=True)
    )


def test_a_table_shows_each_rule_at_its_best_setting() -> None:
    import selection

    def row(rule: str, d: int, seed: int, released: int) -> dict[str, object]:
        named = {"data": "made up", "epsilon": "1", "delta": "1e-6", "seed": seed, "rule": rule, "setting": {"d": d}}
        return named | {"released": released, "missing": 0.5}

    rows = [row("a", 1, 0, 10), row("a", 1, 1, 30), row("a", 2, 0, 25), row("b", 1, 0, 22)]
    lines = [line for line in selection.table(rows) if line.startswith(("| a", "| b"))]
    assert [line.split(" | ")[:4] for line in lines] == [["| a", "d = 2", "1", "25"], ["| b", "d = 1", "1", "22"]]
    assert len({selection.key(r) for r in rows}) == 4
