"""The numbers of a series as the index page's script reads them: compact JSON, as many queries as there is room for.

`labels` are the periods, `limits` the number of each from which users in a period are shown; the k-th query is
`queries[k]`, came out in period `since[k]`, and from there on has `inside[k]` and `to_date[k]`: pairs of a number and
its noise_sd, or null. Queries stand in the order of their last numbers, largest first. Where there are clicks or
transitions, `follows[k]` lists what hangs on the k-th query: the table, the page or next query, users to date or null.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hubbub.show.public import dumps, seen
from hubbub.show.series.censored import Floats
from hubbub.show.series.further import FurtherRow
from hubbub.show.series.published import SeriesNumbers

Follows = dict[str, list[tuple[str, FurtherRow]]]
ROOM = 10_000_000
"""Bytes of numbers in the page."""


def order(numbers: SeriesNumbers) -> list[int]:
    """Queries by their last number to date, then in the last period; those without any come last."""
    size = [np.nan_to_num(_last(values), nan=-1.0) for values in (numbers.to_date, numbers.in_period)]
    return [int(n) for n in np.lexsort((numbers.came_out, -size[1], -size[0]))]


def _last(values: Floats) -> Floats:
    return values[:, -1] if values.shape[1] else values[:, :0].sum(axis=1)


def pack(
    numbers: SeriesNumbers, chosen: list[int], room: int = ROOM, follows: Follows | None = None
) -> tuple[str, int]:
    """The JSON, and how many queries are in it; `chosen` are in it whatever happens."""
    places = [*chosen, *(n for n in order(numbers) if n not in set(chosen))]
    packed: dict[str, list[Any]] = {"queries": [], "since": [], "inside": [], "to_date": []}
    if follows is not None:
        packed["follows"] = []
    size = 0
    for n in places:
        if size > room:
            break
        first = int(numbers.came_out[n])
        row: list[Any] = [seen(numbers.queries[n]), first]
        row += [_pairs(values[n, first:], sd[n, first:]) for values, sd in _both(numbers)]
        if follows is not None:
            hers = follows.get(numbers.queries[n], [])
            row.append([[table, seen(one.key[1]), one.to_date] for table, one in hers])
        for column, value in zip(packed.values(), row, strict=True):
            column.append(value)
        size += len(dumps(row).encode())
    limits = [None if np.isnan(x) else float(np.ceil(x)) for x in np.nanmax(numbers.limit, axis=0, initial=-1)]
    told = packed | {
        "labels": list(numbers.labels),
        "limits": [x if numbers.whole and x is not None and x > 0 else None for x in limits],
        "chosen": list(range(len(chosen))),
    }
    return dumps(told), len(packed["queries"])


def _both(numbers: SeriesNumbers) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    return (numbers.in_period, numbers.sd), (numbers.to_date, numbers.sd_to_date)


def _pairs(values: Floats, sd: Floats) -> list[Any]:
    """SeriesNumbers with their noise_sd; an empty list where there is none at all."""
    pairs = [
        None if np.isnan(v) else [int(v), round(float(s), 1)] for v, s in zip(values.tolist(), sd.tolist(), strict=True)
    ]
    return pairs if any(pairs) else []
