"""Any table with a user and a query in each row: delimited text, or Parquet.

`columns` says which column plays which role: by the header's names, or by number (from 1) for a file without a header.
The user is the unit of protection, so it is never guessed: only Parquet in exactly SearchLog's columns needs no
mapping. With a header, every line has as many fields as it; without one, at least up to the last column named,
because the number of fields must not depend on somebody else's line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from hubbub.errors import InputError, ParameterError
from hubbub.ingest import parquet
from hubbub.ingest.fields import Layout, split_quoted
from hubbub.ingest.lines import BYTE_ORDER_MARK, MAX_LINE
from hubbub.ingest.readers.base import line_tasks, register
from hubbub.ingest.schema import ROLES, ReadTask
from hubbub.ingest.sources import bare, is_parquet, opened

DELIMITERS = {".csv": b",", ".tsv": b"\t", ".tab": b"\t", ".txt": b"\t"}
EXAMPLE = "--columns user=AnonID,query=Query, or --columns user=1,query=2 for a file without a header"


class TableReader:
    """Reads delimited text and Parquet."""

    name = "table"
    shape = None
    sentence = "a .csv (commas), .tsv, .tab or .txt (tabs) or .parquet file whose columns are named by --columns"

    def columns(self, given: Mapping[str, str] | None, files: list[Path]) -> dict[str, str]:
        """The mapping given, checked against every file before the first is read."""
        if not given and all(map(is_searchlog, files)):
            return {role: role for role in ROLES}
        names = _mapping(given)
        for file in files:
            if is_parquet(file):
                parquet.find(file, names)
            else:
                _layout(file, names)
        return names

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """One task per block of lines, or a batch of rows."""
        if is_parquet(file):
            return parquet.tasks(file, columns, canonical_urls)
        return line_tasks(file, _layout(file, columns), canonical_urls)


def _mapping(given: Mapping[str, str] | None) -> dict[str, str]:
    """The mapping from roles to columns, refused if it is not one that can be used."""
    allowed = f"{EXAMPLE}; roles: {', '.join(ROLES)}"
    if not given:
        raise ParameterError("A table needs --columns: the user's column is never guessed.", allowed=allowed)
    names = {role: str(name).strip() for role, name in given.items()}
    shown = ",".join(f"{role}={name}" for role, name in names.items())
    if unknown := [role for role in names if role not in ROLES]:
        raise ParameterError(f"--columns names unknown roles: {', '.join(unknown)}.", given=shown, allowed=allowed)
    if missing := [role for role in ("user", "query") if not names.get(role)]:
        raise ParameterError(f"--columns does not say which column is the {missing[0]}.", given=shown, allowed=allowed)
    if empty := [role for role, name in names.items() if not name]:
        raise ParameterError(f"--columns gives no column for {empty[0]}.", given=shown, allowed=allowed)
    if len(set(names.values())) < len(names):
        raise ParameterError("--columns gives one column two roles.", given=shown, allowed=allowed)
    if "0" in names.values():
        raise ParameterError("Columns are numbered from 1.", given=shown, allowed=allowed)
    return names


def is_searchlog(file: Path) -> bool:
    """Whether it is Parquet with exactly SearchLog's columns, which need no mapping."""
    return is_parquet(file) and sorted(parquet.schema(file).names) == sorted(ROLES)


def _layout(file: Path, names: Mapping[str, str]) -> Layout:
    """The layout of a text file: at which places of a line the mapped columns stand."""
    suffix = bare(file).suffix.lower()
    if suffix not in DELIMITERS:
        raise InputError(
            "The file's name does not say how its columns are separated.",
            given=file,
            allowed=".csv (commas), .tsv, .tab, .txt (tabs), each also with .gz or .zst; .parquet",
            next="rename the file, or name the log's files by a glob",
        )
    delimiter = DELIMITERS[suffix]
    quoting = delimiter == b","
    if all(name.isdecimal() for name in names.values()):
        places = {role: int(name) - 1 for role, name in names.items()}
        return Layout(delimiter, quoting, places, least=1 + max(places.values()))
    header = _first_line(file)
    fields = split_quoted(header, delimiter) if quoting else header.split(delimiter)
    found = [field.decode(errors="replace").strip() for field in fields or []]
    for role, name in names.items():
        if found.count(name) != 1:
            what = "has no such column" if name not in found else "has this column more than once"
            raise InputError(
                f"The log's header {what}: {name} (for the {role}).",
                given=file,
                allowed=", ".join(found) or "nothing: the first line is no header",
                next="name the column as the header does, or by number if there is no header",
            )
    places = {role: found.index(name) for role, name in names.items()}
    return Layout(delimiter, quoting, places, least=len(found), most=len(found), header=header)


def _first_line(file: Path) -> bytes:
    """The file's first line, as the line rule sees it."""
    with opened(file) as stream:
        line = stream.read(MAX_LINE + 2).partition(b"\n")[0]
    line = line.removesuffix(b"\r")
    if len(line) > MAX_LINE:
        raise InputError("The log's header is longer than 1 MiB.", given=file, next="check that it is a text file")
    return line.removeprefix(BYTE_ORDER_MARK)


register(TableReader())
