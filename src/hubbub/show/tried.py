"""Other budgets on the same log: nothing is spent and nothing is released.

by_law         at once, from the law of survival, fitted to what was released: with every release
other_budgets  estimates on the log itself with repeatable noise, about as long as eight releases: on request
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hubbub.errors import UserError
from hubbub.look.estimate.curve import Curve, points
from hubbub.mechanisms.survival import LaplaceTest
from hubbub.privacy.guarantee import number
from hubbub.show.kept import Tried
from hubbub.show.law import ESTIMATED, SurvivalLine

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.look.estimate import Estimate
    from hubbub.mechanisms import Mechanism
    from hubbub.mechanisms.survival import Survival
    from hubbub.show.exact import Exact, Floats

TIMES = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
"""Budgets around the chosen one."""
SHARES = (1e-4, 4.0)
"""How many of a key's users count, as a share: between these. Above 1, keys known beforehand are easier to release."""
HALVINGS = 40
SURE = 1 - 1e-9


def around(mechanism: Mechanism) -> Iterator[tuple[Fraction, Mechanism]]:
    """The mechanism at each budget that can be drawn; none where ε was not chosen."""
    if "epsilon" not in mechanism.given:
        return
    for times in TIMES:
        epsilon = Fraction(mechanism.given["epsilon"]) * times
        try:
            yield epsilon, mechanism.remade({**mechanism.given, "epsilon": epsilon})
        except UserError:  # not every budget can be drawn
            continue


# ------------------------------------------------------------------ at once, by the law


def by_law(mechanism: Mechanism, tables: Sequence[Exact]) -> tuple[Tried, ...]:
    """What each ε would keep of the keys as they are held, by the law of survival of every table that has one.

    Bounding leaves a share of a key's users. It is taken to be the same for all keys and budgets: that with which the
    law at the chosen ε expects as many searches as were released.
    """
    chosen = mechanism.survival()
    known = {exact.table: exact for exact in tables if _tests_alone(chosen.get(exact.table)) and _some(exact)}
    grids = {table: points(4 * int(exact.held.users.max())) for table, exact in known.items()}
    shares = {table: _share(_curve(chosen[table], grids[table]), exact) for table, exact in known.items()}
    found = [
        _expected(_curve(laws[table], grids[table]), exact, float(epsilon), shares[table])
        for epsilon, other in around(mechanism)
        for laws in (other.survival(),)
        for table, exact in known.items()
        if _tests_alone(laws.get(table))
    ]
    order = list(known)
    return tuple(sorted(found, key=lambda one: order.index(one.table)))


def _tests_alone(law: Survival | None) -> bool:
    """Whether a key is tested by itself; what is chosen among pairs of released keys has no law of its own."""
    return isinstance(law, LaplaceTest) or (law is not None and bool(law.plan.thresholds))


def _some(exact: Exact) -> bool:
    return bool(exact.held.released_events.sum() > 0)


def _curve(law: Survival, at: npt.NDArray[np.int64]) -> Curve:
    """The chance of a key by how many of its users count."""
    if isinstance(law, LaplaceTest):
        return Curve(at, law.chance(at.astype(float)), None)
    chance = np.ones(at.size)
    for place, users in enumerate(at.tolist()):
        chance[place] = law.chance(users, 1)
        if chance[place] >= SURE:
            break
    return Curve(at, chance, None)


def _chances(curve: Curve, exact: Exact, share: float) -> Floats:
    users = np.log(np.maximum(exact.held.users * share, 1e-9))
    return np.asarray(np.interp(users, np.log(curve.users), curve.chance, left=0.0))


def _share(curve: Curve, exact: Exact) -> float:
    """The share of users that counts, by halving: more of it means more searches."""
    low, high = SHARES
    wanted = float(exact.held.released_events.sum())
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        if float(_chances(curve, exact, middle) @ exact.held.events) < wanted:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


def _expected(curve: Curve, exact: Exact, epsilon: float, share: float) -> Tried:
    chances, held = _chances(curve, exact, share), exact.held
    searches = float(chances @ held.events) / float(held.events.sum())
    return Tried(exact.table, epsilon, float(chances @ held.keys), searches, None, by_law=True)


# ------------------------------------------------------------------ on request, on the log


def other_budgets(
    mechanism: Mechanism, log: SearchLog, say: Callable[[str], None] = lambda _: None
) -> tuple[tuple[Tried, ...], dict[str, SurvivalLine]]:
    """What each ε would keep, and the chance of a key at the chosen one; nothing where ε was not chosen."""
    from hubbub.look.estimate import RUNS, estimate_log

    tried: list[Tried] = []
    laws: dict[str, SurvivalLine] = {}
    for epsilon, other in around(mechanism):
        chosen = epsilon == Fraction(mechanism.given["epsilon"])
        say(f"estimating at ε = {number(float(epsilon))}")
        try:
            found = estimate_log(other, log, runs=RUNS if chosen else 1)
        except UserError:  # nor can every budget be estimated
            continue
        tried += _tried(found, float(epsilon))
        if chosen:
            laws = {name: SurvivalLine.of(table.curve, ESTIMATED) for name, table in found.tables.items()}
    return tuple(tried), laws


def _tried(found: Estimate, epsilon: float) -> list[Tried]:
    return [
        Tried(name, epsilon, table.rows, table.volume.searches, None if table.error is None else table.error.rms)
        for name, table in found.tables.items()
    ]
