"""The core lemmas of crowd on every case of a family of small ones. It uses nothing of hubbub's.

    python verify/crowd_lemmas.py            the small family, a second or two
    python verify/crowd_lemmas.py --large    every case, minutes

Lemmas D and E (docs/proofs/crowd.md, section 7): keys that only one user holds. They hold for any law of noise, so laws
of three and of five rational values stand for the discrete Gaussian, and every run is gone through. Of each case it is
computed, without any rounding, that
(a) outside E the run with her and the full run are the same,
(b) the half run shows exactly what the run without her shows,
(c) δ is at most that of full run against half run plus the chance of E, both ways round, for several e^ε,
(E) one of her t own keys is released with a chance of at most t p.

Lemma C (section 6): shifts that are chosen along the way. Of two steps of integer Gaussian noise, every rule by which
the second shift may follow the past is gone through (for a given past the worst shift can be chosen by itself), in
floating point, with errors far below the margins found.

What this does not show: larger cases; the recount, of which only one noisy total is here; other laws of noise (D and E
do not look at the law, but only a proof can say so); that the code does what section 1 says; shifts in several
coordinates, or more steps. Those are left to the proof, to the audit and to the tests.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

NOISES = (
    {-1: Fraction(1, 3), 0: Fraction(1, 2), 2: Fraction(1, 6)},
    {-2: Fraction(1, 10), -1: Fraction(2, 10), 0: Fraction(4, 10), 1: Fraction(2, 10), 2: Fraction(1, 10)},
)
"""A law that is not symmetric, and one that is; each adds up to 1."""
FACTORS = tuple(map(Fraction, ("1", "3/2", "3", "8")))
"""Values of e^ε."""
Pool = frozenset[str]
Run = tuple[Fraction, tuple[object, ...], tuple[object, ...], bool]
"""The chance of a run, everything that happened in it, what it shows, and whether one of her own keys was released."""
FULL, HALF, WITH, WITHOUT = "full", "half", "with her", "without her"
NUMBER, LARGEST, HEAVY = "how many keys are left leaves", "only the largest passes", "she adds one more"
"""Conditions of the lemmas, broken on purpose: (b) needs that nothing else leaves and that tests are key by key, E that
her weight is bounded."""


@dataclass(frozen=True)
class SmallCase:
    """Pools of the others and hers, and constants of two rounds; U = 2."""

    others: tuple[Pool, ...]
    hers: Pool
    levels: tuple[int, int]
    dropped: int
    noise: int
    factors: tuple[int, int] = (1, 2)
    fault: str = ""

    @property
    def novel(self) -> Pool:
        """The keys that only she holds."""
        return self.hers.difference(*self.others)


def weight(live: int) -> int:
    """The largest integer whose square, so many times, is at most U² = 4."""
    return math.isqrt(4 // live)


def runs(case: SmallCase, which: str) -> Iterator[Run]:
    """Every run: its chance, everything that happened on all keys, what it shows, and whether E happened."""
    theirs = frozenset().union(*case.others)
    everything = theirs if which == WITHOUT else theirs | case.hers
    start = dict.fromkeys(sorted(everything), 0)
    yield from _round(case, which, 0, start, {}, Fraction(1), ())


def _round(
    case: SmallCase,
    which: str,
    at: int,
    live: dict[str, int],
    out: dict[str, tuple[int, int]],
    chance: Fraction,
    past: tuple[tuple[tuple[str, int], ...], ...],
) -> Iterator[Run]:
    if at == 2:
        yield from _shown(case, which, out, chance, past)
        return
    added: dict[str, int] = dict.fromkeys(live, 0)
    for pool in case.others:
        mine = [key for key in pool if key in live]
        for key in mine:
            added[key] += weight(len(mine))
    if which != WITHOUT:
        mine = [key for key in case.hers if key in live]
        for key in mine:
            if which != HALF or key in case.novel:
                added[key] += weight(len(mine)) + (case.fault == HEAVY)
    for drawn in itertools.product(NOISES[case.noise].items(), repeat=len(live)):
        total = {
            key: n + case.factors[at] * added[key] + noise
            for (key, n), (noise, _) in zip(live.items(), drawn, strict=True)
        }
        passed = {key: (at, n) for key, n in total.items() if n >= case.levels[at]}
        if case.fault == LARGEST:
            passed = {key: seen for key, seen in passed.items() if seen[1] == max(total.values())}
        left = {key: n for key, n in total.items() if key not in passed and n >= case.dropped}
        likely = chance * math.prod((p for _, p in drawn), start=Fraction(1))
        happened = (*past, tuple(sorted(total.items())))
        yield from _round(case, which, at + 1, left, out | passed, likely, happened)


def _shown(
    case: SmallCase,
    which: str,
    out: dict[str, tuple[int, int]],
    chance: Fraction,
    past: tuple[tuple[tuple[str, int], ...], ...],
) -> Iterator[Run]:
    """Released keys with round and value, and a noisy total of who holds them; full and half run leave hers out."""
    seen = {key: value for key, value in out.items() if which in (WITH, WITHOUT) or key not in case.novel}
    happened = bool(out.keys() & case.novel)
    kept = sum(min(1, len(pool & seen.keys())) for pool in case.others)
    if which in (WITH, FULL):
        kept += min(1, len(case.hers & seen.keys()))
    besides = (len(past[1]),) if case.fault == NUMBER else ()
    for value, p in NOISES[case.noise].items():
        shown = (tuple(sorted(seen.items())), kept + value, *besides)
        yield chance * p, (*past, kept + value), shown, happened


def law(parts: Iterable[tuple[Fraction, tuple[object, ...]]]) -> dict[tuple[object, ...], Fraction]:
    """Chances added up by outcome."""
    found: dict[tuple[object, ...], Fraction] = defaultdict(Fraction)
    for chance, outcome in parts:
        found[outcome] += chance
    return dict(found)


def stick(p: dict[tuple[object, ...], Fraction], q: dict[tuple[object, ...], Fraction], factor: Fraction) -> Fraction:
    """The most that P exceeds e^ε Q."""
    return sum((max(Fraction(0), mass - factor * q.get(at, Fraction(0))) for at, mass in p.items()), Fraction(0))


def own_key_passes(case: SmallCase) -> Fraction:
    """p: the sum over rounds of the chance that noise alone lifts a key of weight U over the level."""
    passes, totals, gathered = Fraction(0), {0: Fraction(1)}, 0
    for at in range(2):
        gathered += 2 * case.factors[at]
        totals = {
            t: sum((p * NOISES[case.noise].get(t - s, Fraction(0)) for s, p in totals.items()), Fraction(0))
            for t in range(min(totals) - 2, max(totals) + 3)
        }
        passes += sum((p for t, p in totals.items() if t + gathered >= case.levels[at]), Fraction(0))
    return passes


def broken(case: SmallCase) -> tuple[list[str], bool]:
    """The parts of the lemmas that do not hold of a case, and whether (c) says anything there (a δ below 1)."""
    of = {which: list(runs(case, which)) for which in (FULL, HALF, WITH, WITHOUT)}
    wrong = []
    if any(sum(run[0] for run in all_runs) != 1 for all_runs in of.values()):
        wrong.append("chances do not add up to 1")
    outside = {
        which: law((chance, (past, shown)) for chance, past, shown, happened in of[which] if not happened)
        for which in (WITH, FULL)
    }
    if outside[WITH] != outside[FULL]:
        wrong.append("a")
    shows = {which: law((chance, shown) for chance, _, shown, _ in of[which]) for which in of}
    if shows[HALF] != shows[WITHOUT]:
        wrong.append("b")
    whole = {which: law((chance, (past, shown)) for chance, past, shown, _ in of[which]) for which in (FULL, HALF)}
    released = {which: sum((run[0] for run in of[which] if run[3]), Fraction(0)) for which in (FULL, HALF)}
    q = max(released.values())
    says = False
    for factor in FACTORS:
        h = max(stick(whole[FULL], whole[HALF], factor), stick(whole[HALF], whole[FULL], factor))
        says = says or h + q < 1
        for one, other in ((WITH, WITHOUT), (WITHOUT, WITH)):
            if stick(shows[one], shows[other], factor) > h + q:
                wrong.append("c")
    if q > len(case.novel) * own_key_passes(case):
        wrong.append("E")
    return sorted(set(wrong)), says


def family(large: bool, fault: str = "") -> Iterator[SmallCase]:
    """Pools of the others and hers, levels, where keys are dropped, noise: every case of up to three keys."""
    pools = [frozenset(pool) for size in (1, 2) for pool in itertools.combinations("ab", size)]
    others = [(), *((pool,) for pool in pools), *itertools.combinations_with_replacement(pools, 2)]
    keys, most = ("abxy", 3) if large else ("ax", 2)
    hers = [frozenset(pool) for size in range(1, most + 1) for pool in itertools.combinations(keys, size)]
    levels = [(3, 6), (4, 5), (2, 8)] if large else [(4, 6)]
    constants = itertools.product(levels, (0, 2), NOISES) if large else itertools.product(levels, (1,), NOISES[:1])
    for level, dropped, noise in constants:
        for theirs, mine in itertools.product(others if large else others[:4], hers):
            if len(mine.union(*theirs)) <= (3 if len(noise) == len(NOISES[0]) else 2):
                yield SmallCase(tuple(theirs), mine, level, dropped, NOISES.index(noise), fault=fault)


# ------------------------------------------------------------------ lemma C


def gaussian(variance: int) -> dict[int, float]:
    """The discrete Gaussian, as far as twelve deviations."""
    reach = 12 * math.isqrt(variance) + 12
    mass = {x: math.exp(-x * x / (2 * variance)) for x in range(-reach, reach + 1)}
    whole = math.fsum(mass.values())
    return {x: m / whole for x, m in mass.items()}


def worst_policy(variance: int, most: tuple[int, ...], epsilon: float) -> float:
    """The largest δ(ε) over every rule that chooses a shift, of at most so much in each step, by what was seen."""
    law = gaussian(variance)
    up = math.exp(epsilon)

    def of(step: int, ratio: float) -> float:  # ratio: how much likelier the past is in the one world
        best = 0.0
        for shift in range(most[step] + 1):
            if step == len(most) - 1:
                found = math.fsum(max(0.0, ratio * law.get(x - shift, 0.0) - up * p) for x, p in law.items())
            else:
                found = math.fsum(
                    p * of(step + 1, ratio * math.exp((2 * x * shift - shift * shift) / (2 * variance)))
                    for x, p in law.items()
                    if p > 1e-18
                )
            best = max(best, found)
        return best

    return of(0, 1.0)


def bound(variance: int, most: tuple[int, ...], epsilon: float) -> float:
    """G(ε, μ) with μ² the sum of the squared shifts over S − 4."""
    mu = math.sqrt(sum(shift * shift for shift in most) / (variance - 4))

    def above(z: float) -> float:
        return math.erfc(z / math.sqrt(2)) / 2

    return above(epsilon / mu - mu / 2) - math.exp(epsilon) * above(epsilon / mu + mu / 2)


def policies(large: bool) -> Iterator[tuple[int, tuple[int, ...], float]]:
    """Variances, largest shifts of two steps, and ε."""
    variances, shifts = ((20, 30), (1, 2, 3, 4)) if large else ((20,), (2,))
    for variance, one, two, epsilon in itertools.product(
        variances, shifts, shifts, (0.25, 0.5, 1.0) if large else (0.5,)
    ):
        yield variance, (one, two), epsilon


def main() -> None:
    """Both families, with what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    large = parser.parse_args().large
    number = says = 0
    for case in family(large):
        wrong, non_trivial = broken(case)
        number, says = number + 1, says + non_trivial
        if wrong:
            raise SystemExit(f"{', '.join(wrong)} fails: {case}")
    print(f"lemmas D and E: {number} cases, none fails; (c) bounds δ below 1 in {says} of them")
    closest = 0.0
    number = 0
    for variance, most, epsilon in policies(large):
        found, allowed = worst_policy(variance, most, epsilon), bound(variance, most, epsilon)
        number, closest = number + 1, max(closest, found / allowed)
        if found > allowed + 1e-12:
            raise SystemExit(f"lemma C fails: S = {variance}, shifts {most}, ε = {epsilon}: {found} > {allowed}")
    print(f"lemma C: {number} cases, none fails; the worst rule comes to {closest:.4f} of the bound")


if __name__ == "__main__":
    main()
