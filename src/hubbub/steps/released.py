"""What `perturb` gives: the keys of a table that show, with their noisy values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa


@dataclass(frozen=True)
class Released:
    """The output of `perturb` for one table: which keys, their noisy values, the noise's sd (none: keys only)."""

    ids: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64] | None
    noise_sd: float | npt.NDArray[np.float64] | None
    text: pa.Table | None = field(default=None, kw_only=True)
    """The text of the keys, in their order, where a later pair has asked for it."""


@dataclass(frozen=True)
class Rows(Released):
    """A whole log as a table: rows of synthetic users in SearchLog's columns, already in the order of their ids."""

    rows: pa.Table

    @staticmethod
    def of(rows: pa.Table) -> Rows:
        """These rows."""
        return Rows(np.arange(rows.num_rows), None, None, rows)


Tables = dict[str, Released]
