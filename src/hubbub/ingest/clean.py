"""Cleaning, value by value: what a query, a user and an address look like after ingest.

A query is put into compatibility form (NFKC), case folded, and its white space made single blanks between words.
A user id is only stripped: the unit of protection is the id as the log spells it. An address is stripped, and on
request made canonical. Cleaning a cleaned value changes nothing.

Columns are cleaned as Arrow arrays. Almost all values of a log are plain ASCII, for which lower case is all there is
to do; the others are picked out and go one by one through the functions that define the result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from w3lib.url import canonicalize_url

from hubbub.ingest.lines import Bytes, Ints, Mask

BLANK = 0x20
CANONICAL_ROUNDS = 8  # w3lib does not promise that its form is settled


def clean_query(text: str) -> str:
    """The query as it is counted."""
    folded = normalize("NFKC", text).casefold()
    return " ".join(normalize("NFKC", folded).split())  # folding takes letters apart that belong together


def clean_user(text: str) -> str:
    """The user id as the log spells it."""
    return text.strip()


def clean_url(text: str) -> str:
    """The address as the log spells it."""
    return text.strip()


@lru_cache(1 << 16)
def canonical_url(text: str) -> str:
    """The address in w3lib's canonical form; one that is no address stays as it is."""
    text = text.strip()
    for _ in range(CANONICAL_ROUNDS if text else 0):
        try:
            before, text = text, str(canonicalize_url(text)).strip()
        except ValueError:
            return text
        if text == before:
            break
    return text


def view(column: pa.Array) -> tuple[Bytes, Ints]:
    """Bytes and offsets of a string or binary column; value i is bytes[offsets[i]:offsets[i + 1]]."""
    if len(column) == 0:
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    start, end = int(bounds[0]), int(bounds[-1])
    array = np.frombuffer(data, np.uint8)[start:end] if end > start else np.empty(0, np.uint8)
    return array, bounds.astype(np.int64) - start


def queries(column: pa.Array) -> pa.Array:
    """A column of queries, cleaned."""
    array, offsets = view(column)
    odd = _loose_edges(array, offsets)
    odd[_owners(array - BLANK > 0x7E - BLANK, offsets)] = True  # a control character, or not ASCII
    blank = array == BLANK
    odd[_owners(blank[1:] & blank[:-1], offsets)] = True
    return _replace(pc.ascii_lower(column), column, odd, clean_query)


def users(column: pa.Array) -> pa.Array:
    """A column of user ids, cleaned."""
    return _replace(column, column, _loose_edges(*view(column)), clean_user)


def groups(column: pa.Array) -> pa.Array:
    """Values of a group: in small letters, without blanks around them."""
    return pc.utf8_lower(pc.utf8_trim_whitespace(column))


def urls(column: pa.Array, canonical: bool) -> pa.Array:
    """A column of addresses, cleaned; the empty ones NULL."""
    if canonical:
        column = column.dictionary_encode()
        named = pa.array([canonical_url(text) for text in column.dictionary.to_pylist()], pa.string())
        column = pa.DictionaryArray.from_arrays(column.indices, named).dictionary_decode()
    else:
        column = _replace(column, column, _loose_edges(*view(column)), clean_url)
    _, offsets = view(column)
    _, bounds, data = column.buffers()
    some = pa.py_buffer(np.packbits(np.diff(offsets) > 0, bitorder="little"))
    return pa.Array.from_buffers(pa.string(), len(column), [some, bounds, data])


def _loose_edges(array: Bytes, offsets: Ints) -> Mask:
    """Which values begin or end with something that might be white space."""
    odd = np.zeros(len(offsets) - 1, np.bool_)
    if len(array):
        loose = np.empty(256, np.bool_)
        loose[:] = True
        loose[BLANK + 1 : 0x7F] = False
        some = offsets[1:] > offsets[:-1]
        odd |= some & loose[array[np.minimum(offsets[:-1], len(array) - 1)]]
        odd |= some & loose[array[np.maximum(offsets[1:], 1) - 1]]
    return odd


def _owners(marked: Mask, offsets: Ints) -> Ints:
    """For each marked byte, the index of the value that it lies in."""
    where = np.flatnonzero(marked)
    return np.searchsorted(offsets, where, side="right") - 1 if len(where) else where


def _replace(result: pa.Array, column: pa.Array, odd: Mask, rule: Callable[[str], str]) -> pa.Array:
    """Replace each value that `odd` marks by rule(value)."""
    if not odd.any():
        return result
    values = column.take(pa.array(np.flatnonzero(odd))).dictionary_encode()
    ruled = pa.array([rule(text) for text in values.dictionary.to_pylist()], pa.string())
    return pc.replace_with_mask(result, pa.array(odd), ruled.take(values.indices))
