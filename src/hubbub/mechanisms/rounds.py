"""Selection in rounds of Gaussian noise: the integers that run, their calibration, and the loop itself.

Keys that cannot win leave, and their users' weight moves to the rest. With `recycled` rounds a key keeps all it
gathered (crowd); with fresh rounds each test looks at its own round alone (the baselines). Any kind of key,
any engine: each round is a pair, whose exact weights come from `Pools`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hubbub.errors import OurBug, ParameterError
from hubbub.mechanisms.pairs import Draw
from hubbub.noise import Exits, NoiseSource
from hubbub.noise.absent import Rounds
from hubbub.noise.laws import Law
from hubbub.privacy.gaussian import SLACK, GaussianStep, Test, mu2_of, threshold_for
from hubbub.steps.counts import Integers
from hubbub.steps.holdings import checked
from hubbub.steps.pools import Pools
from hubbub.steps.weights import UNMARKED, Tested, Weights

Booleans = npt.NDArray[np.bool_]

GRID_BITS = 16
WIDEST_NOISE = 1 << 46
"""The sampler serves 2S below this."""
NO_DROP = -(1 << 62)


@dataclass(frozen=True)
class Selection:
    """The integers of one selection: in round r, `accumulator >= thresholds[r]` releases, `< drops[r]` drops."""

    bits: int
    multiples: tuple[int, ...]
    variances: tuple[int, ...]
    limit: int
    thresholds: tuple[int, ...]
    drops: tuple[int, ...]
    recycled: bool = True
    shrinking: bool = False
    """One round whose threshold counts on it that t keys of one user's own have a weight of 1/√t each."""

    @property
    def unit(self) -> int:
        """U = 2^k: the weight of a user who holds one key."""
        return 1 << self.bits

    def _up_to(self, each: Sequence[int]) -> tuple[int, ...]:
        """Up to each round: added up where rounds are recycled, the round's own where they are fresh."""
        return tuple(sum(each[0 if self.recycled else r : r + 1]) for r in range(len(each)))

    @property
    def means(self) -> tuple[int, ...]:
        """The most a single user's own key has gathered by each round: C_r U."""
        return self._up_to([m * self.unit for m in self.multiples])

    @property
    def gathered(self) -> tuple[int, ...]:
        """The variance of the noise gathered by each round: C_r V."""
        return self._up_to(self.variances)

    @property
    def tests(self) -> tuple[Test, ...]:
        """Each round's test; none where thresholds are set later."""
        return tuple(map(Test, self.means, self.gathered, self.thresholds))

    def users(self, r: int) -> float:
        """The threshold of a round as a number of users who hold nothing else."""
        test = self.tests[r]
        return test.threshold / test.mean

    def laws(self, name: str) -> tuple[Law, ...]:
        """What its rounds draw; keys of nobody gather noise of the same variances."""
        return tuple(Law(name, "variance", variance) for variance in self.variances)

    def step(self, name: str, proof: str, *, tightened: bool) -> GaussianStep:
        """What the accountant and the card see."""
        shifts = (self.unit**2 * m * m for m in self.multiples)
        return GaussianStep(
            name=name,
            mu2=tuple(mu2_of(shift, variance) for shift, variance in zip(shifts, self.variances, strict=True)),
            proof=proof,
            tests=self.tests,
            keys=self.limit if self.thresholds else 0,
            tightened=tightened,
            selects=not self.thresholds,
            shrinking=self.shrinking,
        )


def grid(mu2: Fraction, multiples: Sequence[int]) -> tuple[int, int]:
    """Grid bits and V = ⌈4^k M (1 + 2e-9)/μ²⌉ + 16, variance m_r V in round r; coarser until the sampler serves it."""
    for bits in range(GRID_BITS, 3, -1):
        variance = math.ceil(4**bits * sum(multiples) * Fraction(1 + 2 * SLACK) / mu2) + 16
        if 2 * max(multiples) * variance < WIDEST_NOISE:
            return bits, variance
    raise ParameterError("This ε needs more noise than the sampler serves.", next="raise epsilon or delta")


def recycled(
    bits: int, variance: int, multiples: Sequence[int], levels: Sequence[Fraction], limit: int, chances: Sequence[float]
) -> Selection:
    """Rounds that add up: Θ_r from the chance a user's own key may have at each test, drops as levels of the last."""
    totals = [sum(multiples[: r + 1]) for r in range(len(multiples))]
    thresholds = tuple(threshold_for(c << bits, c * variance, p) for c, p in zip(totals, chances, strict=True))
    drops = tuple(math.floor(x * thresholds[-1] * c / totals[-1]) for x, c in zip(levels, totals, strict=False))
    return Selection(bits, tuple(multiples), tuple(m * variance for m in multiples), limit, thresholds, drops)


def fresh(
    bits: int, variances: Sequence[int], margin: Fraction | None, limit: int, chances: Sequence[float]
) -> Selection:
    """Rounds that stand alone; a key stays if its value plus `margin` sd reaches the last threshold (None: always)."""
    unit = 1 << bits
    thresholds = tuple(threshold_for(unit, v, p) for v, p in zip(variances, chances, strict=True))
    drops = tuple(
        NO_DROP if margin is None else thresholds[-1] - math.floor(margin * math.isqrt(v)) for v in variances[:-1]
    )
    return Selection(bits, (1,) * len(variances), tuple(variances), limit, thresholds, drops, recycled=False)


@dataclass(frozen=True)
class Known:
    """Keys known without the log, by codes from 0: each is tested, held or not, by thresholds of its own."""

    plan: Selection
    size: int
    held: Callable[[Integers], Booleans]
    """Which of these codes stand in some pool."""
    table: str = ""
    """The engine's table of their texts, where pools hold other keys besides and the first round asks for it."""
    mark: int = UNMARKED
    """The mark of such keys; none where every key of the pools is one of them."""
    called: str = "absent keys"
    """The name of the draw for those that nobody holds."""


@dataclass(frozen=True)
class Selected:
    """Released keys, by id: the accumulator when it passed, and in which round (from 0).

    Keys that nobody's pool holds come last; `absent` are their codes among the known keys, domain after domain.
    """

    ids: Integers
    accumulators: Integers
    rounds: Integers
    absent: tuple[Integers, ...] = ()
    alike: Integers | None = None
    """Keys of one number gathered their weight alike; None: those that left in the same round."""


def select(pools: Pools, plan: Selection, step: str, *known: Known) -> Generator[Draw, Any, Selected]:
    """The rounds, one pair each: the weights of what is in the running, then noise and a test for each key."""
    for domain in known:
        if replace(domain.plan, thresholds=plan.thresholds, drops=plan.drops) != plan:
            raise OurBug("known keys would not have the noise of the others")
    marked = {domain.mark: domain.plan for domain in known}
    table = next((domain.table for domain in known if domain.table), "")
    passed, running = [], None
    for r in range(len(plan.multiples)):
        round_ = Round(marked.get(UNMARKED, plan), r, step, {m: p for m, p in marked.items() if m != UNMARKED})
        said: Tested = yield Draw(pools.weighed(running, table), round_.perturb)
        passed.append((said.ids, said.accumulators, np.full(said.ids.size, r)))
        running = said.running
    found = _by_id(passed)
    for domain in known:
        exits: Exits = yield Draw(None, NobodysNoise(domain.plan, domain.size, f"{step} {domain.called}").perturb)
        found = yield Draw(domain.held(exits.ranks), partial(_with_absent, found, exits, pools.size))
    return found


@dataclass(frozen=True)
class Round:
    """Round r of a selection: noise and a test for each key by itself."""

    plan: Selection
    r: int
    step: str
    of_marked: Mapping[int, Selection] = field(default_factory=dict)
    """The plans whose levels hold for keys with a mark."""

    def perturb(self, weights: Weights, noise: NoiseSource) -> Tested:
        """The keys that pass, and those that stay in the running: the round runs where the weights lie."""
        return weights.test(self, noise)

    def __call__(
        self, weights: Integers, before: Integers, marks: Integers, noise: NoiseSource
    ) -> tuple[Integers, Booleans, Booleans]:
        """What each key has gathered, whether it passes, whether it stays in the running."""
        plan, r = self.plan, self.r
        drawn = noise.gaussian(f"{self.step} round {r + 1}", plan.variances[r], weights.size)
        now = plan.multiples[r] * checked(weights) + drawn
        if plan.recycled:
            now += before
        passes = now >= self._level("thresholds", marks)
        if r == len(plan.multiples) - 1:
            return now, passes, np.zeros(now.size, bool)
        return now, passes, ~passes & (now >= self._level("drops", marks))

    def _level(self, name: str, marks: Integers) -> Integers:
        levels = np.full(marks.size, getattr(self.plan, name)[self.r])
        for mark, plan in self.of_marked.items():
            levels[marks == mark] = getattr(plan, name)[self.r]
        return levels


def _by_id(passed: Sequence[tuple[Integers, Integers, Integers]]) -> Selected:
    """What passed in each round (ids, accumulators, rounds) as one, in the order of the ids."""
    ids, accumulators, rounds = (np.concatenate(column) for column in zip(*passed, strict=True))
    order = np.argsort(ids)
    return Selected(ids[order], accumulators[order], rounds[order])


@dataclass(frozen=True)
class NobodysNoise:
    """Noise alone for every known key, as if nobody held any: what passes with it."""

    plan: Selection
    size: int
    step: str

    def perturb(self, _: None, noise: NoiseSource) -> Exits:
        """Which of them pass, when, and with what."""
        plan = self.plan
        unit = plan.variances[0] // plan.multiples[0]
        if not plan.recycled or plan.variances != tuple(m * unit for m in plan.multiples):
            raise OurBug("absent keys follow recycled rounds of one variance")
        rounds = Rounds(plan.multiples, unit, plan.thresholds, plan.drops)
        return noise.absent(self.step, self.size, rounds)


def _with_absent(found: Selected, exits: Exits, size: int, held: Booleans, _: NoiseSource) -> Selected:
    """Known keys that passed with noise alone and stand in no pool get the next ids.

    What was drawn for a key of some pool is thrown away: it has had its rounds (docs/proofs/crowd.md, section 10).
    """
    alone, (codes, rounds, accumulators) = ~held, exits
    first = size + sum(other.size for other in found.absent)
    return Selected(
        np.concatenate([found.ids, first + np.arange(np.count_nonzero(alone))]),
        np.concatenate([found.accumulators, accumulators[alone]]),
        np.concatenate([found.rounds, rounds[alone]]),
        (*found.absent, codes[alone]),
    )
