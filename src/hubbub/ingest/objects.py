"""JSON lines → columns of text: one object per line, each field by its name or by a path with dots.

DuckDB's functions on JSON see one line at a time, so a line that is no JSON, or half an object, reaches no other;
flat objects take a quicker way (`flat_objects`), and those laid out alike the quickest (`alike_objects`). A
name with dots in it is first looked for as one key and then as a path through objects. Text and whole numbers are
names; `null` is no value; anything else that stands where a name is needed names nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.ingest import lines
from hubbub.ingest.alike_objects import alike
from hubbub.ingest.clean import view
from hubbub.ingest.encodings import UTF8, WIDE, transcoded
from hubbub.ingest.flat_objects import flat, parsed
from hubbub.ingest.lines import Block, Codes, Ints, Lines, Overlong
from hubbub.ingest.records import build, overlong, part, rejected_lines
from hubbub.ingest.schema import GROUP, ReadPart, Reason, group_roles
from hubbub.ingest.times import Clock

NAMES = ("user", "query", "url")  # roles whose values are names; the others are numbers or text that tells one
WRONG = "?"  # neither a time nor a rank


def from_objects(
    piece: Block | Overlong, names: Mapping[str, str], encoding: str, clock: Clock, canonical_urls: bool
) -> ReadPart:
    """The records of a run of lines that are objects."""
    if isinstance(piece, Overlong):
        return overlong(piece)
    utf8 = encoding == UTF8 or encoding in WIDE
    raw = lines.split(piece.data, utf8=utf8)
    found = raw if utf8 else transcoded(raw, encoding)
    usable = np.flatnonzero(found.code == Reason.KEPT)
    quick, columns = alike(found, usable, names)
    if quick.all() and columns:
        fits = usable
    elif columns:
        fits, columns = _together(usable[quick], columns, *_flat(found, usable[~quick], names))
    else:
        fits, columns = _flat(found, usable, names)
    records, found.code[fits] = build(columns, "", clock, canonical_urls)
    return part(records, rejected_lines(raw), found.code)


def _flat(found: Lines, usable: Ints, names: Mapping[str, str]) -> tuple[Ints, dict[str, pa.Array]]:
    """The lines that are objects, and their fields by role: flat ones the quicker way. Marks the others."""
    simple = flat(found, usable)
    columns = parsed(found, usable[simple], names, (*NAMES, *group_roles(names)))
    if columns is None:
        return _texts(found, usable, names)
    if simple.all():
        return usable, columns
    return _together(usable[simple], columns, *_texts(found, usable[~simple], names))


def _together(
    some: Ints, first: Mapping[str, pa.Array], others: Ints, second: Mapping[str, pa.Array]
) -> tuple[Ints, dict[str, pa.Array]]:
    """Lines that went two ways, in their order again."""
    lines = np.concatenate([some, others])
    order = np.argsort(lines, kind="stable")
    texts = [{role: part[role].cast(pa.string()).fill_null("") for role in first} for part in (first, second)]
    return lines[order], {role: pa.concat_arrays([part[role] for part in texts]).take(order) for role in first}


def _texts(found: Lines, usable: Ints, names: Mapping[str, str]) -> tuple[Ints, dict[str, pa.Array]]:
    """The lines that are objects with fields that can be used, and these as text by role. Marks the others."""
    usable, columns = _values(found, usable, names)
    texts = {role: _text(column, role, usable, found.code) for role, column in columns.items()}
    fits = np.flatnonzero(found.code[usable] == Reason.KEPT)
    if len(fits) < len(usable):
        texts = {role: column.take(pa.array(fits)) for role, column in texts.items()}
    return usable[fits], texts


def _values(found: Lines, usable: Ints, names: Mapping[str, str]) -> tuple[Ints, dict[str, pa.Array]]:
    """The lines that are objects, and the JSON text of their fields by role. Marks the others."""
    table = pa.table({"line": lines.gather(found.data, found.start[usable], found.end[usable], pa.string())})
    paths = [path for name in names.values() for path in _paths(name)]
    listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
    picked, at = [], 1
    for role, name in names.items():
        among = ", ".join(f"found[{at + n}]" for n in range(len(_paths(name))))
        picked.append(f'CAST(coalesce({among}) AS VARCHAR) AS "{role}"')
        at += len(_paths(name))
    import duckdb  # when it is needed: reading other files must not load an engine

    with duckdb.connect(config={"threads": 1}) as engine:
        engine.register("text", table)
        whole = "CASE WHEN json_valid(line) AND ltrim(line, ' \t\r')[1] = '{' THEN line END"
        result = engine.sql(
            f"SELECT object IS NULL AS bad, {', '.join(picked)} FROM "
            f"(SELECT object, json_extract(object, [{listed}]) AS found FROM (SELECT {whole} AS object FROM text))"
        ).to_arrow_table()
    bad = result["bad"].combine_chunks().to_numpy(zero_copy_only=False)
    found.code[usable[bad]] = Reason.BAD_JSON
    good = pa.array(np.flatnonzero(~bad))
    return usable[~bad], {role: result[role].combine_chunks().take(good) for role in names}


def _paths(name: str) -> list[str]:
    """Where a field may stand, in DuckDB's spelling."""
    inner = "".join(f".{json.dumps(key, ensure_ascii=False)}" for key in name.split("."))
    one = f"$.{json.dumps(name, ensure_ascii=False)}"
    return [one] if "." not in name else [one, f"${inner}"]


def _text(column: pa.Array, role: str, usable: Ints, code: Codes) -> pa.Array:
    """JSON values as text; marks lines whose text holds what no line may hold, written as an escape."""
    column = column.cast(pa.string()).fill_null("null")
    quoted, escaped = pc.starts_with(column, '"'), pc.match_substring(column, "\\")
    inside = pc.utf8_slice_codeunits(column, 1, -1)
    if role in NAMES or role.startswith(GROUP):
        number = pc.match_substring_regex(column, r"^-?\d+$")
        other = pc.if_else(number, column, "")
    else:
        number = pc.match_substring_regex(column, r"^[-\d]")
        whole = pc.replace_substring_regex(column, r"^(-?\d+)\.0+$", r"\1")
        other = pc.if_else(number, whole, pc.if_else(pc.equal(column, "null"), "", WRONG))
    text = pc.if_else(quoted, inside, other)
    rows = np.flatnonzero(pc.and_(quoted, escaped).to_numpy(zero_copy_only=False))
    if len(rows):
        spelt = [json.loads(value) for value in column.take(pa.array(rows)).to_pylist()]
        mask = np.zeros(len(column), np.bool_)
        mask[rows] = True
        text = pc.replace_with_mask(text, pa.array(mask), pa.array(spelt, pa.string()))
        array, offsets = view(text)
        if not array.all():
            held = np.searchsorted(offsets, np.flatnonzero(array == 0), side="right") - 1
            code[usable[held]] = Reason.NUL_BYTE
    return text
