"""`hubbub reproduce`: the papers' numbers, expected and computed."""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.terminal import Terminal, command
from hubbub.errors import CheckFailed, ParameterError

if TYPE_CHECKING:
    from hubbub.papers.numbers import NumberRow


@command
def reproduce(
    id: Annotated[
        str | None, typer.Argument(help="A row, or all that begin so: gotz, gotz/table-1, …", metavar="ID")
    ] = None,
    experiments: Annotated[
        bool, typer.Option("--experiments", help="Run the papers' experiments on the synthetic log instead.")
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

    Example: hubbub reproduce gotz/table-1
    """
    given = {"users": users, "draws": draws, "seed": seed, "out": out}
    if experiments:
        return _experiments(id, given, terminal)
    if options := [f"--{name}" for name, value in given.items() if value is not None]:
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
    from hubbub.papers.experiments.show import lines

    asked = {name: value for name, value in given.items() if value is not None}
    rows = experiments(id, progress=terminal.progress("running"), **asked)
    if given["out"] is not None:
        write(Path(given["out"]), rows)
    terminal.document({"rows": [row.record() for row in rows]})
    if not terminal.json:
        width = min(120, max(40, shutil.get_terminal_size().columns))
        terminal.say_all(lines(rows, width, details=terminal.verbose or len(rows) == 1))


def _table(title: str, rows: Sequence[NumberRow], terminal: Terminal, width: int) -> None:
    """A paper: its parts, a line a row, and beneath it why it does not match."""
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
