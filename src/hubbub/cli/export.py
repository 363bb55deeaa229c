"""`hubbub export`: a release in the format that a reader's tools want."""

from __future__ import annotations

from typing import Annotated

import typer

from hubbub.cli.listed import completing
from hubbub.cli.terminal import Terminal, command


@command
def export(
    release: Annotated[str, typer.Argument(help="A release folder, or its public/.", metavar="RELEASE")],
    to: Annotated[
        str, typer.Option(help="The format: {exports}.", metavar="FORMAT", autocompletion=completing("exports"))
    ],
    out: Annotated[str, typer.Option(help="A new folder.", metavar="DIR")],
    gzip: Annotated[bool, typer.Option("--gzip", help="Compress text files.")] = False,
    group: Annotated[
        str, typer.Option(help="One group of a release made with --by: country=DE.", metavar="NAME=VALUE")
    ] = "",
    *,
    terminal: Terminal,
) -> None:
    """Write a release in another format. Reads public/ only, so it costs nothing; carries the card and the claim.

    Example: hubbub export release --to tsv --out release-tsv
    """
    from hubbub.card.schema import STAMP
    from hubbub.show.export import export as write

    made = write(release, to, out, gzip=gzip, group=group)
    if not made.private:
        terminal.warn(f"{STAMP}: so is this export, and it says so.")
    terminal.say(made.sentence)
    for file in made.files:
        terminal.say(f"  {file.name:28} {file.rows:>9,} {'row ' if file.rows == 1 else 'rows'}  {file.about}")
    terminal.say(f"Wrote {out}; README.md in it says how to read the files.")
    terminal.document(
        {
            "out": out,
            "to": made.format,
            "release": made.release,
            "private": made.private,
            "claim": made.sentence,
            "files": {file.name: file.rows for file in made.files},
        }
    )
