"""Ingest on several machines: one task per file.

A record is a function of its own line, so files may be read apart. (UBI joins lines of different files: it is read in
one place.) Each task cleans one file into a folder of its own; the driver moves the folders of the tasks that were
accepted, so that a task that ran twice leaves its records once.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.errors import InputError, UserError
from hubbub.ingest.readers.base import reader
from hubbub.ingest.run import Ingested, ingest
from hubbub.ingest.schema import REJECTS, Screening
from hubbub.ingest.sources import resolve
from hubbub.ingest.stated import NOTHING_STATED, Stated

if TYPE_CHECKING:
    from hubbub.engines import Engine

DONE = pa.schema([("place", pa.int64()), ("folder", pa.string()), ("facts", pa.string())])
JOINED = ("ubi",)
"""Formats whose records are made of lines of several files."""


@dataclass(frozen=True)
class Files:
    """What workers run: clean each file of a batch (place, path) into a folder of its own below `into`."""

    into: Path
    format: str
    columns: Mapping[str, str] | None
    stated: Stated
    canonical_urls: bool
    screen: Screening | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                folder = self.into / f"{row['place']}-{secrets.token_hex(8)}"
                try:
                    found = ingest(
                        row["path"],
                        folder,
                        format=self.format,
                        columns=self.columns,
                        stated=self.stated,
                        canonical_urls=self.canonical_urls,
                        screen=self.screen,
                        threads=1,
                        some=False,
                    )
                    facts: object = {
                        "read": found.read,
                        "kept": found.kept,
                        "dropped": found.dropped,
                        "screened": found.screened,
                        "reasons": found.reasons,
                    }
                except UserError as error:  # in the user's words, not in Spark's
                    facts = {"error": [error.what, str(error.given), error.next]}
                yield pa.RecordBatch.from_pylist(
                    [{"place": row["place"], "folder": str(folder), "facts": json.dumps(facts)}], schema=DONE
                )


def apart(format: str, source: str | Path) -> bool:
    """Whether a log has several files that may be read apart."""
    return format not in JOINED and len(resolve(source)) > 1


def ingest_apart(
    engine: Engine,
    source: str | Path,
    into: Path,
    *,
    format: str,
    columns: Mapping[str, str] | None = None,
    stated: Stated = NOTHING_STATED,
    canonical_urls: bool = False,
    screen: Screening | None = None,
) -> Ingested:
    """As `ingest`, but each file is read by a worker of the engine, which must see it under the same path."""
    files = [path.absolute() for path in resolve(source)]
    chosen, stated = reader(format).settled(stated, columns, files)
    names = chosen.columns(columns, files)
    parts, log, rejects = into / "parts", into / "log.parquet", into / "rejects.parquet"
    engine.register("log_files", pa.table({"place": range(len(files)), "path": [str(path) for path in files]}))
    one_each = f"SELECT /*+ REPARTITION({len(files)}) */ place, path FROM log_files"
    worker = Files(parts, format, columns, stated, canonical_urls, screen)
    engine.map_batches("read_files", one_each, worker, DONE)
    done = engine.fetch("SELECT place, folder, facts FROM read_files ORDER BY place").to_pylist()
    log.mkdir()
    read, kept, dropped, taken, reasons = 0, 0, 0, 0, Counter[str]()
    with pq.ParquetWriter(rejects, REJECTS) as writer:
        for row in done:
            facts, folder = json.loads(row["facts"]), Path(row["folder"])
            if "error" in facts:
                what, given, next = facts["error"]
                raise InputError(what, given=given, next=next)
            read, kept, dropped = read + facts["read"], kept + facts["kept"], dropped + facts["dropped"]
            taken += facts["screened"]
            reasons.update(facts["reasons"])
            (folder / log.name).rename(log / f"{row['place']:06d}.parquet")
            for batch in pq.ParquetFile(folder / rejects.name).iter_batches():
                writer.write_batch(batch)
    shutil.rmtree(parts)
    if not kept:
        raise InputError("No record of the log can be used.", given=source, next="check --format and --columns")
    rejected, often = read - kept - dropped - taken, dict(reasons.most_common())
    found = Ingested(log, rejects, read, kept, rejected, often, format, names, dropped, stated.options())
    return replace(found, screened=taken)
