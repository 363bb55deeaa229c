"""Released texts in files of lines: one rule of escaping for every format, and rows as bytes.

A backslash, and every character that would end a field or a line or that XML cannot hold (controls, U+FFFE, U+FFFF),
is written with a backslash: `\\\\`, `\\t`, `\\n`, `\\r`, else `\\u` and four hexadecimal digits. `unescape` takes it
back, whatever the text. Items of a list are joined by U+001F, which is never left unescaped inside an item. No value
is an empty field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SEPARATOR = "\x1f"
SPECIAL = r"[\\\x00-\x1f\x{FFFE}\x{FFFF}]"
NAMES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
TEXTS = {escaped[1]: text for text, escaped in NAMES.items()}
BATCH = 1 << 16
RULE = (
    "A backslash and every control character (and U+FFFE, U+FFFF) inside a text are written with a backslash: `\\\\`, "
    "`\\t`, `\\n`, `\\r`, else `\\u` and four hexadecimal digits; `hubbub.show.export.text.unescape` takes it back."
)
"""The rule as a README states it."""


def escape(text: str) -> str:
    """A text without characters that end a field or a line."""
    return re.sub(r"[\\\x00-\x1f\ufffe\uffff]", lambda found: NAMES.get(found[0], f"\\u{ord(found[0]):04x}"), text)


def unescape(text: str) -> str:
    """The text as it was released."""
    return re.sub(
        r"\\(?:u([0-9a-f]{4})|([\\tnr]))", lambda found: chr(int(found[1], 16)) if found[1] else TEXTS[found[2]], text
    )


def one_line(text: str) -> bool:
    """Whether a line can hold a text as it is: neither blank nor with a control character in it."""
    return bool(text.strip()) and text.splitlines() == [text] and not re.search(r"[\x00-\x1f\ufffe\uffff]", text)


def escaped(column: pa.Array) -> pa.Array:
    """A column of texts, escaped; almost none needs it, and those go one by one."""
    column = column.cast(pa.string())
    special = pc.fill_null(pc.match_substring_regex(column, SPECIAL), False)
    if not pc.any(special).as_py():
        return column
    texts = [escape(text) for text in column.filter(special).to_pylist()]
    return pc.replace_with_mask(column, special, pa.array(texts, pa.string()))


def as_text(column: pa.Array) -> pa.Array:
    """Any column of a release as escaped text; no value is an empty text."""
    if pa.types.is_list(column.type):
        items = escaped(column.flatten())
        ends = np.cumsum(pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False))
        lists = pa.ListArray.from_arrays(pa.array(np.append(0, ends), pa.int32()), items)
        column = pc.binary_join(lists, SEPARATOR)
    elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = escaped(column)
    return pc.fill_null(column.cast(pa.string()), "")


def joined(*parts: pa.Array | str) -> pa.Array:
    """Texts side by side, row by row."""
    return pc.binary_join_element_wise(*parts, "")


def content(texts: pa.Array) -> memoryview:
    """The bytes of a freshly made column, one value after the other."""
    _, offsets, data = texts.buffers()
    if data is None:
        return memoryview(b"")
    return memoryview(data)[: np.frombuffer(offsets, np.int32)[len(texts)]]


def tab_separated(table: pa.Table, header: list[str] | None = None) -> Iterator[bytes | memoryview]:
    """A table as lines of fields between tabs, after its header if there is one."""
    if header is not None:
        yield ("\t".join(header) + "\n").encode()
    for batch in table.to_batches(max_chunksize=BATCH):
        fields = [as_text(column) for column in batch.columns]
        yield content(joined(pc.binary_join_element_wise(*fields, "\t"), "\n"))
