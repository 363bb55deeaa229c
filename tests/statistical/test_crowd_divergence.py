"""crowd's own divergence, without sampling: quadrature of the law with the integers that run.

Noise and weights are the mechanism's constants as real numbers. The user who is added has j keys in her pool that
others hold too, all far above any threshold, and t keys of her own (j may be 0: what she holds outside her pool still
counts in the recount). Whether her own keys stay live decides how much weight the others get, so the law is a mixture
over the numbers of her keys that stay. The known keys show everything they have in every round, and the recount and
the kept total are moved as far as they may be. What is known after round 1, the recount and the total is integrated
in closed form; the later rounds by the trapezoidal rule.

Novel keys are also released by the mechanism's own code, and counted. That test fails by chance less than once in 10^6
runs.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtr
from scipy.stats import beta

from hubbub.audit.checks.two_stages import calibrated, density, stick, two_stages
from hubbub.mechanisms import build
from hubbub.mechanisms.rounds import Selection
from hubbub.noise import SecureNoise
from hubbub.privacy.compose import gaussian_delta
from hubbub.privacy.gaussian import GaussianStep, mu_of
from hubbub.steps.array_pools import ArrayPools, amount

Floats = npt.NDArray[np.float64]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
STEP = 0.3


@dataclass(frozen=True)
class Model:
    """The constants of one selection, in units of a user who holds nothing else; `rest` is μ² of recount and total."""

    epsilon: float
    delta: float
    keys: int
    shifts: tuple[float, ...]
    sds: tuple[float, ...]
    thresholds: tuple[float, ...]
    drops: tuple[float, ...]
    rest: float

    @property
    def rounds(self) -> int:
        return len(self.shifts)

    def lowered(self, sds: float) -> Model:
        """All thresholds lower by so many sd of the noise in the accumulator."""
        spread = np.sqrt(np.cumsum(np.square(self.sds)))
        return replace(self, thresholds=tuple(t - sds * s for t, s in zip(self.thresholds, spread, strict=True)))


@functools.cache
def model(epsilon: str, delta: str, keys: int, rounds: int) -> Model:
    """From what the mechanism states."""
    mechanism: Any = build(
        "crowd",
        {"epsilon": epsilon, "delta": delta, "D": keys, "rounds": rounds, "language": "none"},
        tables=["queries"],
    )
    steps = [s for s in mechanism.steps() if isinstance(s, GaussianStep)]
    tests, unit = steps[0].tests, float(mechanism.stage.selection.unit)
    means, variances = [t.mean / unit for t in tests], [t.variance / unit**2 for t in tests]
    return Model(
        float(epsilon),
        float(delta),
        keys,
        tuple(np.diff([0.0, *means])),
        tuple(np.sqrt(np.diff([0.0, *variances]))),
        tuple(t.threshold / unit for t in tests),
        tuple(d / unit for d in mechanism.stage.selection.drops),
        float(sum(s.total for s in steps[1:])),
    )


def one_key(m: Model, weights: tuple[float, ...]) -> list[float]:
    """What becomes of one novel key with these weights: dropped after round 1, …, or neither dropped nor released."""
    fates = []
    nodes, masses = np.zeros(1), np.ones(1)  # the accumulator so far, by mass at nodes
    for r, (shift, sd) in enumerate(zip(m.shifts, m.sds, strict=True)):
        centre = nodes + shift * weights[r]
        if r == m.rounds - 1:
            fates.append(float(masses @ ndtr((m.thresholds[r] - centre) / sd)))
            break
        fates.append(float(masses @ ndtr((m.drops[r] - centre) / sd)))
        pieces = np.linspace(m.drops[r], m.thresholds[r], 5)
        half = np.diff(pieces)[:, None] / 2
        new = (pieces[:-1, None] + half * (NODES + 1)).ravel()
        masses = (density(new[:, None] - centre, sd) @ masses) * (half * WEIGHTS).ravel()
        nodes = new
    return fates


def histories(t: int, rounds: int) -> list[tuple[int, ...]]:
    """How many of t keys are live after each round but the last: t >= L_1 >= … >= L_(R−1)."""
    return [h for h in itertools.product(range(t, -1, -1), repeat=rounds - 1) if tuple(sorted(h, reverse=True)) == h]


def unseen(m: Model, known: int, t: int) -> dict[tuple[int, ...], float]:
    """P(this history, and no novel key is ever released), for a user with this many known keys and t of her own."""
    chances = {}
    for history in histories(t, m.rounds):
        live = (t, *history)
        weights = tuple(1 / math.sqrt(max(1, known + n)) for n in live)
        fates = one_key(m, weights)
        leave = [a - b for a, b in itertools.pairwise(live)] + [live[-1]]
        ways = math.factorial(t)
        chance = 1.0
        for n, fate in zip(leave, fates, strict=True):
            ways //= math.factorial(n)
            chance *= fate**n
        chances[history] = ways * chance
    return chances


def divergence(m: Model, known: int, t: int) -> float:
    """The larger of the two hockey sticks at ε between the runs with and without the user."""
    chances = unseen(m, known, t)
    shown = max(0.0, 1 - math.fsum(chances.values()))
    length = [shift * math.sqrt(known) / sd for shift, sd in zip(m.shifts, m.sds, strict=True)]
    first = math.hypot(length[0] / math.sqrt(known + t), math.sqrt(m.rest))
    later = [np.arange(-9.0, 9.0 + mu, STEP) for mu in length[1:] if mu > 0]
    grid = np.meshgrid(*later, indexing="ij") if later else []
    log_law = sum((-np.square(y) / 2 - math.log(math.sqrt(2 * math.pi) / STEP) for y in grid), np.zeros(()))
    ratio = np.zeros_like(log_law)
    for history, chance in chances.items():
        loss = np.zeros_like(log_law)
        for y, mu, n in zip(grid, length[1:], history, strict=known > 0):
            moved = mu / math.sqrt(known + n)
            loss = loss + moved * y - moved**2 / 2
        ratio = ratio + chance * np.exp(loss)
    log_ratio = np.log(ratio)
    forward = float(np.sum(np.exp(log_law + log_ratio) * stick(m.epsilon - log_ratio, first)))
    backward = float(np.sum(np.exp(log_law) * stick(m.epsilon + log_ratio, first)))
    return max(shown + forward, backward)


EPSILONS = ("0.5", "1", "2", "4")
DELTAS = ("1e-6", "1e-3", "0.05")


def test_the_quadrature_is_exact_where_the_answer_is_known() -> None:
    """Without keys of her own the law is Gaussian: G(ε, μ), which is δ up to the slack of the calibration."""
    for rounds, known in ((1, 1), (2, 1), (2, 2), (3, 2)):
        for epsilon, delta in itertools.product(EPSILONS, DELTAS):
            assert divergence(model(epsilon, delta, 2, rounds), known, 0) == pytest.approx(float(delta), rel=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_two_rounds_stay_within_delta(epsilon: str, delta: str) -> None:
    for keys in (1, 2, 50):
        m = model(epsilon, delta, keys, 2)
        users = {(j, t) for t in (0, 1, 2, keys) for j in (0, 1, 2, keys - t) if j >= 0 and 0 < j + t <= keys}
        worst = {user: divergence(m, *user) / m.delta for user in sorted(users)}
        assert max(worst.values()) <= 1.0, worst
        assert max(worst.values()) > 0.999, "a user without keys of her own uses all of it"
        lowered = m.lowered(1.5)
        assert max(divergence(lowered, *user) for user in users) > 2 * m.delta, "the test can fail"


@pytest.mark.parametrize(("rounds", "own"), [(3, 1), (3, 2), (4, 1)])
def test_more_rounds_stay_within_delta(rounds: int, own: int) -> None:
    for epsilon, delta, keys in itertools.product(("0.5", "2"), DELTAS, (2, 50)):
        m = model(epsilon, delta, keys, rounds)
        for known in {0, 1, keys - own}:
            if known + own <= keys:
                assert divergence(m, known, own) <= m.delta
        if keys == 2:
            assert divergence(m.lowered(1.5), 0, own) > m.delta


def test_every_number_of_own_keys_in_one_round() -> None:
    for epsilon, delta, keys in itertools.product(EPSILONS, DELTAS, (1, 2, 50)):
        m = model(epsilon, delta, keys, 1)
        worst = [divergence(m, keys - t, t) / m.delta for t in range(keys + 1)]
        assert max(worst) <= 1.0
        assert keys > 1 or min(worst) > 0.99, "with one key all of δ is used either way: the bound is tight"


# ------------------------------------------------------------------ integers, enumerated


def law(variance: int, reach: int, shift: int = 0) -> Floats:
    """N_Z(shift, S) on −reach … reach."""
    x = np.arange(-reach, reach + 1) - shift
    weights = np.exp(-np.square(x) / (2.0 * variance))
    result: Floats = weights / weights.sum()
    return result


def enumerated(plan: Selection, epsilon: float, own: int) -> float:
    """Two rounds, one known key and none or one of her own: every outcome added up, in both directions."""
    one, two = plan.variances
    first, second = (m * amount(plan.bits, 1 + own) for m in plan.multiples)
    reach = 10 * math.isqrt(one + two)
    shown, later = 0.0, law(two, reach, second)
    if own:
        values = np.arange(-reach, reach + 1)
        hers = law(one, reach, first)
        live = (values >= plan.drops[0]) & (values < plan.thresholds[0])
        adds = np.cumsum(later)  # P(what round 2 adds to her key <= …)
        stays = float(hers[live] @ adds[np.clip(plan.thresholds[1] - 1 - values[live] + reach, 0, 2 * reach)])
        dropped = float(hers[values < plan.drops[0]].sum())
        shown = 1 - dropped - stays
        later = stays * later + dropped * law(two, reach, plan.multiples[1] * plan.unit)
    with_her = np.multiply.outer(law(one, reach, first), later)
    without = np.multiply.outer(law(one, reach), law(two, reach))
    forward = shown + float(np.maximum(with_her - math.exp(epsilon) * without, 0).sum())
    return max(forward, float(np.maximum(without - math.exp(epsilon) * with_her, 0).sum()))


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0])
@pytest.mark.parametrize(("bits", "variance", "thresholds", "drop"), [(2, 80, (22, 36), 2), (3, 150, (34, 50), 10)])
def test_two_rounds_of_integers(
    epsilon: float, bits: int, variance: int, thresholds: tuple[int, int], drop: int
) -> None:
    """The integer form itself, on a coarse grid: theorem 2 for each t, with S − 4 and not S."""
    plan = Selection(bits, (1, 2), (variance, 2 * variance), 2, thresholds, (drop,))
    step = plan.step("queries", "", tightened=True)
    for own in (0, 1):
        left = math.sqrt(step.total - step.mu2[0] * own / 2)
        bound = gaussian_delta(epsilon, left) + own * step.per_key
        assert enumerated(plan, epsilon, own) <= bound
        assert own or enumerated(plan, epsilon, own) > 0.6 * bound
        low = replace(plan, thresholds=(thresholds[0] - 2 * plan.unit, thresholds[1] - 5 * plan.unit))
        assert not own or epsilon < 1 or enumerated(low, epsilon, own) > bound, "the test can fail"


# ------------------------------------------------------------------ the mechanism's own code


def clopper_pearson(hits: int, runs: int, level: float = 2e-8) -> tuple[float, float]:
    """Both bounds of a probability, each wrong with this probability."""
    low = 0.0 if hits == 0 else float(beta.ppf(level, hits, runs - hits + 1))
    return low, float(beta.ppf(1 - level, hits + 1, runs - hits))


@pytest.mark.parametrize(
    ("epsilon", "delta", "keys", "rounds", "runs"),
    [
        ("1", "0.05", 20, 4, 30_000),
        ("1", "0.05", 3, 2, 150_000),
        ("0.3", "0.1", 1, 2, 300_000),
        ("1", "0.05", 2, 1, 150_000),
        ("1", "0.05", 1, 4, 150_000),
    ],
)
def test_novel_keys_are_released_as_often_as_computed(
    epsilon: str, delta: str, keys: int, rounds: int, runs: int
) -> None:
    """One user with nothing but keys of her own, many times over, through `perturb`."""
    mechanism: Any = build(
        "crowd",
        {"epsilon": epsilon, "delta": delta, "D": keys, "rounds": rounds, "language": "none"},
        tables=["queries"],
    )
    hers = np.array([[0, key] for key in range(keys)], np.int64)
    pools = ArrayPools(hers, hers, keys, mechanism.stage.selection.bits).tiled(runs)
    ids = mechanism.draw({"queries": pools}, SecureNoise())["queries"].ids
    low, high = clopper_pearson(np.unique(ids // keys).size, runs)
    step = mechanism.steps()[0]
    assert low <= step.keys * step.per_key, "within the allowance"
    shown = 1 - math.fsum(unseen(model(epsilon, delta, keys, rounds), 0, keys).values())
    assert low <= shown <= high, "and exactly as often as the quadrature says"


# ------------------------------------------------------------------ two stages


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("2", "1e-6"), ("4", "1e-7"), ("1", "0.02")])
def test_later_stages_pay_their_thresholds_in_full(epsilon: str, delta: str) -> None:
    """Splitting the tightening over both stages breaks by 46 %; what runs does not."""
    eps, whole = float(epsilon), float(delta)
    mu = mu_of(eps, whole)
    broken = two_stages(eps, mu / math.sqrt(2), mu / math.sqrt(2), 0.0, whole / 2)
    assert broken > 1.2 * whole
    assert 0.8 * whole < calibrated(epsilon, delta) <= whole
