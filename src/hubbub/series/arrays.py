"""Arrays of a series' state as Parquet: what users have left, what keys have gathered, which keys are out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.errors import Refused
from hubbub.mechanisms.series.rounds import LONGEST_WINDOW, SeriesSums
from hubbub.privacy.existence import Cause
from hubbub.steps.counts import Flags, Integers

BEFORE, NOW = "before", "now"
COPIES = 3
"""How many times all sums are in memory at once, at most: as they were, with new keys, and as windows."""


@dataclass(frozen=True)
class Purses:
    """What every user has left: for the selection, for users to date, for users in a period."""

    selection: Integers
    to_date: Integers
    in_period: Integers

    def joined(self, other: Purses) -> Purses:
        """With more users, after the others."""
        return Purses(*(np.concatenate(pair) for pair in zip(vars(self).values(), vars(other).values(), strict=True)))

    @staticmethod
    def full(users: int, selection: int, to_date: int, in_period: int) -> Purses:
        """Of users who have spent nothing."""
        return Purses(*(np.full(users, each, np.int64) for each in (selection, to_date, in_period)))


def write_arrays(path: Path, arrays: Mapping[str, Integers]) -> str:
    """Write arrays of one length; the name of the file.

    Most are noise, in which no compressor finds anything but leading zeros: numbers of half the size leave those out.
    """
    narrow = {name: each.astype(np.int32) if _fits(each) else each for name, each in arrays.items()}
    pq.write_table(pa.table(narrow), path, compression="none", use_dictionary=False, write_statistics=False)
    return path.name


def _fits(numbers: Integers) -> bool:
    limits = np.iinfo(np.int32)
    return limits.min <= int(numbers.min(initial=0)) and int(numbers.max(initial=0)) <= limits.max


def read_arrays(path: Path) -> dict[str, Integers]:
    """The arrays of a file, by name."""
    return {name: each.astype(np.int64) for name, each in _as_written(path).items()}


def _as_written(path: Path) -> dict[str, Integers]:
    """The same, some of them in numbers of half the size."""
    table = pq.read_table(path)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def write_purses(path: Path, purses: Purses) -> str:
    """What users have left."""
    return write_arrays(path, vars(purses))


def read_purses(path: Path) -> Purses:
    """What users have left."""
    return Purses(**read_arrays(path))


def write_past(path: Path, gathered: SeriesSums) -> str:
    """What keys have gathered in earlier runs."""
    recent = {f"recent_{i}": each for i, each in enumerate(gathered.recent)}
    return write_arrays(path, {BEFORE: gathered.before, **recent})


def read_past(path: Path) -> tuple[Integers, tuple[Integers, ...]]:
    """What keys have gathered in all earlier runs, and in each of the last of them, as written: sums are not narrow."""
    found = _as_written(path)
    before = found.pop(BEFORE).astype(np.int64)
    return before, tuple(found[f"recent_{i}"] for i in range(len(found)))


def flagged(ids: Iterable[Integers], size: int) -> Flags:
    """Which of so many keys are among these."""
    found = np.zeros(size, np.bool_)
    for each in ids:
        found[each] = True
    return found


def memory_here() -> int:
    """The memory of this machine, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def refuse_too_large(users: int, keys: int) -> None:
    """Sums and what users have left are held by one process, whatever the engine: refused where they cannot be."""
    numbers = COPIES * (keys * (LONGEST_WINDOW + 1) + users * len(Purses.__dataclass_fields__))
    if 8 * numbers > memory_here():
        raise Refused(
            "What the queries of this series have gathered does not fit in the memory of this machine.",
            given=f"{keys:,} queries and {users:,} users so far: {8 * numbers / 1e9:,.1f} GB",
            allowed=f"{memory_here() / 1e9:,.1f} GB; records and pools may lie on Spark, these sums are in one place",
            next="start it on a machine with more memory: nothing was drawn by this attempt",
            because=Cause.ENDED,
        )
