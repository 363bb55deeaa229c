"""`hubbub reproduce`: the papers' numbers, expected and computed."""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.options import LogOptions, Without, spelled
from hubbub.cli.raw_log import looking
from hubbub.cli.terminal import Terminal, command
from hubbub.errors import CheckFailed, ParameterError

if TYPE_CHECKING:
    from hubbub.papers.experiments import ExperimentRow
    from hubbub.papers.numbers import NumberRow


BANNER = (
    "OWNER ONLY. The papers' experiments on a raw log: not private, do not publish. Nothing is released or spent. All "
    "draws are of this one log: intervals cover the split and the noise, not which log it is."
)


@dataclass(frozen=True, kw_only=True)
class ExperimentLogOptions(LogOptions):
    """The log that experiments are run on, where it is not a synthetic one."""

    ASKED = "--log LOG"
    log: Annotated[
        str | None,
        typer.Option("--log", help="Experiments: on this raw log, for its owner's eyes only.", metavar="LOG"),
    ] = None


@command
def reproduce(
    log: Annotated[ExperimentLogOptions, Without(["config", "engine", "master"])],
    id: Annotated[
        str | None, typer.Argument(help="A row, or all that begin so: gotz, gotz/table-1, …", metavar="ID")
    ] = None,
    experiments: Annotated[
        bool, typer.Option("--experiments", help="Run the papers' experiments instead, on synthetic logs or on --log.")
    ] = False,
    users: Annotated[int | None, typer.Option(help="Experiments: users of each log (20000).", metavar="N")] = None,
    draws: Annotated[int | None, typer.Option(help="Experiments: logs, splits and noises each (5).")] = None,
    seed: Annotated[int | None, typer.Option(help="Experiments: of the first draw (0).")] = None,
    out: Annotated[
        str | None,
        typer.Option(help="Experiments: keep rows and draws here, and go on from there.", metavar="DIR"),
    ] = None,
    *,
    terminal: Terminal,
) -> None:
    """Compute the papers' numbers again: as printed, computed, and whether they hold.

    --verbose says why of every row, not only of those that do not match; of experiments, parameters and command.

    With --log, experiments run on that log. That is a look, which the ledger records; --out then gets owner-only/.

    Example: hubbub reproduce gotz/table-1
    """
    given = {"users": users, "draws": draws, "seed": seed, "out": out}
    about_log = {f.name: getattr(log, f.name) for f in fields(log) if getattr(log, f.name) is not None}
    if experiments and log.log is not None:
        return _on_own_log(id, given, log, terminal)
    if experiments and about_log:
        raise ParameterError("This is about a log.", given=", ".join(map(spelled, about_log)), next="add --log LOG")
    if experiments:
        return _experiments(id, given, terminal)
    given |= about_log
    if options := [spelled(name) for name, value in given.items() if value is not None]:
        raise ParameterError("This is about experiments.", given=", ".join(options), next="add --experiments")
    from hubbub.papers.numbers import PAPERS
    from hubbub.papers.numbers import reproduce as compute
    from hubbub.papers.numbers.rows import VERDICTS

    rows = compute(id)
    terminal.document({"rows": [row.record() for row in rows]})
    if not terminal.json:
        width = min(120, max(40, shutil.get_terminal_size().columns))
        if id is not None and len(rows) == 1:
            _details(rows[0], terminal, width)
        else:
            _wrapped("verdict, id, expected → computed; why, where it is neither match nor holds", "", terminal, width)
            terminal.say()
            for key, of_paper in groupby(rows, key=lambda row: row.id.partition("/")[0]):
                _table(PAPERS[key].title, list(of_paper), terminal, width)
            many = Counter(row.verdict for row in rows)
            counted = ", ".join(f"{many[v]} {v}" for v in VERDICTS)
            _wrapped(f"{len(rows)} rows: {counted}.", "", terminal, width)
    wrong = [f"{row.id}: {', '.join(row.wrong)}" for row in rows if row.wrong]
    if wrong:
        raise CheckFailed("Computed numbers are not those of our own study:\n  " + "\n  ".join(wrong))


def _experiments(id: str | None, given: dict[str, Any], terminal: Terminal) -> None:
    """The papers' experiments. A trend that does not appear is a finding, not a failure."""
    from hubbub.papers.experiments import experiments
    from hubbub.papers.experiments.page import write

    asked = {name: value for name, value in given.items() if value is not None}
    rows = experiments(id, progress=terminal.progress("running"), **asked)
    if given["out"] is not None:
        write(Path(given["out"]), rows)
    terminal.document({"rows": [row.record() for row in rows]})
    _told(rows, terminal)


def _on_own_log(id: str | None, given: dict[str, Any], log: ExperimentLogOptions, terminal: Terminal) -> None:
    """The same on a raw log: a look."""
    from contextlib import nullcontext

    from hubbub.papers.experiments import experiments
    from hubbub.papers.experiments.own import OwnLog, kept
    from hubbub.papers.experiments.page import write

    if given["users"] is not None:
        raise ParameterError(
            "--users is about synthetic logs.", given=given["users"], next="leave out --users or --log"
        )
    asked = {name: given[name] for name in ("draws", "seed") if given[name] is not None}
    with looking("reproduce", log, None, terminal, BANNER) as raw:
        own = OwnLog.of(raw, "/".join(log.names()))
        with nullcontext() if given["out"] is None else kept(given["out"], own) as folder:
            rows = experiments(id, own=own, out=folder, progress=terminal.progress("running"), **asked)
            if folder is not None:
                write(folder, rows, own.name)
    terminal.document({"log": own.name, "rows": [row.record() for row in rows]})
    terminal.say(f"On the log {own.name}.")
    _told(rows, terminal)
    if folder is not None:
        terminal.say(f"Kept in {folder}, for the owner's eyes only.")


def _told(rows: Sequence[ExperimentRow], terminal: Terminal) -> None:
    from hubbub.papers.experiments.show import lines

    if not terminal.json:
        width = min(120, max(40, shutil.get_terminal_size().columns))
        terminal.say_all(lines(rows, width, details=terminal.verbose or len(rows) == 1))


def _table(title: str, rows: Sequence[NumberRow], terminal: Terminal, width: int) -> None:
    """A paper: its parts, one line per row, and beneath a row why it does not match."""
    from hubbub.papers.numbers.rows import shown

    _wrapped(title, "", terminal, width)
    terminal.say("=" * min(len(title), width))
    for part, same in groupby(rows, key=lambda row: row.part):
        together = list(same)
        longest = max(len(row.id) for row in together)
        terminal.say()
        _wrapped(part, "  ", terminal, width)
        for row in together:
            numbers = f"{row.printed} → {shown(row.computed)}"
            line = f"    {row.verdict:<10}  {row.id:<{longest}}  {numbers}"
            if len(line) > width:
                terminal.say(f"    {row.verdict:<10}  {row.id}")
                _wrapped(numbers, " " * 16, terminal, width)
            else:
                terminal.say(line)
            if row.verdict not in ("match", "holds") or terminal.verbose:
                _wrapped(row.why, " " * 16, terminal, width)
    terminal.say()


def _details(row: NumberRow, terminal: Terminal, width: int) -> None:
    """One row, with all its digits."""
    for name, text in (
        ("id", row.id),
        ("paper", row.paper),
        ("where", row.part),
        ("expected", row.printed),
        ("computed", repr(row.computed)),
        ("verdict", row.verdict),
        ("why", row.why),
    ):
        _wrapped(f"{name + ':':<10}{text}", "", terminal, width, " " * 10)


def _wrapped(text: str, indent: str, terminal: Terminal, width: int, more: str | None = None) -> None:
    later = indent if more is None else more
    terminal.say_all(textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=later, break_long_words=False))
