"""Which released rows an export builds on: those whose number stands clear of its own noise, by one rule for all."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.plurals import counted
from hubbub.show.export.base import value_column
from hubbub.worth.tasks.graph import Floats, Ints

DEVIATIONS = 2
SUPPORT = (
    f"A row is used where its released number is at least 1 and at least {DEVIATIONS} times its `noise_sd`; other rows "
    "are left out, and the list of files above says how many. A row that was released without a number counts 1."
)
"""The rule as a README states it."""


@dataclass(frozen=True)
class Supported:
    """Rows that are used, their numbers, and what of each number is surely more than noise."""

    rows: pa.Table
    number: Ints
    surely: Floats
    left_out: int

    @classmethod
    def of(cls, table: pa.Table) -> Supported:
        """The rows of a released table that hold by the rule."""
        number = pc.fill_null(table[value_column(table)], 1).to_numpy().astype(np.int64)
        margin = pc.fill_null(table["noise_sd"], 0).to_numpy().astype(np.float64) * DEVIATIONS
        holds = (number >= 1) & (number >= margin)
        rows = table.filter(pa.array(holds))
        return cls(rows, number[holds], (number - margin)[holds], int((~holds).sum()))

    def texts(self, column: str) -> list[str]:
        """One column of the rows."""
        found: list[str] = self.rows[column].to_pylist()
        return found

    def with_left_out(self, rows: int) -> Supported:
        """The same rows, where so many were left out of all tables that a file is made of."""
        return replace(self, left_out=rows)

    def said(self, about: str) -> str:
        """What a file is, and how many rows it goes without."""
        return f"{about}; {counted(self.left_out, 'row')} left out" if self.left_out else about
