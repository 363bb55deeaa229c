"""What a series keeps of one of its tables: files of the state, by kind and run.

Files of the queries have the name of their kind alone (`pool-003.parquet`), those of another table stand under its name
(`clicks.pool-003.parquet`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from hubbub.mechanisms.series.rounds import ArraySeriesPools, SeriesSums
from hubbub.mechanisms.series.tables import TABLE
from hubbub.series import arrays
from hubbub.series.arrays import Purses, read_arrays, write_arrays

if TYPE_CHECKING:
    from hubbub.series.state import StateFolder
    from hubbub.steps.counts import Integers


def prefix(table: str) -> str:
    """What stands before the kind of a file."""
    return "" if table == TABLE else f"{table}."


class KeptTable:
    """The files of one table as the state has them, at run t."""

    def __init__(self, folder: StateFolder, t: int, table: str = TABLE) -> None:
        self.folder, self.t, self.table = folder, t, table
        self._read: tuple[Path, tuple[Integers, tuple[Integers, ...]]] | None = None

    # -------------------------------------------------------------- what they say

    def out(self) -> tuple[Integers, Integers]:
        """Keys that are out, and the runs they came out in."""
        ids, runs = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for i, path in self.by_run("out"):
            ids.append(read_arrays(path)["kid"])
            runs.append(np.full(ids[-1].size, i, np.int64))
        return np.concatenate(ids), np.concatenate(runs)

    def seen(self) -> list[Integers]:
        """Keys that have stood in a pool."""
        return [read_arrays(path)["kid"] for path in self.paths("seen")]

    def gathered(self) -> SeriesSums:
        """What keys have gathered, this run's rounds so far included."""
        (past,), now = self.paths("past"), self.paths("sums")
        if self._read is None or self._read[0] != past:  # a file of the state never changes
            self._read = past, arrays.read_past(past)
        before, recent = self._read[1]
        return SeriesSums(before, recent, read_arrays(now[0])[arrays.NOW] if now else np.zeros_like(before))

    def write_past(self, gathered: SeriesSums) -> str:
        """Write what keys have gathered in earlier runs; the name of the file, which is not read again here."""
        path = self.path("past")
        self._read = path, (gathered.before, gathered.recent)
        return arrays.write_past(path, gathered)

    def pools(self, users: int, keys: int) -> ArraySeriesPools:
        """The pools of all users, with those pairs marked that entered in this run."""
        files = [pq.read_table(path) for path in self.paths("pool")]
        columns = ([file[name].to_numpy() for file in files] for name in ("person", "kid", "run"))
        person, kid, run = map(np.concatenate, columns)
        return ArraySeriesPools(person, kid, run == self.t, users, keys)

    def purses(self) -> Purses:
        """What users have left."""
        paths = self.paths("purses")
        return arrays.read_purses(paths[0]) if paths else Purses.full(0, 0, 0, 0)

    def measured(self) -> dict[int, dict[int, int]]:
        """By run and key: the noisy measurements of users to date."""
        found = {}
        for i, path in self.by_run("counted"):
            kept = read_arrays(path)
            found[i] = dict(zip(kept["kid"].tolist(), kept["y"].tolist(), strict=True))
        return found

    def mixed(self, ids: Integers, x: Integers, column: tuple[int, ...]) -> Integers:
        """Σ_j C̃_{t−j} x_j for each of these keys, over the runs since it came out; x is this run's."""
        mixed = np.zeros(int(ids.max(initial=-1)) + 1, np.int64)
        mixed[ids] = column[0] * x
        for i, path in self.by_run("counted"):
            kept = read_arrays(path)
            mixed[kept["kid"]] += column[self.t - i] * kept["x"]
        return mixed[ids]

    # -------------------------------------------------------------- files

    def named(self, *kinds: str) -> list[str]:
        """The files of these kinds, of this table."""
        wanted = {prefix(self.table) + kind for kind in kinds}
        return [name for name in self.folder.state.files if name.split("-")[0] in wanted]

    def paths(self, kind: str) -> list[Path]:
        """The files of a kind, in order."""
        return [self.folder.path / name for name in sorted(self.named(kind))]

    def by_run(self, kind: str) -> list[tuple[int, Path]]:
        """The files of a kind, each with its run."""
        return [(int(path.stem.split("-")[1]), path) for path in self.paths(kind)]

    def path(self, kind: str, part: object = "") -> Path:
        """Where this run's file of a kind is, or will be."""
        parts = [prefix(self.table) + kind, f"{self.t:03}", *([str(part)] if part != "" else [])]
        return self.folder.path / ("-".join(parts) + ".parquet")

    def write(self, kind: str, columns: dict[str, Integers], part: object = "") -> str:
        """Write this run's file of a kind; its name."""
        return write_arrays(self.path(kind, part), columns)
