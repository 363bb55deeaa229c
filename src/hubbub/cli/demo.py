"""`hubbub demo`: make up a log, look at it, estimate, release it, score it, and show where everything is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hubbub.cli.estimate import estimate
from hubbub.cli.evaluate import evaluate
from hubbub.cli.inspect import inspect
from hubbub.cli.release import release
from hubbub.cli.synth import synth
from hubbub.cli.terminal import Terminal, command


@command
def demo(
    out: Annotated[str, typer.Option(help="Where to put the log, the ledger and the release.", metavar="DIR")] = "demo",
    users: Annotated[int, typer.Option(help="How many users the made-up log has.", min=100)] = 20_000,
    *,
    terminal: Terminal,
) -> None:
    """Make up a log, release it privately, score it, and say what to open.

    Example: hubbub demo --out demo
    """
    hush = terminal.quiet or terminal.json
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    log, config, ledger = folder / f"log-{users}.tsv.gz", folder / "demo.toml", folder / "ledger.sqlite"
    terminal.say("1. A made-up log: nobody asked any of it (hubbub synth).")
    if log.exists():
        terminal.say(f"It is there already: {log}")
    else:
        synth(users=users, out=str(log), truth=str(folder / f"truth-{users}"), quiet=hush)
    book: dict[str, Any] = {"ledger": str(ledger), "population": "demo", "dataset": "demo-log"}
    terminal.say("\n2. What its owner may see of it (hubbub inspect).")
    inspect(log=str(log), format="aol", quiet=hush, **book)
    budget: dict[str, Any] = {"mechanism": "crowd", "epsilon": "2", "delta": "1e-6"}
    terminal.say("\n3. What a release would keep, from public facts alone (hubbub estimate --users).")
    estimate(users=users, quiet=hush, **budget)
    config.write_text(CARD, encoding="utf-8")
    number = 1
    while (folder / f"release-{number}").exists():
        number += 1
    made = folder / f"release-{number}"
    terminal.say("\n4. The release (hubbub release).")
    release(
        log=str(log),
        format="aol",
        out=str(made),
        config=str(config),
        json=terminal.json,
        quiet=terminal.quiet,
        verbose=terminal.verbose,
        **budget,
        **book,
    )
    terminal.say("\n5. What it is still worth, on two of the papers' tasks (hubbub evaluate).")
    scored: dict[str, Any] = {"task": ["counts", "index-caching"], "truth": str(folder / f"truth-{users}")}
    evaluate(release=str(made), log=str(log), format="aol", quiet=hush, **scored, **book)
    terminal.say("\nWhere everything is")
    terminal.say(f"  {log}  the log that went in, with the truth about it in {folder / f'truth-{users}'}")
    terminal.say(f"  {made}/public/index.html  what may be published: open this first")
    terminal.say(f"  {made}/public/card.json  the claim; check it with: hubbub card {made} --check")
    terminal.say(f"  {made}/owner-only/  what only the owner may see, the scores among it")
    terminal.say(f"  {ledger}  the budget book; see it with: hubbub ledger show --ledger {ledger}")


CARD = """# What only the owner can say; printed on the card.
[card]
title = "A made-up search log"
curator = "hubbub demo"
licence = "CC0-1.0"
intended_use = "Trying hubbub. Nobody asked any of these queries."
"""
