"""`hubbub report`: rebuild the owner's report of a release, from what is there or from its log again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.options import MechanismOptions, ReleasedLogOptions, ReleaseFolder
from hubbub.cli.raw_log import log_of_release, looking
from hubbub.cli.stated import with_groups
from hubbub.cli.terminal import Terminal, command
from hubbub.errors import ParameterError
from hubbub.plurals import counted

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.mechanisms import Mechanism

BANNER = "OWNER ONLY. The report shows exact facts of the raw log: not private, do not publish."


@dataclass(frozen=True, kw_only=True)
class RecountedLogOptions(ReleasedLogOptions):
    """The raw log of a release, read again only if it is named."""

    log: Annotated[
        str | None,
        typer.Option(
            "--log",
            help="Count the raw log again, all keys of it, and estimate other budgets. Default: only what is there.",
            metavar="LOG",
        ),
    ] = None


@command
def report(release: ReleaseFolder, log: RecountedLogOptions, terminal: Terminal) -> None:
    """Rebuild owner-only/report.html. Not private. With --log it reads the raw log, which the ledger records.

    Example: hubbub report release --log log.tsv.gz
    """
    from hubbub.show.owner import charts, owner_only, write_report

    folder = owner_only(Path(release))
    if log.log is None:
        terminal.say(BANNER)
    else:
        _count_again(Path(release), folder, log, terminal)
    path = write_report(release)
    drawn = charts(release)
    terminal.say(f"{counted(len(drawn), 'chart')} in {path}: {', '.join(drawn)}.")
    terminal.document({"report": str(path), "charts": {name: chart.alt for name, chart in drawn.items()}})


def _count_again(release: Path, owner_only: Path, log: ReleasedLogOptions, terminal: Terminal) -> None:
    """Everything that needs the log; written before the page is."""
    stated, log = log_of_release(owner_only, log)
    asked = stated.fill(MechanismOptions())
    if not asked.mechanism:
        raise ParameterError(
            "What made this release is not known.",
            given=f"{log.config or owner_only / 'run.toml'} names no mechanism",
            next="give the configuration of the release with --config",
        )
    mechanism = asked.build(stated.settings_with(asked), canonical_urls=stated.options.get("canonical_urls"))
    with looking("report", with_groups(log, asked.by), stated.owner.period, terminal, BANNER) as raw:
        _gather(release, raw, mechanism, terminal)


def _gather(release: Path, raw: SearchLog, mechanism: Mechanism, terminal: Terminal) -> None:
    from hubbub.card.check import public_folder
    from hubbub.show import kept
    from hubbub.show.exact import gather
    from hubbub.show.group_facts import group_facts
    from hubbub.show.tried import other_budgets

    folder = release / "owner-only"
    before = kept.read(folder)
    terminal.note("counting every key")
    tables, _ = gather(raw, mechanism, public_folder(release), every=True)
    tried, estimated = other_budgets(mechanism, raw, terminal.note)
    found = replace(
        before,
        tables=kept.merged(before.tables, tables),
        laws=dict(before.laws) | estimated,
        tried=tried,
        groups=tuple(group_facts(raw, mechanism, public_folder(release))),
    )
    kept.write(folder, found)
