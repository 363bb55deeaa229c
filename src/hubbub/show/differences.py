"""What makes groups different: keys that are asked more in one group than elsewhere, by more than noise can explain.

Of a key's users a *share* is in the group. The *usual* share is that of all keys which the table has for the group,
taken together. A key whose share is larger is over-represented. A count may be off by its noise and by a twentieth of
itself, room for the model behind the counts; shares by what follows to first order. Of many comparisons some would show
by chance: keys are listed by the rule of Benjamini and Yekutieli, by which at most 5 % of all that is listed is
expected to be chance, however the rows hang together, and the intervals are wide enough for what was picked. A function
of released tables: whoever has them can compute it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hubbub.steps.keys import base_of
from hubbub.steps.keys.divided import BY

if TYPE_CHECKING:
    import pyarrow as pa

Floats = npt.NDArray[np.float64]
LEVEL = 0.05
"""Of what is listed, so much may be chance."""
MODEL = 1 / 20
"""How far a count may be off besides its noise, as a part of itself."""
SHOWN = 5
"""Keys of a group on a page."""
FEWEST = 3
"""Keys of a group, at the least, to say what is usual there."""


@dataclass(frozen=True)
class Difference:
    """One key that is asked more in a group: how many times as often as usual, and the interval of that."""

    group: str
    key: tuple[str, ...]
    times: float
    low: float
    high: float
    chance: float
    """The chance of so large a difference by noise alone, corrected for all comparisons of the table."""


def over_represented(cells: pa.Table, totals: pa.Table) -> list[Difference]:
    """The keys over-represented in each group, the surest first: from a table by group and the one that it divides."""
    return _found(cells.to_pylist(), totals.to_pylist(), cells.column_names, totals.column_names)


def _found(
    cells: Sequence[Mapping[str, object]],
    totals: Sequence[Mapping[str, object]],
    columns: Sequence[str],
    of_totals: Sequence[str],
) -> list[Difference]:
    group, *keys, value, _ = columns
    known = {tuple(row[k] for k in keys): row for row in totals if row[of_totals[-2]] is not None}
    rows = [row for row in cells if row[value] is not None and tuple(row[k] for k in keys) in known]
    if not rows:
        return []
    both = [(row, known[tuple(row[k] for k in keys)]) for row in rows]
    x, x_sd, t, t_sd = np.array(
        [(row[value], row["noise_sd"], all_[of_totals[-2]], all_["noise_sd"]) for row, all_ in both], float
    ).T
    groups = np.array([str(row[group]) for row in rows])
    share, usual, deviation = _shares(groups, x, np.hypot(x_sd, MODEL * x), t, np.hypot(t_sd, MODEL * t))
    chance = _tail((share - usual) / deviation)
    corrected = corrected_chances(chance)
    picked = np.flatnonzero(corrected <= LEVEL)
    reach = _reach(picked.size, chance.size) * deviation
    found = [
        Difference(
            str(groups[i]),
            tuple(str(rows[i][k]) for k in keys),
            float(share[i] / usual[i]),
            float(max(0.0, share[i] - reach[i]) / usual[i]),
            float((share[i] + reach[i]) / usual[i]),
            float(corrected[i]),
        )
        for i in picked
        if usual[i] > 0
    ]
    return sorted(found, key=lambda one: (one.chance, -one.low, one.group, one.key))


def _shares(
    groups: npt.NDArray[np.str_], x: Floats, x_sd: Floats, t: Floats, t_sd: Floats
) -> tuple[Floats, Floats, Floats]:
    """Of each row the share of its key's users, the usual share of its group without it, the sd of the difference."""
    share, usual, variance = x / t, np.zeros(x.size), np.full(x.size, np.inf)
    own = (x_sd**2 + share**2 * t_sd**2) / t**2
    for group in np.unique(groups):
        at = np.flatnonzero(groups == group)
        if at.size < FEWEST:
            continue
        rest_x, rest_t = x[at].sum() - x[at], t[at].sum() - t[at]
        usual[at] = rest_x / rest_t
        noise = (x_sd[at] ** 2).sum() - x_sd[at] ** 2 + usual[at] ** 2 * ((t_sd[at] ** 2).sum() - t_sd[at] ** 2)
        variance[at] = own[at] + noise / rest_t**2
    return share, usual, np.sqrt(variance)


def _tail(z: Floats) -> Floats:
    from scipy.special import ndtr

    tail: Floats = ndtr(-z)
    return tail


def _harmonic(comparisons: int) -> float:
    return float(np.sum(1 / np.arange(1, comparisons + 1)))


def corrected_chances(chances: Floats) -> Floats:
    """By Benjamini and Yekutieli: the smallest level at which a comparison would be listed, whatever hangs together."""
    order = np.argsort(chances, kind="stable")
    scaled = chances[order] * chances.size * _harmonic(chances.size) / np.arange(1, chances.size + 1)
    corrected = np.empty(chances.size)
    corrected[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return corrected


def _reach(picked: int, comparisons: int) -> float:
    """How many deviations an interval reaches, if so many of these comparisons were picked: 95 % of those hold."""
    from scipy.special import ndtri

    return float(-ndtri(LEVEL * max(1, picked) / (2 * comparisons * _harmonic(comparisons))))


# ------------------------------------------------------------------ for a page


@dataclass(frozen=True)
class GroupShown:
    """A group on a page: how many rows it has, and what is asked more there, as far as it can be told from noise."""

    name: str
    rows: int
    more: tuple[Difference, ...]


def by_table(
    tables: Sequence[tuple[str, Sequence[str], Sequence[Mapping[str, object]]]],
) -> dict[str, list[GroupShown]]:
    """Of every table by group on a page (name, columns, rows): its groups, the largest first."""
    named, shown = {name: (columns, rows) for name, columns, rows in tables}, {}
    for name, columns, rows in tables:
        if BY not in name:
            continue
        others, totals = named.get(base_of(name), ((), ()))
        found = _found(rows, totals, columns, others) if totals else []
        sizes: dict[str, int] = {}
        for row in rows:
            sizes[str(row[columns[0]])] = sizes.get(str(row[columns[0]]), 0) + 1
        more = {group: tuple(one for one in found if one.group == group)[:SHOWN] for group in sizes}
        order = sorted(sizes, key=lambda group: (-sizes[group], group))
        shown[name] = [GroupShown(group, sizes[group], more[group]) for group in order]
    return shown
