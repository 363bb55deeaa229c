"""Probabilistic differential privacy, exactly: every log of U users over a few items, and all their replace neighbours.

Theorem 2 of Götz et al. says that outside a set Ω of outputs, which a run hits with probability at most δ, no output is
more than e^ε times as likely as for a neighbour. Ω holds the outputs with an item of count τ (or, repaired, below).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np

from hubbub.audit.checks.exact import EnumeratingNoise
from hubbub.audit.protocols import AuditRow, Kind, Subject, row
from hubbub.steps.counts import LocalCounts

ABSENT = None
REACH = 40
MOST_USERS, ITEMS = 6, 3
ItemLaw = dict[int | None, float]


def law_of(subject: Subject, count: int) -> ItemLaw:
    """What becomes of one item with this count, through `perturb`: its value, or nothing."""
    law: ItemLaw = {}
    noise = EnumeratingNoise(REACH)
    for _ in noise.runs():
        out = subject.perturb({"queries": LocalCounts(np.array([count]))}, noise)["queries"]
        value = int(out.values[0]) if out.ids.size and out.values is not None else ABSENT
        law[value] = law.get(value, 0.0) + noise.mass
    return law


def histograms(users: int, m: int, items: int) -> Iterator[tuple[int, ...]]:
    """Every histogram of `users` users with at most m of these items each."""
    sets = [s for n in range(m + 1) for s in itertools.combinations(range(items), n)]
    seen = set()
    for log in itertools.combinations_with_replacement(sets, users):
        counts = tuple(sum(i in s for s in log) for i in range(items))
        if counts not in seen:
            seen.add(counts)
            yield counts


def exceptions(subject: Subject, users: int, items: int, repaired: bool) -> tuple[float, float]:
    """(largest P(Ω2), largest log-ratio outside Ω2), over all logs and all their replace neighbours.

    Ω2 holds the outputs with an item of count τ; repaired, also those with an item of count below τ.
    """
    m, tau = int(subject.mechanism.settings["m"]), int(subject.mechanism.settings["tau"])
    laws = [law_of(subject, c) for c in range(users + 2)]
    moves = [v for v in itertools.product((-1, 0, 1), repeat=items) if v.count(1) <= m and v.count(-1) <= m]
    logs = set(histograms(users, m, items))
    ratio: dict[tuple[int, int], float] = {}
    for c, d in itertools.product(range(users + 1), repeat=2):
        ratio[c, d] = 0.0
        if abs(c - d) == 1:
            exempt = (c <= tau) if repaired else (c == tau)
            for value in {*laws[c], *laws[d]}:
                p, q = laws[c].get(value, 0.0), laws[d].get(value, 0.0)
                if value is not ABSENT and (exempt or value >= min(c, d) + REACH):  # there the enumeration ends
                    continue
                if max(p, q) > 0:
                    ratio[c, d] = max(ratio[c, d], math.inf if min(p, q) == 0 else abs(math.log(p / q)))
    delta = max(1 - math.prod(laws[c].get(ABSENT, 0.0) for c in log if c == tau) for log in logs)
    worst = 0.0
    for log in logs:
        for move in moves:
            other = tuple(c + v for c, v in zip(log, move, strict=True))
            if other in logs:
                worst = max(worst, sum(ratio[c, d] for c, d in zip(log, other, strict=True)))
    return delta, worst


def probabilistic(subject: Subject) -> Iterable[AuditRow]:
    """Both numbers of the definition, against the theorem and against what is proven here."""
    mechanism = subject.mechanism
    users = int(mechanism.settings.get("U", MOST_USERS + 1))
    stated = next((other for other, _ in mechanism.also() if other.definition == "probabilistic"), None)
    if users > MOST_USERS or stated is None:
        return
    delta, ratio = exceptions(subject, users, ITEMS, repaired=True)
    claim = mechanism.claimed()
    for against, epsilon, most in (("proven", stated.epsilon, stated.delta), ("claimed", claim.epsilon, claim.delta)):
        if epsilon is not None and most is not None:
            yield row(
                subject,
                f"exact probabilistic δ: all logs of {users} users",
                against,
                most,
                delta,
                1e-12,
                kind=Kind.EXACT,
            )
            yield row(
                subject,
                f"exact max divergence outside Ω: all logs of {users} users",
                against,
                epsilon,
                ratio,
                1e-9,
                kind=Kind.EXACT,
            )
