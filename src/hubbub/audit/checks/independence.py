"""Audits of the generator: no draw is like another, in any part of a draw, step, thread, process or run; and its law.

The noise is made as wide as the samplers serve. Then two draws are alike, up to their sign, so rarely that every copy
shows: of a half, of a block, turned round, negated or dealt out in another order. Draws of the sizes at which a second
thread and further blocks begin are made as they are, and again with those sizes lowered (`hubbub.switches`).

False alarms: each row refutes a sound generator with probability at most 2 LEVEL. McDiarmid's inequality bounds how far
the number of different values is from its mean (one draw changes it by one at most), Hoeffding's how often signs agree,
that of Dvoretzky, Kiefer, Wolfowitz and Massart the distance from the law. None of them is an approximation.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt

from hubbub.audit.checks.statistical import LEVEL
from hubbub.audit.protocols import AuditRow, Kind, shared_faults, shared_row
from hubbub.noise import SecureNoise, SeededNoise
from hubbub.noise.source import Integers
from hubbub.switches import lowered

SCALE = Fraction((1 << 36) - 1)
VARIANCE = (1 << 45) - 1
MIDDLE, LARGE = (1 << 19) + 1, (1 << 20) + 1
"""Just beyond the second thread, and well beyond it and many blocks, as a release of a large log draws."""
SMALL = 500
"""Where the same sizes are lowered."""
STEPS = ("queries", "clicks", "queries round 1", "queries round 2", "queries recount")

Floats = npt.NDArray[np.float64]
Law = Callable[[Integers], Floats]
"""A distribution function: values -> the chance of at most each."""
Draw = Callable[[SecureNoise, str, int], Integers]
LAWS: dict[str, tuple[Draw, Callable[[int], float]]] = {
    "Laplace": (lambda noise, step, size: noise.laplace(step, SCALE, size), lambda n: n - n * n / (4 * float(SCALE))),
    "Gaussian": (lambda noise, step, size: noise.gaussian(step, VARIANCE, size), lambda n: _different(n, VARIANCE)),
    "uniform": (lambda noise, step, size: noise.below(step, np.full(size, 1 << 62)), lambda n: n - n * n / 2.0**63),
}
"""How each is drawn, and at least how many different values, up to the sign, so many draws have on average."""


def _different(n: int, variance: int) -> float:
    """Σ over sizes of 1 − (1 − p)^n, p = 2 w(x)/Z, on a grid of blocks of sizes that are about equally likely."""
    sd = math.sqrt(variance)
    edges = np.linspace(0.0, 8 * sd, 20_001)
    weight = np.exp(-(((edges[:-1] + edges[1:]) / 2 / sd) ** 2) / 2) * 2 / (sd * math.sqrt(2 * math.pi))
    mean = -np.expm1(n * np.log1p(-weight)) @ np.diff(edges)
    return float(mean) - 2  # the grid, and x = 0


# ------------------------------------------------------------------ one large draw


def alike(check: str, values: Integers, expected: float) -> AuditRow:
    """How many draws are like an earlier one, up to the sign, beyond what chance allows."""
    n = values.size
    found = np.unique(np.abs(values)).size
    allowed = math.sqrt(n * math.log(1 / LEVEL) / 2)
    if (few := n - expected) < LEVEL:  # then none at all, by the first moment
        allowed = few
    detail = f"{n} draws, {n - found} like an earlier one, {n - expected:.3g} expected"
    return shared_row(
        f"sampled: no draw is like another: {check}",
        allowed,
        max(0.0, expected - found),
        allowed,
        detail,
        Kind.STATISTICAL,
    )


def halves(check: str, values: Integers) -> AuditRow:
    """Signs of the two halves, of even and odd places, of both ends, and whether sizes are large: as coins fall."""
    middle = values.size // 2
    even, odd = values[: 2 * middle : 2], values[1 : 2 * middle : 2]
    pairs = (values[:middle], values[middle : 2 * middle]), (even, odd), (values[:middle], values[-middle:][::-1])
    worst = 0.0
    wide = np.median(np.abs(values))
    sized = bool((np.abs(values) > wide).any())
    for one, other in pairs:
        signs = np.sign(one) * np.sign(other)
        sizes = np.where(np.abs(one) > wide, 1, -1) * np.where(np.abs(other) > wide, 1, -1) * sized
        worst = max(worst, abs(float(signs.mean())), abs(float(sizes.mean())))
    # the median is a function of the draws: with it a mean of ±1 moves by at most 2/middle
    allowed = math.sqrt(2 * math.log(6 / LEVEL) / middle) + 2 / middle
    return shared_row(
        f"sampled: parts of a draw are independent: {check}", allowed, worst, allowed, kind=Kind.STATISTICAL
    )


def distance(values: Integers, law: Law) -> float:
    """The largest distance of a sample's distribution function from that of a law."""
    at, counts = np.unique(values, return_counts=True)
    upto = np.cumsum(counts) / values.size
    exact = law(at)
    before = np.concatenate([[0.0], upto[:-1]])
    below = law(at - 1)
    return float(max(np.abs(upto - exact).max(), np.abs(before - below).max()))


def _laplace(scale: float) -> Law:
    q = math.exp(-1 / scale)

    def law(at: Integers) -> Floats:
        low = np.exp(np.minimum(at, 0) / scale) / (1 + q)
        return np.where(at < 0, low, 1 - np.exp(-(np.maximum(at, 0) + 1.0) / scale) / (1 + q))

    return law


def _gaussian(variance: float) -> Law:
    from scipy.special import ndtr

    if variance > 10_000:  # there the discrete law is the continuous one, to far below what is sampled
        return lambda at: np.asarray(ndtr((at + 0.5) / math.sqrt(variance)), np.float64)
    reach = int(12 * math.sqrt(variance)) + 2
    mass = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    upto = np.cumsum(mass) / mass.sum()
    return lambda at: np.asarray(upto[np.clip(at + reach, 0, 2 * reach)], np.float64)


WIDE: dict[str, Law] = {"Laplace": _laplace(float(SCALE)), "Gaussian": _gaussian(float(VARIANCE))}


def fits(check: str, values: Integers, law: Law) -> AuditRow:
    """How far a sample is from the law it should have, and how far chance may take it."""
    allowed = math.sqrt(math.log(2 / LEVEL) / (2 * values.size))
    return shared_row(
        f"sampled law: {check}", allowed, distance(values, law), allowed, f"{values.size} draws", Kind.STATISTICAL
    )


def one_draw() -> Iterator[AuditRow]:
    """A draw beyond the second thread as it is, and small ones with every such size lowered: three laws."""
    for (name, (draw, expected)), size in zip(LAWS.items(), (LARGE, MIDDLE, MIDDLE), strict=True):
        values = draw(SecureNoise(), "queries", size)
        yield alike(f"{name}, {size} at once", values, expected(size))
        yield halves(f"{name}, {size} at once", values - (1 << 61) if name == "uniform" else values)
        if name in WIDE:
            yield fits(f"{name}, as wide as it is served, {size} at once", values, WIDE[name])
        with lowered(lambda each: ".noise." in each.module):
            small = draw(SecureNoise(), "queries", SMALL)
        yield alike(f"{name}, {SMALL} at once, sizes lowered", small, expected(SMALL))


def laws() -> Iterator[AuditRow]:
    """The law of one draw on both sides of every size, and of every scale at which the sampler changes."""
    for scale in (Fraction(63), Fraction(64), Fraction(1000)):
        yield from _sampled(f"Laplace of scale {scale}", _laplace(float(scale)), _drawer("laplace", scale))
    for variance in (Fraction(4095), Fraction(4096), Fraction(10**6)):
        yield from _sampled(
            f"Gaussian of variance {variance}", _gaussian(float(variance)), _drawer("gaussian", variance)
        )


def _drawer(name: str, width: Fraction) -> Callable[[int], Integers]:
    return lambda size: np.asarray(getattr(SecureNoise(), name)("queries", width, size), np.int64)


def _sampled(name: str, law: Law, draw: Callable[[int], Integers]) -> Iterator[AuditRow]:
    with lowered(lambda each: ".noise." in each.module):
        pieces = np.concatenate([draw(SMALL) for _ in range(20)])
    for how, values in (("", draw(1 << 17)), (", sizes lowered", pieces)):
        yield fits(f"{name}{how}", values, law)


# ------------------------------------------------------------------ steps, threads, processes, runs


def together() -> Iterator[AuditRow]:
    """Steps, tables, rounds, generators, threads at the same time, and forks: all of their draws, side by side."""
    sources = {
        "steps, tables and rounds of a run": _steps,
        "generators and runs": lambda: [LAWS["Laplace"][0](SecureNoise(), "queries", 40) for _ in range(8)],
        "threads at the same time": _threads,
        "forked processes": _forks,
        "seeds, and the steps of each": _seeds,
    }
    for how, (name, gather) in product((False, True), sources.items()):
        if how:
            with lowered(lambda each: ".noise." in each.module):
                drawn = gather()
        else:
            drawn = gather()
        values = np.concatenate(drawn)
        expected = values.size - values.size**2 / (4 * float(SCALE))
        yield alike(f"{name}{', sizes lowered' if how else ''}", values, expected)
    noise = SecureNoise()
    rounds = np.concatenate([LAWS["Gaussian"][0](noise, f"{step} again", 400) for step in STEPS])
    same = np.concatenate([LAWS["Gaussian"][0](noise, step, 400) for step in STEPS])
    for name, values in (("steps of Gaussian noise", rounds), ("rounds of Gaussian noise", same)):
        yield alike(name, values, _different(values.size, VARIANCE))


def _steps() -> list[Integers]:
    noise = SecureNoise()
    return [LAWS["Laplace"][0](noise, step, 40) for step in STEPS for _ in range(2)]


def _seeds() -> list[Integers]:
    sources = [SeededNoise(seed) for seed in (1, 2, -1, 10)]
    return [source.laplace(step, SCALE, 20) for source in sources for step in STEPS]


def _threads() -> list[Integers]:
    noise = SecureNoise()
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda step: LAWS["Laplace"][0](noise, step, 40), STEPS))


def _forks() -> list[Integers]:
    """Children of one process, which has drawn before, and the process itself."""
    noise = SecureNoise()
    drawn = [LAWS["Laplace"][0](noise, "first", 40)]
    drawn += [in_a_child(noise, SCALE, 40) for _ in range(3)]
    return [*drawn, LAWS["Laplace"][0](noise, "then", 40)]


def in_a_child(noise: SecureNoise, scale: Fraction, size: int) -> Integers:
    """What a forked process draws with a source that its parent has used; zeros if it does not come to draw."""
    here, there = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads do not matter: the child only draws
        child = os.fork()
    if not child:
        with suppress(BaseException):
            os.write(there, noise.laplace("then", scale, size).tobytes())
        os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), np.int64)
    os.waitpid(child, 0)
    return theirs if theirs.size == size else np.zeros(size, np.int64)


def secrets() -> Iterator[AuditRow]:
    """Secrets and coins: none twice, and coins fall independently."""
    drawn = [SecureNoise().secret(step) for step in STEPS for _ in range(20)]
    yield shared_faults("no secret is like another", len(drawn) - len(set(drawn)))
    chances = np.full(LARGE, 1 << 63, np.uint64)
    coins = SecureNoise().coins("queries", chances).astype(np.int64) * 2 - 1
    yield halves(f"coins, {LARGE} at once", coins)


def tests() -> Iterator[AuditRow]:
    """Every check of the generator."""
    for test in (one_draw, laws, together, secrets):
        yield from test()
