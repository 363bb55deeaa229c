"""Times of tables: every usual spelling of ISO 8601, epochs in s, ms, µs or ns, or the one form that the owner states.

Which form a value has is decided by that value alone, never by its neighbours, so nobody's line changes how another
is read. That works for epochs because the numbers of the years 1990 to 2099 in seconds, milliseconds, microseconds and
nanoseconds lie far apart. Fractions of a second are cut off; a time without a zone is UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import ParameterError
from hubbub.ingest import numbers
from hubbub.ingest.clean import view
from hubbub.ingest.lines import Ints, Mask
from hubbub.ingest.numbers import EARLIEST, ISO_LENGTH, LATEST, Numbers

Clock = Callable[[pa.Array], Numbers]
"""How a format's column of times becomes epoch seconds."""

YEAR_1990, YEAR_2100 = 631_152_000, 4_102_444_800
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
ZONE = r"(?P<zone> ?(?:[Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?))?"
EXTENDED = r"(\d{4})-(\d\d)-(\d\d)(?:[ Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?" + ZONE + ")?"
BASIC = r"(\d{4})(\d\d)(\d\d)[Tt](\d\d)(\d\d)(?:(\d\d)(?:[.,]\d+)?)?" + ZONE
FORMS = tuple(re.compile(form, re.ASCII) for form in (EXTENDED, BASIC))
EPOCH = re.compile(r"-?0*\d{1,19}", re.ASCII)
FRACTION = re.compile(r"(\d{9,10})\.\d+", re.ASCII)
OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)?", re.ASCII)
FURTHEST = 18 * 3600
ALLOWED = "s, ms, us or ns (an epoch), or a pattern of strptime with a year, such as %d/%m/%Y %H:%M"


def clock(stated: str | None) -> Clock:
    """How to read times: as --time-format says, or in every usual form."""
    if stated is None:
        return usual
    if stated in TICKS:
        return partial(_one_by_one, parse=partial(_in_ticks, ticks=TICKS[stated]), ticks=TICKS[stated])
    moment = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)
    try:
        round_trip = datetime.strptime(moment.strftime(stated), stated)
    except ValueError:
        round_trip = None
    if round_trip is None or (round_trip.year, round_trip.month, round_trip.day) != (2001, 2, 3):
        raise ParameterError("--time-format does not tell the day.", given=stated, allowed=ALLOWED)
    return partial(_one_by_one, parse=partial(_by_pattern, pattern=stated), ticks=None)


def usual(column: pa.Array) -> Numbers:
    """A column of times in any usual form."""
    if not pa.types.is_string(column.type):
        return _typed(column)
    array, offsets = view(column)
    value, plain = numbers.plain_times(column)
    number, whole = numbers.digits(array, offsets)
    seconds, known = by_magnitude(number)
    whole &= known & ~plain
    value, plain = np.where(whole, seconds, value), plain | whole
    rows = np.flatnonzero(~plain & (np.diff(offsets) > ISO_LENGTH))
    if len(rows):
        letters = array[offsets[rows][:, None] + np.arange(ISO_LENGTH)]
        seconds, good = numbers.iso_times(letters)
        ahead, zoned = _zones(column.take(pa.array(rows)))
        seconds = seconds - ahead
        value[rows], plain[rows] = seconds, good & zoned & (seconds >= EARLIEST) & (seconds <= LATEST)
    return numbers.others(column, value, plain, parse)


def parse(text: str) -> int | None:
    """Epoch seconds of a time in any usual form, or None."""
    if EPOCH.fullmatch(text):
        number = int(text)
        value, known = by_magnitude(np.array([number if abs(number) < 2**63 else LATEST + 1], np.int64))
        return int(value[0]) if known[0] else None
    if found := FRACTION.fullmatch(text):
        return int(found[1]) if YEAR_1990 <= int(found[1]) < YEAR_2100 else None
    for form in FORMS:
        if parts := form.fullmatch(text):
            ahead = zone(parts["zone"] or "")
            fields = [int(part or 0) for part in parts.groups()[:6]]
            try:
                seconds = int(datetime(*fields, tzinfo=UTC).timestamp())  # type: ignore[arg-type,misc]
            except ValueError:
                return None
            return None if ahead is None else _inside(seconds - ahead)
    return None


def zone(text: str) -> int | None:
    """How many seconds a zone is ahead of UTC; None if it is no zone."""
    text = text.removeprefix(" ")
    if text in ("", "Z", "z", "UTC", "GMT"):
        return 0
    parts = OFFSET.fullmatch(text)
    if not parts or int(parts[3] or 0) > 59:
        return None
    ahead = int(parts[2]) * 3600 + int(parts[3] or 0) * 60
    return int(f"{parts[1]}{ahead}") if ahead <= FURTHEST else None


def by_magnitude(number: Ints) -> tuple[Ints, Mask]:
    """Epochs in seconds; those in smaller units are told by their size, if they are of the years 1990 to 2099."""
    seconds, known = number, (number >= EARLIEST) & (number <= LATEST)
    for ticks in (TICKS["ms"], TICKS["us"], TICKS["ns"]):
        finer = (number >= YEAR_1990 * ticks) & (number < YEAR_2100 * ticks)
        seconds, known = np.where(finer, number // ticks, seconds), known | finer
    return seconds, known


def _zones(column: pa.Array) -> tuple[Ints, Mask]:
    """Of what follows the seconds: the seconds its zone is ahead of UTC, and whether it is a zone."""
    tails = pc.replace_substring_regex(pc.utf8_slice_codeunits(column, ISO_LENGTH), r"^[.,]\d+", "")
    named = tails.dictionary_encode()
    ahead = [zone(text) for text in named.dictionary.to_pylist()]
    which = named.indices.to_numpy()
    return (
        np.array([seconds or 0 for seconds in ahead], np.int64)[which],
        np.array([seconds is not None for seconds in ahead], np.bool_)[which],
    )


def _typed(column: pa.Array) -> Numbers:
    """Values of a type: timestamps, dates, and numbers, which are epochs."""
    if not pa.types.is_integer(column.type):
        return numbers.times(column, epoch=True)
    missing: Mask = column.is_null().to_numpy(zero_copy_only=False)
    number = column.fill_null(0).to_numpy(zero_copy_only=False)
    seconds, known = by_magnitude(np.where(number > np.int64(2**63 - 1), 0, number).astype(np.int64))
    return Numbers(seconds, missing, ~known | (number > np.int64(2**63 - 1)))


def _one_by_one(column: pa.Array, parse: Callable[[str], int | None], ticks: int | None) -> Numbers:
    """A column in a form that was stated; each distinct value is read once."""
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return numbers.times(column, epoch=True)
    if not pa.types.is_string(column.type):
        column = column.cast(pa.string()).fill_null("")
    value, plain = np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
    if ticks is not None:
        number, plain = numbers.digits(*view(column))
        value = number // ticks
        plain = plain & (value <= LATEST)
    return numbers.others(column, value, plain, parse)


def _in_ticks(text: str, ticks: int) -> int | None:
    whole, _, fraction = text.partition(".")
    if not EPOCH.fullmatch(whole) or (fraction and not fraction.isascii()) or not (fraction or "0").isdecimal():
        return None
    return _inside(int(whole) // ticks) if not fraction or not text.startswith("-") else None


def _by_pattern(text: str, pattern: str) -> int | None:
    try:
        found = datetime.strptime(text, pattern)
        return _inside(int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() // 1))
    except (ValueError, OverflowError):
        return None


def _inside(seconds: int) -> int | None:
    return seconds if EARLIEST <= seconds <= LATEST else None
