"""What an unknown file looks like, for its owner: separator, encoding, columns with masked samples, a command to paste.

It is a proposal and nothing is read by it: the owner states what is right, above all which column is the user. Of the
values of three records only the shape is shown, every letter as `a` and every digit as `0`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hubbub.errors import InputError
from hubbub.ingest import columnar
from hubbub.ingest.columnar import is_columnar
from hubbub.ingest.encodings import MARKS, UTF8, UTF16
from hubbub.ingest.fields import split_quoted
from hubbub.ingest.lines import BYTE_ORDER_MARK
from hubbub.ingest.readers.table import DELIMITERS, OBJECTS
from hubbub.ingest.sources import bare, begins, opened, resolve
from hubbub.ingest.stated import SEPARATORS
from hubbub.ingest.times import parse

HEAD, SAMPLES, LONGEST = 1 << 16, 3, 40
ROLES = {"user": "who is protected", "query": "the text of the search", "time": "when", "url": "what was clicked"}
HINTS = {  # parts of names that suggest a role; the user's candidates are listed and never chosen
    "user": (
        "user",
        "client",
        "visitor",
        "account",
        "member",
        "session",
        "cookie",
        "who",
        "ip",
        "host",
        "customer",
        "id",
    ),
    "query": ("query", "search", "term", "keyword", "what", "text", "q"),
    "time": ("time", "date", "when", "stamp", "ts", "at"),
    "url": ("url", "click", "href", "link", "page"),
}


@dataclass(frozen=True)
class SampledColumn:
    """A column and the shape of its first values."""

    name: str
    samples: tuple[str, ...]


@dataclass(frozen=True)
class Proposal:
    """What a file looks like, and how it might be read."""

    file: str
    kind: str
    format: str
    """What --format takes."""
    separator: str | None
    encoding: str
    header: bool
    columns: tuple[SampledColumn, ...]
    candidates: dict[str, tuple[str, ...]]
    command: str

    def record(self) -> dict[str, object]:
        """For the JSON document."""
        return asdict(self)


def propose(log: str | Path, source: str) -> Proposal:
    """Look at the head of a log's first file; `source` is what the command calls the log."""
    file = next(iter(resolve(log)))
    if is_columnar(file):
        batch = next(columnar.batches(file, columnar.schema(file).names))[0].slice(0, SAMPLES)
        rows = [{name: _shown(value) for name, value in row.items()} for row in batch.to_pylist()]
        return _proposed(source, file, file.suffix[1:], None, UTF8, True, list(batch.schema.names), rows)
    encoding = UTF16 if begins(file) in MARKS else UTF8
    with opened(file, encoding) as stream:
        head = stream.read(HEAD)
    try:
        head.rpartition(b"\n")[0].decode()
    except UnicodeDecodeError:
        encoding = "latin-1"
    text = head.removeprefix(BYTE_ORDER_MARK).decode("latin-1" if encoding == "latin-1" else UTF8, errors="replace")
    lines = [line for line in text.splitlines() if line.strip()][: SAMPLES + 1]
    if not lines:
        raise InputError("The head of the log holds no text.", given=file, next="check that it was copied whole")
    if lines[0].lstrip().startswith("{"):
        rows = [dict(_leaves(found)) for line in lines[:SAMPLES] if isinstance(found := _object(line), dict)]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return _proposed(source, file, "JSON lines", None, encoding, True, names, rows)
    mark = max(SEPARATORS, key=lambda mark: (len(_cut(lines[0], mark)), mark == DELIMITERS.get(bare(file).suffix)))
    fields = [_cut(line, mark) for line in lines]
    header = not any(_datum(value) for value in fields[0]) and len(set(fields[0])) == len(fields[0])
    names = [name.strip() for name in fields[0]] if header else [str(n + 1) for n in range(len(fields[0]))]
    rows = [dict(zip(names, row, strict=False)) for row in fields[header : SAMPLES + header]]
    return _proposed(source, file, "delimited text", mark, encoding, header, names, rows)


def _proposed(
    source: str,
    file: Path,
    kind: str,
    mark: str | None,
    encoding: str,
    header: bool,
    names: list[str],
    rows: list[dict[str, str]],
) -> Proposal:
    """The proposal for a file of these columns."""
    columns = tuple(SampledColumn(name, tuple(masked(row.get(name, "")) for row in rows)) for name in names)
    times = tuple(name for name in names if rows and all(_time(row.get(name, "")) for row in rows))
    found = {role: tuple(name for name in names if _hinted(name, role)) for role in ROLES}
    found["time"] = times or found["time"]
    chosen = {"user": "USER", "query": next(iter(found["query"]), "QUERY")}
    chosen |= {role: found[role][0] for role in ("time", "url") if found[role]}
    roles = ",".join(f"{role}={name}" for role, name in chosen.items())
    separator = None if mark is None else "tab" if mark == "\t" else mark
    objects = kind == "JSON lines" and bare(file).suffix.lower() not in OBJECTS
    form = "jsonl" if objects else "table"
    words = ["hubbub", "inspect", source, "--format", form, "--columns", roles]
    words += ["--separator", separator] if separator else []
    words += ["--encoding", encoding] if encoding != UTF8 else []
    return Proposal(str(file), kind, form, separator, encoding, header, columns, found, shlex.join(words))


def masked(value: str) -> str:
    """The shape of a value: letters as `a`, digits as `0`, at most forty characters."""
    shape = "".join("0" if c.isdigit() else "a" if c.isalpha() else c if c.isprintable() else " " for c in value)
    return shape if len(shape) <= LONGEST else f"{shape[:LONGEST]}…"


def lines(found: Proposal) -> Iterator[str]:
    """The proposal for a person."""
    width = max(len(column.name) for column in found.columns)
    separated = f", separated by {found.separator}" if found.separator else ""
    head = "" if found.header else ", without a header: columns by number"
    yield f"{found.file} looks like {found.kind}{separated}, {found.encoding}{head}."
    yield "Its columns, and the shape of their first values (letters as a, digits as 0):"
    for column in found.columns:
        yield f"  {column.name:<{width}}  " + "  |  ".join(column.samples)
    for role, means in ROLES.items():
        yield f"  {role} ({means}): perhaps " + (", ".join(found.candidates[role]) or "none, by their names")
    yield "Put the column that says who is protected in the place of USER: it is never guessed. Correct the rest. Then:"
    yield f"  {found.command}"


def _hinted(name: str, role: str) -> bool:
    words = "".join(c.lower() if c.isalnum() else " " for c in name)
    return any(hint in words.split() if len(hint) < 3 else hint in words for hint in HINTS[role])


def _cut(line: str, mark: str) -> list[str]:
    fields = split_quoted(line.encode(errors="replace"), mark.encode())
    return line.split(mark) if fields is None else [field.decode() for field in fields]


def _datum(value: str) -> bool:
    """Whether a value is surely none of a header: empty, a number or a time."""
    return not value.strip() or value.strip().replace(".", "").isdigit() or parse(value.strip()) is not None


def _time(value: str) -> bool:
    number = value.strip().isdigit()
    return parse(value.strip()) is not None and (not number or len(value.strip()) >= 9)


def _object(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _leaves(found: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in found.items():
        if isinstance(value, dict) and before.count(".") < len(ROLES):
            yield from _leaves(value, f"{before}{key}.")
        else:
            yield before + key, _shown(value)


def _shown(value: Any) -> str:
    return "" if value is None else value.decode(errors="replace") if isinstance(value, bytes) else str(value)
