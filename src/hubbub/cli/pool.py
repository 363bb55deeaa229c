"""`hubbub pool build`: a public pool of queries, for mechanisms that count over one."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from hubbub.cli.listed import Listed
from hubbub.cli.terminal import Terminal, command
from hubbub.errors import ParameterError
from hubbub.plurals import counted

pool = typer.Typer(help="Public pools of queries.", no_args_is_help=True)


@pool.callback()
def main() -> None:
    """Public pools of queries, for `hubbub release --mechanism safelog --pool F`."""


@pool.command(cls=Listed)
@command
def build(
    out: Annotated[str, typer.Option(help="A new .parquet file.", metavar="F")],
    ngrams: Annotated[bool, typer.Option("--ngrams", help="Words and pairs of words of the web (default).")] = False,
    queries: Annotated[
        str | None, typer.Option(help="A public file: one query per line, or .tsv or .parquet with query.", metavar="F")
    ] = None,
    release: Annotated[
        str | None, typer.Option(help="The queries of an earlier private release.", metavar="DIR")
    ] = None,
    size: Annotated[int | None, typer.Option(help="With --ngrams: only the N most frequent.", metavar="N")] = None,
    nouns: Annotated[
        bool, typer.Option("--nouns", help="Only two to five words that end in a noun (Safelog's recipe).")
    ] = False,
    *,
    terminal: Terminal,
) -> None:
    """Build a pool of queries from public sources. It must not come from the log it will be used with.

    Example: hubbub pool build --ngrams --out pool.parquet
    """
    from hubbub.public.pool import build as build_pool

    if ngrams and (queries is not None or release is not None):
        raise ParameterError("A pool has one source.", allowed="one of --ngrams, --queries F, --release DIR")
    started = time.monotonic()
    made = build_pool(out, queries=queries, release=release, size=size, nouns=nouns)
    seconds = round(time.monotonic() - started, 3)
    terminal.say(f"A pool of {counted(made.queries, 'query', 'queries')}: {made.path}, in {seconds:.1f} s")
    terminal.say(f"It holds {made.source}; the card of a release that uses it will say so.")
    terminal.document(
        {
            "out": str(made.path),
            "queries": made.queries,
            "source": made.source,
            "sha256": made.sha256,
            "seconds": seconds,
        }
    )
