"""Logs of services: one event per line, which holds one record, several, or none.

A reader of this kind is a function of one line. What it gives is cleaned and tested as the records of every format are.
An event that is no search is passed over: it counts neither as read nor as rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl

import numpy as np
import pyarrow as pa

from hubbub.errors import ParameterError
from hubbub.ingest import columnar, lines
from hubbub.ingest.arrays import elements
from hubbub.ingest.lines import Block, Codes, Ints, Overlong, blocks
from hubbub.ingest.readers.base import NothingStated
from hubbub.ingest.readers.documents import parse as parse_object
from hubbub.ingest.readers.documents import trouble
from hubbub.ingest.records import build, overlong, rejects
from hubbub.ingest.schema import TEXT_KEPT, ReadPart, ReadTask, Reason
from hubbub.ingest.sources import is_parquet, opened
from hubbub.ingest.stated import NOTHING_STATED, Stated
from hubbub.ingest.times import usual


class Event(NamedTuple):
    """A search, or a click on one of its results; every field as text, empty where there is none."""

    user: str
    query: str
    time: str = ""
    rank: str = ""
    url: str = ""


Found = Sequence[Event] | Reason
"""The records of a line, or why there are none; HEADER if the line is no search."""
Fields = Mapping[str, Any]
Parse = Callable[[str, Mapping[str, str]], Found]
ANY = "…"


@dataclass(frozen=True)
class EventReader(NothingStated):
    """Reads a log of events; all that there is to know of its format is how to read one line."""

    name: str
    sentence: str
    users: Mapping[str, str]
    """What may be the user, and whom that protects; `…` stands for any name of the owner's."""
    parse: Parse
    """The records of a line, with the columns as they were chosen."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Where the other roles come from, as the card names it."""
    chooses_parameter: bool = False
    """Whether --query-parameter says which parameter of a request is the query."""
    has_agents: bool = False
    """Whether a line names its User-Agent, so that --drop-agents can pass over programs."""
    stated: Stated = NOTHING_STATED
    shape = None

    def settled(self, stated: Stated, columns: Mapping[str, str] | None, files: list[Path]) -> tuple[Self, Stated]:
        """The parameter that is the query and the programs to drop, where a format has them; nothing else."""
        if self.chooses_parameter:
            rest = replace(stated, query_parameter=None, drop_agents=None if self.has_agents else stated.drop_agents)
            super().settled(rest, columns, files)
            chosen = replace(stated, query_parameter=stated.query_parameter or "q").checked()
            return replace(self, stated=chosen), chosen
        return super().settled(stated, columns, files)

    def columns(self, given: Mapping[str, str] | None, files: list[Path]) -> dict[str, str]:
        """The user, who must be chosen, and where the rest comes from."""
        names = dict(given or {})
        shown = ",".join(f"{role}={name}" for role, name in names.items()) or "no --columns"
        allowed = "\n           ".join(f"user={unit}  {means}" for unit, means in self.users.items())
        example = next(iter(self.users))
        if set(names) != {"user"} or (names["user"] not in self.users and ANY not in self.users):
            raise ParameterError(
                f"The format `{self.name}` needs to be told who the user is, and nothing else.",
                given=shown,
                allowed=allowed,
                next=f"choose whom the release is to protect: --columns user={example}, for example",
            )
        chosen = {"query": self.stated.query_parameter, "agents": self.stated.drop_agents}
        return {**names, **self.where, **{role: said for role, said in chosen.items() if said}}

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """One task per block of lines."""
        with opened(file) as stream:
            for piece in blocks(stream):
                yield ReadTask(
                    lambda piece=piece: from_lines(piece, self.parse, columns, canonical_urls),  # type: ignore[misc]
                    stream.done(),
                )


@dataclass(frozen=True)
class ObjectReader(EventReader):
    """Reads events that are JSON objects: one per line, the elements of one array, or rows of Parquet."""

    parse: Parse = lambda line, columns: Reason.BAD_JSON
    fields: Callable[[Fields, Mapping[str, str]], Found] = lambda fields, columns: Reason.BAD_FIELDS
    """The records of an object."""

    def tasks(self, file: Path, columns: Mapping[str, str], canonical_urls: bool) -> Iterator[ReadTask]:
        """One task per block of lines, or per batch of rows."""

        def parse(line: str, columns: Mapping[str, str]) -> Found:
            found = parse_object(line)
            return found if isinstance(found, Reason) else self.fields(found, columns)

        if is_parquet(file):
            for batch, done in columnar.batches(file, columnar.schema(file).names):
                yield ReadTask(
                    lambda batch=batch: from_rows(batch, self.fields, columns, canonical_urls),  # type: ignore[misc]
                    done,
                )
            return
        with elements(file) as stream:
            for piece in blocks(stream):
                yield ReadTask(
                    lambda piece=piece: from_lines(piece, parse, columns, canonical_urls),  # type: ignore[misc]
                    stream.done(),
                )


def from_lines(piece: Block | Overlong, parse: Parse, columns: Mapping[str, str], canonical_urls: bool) -> ReadPart:
    """The records of a run of lines."""
    if isinstance(piece, Overlong):
        return overlong(piece)
    split = lines.split(piece.data)
    usable = np.flatnonzero(split.code == Reason.KEPT)
    found: dict[int, Found] = {}
    for line, start, end in zip(usable.tolist(), split.start[usable].tolist(), split.end[usable].tolist(), strict=True):
        found[line] = parse(piece.data[start:end].decode(), columns)

    def text(line: int) -> bytes:
        return piece.data[split.first[line] : split.end[line]]

    return _part(found, split.code, text, canonical_urls)


def from_rows(
    batch: pa.RecordBatch,
    fields: Callable[[Fields, Mapping[str, str]], Found],
    columns: Mapping[str, str],
    canonical_urls: bool,
) -> ReadPart:
    """The records of a batch of rows, each of which is an object."""
    rows = batch.to_pylist()
    found = {at: fields(row, columns) for at, row in enumerate(rows)}
    return _part(
        found, np.zeros(len(rows), np.int8), lambda at: repr(rows[at]).encode(errors="replace"), canonical_urls
    )


def from_events(found: Sequence[Found], canonical_urls: bool) -> ReadPart:
    """The records of events that were read already, one after the other."""

    def text(at: int) -> bytes:
        told = found[at]
        return b"" if isinstance(told, Reason) else "\n".join("\t".join(event) for event in told).encode()

    return _part(dict(enumerate(found)), np.zeros(len(found), np.int8), text, canonical_urls)


def _part(found: Mapping[int, Found], code: Codes, text: Callable[[int], bytes], canonical_urls: bool) -> ReadPart:
    """What became of lines and of the records on them."""
    events: list[Event] = []
    at: list[int] = []
    for line, told in found.items():
        reason = told if isinstance(told, Reason) else trouble(text for event in told for text in event)
        if reason is not None:
            code[line] = reason
        elif not isinstance(told, Reason):
            events += told
            at += [line] * len(told)
            code[line] = Reason.KEPT if told else Reason.HEADER
    values = list(zip(*events, strict=True)) or [()] * len(Event._fields)
    columns = {role: pa.array(column, pa.string()) for role, column in zip(Event._fields, values, strict=True)}
    records, fate = build(columns, "", usual, canonical_urls)
    bad_lines, bad_records = np.flatnonzero(code > Reason.KEPT), np.flatnonzero(fate > Reason.KEPT)
    where = np.concatenate([bad_lines, np.array(at, np.int64)[bad_records]])
    order = np.argsort(where, kind="stable")
    why = np.concatenate([code[bad_lines], fate[bad_records]])[order]
    dropped = int(np.count_nonzero(fate == Reason.BLANK_QUERY))
    return ReadPart(records, _rejects(where[order], why, text), len(code), len(events) + len(bad_lines), dropped)


def _rejects(where: Ints, why: Codes, text: Callable[[int], bytes]) -> pa.RecordBatch:
    texts = [text(line) for line in where.tolist()]
    length = np.array([len(one) for one in texts], np.int64)
    return rejects(where, why, length, pa.array([one[:TEXT_KEPT] for one in texts], pa.binary()))


def parameters(query: str, once: str = "") -> dict[str, str] | Reason:
    """The parameters of a request by name, the first value of each.

    Text that is not UTF-8 is refused, and so is a request that has the parameter `once` twice: somebody may have typed
    the second, and it must not decide whose line this is.
    """
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
    except ValueError:
        return Reason.BAD_ENCODING
    if sum(name == once for name, _ in pairs) > 1:
        return Reason.BAD_FIELDS
    return dict(reversed(pairs))
