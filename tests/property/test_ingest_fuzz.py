"""Every format of lines, fuzzed: nothing is lost, and what one writer puts into a file changes nobody else's records.

A file mixes good lines with lines of one writer that are good, damaged, or good ones with random bytes changed. Its
records are those of the others' lines plus those of the writer's, and read = kept + dropped + rejected.
HUBBUB_FUZZ_LINES sets the lines per format (a thousand); `bench/README.md` says what a million gave.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.unit.ingest.ingest_samples import SAMPLES, Sample
from tests.unit.ingest.service_samples import SERVICES

from hubbub.ingest import ingest

LINES = int(os.environ.get("HUBBUB_FUZZ_LINES", "1000"))
BYTES = b'\0\t\r "\\,;|[]{}%&=x\xff\xe4\xbc'
JOINED = ("ubi", "algolia")  # a click takes its text from a search of the same user
LONGEST = 4096


def changed(line: bytes, draw: random.Random) -> bytes:
    """A line with a few bytes replaced, put in or left out."""
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(line) + 1)
        line = line[:at] + draw.choice([b"", bytes([draw.choice(BYTES)])]) + line[at + draw.randint(0, 1) :]
    return line


def renamed(line: bytes) -> bytes:
    """The line under the writer's own name."""
    return line.replace(b'"c1"', b'"the writer"')


def written(sample: Sample, count: int, draw: random.Random) -> list[bytes]:
    """Lines of somebody who may write anything into a file."""
    damaged = [line for line, _ in [*sample.damaged.values(), *sample.own.values()] if len(line) < LONGEST]
    kinds = [lambda: draw.choice(sample.lines), lambda: draw.choice(damaged)]
    kinds += [lambda: changed(draw.choice(sample.lines), draw), lambda: draw.randbytes(draw.randint(0, 30))]
    return [draw.choice(kinds)().replace(b"\n", b"") for _ in range(count)]


def records(path: Path, sample: Sample, format: str, lines: list[bytes]) -> Counter[Any]:
    """The rows of a file of these lines."""
    path.mkdir(exist_ok=True)
    (path / sample.file).write_bytes(sample.log(lines))
    told = ingest(path / sample.file, path / "work", format=format, columns=sample.columns, some=False)
    assert told.read == told.kept + told.dropped + told.rejected
    assert pq.read_metadata(told.rejects).num_rows == told.rejected
    return Counter(zip(*pq.read_table(told.log).to_pydict().values(), strict=True))


@pytest.mark.parametrize("format", sorted(SAMPLES | SERVICES))
def test_a_writer_changes_nobody_elses_records(format: str, tmp_path: Path) -> None:
    sample, draw = (SAMPLES | SERVICES)[format], random.Random(7)  # noqa: S311
    others = [draw.choice(sample.lines) for _ in range(LINES // 2)]
    hers = replace(sample, lines=[renamed(line) for line in sample.lines]) if format in JOINED else sample
    writer = [renamed(line) if format in JOINED else line for line in written(hers, LINES - len(others), draw)]
    mixed = [*others, *writer]
    draw.shuffle(mixed)
    alone = records(tmp_path / "others", sample, format, others), records(tmp_path / "writer", sample, format, writer)
    assert records(tmp_path / "mixed", sample, format, mixed) == alone[0] + alone[1]
    assert alone[0].total() == len(others) and alone[1].total() > LINES // 10
