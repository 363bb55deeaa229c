"""Groups of made-up users, by the shares that the owner states: `--shares country=50,30,10`.

A column of a log is not known beforehand, but its owner may state about how many of the users are in each declared
group, from public facts, in per cent; who is in none of them is in `other`. A made-up user is in one group, whatever
she asks: where people of a country ask for things of their own, a release has more rows than this says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa

from hubbub.errors import ParameterError
from hubbub.public.groups import Grouping

WHOLE = 100
PERCENT = re.compile(r"\d{1,3}(\.\d{1,9})?")


def stated_shares(given: Iterable[str], by: Sequence[Grouping]) -> dict[str, tuple[Fraction, ...]]:
    """Per cent of the users in each declared group, for every grouping by a column; `given` are NAME=P,P,…"""
    columns, found = {grouping.name: grouping for grouping in by if grouping.column}, {}
    for text in given:
        name, _, listed = (part.strip() for part in text.partition("="))
        if name not in columns or name in found:
            allowed = f"NAME=P,P,… once for each of: {', '.join(columns) or 'none, because --by names no column'}"
            raise ParameterError("--shares names no group by a column, or one twice.", given=text, allowed=allowed)
        found[name] = _parts(text, listed, columns[name])
    if missing := [name for name in columns if name not in found]:
        raise ParameterError(
            "Made-up users have no column for a group: state about how many of them are in each.",
            given=f"--by {', '.join(missing)} with --users",
            allowed=f"--shares {missing[0]}=50,30,…, per cent in the order of --values, or --by hour, weekday, …",
            next="state them from public facts, or estimate from LOG",
        )
    return found


def _parts(text: str, listed: str, grouping: Grouping) -> tuple[Fraction, ...]:
    parts = tuple(Fraction(part) for part in map(str.strip, listed.split(",")) if PERCENT.fullmatch(part))
    if len(parts) != len(grouping.values) or not 0 < sum(parts) <= WHOLE:
        raise ParameterError(
            "The shares of a group cannot be read.",
            given=text,
            allowed=f"{len(grouping.values)} numbers, one for each declared value, together at most {WHOLE} per cent",
        )
    return parts


def with_column(rows: pa.Table, grouping: Grouping, shares: Sequence[Fraction], seed: int = 0) -> pa.Table:
    """The rows with a column for the group: each user in one, by chance and by the shares."""
    users = rows.column("user").combine_chunks().dictionary_encode()
    ends = np.cumsum([float(part) / WHOLE for part in shares])
    drawn = np.random.default_rng(seed).random(len(users.dictionary))
    names = pa.array([*(value.lower() for value in grouping.values), None], pa.string())
    groups = names.take(pa.array(np.searchsorted(ends, drawn, side="right")))
    return rows.append_column(grouping.role, groups.take(users.indices))


def with_columns(rows: pa.Table, by: Sequence[Grouping], shares: Mapping[str, Sequence[Fraction]]) -> pa.Table:
    """The rows with a column for every grouping that has shares."""
    for seed, grouping in enumerate(grouping for grouping in by if grouping.name in shares):
        rows = with_column(rows, grouping, shares[grouping.name], seed)
    return rows
