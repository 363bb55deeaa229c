"""`hubbub demo`: make up a log, look at it, estimate, release it, score it, and tell the story on two screens."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from textwrap import wrap
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
    hush, folder = terminal.quiet, Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    log, config, ledger = folder / f"log-{users}.tsv.gz", folder / "demo.toml", folder / "ledger.sqlite"
    truth, details = folder / f"truth-{users}", folder / "details.txt"
    book: dict[str, Any] = {"ledger": str(ledger), "population": "demo", "dataset": "demo-log"}
    budget: dict[str, Any] = {"mechanism": "crowd", "epsilon": "2", "delta": "1e-6"}
    config.write_text(CARD, encoding="utf-8")
    number = 1
    while (folder / f"release-{number}").exists():
        number += 1
    made = folder / f"release-{number}"
    with details.open("w", encoding="utf-8") as file, redirect_stdout(file):
        if not log.exists():
            terminal.tell("Making up a log (hubbub synth) …")
            synth(users=users, out=str(log), truth=str(truth), quiet=hush)
        terminal.tell("Looking at it as its owner may (hubbub inspect) …")
        inspect(log=str(log), format="aol", quiet=hush, **book)
        terminal.tell("Estimating what a release keeps, from public facts alone (hubbub estimate) …")
        estimate(users=users, quiet=hush, **budget)
        terminal.tell("Releasing it (hubbub release) …")
        release(log=str(log), format="aol", out=str(made), config=str(config), quiet=hush, **budget, **book)
        terminal.tell("Scoring the release on two of the papers' tasks (hubbub evaluate) …")
        scored: dict[str, Any] = {"task": ["counts", "index-caching"], "truth": str(truth)}
        evaluate(release=str(made), log=str(log), format="aol", quiet=hush, **scored, **book)
    terminal.say_all(story(users, log, made, ledger, details))
    terminal.document(json.loads((made / "public" / "card.json").read_text(encoding="utf-8")))


def story(users: int, log: Path, made: Path, ledger: Path, details: Path) -> Iterator[str]:
    """What went in, what came out, what is promised, what it cost, what to open: two screens."""
    import pyarrow.parquet as pq

    from hubbub.show.dataset import rows_of

    public = made / "public"
    card = json.loads((public / "card.json").read_text(encoding="utf-8"))
    counts = json.loads((made / "owner-only" / "scores.json").read_text(encoding="utf-8"))["counts"]
    tables = {name: pq.read_table(public / f"{name}.parquet") for name in card["release"]["contains"]}
    yield "\nWHAT WENT IN"
    yield f"  A made-up search log in the format of the AOL log of 2006: {users:,} users, three months, nobody real."
    yield f"  They asked {counts['queries.distinct']['original']:,} different queries, nearly all of them once. {log}"
    yield "\nWHAT CAME OUT"
    rows = ", ".join(rows_of(name, table.num_rows) for name, table in tables.items())
    yield f"  {rows}: what many users share, with noise in every number."
    yield "  The most frequent queries:"
    yield f"  {'query':<32} {'users':>7}   give or take"
    for row in tables["queries"].slice(0, 6).to_pylist():
        yield f"  {row['query'][:32]:<32} {row['users']:>7,}   {2 * row['noise_sd']:,.0f}"
    yield "\nWHAT IS PROMISED"
    yield from wrap(card["claim"]["sentence"], 100, initial_indent="  ", subsequent_indent="  ")
    odds = f"{math.exp(card['claim']['epsilon']):.1f}"
    yield f"  In other words: whatever somebody knows already, the odds about one user move by at most a factor {odds},"
    yield "  but for the tiny chance at the end of that sentence."
    yield "\nWHAT IT COST"
    kept, top = counts["published_volume"]["release"], counts.get("queries.coverage@100", {}).get("release")
    yield f"  Only {kept:.1%} of all searches asked one of the published queries: rare queries stay secret." + (
        f" Of the 100 most\n  frequent queries {100 * top:.0f} are there." if top is not None else ""
    )
    spent = card["accounting"]["ledger"]
    yield f"  The budget book has ε = {spent['epsilon_after']:g} for these users now; another release adds to it."
    yield "\nWHAT TO OPEN"
    yield f"  {public / 'index.html'}  the page that may be published: open this first"
    yield f"  {made / 'owner-only' / 'report.html'}  what only the owner may see: what is missing, what it is worth"
    yield f"  {details}  what every step said"
    yield "\nWHAT TO TRY"
    yield f"  hubbub card {made} --check"
    yield f"  hubbub ledger show --ledger {ledger}"
    yield f"  hubbub studio {log}"


CARD = """# What only the owner can say; printed on the card.
[card]
title = "A made-up search log"
curator = "hubbub demo"
licence = "CC0-1.0"
intended_use = "Trying hubbub. Nobody asked any of these queries."
"""
