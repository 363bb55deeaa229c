"""Times and ranks: text or Parquet values → int64, with the ones that are in no accepted form marked.

An empty value is NULL; a wrong one is marked, never NULLed. A time is `YYYY-MM-DD hh:mm:ss` (a `T` between, a `Z`
behind, both optional) or, where the reader allows it, epoch seconds; always UTC. Dates are checked against the
calendar. Seconds outside the years 1 to 9999 are refused, which catches milliseconds taken for seconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from hubbub.ingest.clean import view
from hubbub.ingest.lines import Bytes, Ints, Mask

EARLIEST, LATEST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999
MAX_RANK = 2**31 - 1
ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)Z?", re.ASCII)
EPOCH = re.compile(r"-?0*\d{1,12}", re.ASCII)
RANK = re.compile(r"0*(\d{1,10})", re.ASCII)

MONTHS = np.arange("0001-01", "10000-01", dtype="datetime64[M]")
FIRST_DAY = MONTHS.astype("datetime64[D]").astype(np.int64)  # of each month since January of year 1
MONTH_DAYS = np.diff(FIRST_DAY, append=LATEST // 86_400 + 1)
ISO_LENGTH, ISO_DIGITS = 19, (0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18)


@dataclass(frozen=True)
class Numbers:
    """Values of a column; `missing` and `bad` mark those without one."""

    value: Ints
    missing: Mask
    bad: Mask

    def array(self, kind: pa.DataType) -> pa.Array:
        """The column as an Arrow array: NULL where missing (or bad: such rows are dropped)."""
        return pa.array(self.value, mask=self.missing | self.bad).cast(kind)


def parse_time(text: str, epoch: bool) -> int | None:
    """Epoch seconds, or None if the text is no time."""
    if parts := ISO.fullmatch(text):
        year, month, day, hour, minute, second = map(int, parts.groups())
        try:
            return int(datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp())
        except ValueError:
            return None
    if epoch and EPOCH.fullmatch(text) and EARLIEST <= int(text) <= LATEST:
        return int(text)
    return None


def parse_rank(text: str) -> int | None:
    """The rank, or None if the text is none."""
    digits = RANK.fullmatch(text)
    return int(digits[1]) if digits and int(digits[1]) <= MAX_RANK else None


def times(column: pa.Array, epoch: bool) -> Numbers:
    """A column of times."""
    if not pa.types.is_string(column.type):
        return _typed(_seconds(column), EARLIEST, LATEST)
    value, plain = plain_times(column)
    if epoch and not plain.all():
        number, whole = digits(*view(column))
        whole &= number <= LATEST
        value, plain = np.where(whole, number, value), plain | whole
    return others(column, value, plain, lambda text: parse_time(text, epoch))


def plain_only(column: pa.Array) -> Numbers:
    """A column of times in a format that writes YYYY-MM-DD hh:mm:ss, and nothing else."""
    return times(column, epoch=False)


def epoch_or_plain(column: pa.Array) -> Numbers:
    """A column of times in the plain form or in epoch seconds."""
    return times(column, epoch=True)


def plain_times(column: pa.Array) -> tuple[Ints, Mask]:
    """Times of a column of text in the plain form, and which values are one."""
    array, offsets = view(column)
    length = np.diff(offsets)
    value, plain = np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
    for size in (ISO_LENGTH, ISO_LENGTH + 1):
        rows = np.flatnonzero(length == size)
        if len(rows):
            letters = array if len(rows) == len(column) else view(column.take(pa.array(rows)))[0]
            value[rows], plain[rows] = iso_times(letters.reshape(-1, size))
    return value, plain


def ranks(column: pa.Array) -> Numbers:
    """A column of ranks."""
    if not pa.types.is_string(column.type):
        return _typed(column, 0, MAX_RANK)
    value, plain = digits(*view(column))
    return others(column, value, plain & (value <= MAX_RANK), parse_rank)


def iso_times(letters: Bytes) -> tuple[Ints, Mask]:
    """Times of 19 letters each, or 20 with the Z behind, and which of them are well formed."""
    letters = np.ascontiguousarray(letters.T)
    good = (letters[4] == ord("-")) & (letters[7] == ord("-")) & (letters[13] == ord(":")) & (letters[16] == ord(":"))
    good &= (letters[10] == ord(" ")) | (letters[10] == ord("T"))
    if len(letters) > ISO_LENGTH:
        good &= letters[ISO_LENGTH] == ord("Z")
    digit = letters - ord("0")
    for place in ISO_DIGITS:
        good &= digit[place] <= 9
    pair = {place: digit[place] * np.uint8(10) + digit[place + 1] for place in (0, 2, 5, 8, 11, 14, 17)}
    good &= (pair[5] >= 1) & (pair[5] <= 12) & (pair[8] >= 1) & (pair[11] < 24) & (pair[14] < 60) & (pair[17] < 60)
    year = pair[0].astype(np.int64) * 100 + pair[2]
    good &= year >= 1
    month = np.where(good, (year - 1) * 12 + pair[5] - 1, 0)
    good &= pair[8] <= MONTH_DAYS[month]
    second = pair[11].astype(np.int64) * 3600 + pair[14].astype(np.int64) * 60 + pair[17]
    return (FIRST_DAY[month] + pair[8] - 1) * 86_400 + second, good


def digits(array: Bytes, offsets: Ints) -> tuple[Ints, Mask]:
    """Whole numbers of 1 to 18 digits, and which values are one."""
    length = np.diff(offsets)
    value, plain = np.zeros(len(length), np.int64), (length > 0) & (length <= 18)
    rows = np.flatnonzero(plain)
    for place in range(int(length[rows].max(initial=0))):
        rows = rows[length[rows] > place]
        digit = array[offsets[rows] + place] - ord("0")
        value[rows] = value[rows] * 10 + digit
        plain[rows] &= digit <= 9
    return value, plain


def others(column: pa.Array, value: Ints, plain: Mask, parse: Callable[[str], int | None]) -> Numbers:
    """Hand the values that are not in the plain form to `parse`, each distinct one once."""
    missing, bad = np.zeros(len(column), np.bool_), np.zeros(len(column), np.bool_)
    _, offsets = view(column)
    missing[np.diff(offsets) == 0] = True
    odd = np.flatnonzero(~plain & ~missing)
    if len(odd):
        distinct = column.take(pa.array(odd)).dictionary_encode()
        texts = [text.strip() for text in distinct.dictionary.to_pylist()]
        found, which = [parse(text) for text in texts], distinct.indices.to_numpy()
        missing[odd] = np.array([not text for text in texts])[which]
        bad[odd] = np.array([bool(t) and n is None for t, n in zip(texts, found, strict=True)])[which]
        value[odd] = np.array([number or 0 for number in found], np.int64)[which]
    return Numbers(value, missing, bad)


def _seconds(column: pa.Array) -> pa.Array:
    """Epoch seconds of a Parquet timestamp, date or number, fractions of a second cut off."""
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s"))
    if pa.types.is_timestamp(column.type):
        ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
        count = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return pa.array(count // ticks, mask=_nulls(column))
    return column


def _typed(column: pa.Array, least: int, most: int) -> Numbers:
    """Values that are numbers already: whole, and inside the range."""
    missing = _nulls(column)
    if pa.types.is_floating(column.type):
        number = column.cast(pa.float64()).fill_null(0).to_numpy(zero_copy_only=False)
        missing = missing | np.isnan(number)
        number = np.where(missing, 0, number)
        bad = (number != np.floor(number)) | (number < least) | (number > most)
        return Numbers(np.where(bad, 0, number).astype(np.int64), missing, bad)
    number = column.fill_null(0).to_numpy(zero_copy_only=False)
    bad = (number < least) | (number > most)
    return Numbers(np.where(bad, 0, number).astype(np.int64), missing, bad)


def _nulls(column: pa.Array) -> Mask:
    mask: Mask = column.is_null().to_numpy(zero_copy_only=False)
    return mask
