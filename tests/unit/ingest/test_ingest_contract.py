"""Every registered reader: its records exactly, and the same kinds of damage, each rejecting its own line only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.ingest.ingest_helper import Ingest, Result, reading
from tests.unit.ingest.ingest_samples import SAMPLES as PUBLIC
from tests.unit.ingest.ingest_samples import Sample
from tests.unit.ingest.service_samples import SERVICES

from hubbub.ingest import SCHEMA, Reason, formats, lines
from hubbub.testing import check_reader

read = pytest.fixture(reading)

SAMPLES = PUBLIC | SERVICES
WITHOUT_LINES = {"trec-session"}  # XML: see test_ingest_trec_session.py
every = pytest.mark.parametrize(("format", "sample"), SAMPLES.items(), ids=list(SAMPLES))


def ingested(read: Ingest, format: str, sample: Sample, given: list[bytes]) -> Result:
    return read(sample.log(given), sample.file, format=format, columns=sample.columns)


def test_every_reader_has_a_sample_with_every_kind_of_damage() -> None:
    assert set(SAMPLES) | WITHOUT_LINES == set(formats())
    kinds = {"too long", "NUL", "encoding", "empty", "few fields", "many fields", "no user", "time"}
    for sample in SAMPLES.values():
        assert kinds <= set(sample.damaged) <= kinds | {"rank"}


def test_the_page_on_formats_names_every_format_and_every_reason() -> None:
    page = (Path(__file__).parents[3] / "docs" / "formats.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([a-z][a-z0-9-]*)` \|", page, re.MULTILINE))
    assert named == set(formats()) | {reason.label for reason in Reason if reason > Reason.KEPT}


@every
def test_the_total_the_first_the_ninth_and_the_last_record(format: str, sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / sample.file
    path.write_bytes(sample.log(sample.lines))
    first, ninth, last = (
        dict(zip(SCHEMA.names, row, strict=True)) for row in (sample.first, sample.ninth, sample.last)
    )
    told = check_reader(format, path, total=12, first=first, ninth=ninth, last=last, columns=sample.columns)
    assert (told.format, told.rejected) == (format, 0)


@every
@pytest.mark.parametrize(("end", "block"), [(b"", 8 << 20), (b"\r", 4096)], ids=["one block", "small blocks, CR LF"])
def test_damage_rejects_its_own_line_only(
    read: Ingest, monkeypatch: pytest.MonkeyPatch, format: str, sample: Sample, end: bytes, block: int
) -> None:
    monkeypatch.setattr(lines, "BLOCK", block)
    damage = [*sample.damaged.values(), *sample.own.values()]
    mixed = [line for at, (bad, _) in enumerate(damage) for line in (sample.lines[at % 12], bad)]
    result = ingested(read, format, sample, [line + end for line in mixed])
    alone = ingested(read, format, sample, [sample.lines[at % 12] for at in range(len(damage))])
    assert result.rows == alone.rows and len(alone.rows) == len(damage)
    skipped = bool(sample.header)
    assert result.reasons == [(skipped + 2 * at + 2, reason) for at, (_, reason) in enumerate(damage)]
    assert result.told.read == 2 * len(damage)
    for (_, _, _, length, text), (line, _) in zip(result.rejects, damage, strict=True):
        assert (length, text) == (len(line), line[: 64 << 10])


@every
@pytest.mark.parametrize("damage", ["too long", "NUL", "encoding", "empty"])
def test_damage_at_the_head_and_at_the_end_of_a_file(read: Ingest, format: str, sample: Sample, damage: str) -> None:
    bad, reason = sample.damaged[damage]
    result = ingested(read, format, sample, [bad, *sample.lines, bad])
    assert result.rows == ingested(read, format, sample, sample.lines).rows
    assert [found for _, found in result.reasons] == [reason, reason]


@every
def test_blank_queries_are_dropped_and_are_no_damage(read: Ingest, format: str, sample: Sample) -> None:
    result = ingested(read, format, sample, [sample.blank, *sample.lines, sample.blank])
    assert result.rows == ingested(read, format, sample, sample.lines).rows
    told = result.told
    assert (told.read, told.kept, told.dropped, told.rejected, result.reasons) == (14, 12, 2, 0, [])
