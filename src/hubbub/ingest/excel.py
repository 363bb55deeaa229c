"""Excel files (.xlsx): the first sheet, row by row, with the columns' names in its first row.

Values are read as text: a date as ISO 8601, a whole number without a point. Rows with nothing in them are no records.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import pyarrow as pa

from hubbub.errors import InputError
from hubbub.extras import imported
from hubbub.ingest import archives

DAMAGES = (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError, ParseError, TypeError)


def header(file: Path) -> list[str]:
    """The names in the first row."""
    with _rows(file) as rows:
        return [_text(value).decode(errors="replace").strip() for value in next(rows, ())]


def batches(file: Path, columns: list[str], size: int) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Batches of the columns named, as bytes; no more than `size` rows are held."""
    with _rows(file) as rows:
        names = [_text(value).decode(errors="replace").strip() for value in next(rows, ())]
        places = [names.index(name) for name in columns]
        held: list[list[bytes]] = []
        for row in rows:
            if any(value is not None for value in row):
                held.append([_text(row[place] if place < len(row) else None) for place in places])
            if len(held) == size:
                yield _batch(held, columns), 0
                held = []
        yield _batch(held, columns), file.stat().st_size


def _batch(rows: list[list[bytes]], columns: list[str]) -> pa.RecordBatch:
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    return pa.RecordBatch.from_arrays([pa.array(column, pa.binary()) for column in values], names=columns)


def _text(value: Any) -> bytes:
    if value is None:
        return b""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = value.isoformat(" ") if isinstance(value, datetime) else value
    text = text.isoformat() if isinstance(text, date) else str(text)
    return text.encode(errors="surrogatepass")


@contextmanager
def _rows(file: Path) -> Iterator[Iterator[tuple[Any, ...]]]:
    openpyxl = imported("openpyxl", "excel", "Reading Excel needs openpyxl, which", given=file)
    if archive := archives.of(file):
        raise InputError("An Excel file cannot be read inside a zip archive.", given=file, next=f"unpack {archive}")
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        try:
            yield iter(book.worksheets[0].iter_rows(values_only=True))
        finally:
            book.close()
    except DAMAGES as error:
        raise InputError(
            f"The file is no Excel file (.xlsx), or is damaged: {str(error).rstrip('.')}.",
            given=file,
            next="open it, save it as .xlsx, and try again",
        ) from None
