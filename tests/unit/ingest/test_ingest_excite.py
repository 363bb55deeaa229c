"""The Excite format: its times, its blank queries, and the real log where it is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest
from tests.unit.ingest.ingest_helper import Ingest, reading

from hubbub.errors import ParameterError
from hubbub.ingest import numbers
from hubbub.ingest.readers.excite import full_times

read = pytest.fixture(reading)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("970916071712", 874_394_232),
        (" 970916071712 ", 874_394_232),
        ("690101000000", -31_536_000),
        ("991231235959", 946_684_799),
        ("000101000000", 946_684_800),
        ("681231235959", 3_124_223_999),
        ("000229000000", 951_782_400),
        ("", None),
        *[(bad, "bad") for bad in ("970229000000", "971301000000", "970900000000", "970916240000", "970916006000")],
        *[(bad, "bad") for bad in ("97091607171", "9709160717122", "1997-09-16 07:17:12", "874394232", "٩٧0916071712")],
    ],
)
def test_times(text: str, seconds: int | str | None) -> None:
    found = numbers.times(full_times(pa.array(["970101000000", text])), epoch=False)
    assert found.bad.tolist() == [False, seconds == "bad"]
    assert seconds == "bad" or found.array(pa.int64())[1].as_py() == seconds


def test_fields_are_cleaned_or_missing(read: Ingest) -> None:
    result = read(b' B7 \t\tNew  YORK \nB7\t970916071712\t"open\n', format="excite")
    assert result.rows == [("B7", None, "new york", None, None), ("B7", 874_394_232, '"open', None, None)]


def test_columns_are_fixed_by_the_format(read: Ingest) -> None:
    with pytest.raises(ParameterError, match="`excite` fixes its columns"):
        read(b"B7\t970916071712\tlilac\n", format="excite", columns={"user": "1"})


def test_the_real_log(read: Ingest) -> None:
    """Numbers only: its lines are real people's."""
    folder = os.environ.get("HUBBUB_DATA")
    log = Path(folder or "") / "excite-small.log"
    if not folder or not log.exists():
        pytest.skip("the Excite log is not here: set HUBBUB_DATA to the folder that holds excite-small.log")
    result = read(log)
    assert result.told.format == "excite"
    assert (result.told.read, result.told.kept, result.told.dropped, result.told.reasons) == (4501, 3968, 533, {})
    assert len({row[0] for row in result.rows}) == 863
    names = {line.split(b"\t")[0] for line in log.read_bytes().splitlines()}
    assert len(names) == 891, "some users asked nothing but blank queries"
    assert {row[1] // 86_400 for row in result.rows} == {10_120, 10_121}, "16 and 17 September 1997"
