"""The two Parquet files ingest writes: under temporary names, moved into place when both are whole."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hubbub.errors import OutputError
from hubbub.ingest.schema import REJECTS, SCHEMA, ReadPart, group_roles
from hubbub.switches import switch

ROW_GROUP = switch(__name__, "ROW_GROUP", 122_880, low=40)  # DuckDB's own: the unit of its parallel scan

SHOWN = 200  # bytes of a rejected line in an error


class PartWriter:
    """Collects parts in order and counts what was read, kept, dropped, screened and rejected."""

    def __init__(self, into: Path, schema: pa.Schema = SCHEMA) -> None:
        self.log, self.rejects = into / "log.parquet", into / "rejects.parquet"
        self.read = self.kept = self.dropped = self.screened = 0
        self.reasons: Counter[str] = Counter()
        self.first_reject: tuple[str, int, str, str] | None = None  # file, line, reason, head of the text
        self._temporary = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in (self.log, self.rejects)}
        self._waiting: list[pa.RecordBatch] = []
        self._schema, coded = schema, ["user", "rank", *group_roles(schema.names)]
        try:
            into.mkdir(parents=True, exist_ok=True)
            how = {"use_dictionary": coded, "compression": "none"}  # packing costs more than it saves
            self._log = pq.ParquetWriter(self._temporary[self.log], schema, **how)
            self._rejects = pq.ParquetWriter(self._temporary[self.rejects], REJECTS)
        except OSError as error:
            self._clear()
            raise self._failed(error) from None

    def add(self, part: ReadPart, file: Path, lines_before: int) -> None:
        """Write one part; `lines_before` is the number of the file's lines before it."""
        self.read += part.read
        self.dropped += part.dropped
        self.screened += part.screened
        self.kept += part.records.num_rows
        if part.records.num_rows:  # a part of no records need not know of groups
            self._waiting.append(part.records)
        try:
            if sum(batch.num_rows for batch in self._waiting) >= ROW_GROUP:
                self._flush()
            if part.rejects.num_rows:
                self._add_rejects(part.rejects, os.fsencode(file).decode(errors="replace"), lines_before + 1)
        except OSError as error:
            raise self._failed(error) from None

    def beside(self) -> Path:
        """A name in the same folder for a copy that may be taken over; nothing of it stays."""
        return self._temporary[self.log].with_suffix(".copy")

    def take_over(self, copy: Path, rows: int) -> None:
        """Take the records of a file that is clean already, which becomes the log."""
        self.read += rows
        self.kept += rows
        self._log.close()
        copy.replace(self._temporary[self.log])

    def _flush(self) -> None:
        if self._waiting:
            self._log.write_table(pa.Table.from_batches(self._waiting, self._schema))
            self._waiting = []

    def _add_rejects(self, rejects: pa.RecordBatch, file: str, first_line: int) -> None:
        lines = pc.add(rejects["line"], first_line)
        if self.first_reject is None:
            text = rejects["text"][0].as_py()[:SHOWN].decode(errors="backslashreplace")
            self.first_reject = (file, lines[0].as_py(), rejects["reason"][0].as_py(), text)
        for entry in pc.value_counts(rejects["reason"]).to_pylist():
            self.reasons[entry["values"]] += entry["counts"]
        names = pa.repeat(file, rejects.num_rows)
        columns = [names, lines, rejects["reason"], rejects["length"], rejects["text"]]
        self._rejects.write_batch(pa.RecordBatch.from_arrays(columns, schema=REJECTS))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        """Move both files into place, or leave nothing behind."""
        try:
            if kind is None:
                self._flush()
            self._log.close()
            self._rejects.close()
            if kind is None:
                for path, temporary in self._temporary.items():
                    temporary.replace(path)
        except OSError as trouble:
            if kind is None:
                raise self._failed(trouble) from None
        finally:
            self._clear()

    def _clear(self) -> None:
        for temporary in (*self._temporary.values(), self.beside()):
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _failed(self, error: OSError) -> OutputError:
        return OutputError(
            f"The cleaned log cannot be written: {error.strerror or error}.",
            given=self.log.parent,
            next="free space there, or choose another working folder",
        )


def write_rejects(table: Path, file: Path) -> None:
    """The rejected lines as tab separated text in a new file of the owner's alone; what is no text as escapes."""
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as text:
            text.write("\t".join(REJECTS.names) + "\n")
            for batch in pq.ParquetFile(table).iter_batches():
                for row in batch.to_pylist():
                    line = row["text"].decode(errors="backslashreplace")
                    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
                    text.write("\t".join([*(str(row[name]) for name in REJECTS.names[:-1]), shown]) + "\n")
    except OSError as error:
        raise OutputError(
            f"The rejected lines cannot be written: {error.strerror}.", given=file, next="name a file that is not there"
        ) from None
