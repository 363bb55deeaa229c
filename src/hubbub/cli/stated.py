"""Options that state what users hold and which groups they are in, as groups of `options.py` offer them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from hubbub.cli.options import ReadingOptions
    from hubbub.public.groups import Grouping

    Log = TypeVar("Log", bound=ReadingOptions)

ItemKind = Annotated[
    str | None, typer.Option(help="What users hold: searches or items (baskets, visits).", metavar="K")
]
Preferred = Annotated[
    str | None, typer.Option(help="What matters more: rows or counts; same as --set prefer=P.", metavar="P")
]
GroupBy = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help="Also release tables by group: NAME=COLUMN, or hour, weekday, week, month; up to three.",
        metavar="NAME=COLUMN",
    ),
]
GroupValues = Annotated[
    list[str] | None,
    typer.Option(
        "--values",
        help="The public values of a group: DE,FR,…, a file, or iso3166; all else is `other`.",
        metavar="NAME=V,…",
    ),
]


def groupings(by: Sequence[str] | None, values: Sequence[str] | None) -> tuple[Grouping, ...]:
    """What --by and --values say together."""
    from hubbub.public.groups import read_groupings

    return read_groupings(by or (), values or ())


def with_groups(log: Log, by: Sequence[str] | None) -> Log:
    """The options of a log whose columns of groups are read, too."""
    from hubbub.ingest.schema import GROUP

    columns = [f"{GROUP}{given.strip()}" for given in by or () if "=" in given]
    return replace(log, columns=",".join(filter(None, [log.columns, *columns]))) if columns else log
