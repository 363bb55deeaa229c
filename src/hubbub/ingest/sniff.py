"""Which format a log has, from names and first lines, where nobody said it; and why it is taken for that.

Only formats that fix the user column are recognised: who is protected is never guessed. A header or a Parquet schema
settles it; otherwise every one of a file's first lines must have the shape of one format, and none that of another. So
one user's lines may turn an answer into a refusal, but among other people's lines never into another answer. It is a
look at the log all the same: state the format, as the resolved command does, and there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hubbub.errors import InputError, ParameterError
from hubbub.ingest.columnar import is_columnar
from hubbub.ingest.lines import BYTE_ORDER_MARK, MAX_LINE
from hubbub.ingest.readers.base import formats, reader, shapes
from hubbub.ingest.readers.table import implied, is_searchlog
from hubbub.ingest.schema import ROLES, group_roles
from hubbub.ingest.sources import opened, resolve
from hubbub.ingest.stated import Stated

AUTO = "auto"
LINES = 100


@dataclass(frozen=True)
class Sniffed:
    """The format that a log is taken for, and why."""

    format: str
    why: str


def sniff(source: str | Path, columns: Mapping[str, str] | None = None) -> Sniffed:
    """The format of a log: a file, a folder or a glob."""
    if columns and len(group_roles(columns)) < len(columns):
        raise ParameterError(
            "--columns needs --format: a format that is recognised fixes its columns.",
            given=",".join(f"{role}={name}" for role, name in columns.items()),
            allowed="--format table or --format ubi with --columns; no --columns with the others",
        )
    files = list(resolve(source))
    if all(map(is_searchlog, files)):
        return Sniffed("table", f"Parquet with exactly the columns {', '.join(ROLES)}")
    if columns and implied(columns, files):
        return Sniffed("table", f"Parquet with the columns {', '.join(ROLES)}, and groups")
    found = {file: _one(file) for file in files}
    first, *others = found.values()
    for file, other in found.items():
        if other.format != first.format:
            raise _unknown(file, f"it looks like {other.format}, and {files[0].name} like {first.format}")
    return next((sniffed for sniffed in others if sniffed.why != first.why), first)


def recognise(source: str | Path, format: str, columns: Mapping[str, str] | None, stated: Stated) -> Stated:
    """All that the reading of a log goes by: what was stated, and what the heads of its files say."""
    return reader(format).settled(stated, columns, list(resolve(source)))[1]


def _one(file: Path) -> Sniffed:
    """The format of one file of text."""
    if is_columnar(file):
        raise _unknown(file, f"a file of columns is recognised as Parquet by exactly the columns {', '.join(ROLES)}")
    lines = first_lines(file)
    for name, shape in shapes().items():
        if shape.header is not None and lines[:1] == [shape.header]:
            return Sniffed(name, "it begins with the format's header")
    fits = {
        name: {at for at, line in enumerate(lines) if shape.line.fullmatch(line)} for name, shape in shapes().items()
    }
    found = [name for name, which in fits.items() if lines and len(which) == len(lines)]
    if len(found) == 1 and not any(which for name, which in fits.items() if name != found[0]):
        return Sniffed(found[0], f"each of its first lines is {shapes()[found[0]].words}")
    if lines and lines[0].lstrip().startswith(b"{"):
        raise _unknown(
            file,
            "its lines are JSON; say --format jsonl (for UBI documents: ubi) and --columns user=…",
        )
    raise _unknown(file, "its first lines are not all of one format that fixes the user's column")


def first_lines(file: Path) -> list[bytes]:
    """At most LINES whole lines from the head of a file, as the line rule sees them."""
    with opened(file) as stream:
        head = stream.read(MAX_LINE)
    lines = head.split(b"\n")
    if len(head) == MAX_LINE or not lines[-1]:
        lines.pop()  # cut off, or nothing behind the last newline
    return [line.removesuffix(b"\r").removeprefix(BYTE_ORDER_MARK) for line in lines[:LINES]]


def _unknown(file: Path, why: str) -> InputError:
    return InputError(
        f"The log's format is not recognised: {why}.",
        given=file,
        allowed=f"--format {', '.join(formats())}",
        next="say --format, and for table and ubi --columns: who the user is cannot be guessed",
    )
