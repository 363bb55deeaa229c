"""Options for publishing with care, as groups of `options.py` offer them: screening, a draft, an earlier release."""

from __future__ import annotations

from typing import Annotated

import typer

from hubbub.cli.listed import completing

ScreenRules = Annotated[
    str | None,
    typer.Option(
        help="Take out records that look personal: none, default, or rules: {rules}.",
        metavar="RULES",
        autocompletion=completing("rules"),
    ),
]
DenyFile = Annotated[
    str | None, typer.Option(help="Texts to take out, one a line; glob: and re: begin patterns.", metavar="FILE")
]
AllowFile = Annotated[
    str | None, typer.Option(help="Texts that no rule of --screen takes out, in the same form.", metavar="FILE")
]
AsDraft = Annotated[bool | None, typer.Option("--review", help="Make a draft, for somebody to look at: hubbub review.")]
Supersedes = Annotated[
    str | None, typer.Option(help="The earlier release in whose place this one is.", metavar="RELEASE")
]
Because = Annotated[
    str | None, typer.Option(help="Why it is superseded, in a sentence: it is published.", metavar="TEXT")
]
