"""Ingest a log: files → tasks → parts, computed on threads and written in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from hubbub.errors import InputError, ParameterError
from hubbub.ingest.join import Join
from hubbub.ingest.output import PartWriter
from hubbub.ingest.readers.base import reader
from hubbub.ingest.readers.table import TableReader
from hubbub.ingest.schema import ROLES, ReadPart, ReadTask, Reason, Screening, schema_with, screened
from hubbub.ingest.sniff import AUTO, sniff
from hubbub.ingest.sources import on_disk, resolve
from hubbub.ingest.stated import NOTHING_STATED, Stated
from hubbub.ingest.untouched import alike, copied_clean
from hubbub.plurals import counted

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Ingested:
    """A log in SearchLog's columns, what was set aside, and how many of each. For the owner's eyes only."""

    log: Path
    rejects: Path | None
    """None of a log that came in clean."""
    read: int
    kept: int
    rejected: int
    reasons: dict[str, int]
    format: str
    columns: dict[str, str]
    """The input's column for each role."""
    dropped: int = 0
    """Records with a blank query: neither kept nor rejected."""
    stated: dict[str, str] = field(default_factory=dict)
    """Separator, encoding and form of times as they were stated or recognised, by option."""
    own_query: bool = False
    """Whether the rows are the result of a query of the owner's, which nothing checks."""
    screened: int = 0
    """Records that a screen took out: neither kept nor rejected."""
    screening: dict[str, object] | None = None
    """By which rules, as a card names them."""

    def __post_init__(self) -> None:
        """A column is named on the card: what is not text must be refused before anything is spent."""
        for name in self.columns.values():
            try:
                name.encode("utf-8")
            except UnicodeEncodeError:
                raise InputError(
                    "The name of a column is not text.", given=repr(name), next="rename the column"
                ) from None


def ingest(
    source: str | Path,
    into: Path,
    *,
    format: str = AUTO,
    columns: Mapping[str, str] | None = None,
    stated: Stated = NOTHING_STATED,
    canonical_urls: bool = False,
    screen: Screening | None = None,
    threads: int = 2,
    progress: Progress | None = None,
    some: bool = True,
) -> Ingested:
    """Read a log (a file, a folder or a glob), clean it record by record, and write it into a folder as Parquet.

    The format `auto` is recognised by names and first lines (`sniff`); the result says what it was taken for. A log
    without a usable record is an error, unless `some` is false: one file of a larger log may have none.
    """
    if threads < 1:
        raise ParameterError("Ingest needs a thread.", given=threads, allowed="1 or more", next="leave it at 2")
    if format == AUTO:
        format = sniff(source, columns).format
    unsettled, files = reader(format), resolve(source)
    chosen, stated = unsettled.settled(stated, columns, list(files))
    names = chosen.columns(columns, list(files))
    with PartWriter(Path(into), schema_with(names)) as output, Join(Path(into)) as join:
        _refuse_overwriting(source, files, output)
        finished, total = 0, sum(files.values())
        own = isinstance(chosen, TableReader) and stated.time_format is None and screen is None and not canonical_urls
        taken = own and _taken_over(files, names, output, lambda done: progress and progress(done, total))
        for file, size in () if taken else files.items():
            lines = 0
            for part, done in _computed(chosen.tasks(file, names, canonical_urls), threads, screen):
                output.add(part, file, lines)
                join.add(part.loose, file, lines)
                lines += part.lines
                if progress:
                    progress(finished + done, total)
            finished += size
        for file, part in join.parts():
            output.add(screened(part, screen), file, 0)
        if some and output.kept == 0:
            raise _nothing_kept(source, format, output)
    if progress:
        progress(total, total)
    reasons = dict(output.reasons.most_common())
    rejected = output.read - output.kept - output.dropped - output.screened
    return Ingested(
        output.log,
        output.rejects,
        output.read,
        output.kept,
        rejected,
        reasons,
        format,
        names,
        output.dropped,
        stated.options(),
        screened=output.screened,
    )


def _taken_over(
    files: Mapping[Path, int], names: Mapping[str, str], output: PartWriter, progress: Callable[[int], None]
) -> bool:
    """Whether the log was one file that is clean already, and was taken over as it is."""
    file = next(iter(files))
    if len(files) > 1 or names != {role: role for role in ROLES} or not alike(file):
        return False
    rows = copied_clean(file, output.beside(), progress)
    if rows:
        output.take_over(output.beside(), rows)
    return bool(rows)


def _computed(tasks: Iterator[ReadTask], threads: int, screen: Screening | None) -> Iterator[tuple[ReadPart, int]]:
    """Run tasks on threads, a few at a time, and give their parts in the order of the tasks."""
    waiting: deque[tuple[Future[ReadPart], int]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="ingest")
    try:
        for task in tasks:
            waiting.append((pool.submit(_run, task, screen), task.done))
            if len(waiting) > threads:
                future, done = waiting.popleft()
                yield future.result(), done
        while waiting:
            future, done = waiting.popleft()
            yield future.result(), done
    finally:
        pool.shutdown(cancel_futures=True)


def _run(task: ReadTask, screen: Screening | None) -> ReadPart:
    return screened(task.run(), screen)


def _refuse_overwriting(source: str | Path, files: Iterable[Path], output: PartWriter) -> None:
    """Refuse an output folder whose files are, or would become, part of the log that is read."""
    targets = [path for path in (output.log, output.rejects) if path.exists()]
    if Path(source).resolve() == output.log.parent.resolve() or any(
        target.samefile(on_disk(file)) for target in targets for file in files
    ):
        raise ParameterError(
            "The log cannot be cleaned into its own place.", given=output.log.parent, next="choose another folder"
        )


def _nothing_kept(source: str | Path, format: str, output: PartWriter) -> InputError:
    """The error for a log without a usable record: the commonest reason, and the first rejected line."""
    if output.screened:
        return InputError(
            f"Nothing is left of the log: the screening rules took out {counted(output.screened, 'record')}.",
            given=source,
            next="look at the columns, at --deny and at --screen: is another column the query?",
        )
    if output.first_reject is None:
        what = "The log holds a header and no record, or nothing but lines that are none."
        return InputError(what, given=source, next="check that it was copied whole")
    labels = {reason.label: reason for reason in Reason}
    often, times = output.reasons.most_common(1)[0]
    file, line, first, text = output.first_reject
    nobody = " Where no user is named, nothing can be proven: a report of counts cannot be released."
    return InputError(
        f"No record of the log can be used: {times} of {output.read} are rejected as {often} "
        f"({labels[often].sentence}); the first, line {line} of {file}, as {first} ({labels[first].sentence})."
        + (nobody if often == Reason.NO_USER.label else ""),
        given=f"{source}, read as format {format}; line {line}: {text!r}",
        allowed="a log with at least one usable record",
        next=f"check --format and --columns; `hubbub inspect {source}` shows what the file looks like",
    )
