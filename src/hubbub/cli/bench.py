"""`hubbub bench quick`: how fast a release is here, as ratios against the bare engine."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from hubbub.cli.listed import Listed
from hubbub.cli.options import whole_number
from hubbub.cli.terminal import Terminal, command

SHORT = 1.0
"""Seconds of the bare engine below which the ratio is about what every release costs."""

bench = typer.Typer(help="How fast it is on this machine.", no_args_is_help=True)


@bench.callback()
def main() -> None:
    """How fast it is on this machine."""


@bench.command(cls=Listed)
@command
def quick(
    users: Annotated[
        int | None, typer.Option(help="The size of the made-up log (as many as two minutes allow).", metavar="N")
    ] = None,
    *,
    terminal: Terminal,
) -> None:
    """Read and release a made-up log beside the bare engine, and print how many times as long it took. Two minutes.

    Example: hubbub bench quick
    """
    import duckdb

    from hubbub.look.quick import MOST
    from hubbub.look.quick import quick as run

    found = run(whole_number(users, "users", least=100, most=20 * MOST), terminal.tell)
    terminal.say(
        f"A made-up log of {found.users:,} users: {found.rows:,} rows, {found.bytes / 1e6:,.0f} MB of text. "
        f"{os.cpu_count()} cores, DuckDB {duckdb.__version__}."
    )
    terminal.say(f"  {'':<28}{'hubbub':>10}{'bare DuckDB':>14}{'ratio':>9}")
    for pace in found.paces:
        terminal.say(f"  {pace.job:<28}{pace.ours:>8.2f} s{pace.bare:>12.2f} s{pace.ratio:>9.1f}")
    if found.paces[-1].bare < SHORT:
        terminal.say(
            "On so small a log, what every release costs however small it is decides: --users 50000 tells more."
        )
    terminal.say("Compare ratios, not seconds: both were measured here, one after the other. bench/README.md has more.")
    terminal.document(found.record())
