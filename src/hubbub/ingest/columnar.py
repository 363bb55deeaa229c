"""Files that hold columns: Parquet, Arrow (Feather) and Excel, as batches of rows with the columns' names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.errors import InputError
from hubbub.ingest import archives, excel
from hubbub.ingest.sources import is_parquet
from hubbub.switches import switch

BATCH = switch(__name__, "BATCH", 65_536, low=3)
ARROW = (".arrow", ".feather", ".ipc")
EXCEL = ".xlsx"


def is_columnar(file: Path) -> bool:
    """Whether the file's name says that it holds columns."""
    return is_parquet(file) or file.suffix.lower() in (*ARROW, EXCEL)


def schema(file: Path) -> Any:
    """The file's Arrow schema."""
    if is_excel(file):
        return pa.schema([(name, pa.binary()) for name in excel.header(file)])
    with parquet_file(file) if is_parquet(file) else _arrow(file) as opened:
        return opened.schema_arrow if is_parquet(file) else opened.schema


def batches(file: Path, columns: list[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Batches of the columns named, and how much of the file has been read."""
    size, done = file.stat().st_size, 0
    try:
        if is_excel(file):
            for batch, done in excel.batches(file, columns, BATCH):
                yield batch, done
        elif is_parquet(file):
            with parquet_file(file) as opened:
                rows = max(1, opened.metadata.num_rows)
                for batch in opened.iter_batches(BATCH, columns=columns):
                    done += batch.num_rows
                    yield batch, size * done // rows
        else:
            with _arrow(file) as opened:
                for whole in _arrow_batches(opened):
                    for start in range(0, whole.num_rows, BATCH):
                        yield whole.select(columns).slice(start, BATCH), 0
    except (OSError, pa.ArrowException) as error:
        raise damaged(file, error) from None


def is_excel(file: Path) -> bool:
    """Whether the file's name says so."""
    return file.suffix.lower() == EXCEL


def parquet_file(file: Path) -> Any:
    """The file, opened."""
    _refuse_packed(file)
    try:
        return pq.ParquetFile(file, pre_buffer=False)  # it would keep all that it has read
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:  # names of columns are decoded when it is opened
        raise damaged(file, error) from None


def _arrow(file: Path) -> Any:
    """An Arrow file, or the stream of one."""
    _refuse_packed(file)
    try:
        source = pa.memory_map(str(file))
        try:
            return pa.ipc.open_file(source)
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source)
    except (OSError, pa.ArrowException) as error:
        raise damaged(file, error) from None


def _arrow_batches(opened: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(opened, pa.RecordBatchFileReader):
        yield from (opened.get_batch(at) for at in range(opened.num_record_batches))
    else:
        yield from opened


def _refuse_packed(file: Path) -> None:
    if archive := archives.of(file):
        raise InputError("A file of columns cannot be read inside a zip archive.", given=file, next=f"unpack {archive}")


def damaged(file: Path, error: Exception) -> InputError:
    """A file that cannot be read as what its name says."""
    why = str(error).split("\n")[0].rstrip(".")
    kind = "Parquet" if is_parquet(file) else "Arrow"
    return InputError(
        f"The file is not {kind}, or is damaged: {why}.", given=file, next="check that it was copied whole"
    )
