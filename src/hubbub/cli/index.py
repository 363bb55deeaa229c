"""`hubbub index`: one page of all releases of a population, newest first, with what became of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.terminal import Terminal, command


@command
def index(
    folder: Annotated[str, typer.Argument(help="The folder in which the releases are.", metavar="FOLDER")],
    out: Annotated[str, typer.Option(help="The folder to make, with index.html and index.json.", metavar="DIR")],
    population: Annotated[str | None, typer.Option(help="Of whom, if there are releases of several.")] = None,
    *,
    terminal: Terminal,
) -> None:
    """Make a page of all releases of a population from their cards alone: newest first, with errata. Costs nothing.

    Example: hubbub index releases --out releases/public
    """
    from hubbub.show.population import write_population

    page, listed = write_population(Path(folder), Path(out).absolute(), population)
    for one in listed:
        terminal.say(f"  {one.card.release.published}  {one.card.release.id}: {one.state}")
    terminal.say(f"Open {page}.")
    terminal.document({"index": str(page), "releases": [one.record() for one in listed]})
