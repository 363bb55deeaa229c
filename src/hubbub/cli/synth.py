"""`hubbub synth`: make up a search log, with the truth about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.terminal import Terminal, command


@command
def synth(
    users: Annotated[int, typer.Option(help="How many users the log has.", metavar="N")],
    out: Annotated[str, typer.Option(help="A new .tsv, .tsv.gz (AOL's format) or .parquet.", metavar="FILE")],
    preset: Annotated[str, typer.Option(help="The shape of the log: {presets}.")] = "aol",
    seed: Annotated[int, typer.Option(help="The same seed gives the same log.")] = 0,
    truth: Annotated[
        str | None, typer.Option(help="A new folder for serp, topics, intents, … (.parquet).", metavar="DIR")
    ] = None,
    canaries: Annotated[
        str | None,
        typer.Option(
            help="Plant canaries: `default`, or a tab separated file of query, users, times, url.", metavar="FILE"
        ),
    ] = None,
    *,
    terminal: Terminal,
) -> None:
    """Make up a search log: nobody asked any of it, and what it means is known.

    Example: hubbub synth --users 20000 --out log.parquet --truth truth
    """
    from hubbub.synth import MADE_UP, read_canaries
    from hubbub.synth.run import synthesise

    planted = MADE_UP if canaries == "default" else read_canaries(Path(canaries)) if canaries else ()
    made = synthesise(
        users,
        Path(out),
        preset=preset,
        seed=seed,
        truth=Path(truth) if truth else None,
        canaries=planted,
        progress=terminal.progress("making up a log"),
    )
    terminal.say(f"A made-up log of {users:,} users: {out}, {made.rows:,} rows in {made.seconds:.1f} s")
    if made.truth:
        terminal.say(f"The truth about it: {', '.join(str(path) for path in made.truth.values())}")
    terminal.document(
        {
            "out": out,
            "rows": made.rows,
            "users": users,
            "preset": preset,
            "seed": seed,
            "canaries": len(planted),
            "seconds": round(made.seconds, 3),
            "truth": {name: str(path) for name, path in made.truth.items()},
        }
    )
