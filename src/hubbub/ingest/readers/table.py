"""Any table with a user and a query in each row: delimited text, JSON lines, Parquet, Arrow or Excel.

`columns` says which column plays which role: by the header's names, or by number (from 1) for a file without a header.
The user is the unit of protection, so it is never guessed: only Parquet in exactly SearchLog's columns needs no
mapping. With a header, every line has as many fields as it; without one, at least up to the last column named,
because the number of fields must not depend on somebody else's line.

The separator, if nobody states it, is the one under which the header has the columns that were named. A file without a
header tells none: there the file's name does (.csv, .tsv), or it must be stated, because the first line is some user's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hubbub.errors import InputError, ParameterError
from hubbub.ingest import agents, columnar, parquet
from hubbub.ingest.columnar import is_columnar
from hubbub.ingest.encodings import MARKS, UTF8, UTF16, WIDE
from hubbub.ingest.fields import Layout, split_quoted
from hubbub.ingest.lines import BYTE_ORDER_MARK, MAX_LINE, blocks
from hubbub.ingest.objects import from_objects
from hubbub.ingest.readers.base import line_tasks, register
from hubbub.ingest.schema import ROLES, ReadTask, group_roles, said
from hubbub.ingest.sources import bare, begins, is_parquet, opened
from hubbub.ingest.stated import NOTHING_STATED, SEPARATORS, Stated

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
OBJECTS = (".ndjson", ".jsonl", ".json")
EXAMPLE = "--columns user=AnonID,query=Query, or --columns user=1,query=2 for a file without a header"


@dataclass(frozen=True)
class TableReader:
    """Reads tables, as far as they are settled."""

    name: str = "table"
    sentence: str = "delimited text, JSON lines, Parquet, Arrow or Excel, whose columns are named by --columns"
    objects: bool = False  # whether all text is JSON lines, whatever the files are called
    stated: Stated = NOTHING_STATED
    shape = None

    def settled(
        self, stated: Stated, columns: Mapping[str, str] | None, files: list[Path]
    ) -> tuple[TableReader, Stated]:
        """What was stated, and what all heads of files agree upon."""
        agents.refuse(stated.drop_agents, self.name)
        if stated.query_parameter is not None:
            raise ParameterError(
                "A table has no parameters of requests.",
                given=f"--query-parameter {stated.query_parameter}",
                next="name the column: --columns query=…, or read a log of requests as `--format weblog`",
            )
        reader = replace(self, stated=stated.checked())
        if not columns or implied(columns, files):
            return reader, reader.stated
        text = [file for file in files if not is_columnar(file)]
        encodings = {reader._encoding(file) for file in text}
        encoding = encodings.pop() if len(encodings) == 1 else None
        layouts = [reader._layout(file, _mapping(columns)) for file in text if not reader._holds_objects(file)]
        delimiters = {layout.delimiter.decode() for layout in layouts}
        separator = delimiters.pop() if len(delimiters) == 1 else None
        settled = replace(reader.stated, encoding=encoding, separator=separator).checked()
        return replace(reader, stated=settled), settled

    def columns(self, given: Mapping[str, str] | None, files: list[Path]) -> dict[str, str]:
        """The mapping given, checked against every file before the first is read."""
        if not given and all(map(is_searchlog, files)):
            return {role: role for role in ROLES}
        names = _mapping({role: role for role in ROLES} | dict(given) if given and implied(given, files) else given)
        for file in files:
            if is_columnar(file):
                parquet.find(file, names)
            elif not self._holds_objects(file):
                self._layout(file, names)
        return names

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """One task per block of lines, or per batch of rows."""
        if is_columnar(file):
            return parquet.tasks(file, columns, self.stated.clock, canonical_urls)
        if self._holds_objects(file):
            return self._object_tasks(file, columns, canonical_urls)
        return line_tasks(file, self._layout(file, columns), canonical_urls)

    def _object_tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        encoding, clock = self._encoding(file), self.stated.clock
        with opened(file, encoding) as stream:
            for piece in blocks(stream):
                yield ReadTask(
                    lambda piece=piece: from_objects(piece, columns, encoding, clock, canonical_urls),  # type: ignore[misc]
                    stream.done(),
                )

    def _holds_objects(self, file: Path) -> bool:
        return self.objects or bare(file).suffix.lower() in OBJECTS

    def _encoding(self, file: Path) -> str:
        """As stated, or as the file's byte order mark says."""
        return self.stated.encoding or (UTF16 if begins(file) in MARKS else UTF8)

    def _layout(self, file: Path, names: Mapping[str, str]) -> Layout:
        """Where the columns are in this file."""
        encoding, stated = self._encoding(file), self.stated.delimiter
        usual = stated or DELIMITERS.get(bare(file).suffix.lower())
        if all(name.isdecimal() for name in names.values()):
            if usual is None:
                raise InputError(
                    "Nothing says how the columns of a file without a header are separated.",
                    given=file,
                    allowed=".csv (commas), .tsv, .tab, .txt (tabs); any other name with --separator",
                    next="say --separator, as in --separator ';'",
                )
            places = {role: int(name) - 1 for role, name in names.items()}
            return self._with(usual, encoding, places, least=1 + max(places.values()))
        header = first_line(file, encoding)
        others = () if stated else SEPARATORS
        candidates = {mark: fields_of(header, mark) for mark in dict.fromkeys((*filter(None, (usual,)), *others))}
        fits = (mark for mark, found in candidates.items() if all(found.count(name) == 1 for name in names.values()))
        mark = next(fits, None) or max(candidates, key=lambda mark: len(candidates[mark]))
        found = candidates[mark]
        for role, name in names.items():
            if found.count(name) != 1:
                what = "has no such column" if name not in found else "has this column more than once"
                raise InputError(
                    f"The log's header {what}: {name} (for the {said(role)}).",
                    given=file,
                    typed=name,
                    allowed=", ".join(found) or "nothing: the first line is no header",
                    next="name the column as the header does, or by number if there is no header; "
                    f"hubbub inspect {file} shows what the file holds",
                )
        places = {role: found.index(name) for role, name in names.items()}
        return self._with(mark, encoding, places, least=len(found), most=len(found), header=header)

    def _with(
        self,
        mark: str,
        encoding: str,
        places: Mapping[str, int],
        least: int,
        most: int | None = None,
        header: bytes | None = None,
    ) -> Layout:
        return Layout(
            mark.encode(),
            quoting=True,
            places=places,
            least=least,
            most=most,
            header=header,
            encoding=encoding,
            stray=mark == "\t",
            clock=self.stated.clock,
        )


def _mapping(given: Mapping[str, str] | None) -> dict[str, str]:
    """The mapping from roles to columns, refused if it is not one that can be used."""
    allowed = f"{EXAMPLE}; roles: {', '.join(ROLES)}"
    if not given:
        raise ParameterError("A table needs --columns: the user's column is never guessed.", allowed=allowed)
    names = {role: str(name).strip() for role, name in given.items()}
    shown = ",".join(f"{role}={name}" for role, name in names.items())
    if unknown := [role for role in names if role not in (*ROLES, *group_roles(names))]:
        raise ParameterError(f"--columns names unknown roles: {', '.join(unknown)}.", given=shown, allowed=allowed)
    if missing := [role for role in ("user", "query") if not names.get(role)]:
        raise ParameterError(f"--columns does not say which column is the {missing[0]}.", given=shown, allowed=allowed)
    if empty := [role for role, name in names.items() if not name]:
        raise ParameterError(f"--columns gives no column for {empty[0]}.", given=shown, allowed=allowed)
    if users := [role for role in group_roles(names) if names[role] == names["user"]]:
        raise ParameterError(
            f"The {said(users[0])} cannot be the column of the user.",
            given=shown,
            allowed="a column whose values many users share",
        )
    if len(set(names.values())) < len(names):
        raise ParameterError("--columns gives one column two roles.", given=shown, allowed=allowed)
    if "0" in names.values():
        raise ParameterError("Columns are numbered from 1.", given=shown, allowed=allowed)
    return names


def implied(given: Mapping[str, str], files: list[Path]) -> bool:
    """Whether groups alone are named, and the files are Parquet that has SearchLog's columns besides them."""
    columns = (set(columnar.schema(file).names) if is_parquet(file) else set() for file in files)
    return len(group_roles(given)) == len(given) and all(found >= set(ROLES) for found in columns)


def is_searchlog(file: Path) -> bool:
    """Whether it is Parquet with exactly SearchLog's columns, which need no mapping."""
    return is_parquet(file) and sorted(columnar.schema(file).names) == sorted(ROLES)


def fields_of(header: bytes, mark: str) -> list[str]:
    """The names in a header under a separator."""
    fields = split_quoted(header, mark.encode()) or ([] if mark != "\t" else header.split(b"\t"))
    return [field.decode(errors="replace").strip() for field in fields]


def first_line(file: Path, encoding: str) -> bytes:
    """The file's first line, as the line rule sees it, in UTF-8."""
    with opened(file, encoding) as stream:
        line = stream.read(MAX_LINE + 2).partition(b"\n")[0]
    line = line.removesuffix(b"\r")
    if len(line) > MAX_LINE:
        raise InputError("The log's header is longer than 1 MiB.", given=file, next="check that it is a text file")
    if encoding not in (UTF8, *WIDE):
        line = line.decode(encoding, errors="replace").encode()
    return line.removeprefix(BYTE_ORDER_MARK)


register(TableReader())
