"""Times of tables: usual forms, epochs by their size, stated forms; the same alone and among others."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import ParameterError
from hubbub.ingest import times

MARCH = 1_141_197_432  # 2006-03-01T07:17:12Z
USUAL = {
    "2006-03-01 07:17:12": MARCH,
    "2006-03-01T07:17:12Z": MARCH,
    "2006-03-01t07:17:12z": MARCH,
    "2006-03-01 07:17:12.999": MARCH,
    "2006-03-01T07:17:12,5Z": MARCH,
    "2006-03-01 07:17:12 UTC": MARCH,
    "2006-03-01 08:17:12+01": MARCH,
    "2006-03-01T08:47:12.000000+01:30": MARCH,
    "2006-03-01T05:17:12-0200": MARCH,
    "20060301T071712Z": MARCH,
    "2006-03-01 07:17": MARCH - 12,
    "2006-03-01T07:17Z": MARCH - 12,
    "2006-03-01": MARCH - 26_232,
    "1141197432": MARCH,
    "1141197432.75": MARCH,
    "1141197432999": MARCH,
    "1141197432999999": MARCH,
    "1141197432999999999": MARCH,
    "-1": -1,
    " 2006-03-01 07:17 ": MARCH - 12,
}
NONE = (
    *("2006-02-29", "2006-03-01 24:00", "2006-03-01 07:60", "2006-03-01 07:17:12+19:00", "2006-03-01 07:17:12+01:60"),
    *("2006-03-01 07:17:12 CET", "2006-03-01 07:17:12.", "2006-3-1", "01/03/2006", "now", "1.5", "9" * 19, "9" * 400),
    *("11411974320000", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2006-03-01T07:17:12Z0"),
)


@pytest.mark.parametrize(("text", "seconds"), [*USUAL.items(), *((text, None) for text in NONE)])
def test_usual_forms(text: str, seconds: int | None) -> None:
    for column in ([text], ["2006-03-01 07:17:12", text, "", "1141197432000", "2006-03-01T07:17:12.5+02:00"]):
        found = times.usual(pa.array(column))
        at = column.index(text) if len(column) == 1 else 1
        assert (None if found.bad[at] else int(found.value[at])) == seconds
    assert times.parse(text.strip()) == seconds


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*USUAL, *NONE, ""]), min_size=1, max_size=8))
def test_a_value_is_read_as_it_would_be_alone(texts: list[str]) -> None:
    together = times.usual(pa.array(texts))
    for at, text in enumerate(texts):
        alone = times.usual(pa.array([text]))
        assert (together.bad[at], together.missing[at]) == (alone.bad[0], alone.missing[0])
        assert together.bad[at] or together.value[at] == alone.value[0]


def test_epochs_of_all_years_are_told_apart_by_their_size() -> None:
    for seconds in range(times.YEAR_1990, times.YEAR_2100, 86_400 * 30):
        for ticks in times.TICKS.values():
            found = times.usual(pa.array([seconds * ticks + ticks - 1, None], pa.int64()))
            assert found.value[0] == seconds and not found.bad.any() and found.missing.tolist() == [False, True]


@pytest.mark.parametrize(
    ("stated", "text", "seconds"),
    [
        ("%d/%m/%Y %H:%M", "01/03/2006 07:17", MARCH - 12),
        ("%d/%b/%Y:%H:%M:%S %z", "01/Mar/2006:08:17:12 +0100", MARCH),
        ("%Y%m%d", "20060301", MARCH - 26_232),
        ("%d/%m/%Y %H:%M", "2006-03-01 07:17", None),
        ("ms", "1141197432999", MARCH),
        ("ms", "5000", 5),
        ("us", "-1", -1),
        ("s", "1141197432.5", MARCH),
        ("s", "1141197432000", None),
        ("s", "2006-03-01", None),
    ],
)
def test_a_form_that_is_stated_is_the_only_one(stated: str, text: str, seconds: int | None) -> None:
    found = times.clock(stated)(pa.array([text, ""]))
    assert found.missing.tolist() == [False, True]
    assert (None if found.bad[0] else int(found.value[0])) == seconds


@pytest.mark.parametrize("stated", ["%H:%M", "minutes", "%d.%m.", "", "%Q"])
def test_a_form_that_does_not_tell_the_day_is_refused(stated: str) -> None:
    with pytest.raises(ParameterError, match="does not tell the day") as error:
        times.clock(stated)
    assert "strptime" in error.value.allowed
