"""A release folder, opened for reading: its card, and its tables in the form the reader works with."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.card.check import load, parsed, public_folder
from hubbub.card.schema import STAMP
from hubbub.extras import imported
from hubbub.plurals import counted


class Frame:
    """One released table, in the form the reader works with."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def to_arrow(self) -> pa.Table:
        """The table as an Arrow table."""
        return pq.read_table(self.path)

    def to_pandas(self) -> object:
        """The table as a pandas frame (needs pandas)."""
        imported("pandas", "pandas", "pandas", instead="use .to_arrow()")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> object:
        """The table as a polars frame (needs polars)."""
        polars = imported("polars", "polars", "polars", instead="use .to_arrow()")
        return polars.from_arrow(self.to_arrow())

    def __len__(self) -> int:
        return int(pq.read_metadata(self.path).num_rows)


class Release:
    """A release folder, opened for reading: `.queries`, `.clicks`, … and the card."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.public = public_folder(self.path)
        self.card = load(self.path)
        card = parsed(self.card)
        self.tables = tuple(card.release.contains)
        self.private = card.mechanism.private
        self.sentence = card.claim.sentence

    def __getattr__(self, name: str) -> Frame:
        tables = self.__dict__.get("tables", ())
        if name not in tables:
            raise AttributeError(f"this release has no table {name!r}; it has {', '.join(tables)}")
        return Frame(self.public / f"{name}.parquet")

    def __repr__(self) -> str:
        stamp = "" if self.private else f" {STAMP}"
        return f"<Release {self.path}{stamp}: {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(f"<li>{escape(t)}: {counted(len(getattr(self, t)), 'row')}</li>" for t in self.tables)
        stamp = "" if self.private else f"<b>{STAMP}.</b> "
        return f"<p>{stamp}{escape(self.sentence)}</p><ul>{rows}</ul>"
