"""The quickest way through JSON lines: objects laid out alike are cut at known places, as delimited text is.

A program writes all its objects in one layout: the same keys in the same order, with the same blanks between them. The
layout is read off one line. A line goes this way if its own bytes follow it to the last, and every value is a text
without escapes, a plain whole number, or `null`; of such a line the values are what any parser finds. Any other line
goes another way (`flat_objects`, `objects`). Which line shows the layout changes what lines cost, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.ingest.flat_objects import LOOKED
from hubbub.ingest.lines import Ints, Lines, Mask, gather

QUOTE, BRACE, END, ESCAPE, BLANK = b'"{}\\ '
WORD, HALF = np.dtype("<u8"), np.dtype("<u4")
NULL = int.from_bytes(b"null", "little")
LONGEST = 18  # digits of a number that every parser reads as this number


@dataclass(frozen=True)
class Key:
    """What stands before a value: the end of the one before, the key, and a colon."""

    name: str
    before: bytes

    @property
    def ahead(self) -> int:
        """How far the key's first quotation mark is from the end of the value before."""
        return self.before.index(b'"')


def alike(found: Lines, usable: Ints, names: Mapping[str, str]) -> tuple[Mask, dict[str, pa.Array]]:
    """Which of these lines are objects laid out alike, and the text of their fields by role."""
    none: Mask = np.zeros(len(usable), np.bool_)
    keys = _layout(found, usable)
    if not keys or len(found.data) < WORD.itemsize:
        return none, {}
    good, values = _cut(found, found.start[usable], found.end[usable], keys)
    if not good.any():
        return none, {}
    every = bool(good.all())
    columns = {}
    for role, name in names.items():
        at = next((n for n, key in enumerate(keys) if key.name == name), None)
        left, right = (good.nonzero()[0],) * 2 if at is None else (v if every else v[good] for v in values[at])
        columns[role] = gather(found.data, left, right, pa.string())
    return good, columns


def _layout(found: Lines, usable: Ints) -> list[Key]:
    """The layout of one of the first lines that is a flat object in a plain spelling; nothing if none is."""
    for line in usable[:LOOKED].tolist():
        text = found.data[found.start[line] : found.end[line]]
        if keys := _read(text):
            return keys
    return []


def _read(text: bytes) -> list[Key]:
    """The keys of an object and all that stands around them; nothing if it is not as plain as that."""
    try:
        values: list[tuple[str, Any]] = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return []
    if not text.startswith(b"{") or b"\\" in text or len({name for name, _ in values}) < len(values):
        return []
    keys, at = [], 1
    for name, value in values:
        mark = b'"' + name.encode() + b'"'
        begins = text.find(mark, at)
        colon = text.find(b":", begins + len(mark))
        start = colon + 1 + len(text[colon + 1 :]) - len(text[colon + 1 :].lstrip(b" "))
        spelt = b'"' + value.encode() + b'"' if isinstance(value, str) else json.dumps(value).encode()
        if begins < at or colon < 0 or not text.startswith(spelt, start):
            return []
        keys.append(Key(name, text[at:start]))
        at = start + len(spelt)
    plain = all(key.before.count(b'"') == 2 for key in keys)
    return keys if plain and text[at:] == b"}" else []


def _cut(found: Lines, start: Ints, end: Ints, keys: list[Key]) -> tuple[Mask, list[tuple[Ints, Ints]]]:
    """Which lines follow the layout, and where each of their values begins and ends; `null` is an empty value."""
    array = found.array
    quotes = np.flatnonzero(array == QUOTE)
    place = np.searchsorted(quotes, start)  # the first quotation mark that was not passed yet
    good: Mask = (array[start] == BRACE) & (array[end - 1] == END) & _unescaped(found, start, end)
    at, values = start + 1, []
    for n, key in enumerate(keys):
        good &= _stands(found.data, key.before, at)
        left = at + len(key.before)
        text = array.take(left, mode="clip") == QUOTE
        place += 2
        right = quotes.take(place + text, mode="clip")
        if text.all():
            at, place = right + 1, place + 2
        else:
            following = end - 1 if n + 1 == len(keys) else right - keys[n + 1].ahead
            right = np.where(text, right, following)
            at, place = right + text, place + 2 * text
        good &= right > left
        left = left + text
        if not text.all():
            right = np.where(_nulls(found.data, left, right) & ~text, left, right)
            good &= _numbers(found, left, right, good & ~text & (right > left))
        values.append((left, right))
    return good & (at == end - 1), values


def _unescaped(found: Lines, start: Ints, end: Ints) -> Mask:
    """Which lines hold neither an escape nor a letter that no text in JSON may hold."""
    fine: Mask = np.ones(len(start), np.bool_)
    odd = [np.flatnonzero(found.array == ESCAPE)] if b"\\" in found.data else []
    if np.count_nonzero(found.array < BLANK) > len(found.end):  # more than newlines
        odd.append(np.flatnonzero(found.array < BLANK))
    for where in odd:
        fine &= np.searchsorted(where, end) == np.searchsorted(where, start)
    return fine


def _stands(data: bytes, text: bytes, at: Ints) -> Mask:
    """Whether a text stands at each of these places; not where the data ends soon after."""
    here: Mask = np.ones(len(at), np.bool_)
    for offset, word, bits in _words(text):
        here &= (_at(data, at + offset, WORD) & bits) == word
    return here


def _words(text: bytes) -> Iterator[tuple[int, np.uint64, np.uint64]]:
    """A text as eight bytes at a time, the last of them overlapping or masked."""
    size = WORD.itemsize
    for offset in range(0, len(text), size):
        offset = max(0, min(offset, len(text) - size))
        part = text[offset : offset + size]
        yield offset, np.uint64(int.from_bytes(part, "little")), np.uint64((1 << 8 * len(part)) - 1)


def _at(data: bytes, places: Ints, word: np.dtype[np.unsignedinteger]) -> npt.NDArray[np.unsignedinteger]:
    """The bytes from each of these places on, as one number; other bytes where the data ends soon after."""
    count = len(data) - word.itemsize + 1
    words: npt.NDArray[np.unsignedinteger] = np.ndarray((count,), word, data, strides=(1,))
    return words[np.minimum(places, count - 1)]


def _nulls(data: bytes, left: Ints, right: Ints) -> Mask:
    """Which values are `null`."""
    null: Mask = (right - left == len(b"null")) & (_at(data, left, HALF) == NULL)
    return null


def _numbers(found: Lines, left: Ints, right: Ints, asked: Mask) -> Mask:
    """False where a value that was asked about is no plain whole number."""
    fine: Mask = np.ones(len(left), np.bool_)
    rows = np.flatnonzero(asked)
    begin, length = left[rows], (right - left)[rows]
    wrong = (length > LONGEST) | ((found.array[begin] == ord("0")) & (length > 1))
    for offset in range(int(min(length.max(initial=0), LONGEST))):
        digit = found.array[np.minimum(begin + offset, len(found.array) - 1)] - ord("0") <= 9
        wrong |= (length > offset) & ~digit
    fine[rows[wrong]] = False
    return fine
