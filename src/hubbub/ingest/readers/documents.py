"""One document of OpenSearch's User Behavior Insights → the text of the fields that matter.

A document is a JSON object, bare or as the `_source` of an export. The name of a field leads through objects
(`event_attributes.object.object_id`) or is one key with dots in it, as in a flattened export. A line of the bulk
format that only announces the next document is none itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from hubbub.ingest.numbers import parse_time
from hubbub.ingest.schema import Reason

ATTRIBUTES = "query_attributes"
ID, ACTION, QUERY, TIME = "query_id", "action_name", "user_query", "timestamp"
RANK, URL = "event_attributes.position.ordinal", "event_attributes.object.object_id"
OLD_QUERY = "user_query.query"
ANNOUNCEMENTS = ("index", "create")

USUAL = r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z$"
ZONED = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,]\d+)?(?:Z|([+-])(\d\d):?(\d\d))?", re.ASCII)
MILLISECONDS = re.compile(r"\d{12,15}", re.ASCII)  # from March 1973 on: seconds are not taken for milliseconds
WRONG = "?"  # neither a time nor a rank

decode = json.JSONDecoder().decode


class Document(NamedTuple):
    """A search, or an event with an action; every field as text, empty where there is none."""

    user: str
    id: str
    action: str
    query: str
    time: str
    rank: str
    url: str


def parse(line: str) -> dict[str, Any] | Reason:
    """The object on a line, or why there is none; HEADER if the line only announces the next object."""
    try:
        found = decode(line)
    except (ValueError, RecursionError):
        return Reason.BAD_JSON
    if not isinstance(found, dict):
        return Reason.BAD_JSON
    if isinstance(source := found.get("_source"), dict):
        return source
    if len(found) == 1 and any(isinstance(found.get(key), dict) for key in ANNOUNCEMENTS):
        return Reason.HEADER
    return found


def document(fields: Mapping[str, Any], unit: str) -> Document | Reason:
    """The fields of an object that become a record; `unit` names the field that holds the user."""
    action, user, id = fields.get(ACTION), fields.get(unit), name(fields.get(ID))
    if action is not None:
        rank, url = value(fields, RANK), name(value(fields, URL))
        return Document(name(user), id, name(action), "", "", plain(rank), url) if name(action) else Reason.BAD_FIELDS
    if QUERY not in fields and OLD_QUERY not in fields:
        return Reason.BAD_FIELDS
    query = fields.get(QUERY)
    if not isinstance(query, str | int):
        query = value(fields, OLD_QUERY)
    if user is None:
        user = value(fields, f"{ATTRIBUTES}.{unit}")
    return Document(name(user), id, "", name(query), plain(fields.get(TIME)), "", "")


def value(fields: Mapping[str, Any], path: str) -> Any:
    """The value at the end of a path, or None."""
    if path in fields:
        return fields[path]
    inner: Any = fields
    for key in path.split("."):
        inner = inner.get(key) if isinstance(inner, dict) else None
    return inner


def name(given: Any) -> str:
    """A name as text: text as it is, a whole number in digits, anything else as the empty text."""
    return given if isinstance(given, str) else str(given) if type(given) is int else ""


def plain(given: Any) -> str:
    """A time or a rank as text, empty for NaN; what is neither becomes a text that the tests of a record refuse."""
    if isinstance(given, str):
        return given
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    return "" if given is None or given != given else name(given) or WRONG


def times(column: pa.Array) -> pa.Array:
    """Times in the forms that numbers.times reads: the usual form at once, others one by one."""
    usual = pc.match_substring_regex(column, USUAL)
    shortened = pc.replace_substring_regex(column, USUAL, r"\1Z")
    others = pa.array([instant(text) for text in column.filter(pc.invert(usual)).to_pylist()], pa.string())
    return pc.replace_with_mask(shortened, pc.invert(usual), others)


def instant(text: str) -> str:
    """A time as epoch seconds: text with a zone (UTC without one), fractions cut off; or OpenSearch's milliseconds."""
    text = text.strip()
    if MILLISECONDS.fullmatch(text):
        return str(int(text) // 1000)
    parts = ZONED.fullmatch(text)
    seconds = parse_time(parts[1], epoch=False) if parts else None
    if not parts or seconds is None:
        return text and WRONG
    if parts[2]:
        ahead = int(parts[3]) * 3600 + int(parts[4]) * 60
        return str(seconds - int(f"{parts[2]}{ahead}")) if int(parts[4]) < 60 and ahead <= 18 * 3600 else WRONG
    return str(seconds)


def trouble(found: Iterable[str]) -> Reason | None:
    """The reason to reject texts in which a JSON escape stands for a NUL or for half a character."""
    text = "".join(found)
    if "\0" in text:
        return Reason.NUL_BYTE
    try:
        text.encode()
    except UnicodeEncodeError:
        return Reason.BAD_ENCODING
    return None
