"""The quick way through JSON lines: objects without another inside them are parsed by Arrow, many at once.

Arrow's parser knows no lines: half an object on one line and half on the next are one object to it. So only lines go
there of which their own bytes say that an object begins with the line and ends with it: the first and the last letter
are the only braces, quotation marks come in pairs, and nothing is escaped. A line that is not so, or holds a number
that the two parsers might read differently, goes the usual way; so does a whole block in which something is wrong, or
of another type than the first lines say. Which way a line goes changes what it costs, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.json

from hubbub.ingest.lines import Ints, Lines, Mask, gather

LOOKED = 20  # lines that tell the types
EVERY, DIGITS = 16, 300  # a number of so many digits may be too large for one parser, and is looked for in steps


def flat(found: Lines, usable: Ints) -> Mask:
    """Which of these lines are surely one flat object each, if they are JSON at all."""
    array, start, end = found.array, found.start[usable], found.end[usable]
    digit = array - ord("0") <= 9
    if not len(usable) or b"\1" * (DIGITS // EVERY - 1) in digit[::EVERY].tobytes():
        return np.zeros(len(usable), np.bool_)
    odd = np.bitwise_xor.reduceat((array == ord('"')).view(np.uint8), found.first)[usable]
    good: Mask = (array[start] == ord("{")) & (array[end - 1] == ord("}")) & (odd == 0)
    for brace in b"{}":
        if found.data.count(brace) != len(usable) or not good.all():
            good &= _held(np.flatnonzero(array == brace), start, end) == 1
    if b"\\" in found.data:
        good &= _held(np.flatnonzero(array == ord("\\")), start, end) == 0
    exponent = digit[:-1] & ((array[1:] | 0x20) == ord("e"))
    zero = (array[1:-1] == ord("-")) & (array[2:] == ord("0"))  # -0 is a number to one, and a text to the other
    zero &= ~digit[:-2] & (array[:-2] != ord('"'))
    for doubtful in (exponent, zero):
        if doubtful.any():
            good &= _held(np.flatnonzero(doubtful) + 1, start, end) == 0
    return good


def _held(where: Ints, start: Ints, end: Ints) -> Ints:
    """How many of these places lie in each line."""
    counts: Ints = np.searchsorted(where, end) - np.searchsorted(where, start)
    return counts


def parsed(found: Lines, chosen: Ints, names: Mapping[str, str], texts: tuple[str, ...]) -> dict[str, pa.Array] | None:
    """The values of flat objects by role, text or whole numbers; None if they must go the usual way."""
    if not len(chosen) or len(set(names.values())) < len(names):
        return None
    whole = len(chosen) == len(found.start) and bool((found.first == found.start).all())
    data = (
        found.data
        if whole
        else gather(found.data, found.start[chosen], found.end[chosen] + 1, pa.binary()).buffers()[2]
    )
    kinds = _kinds(found, chosen[:LOOKED], names, texts)
    schema = pa.schema([(name, kinds[role]) for role, name in names.items()])
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(data),
            pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
            pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowException:
        return None
    if table.num_rows != len(chosen):
        return None
    columns = {role: table[name].combine_chunks() for role, name in names.items()}
    as_text = {role: column.cast(pa.string()) for role, column in columns.items() if role in texts}
    return {
        role: column.fill_null("") if pa.types.is_string(column.type) else column
        for role, column in (columns | as_text).items()
    }


def _only(found: Lines, chosen: Ints) -> pa.Buffer:
    """The bytes of these lines alone, each with what follows it: a newline, or a blank before one."""
    return gather(found.data, found.start[chosen], found.end[chosen] + 1, pa.binary()).buffers()[2]


def _kinds(found: Lines, looked: Ints, names: Mapping[str, str], texts: tuple[str, ...]) -> dict[str, pa.DataType]:
    """The type of each column: what the first lines have there; else text for names, and numbers for the others."""
    kinds = {role: pa.string() if role in texts else pa.int64() for role in names}
    for line in reversed(looked.tolist()):
        try:
            values = json.loads(found.data[found.start[line] : found.end[line]])
        except ValueError:
            continue
        for role, name in names.items():
            if isinstance(values.get(name), str | int):
                kinds[role] = pa.string() if isinstance(values[name], str) else pa.int64()
    return kinds
