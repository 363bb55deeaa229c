"""`hubbub demo`: make up a log, look at it, estimate, release it, score it, and tell the story on two screens."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from contextlib import redirect_stdout
from itertools import groupby, islice
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

    def counted(name: str) -> list[dict[str, Any]]:
        rows = tables[name].slice(0, 6).to_pylist() if name in tables else []
        return [row for row in rows if row["users"] is not None]

    yield "\nWHAT WENT IN"
    yield f"  Three months of searches in a town that does not exist, by {users:,} users who do not either: {log}"
    yield "  One of them, line by line, as every search engine keeps it:"
    for user, query, time, _, url in one_user(log):
        yield f"  {user:>6}  {time[:16]}  {query[:36]:<36} {url.removeprefix('http://') if url else ''}".rstrip()
    asked = counts["queries.distinct"]["original"]
    yield f"  In all {asked:,} different queries, nearly all of them asked by one user alone."
    yield "  Whoever recognises one search of somebody knows all the others: this must not leave the house."
    yield "\nWHAT CAME OUT"
    rows = ", ".join(rows_of(name, table.num_rows) for name, table in tables.items() if table.num_rows)
    yield f"  {rows}: what many users share, with noise in every number."
    yield f"  {'query':<32} {'users':>7}   give or take"
    for row in counted("queries"):
        yield f"  {row['query'][:32]:<32} {row['users']:>7,}   {2 * row['noise_sd']:,.0f}"
    for row in counted("clicks")[:1]:
        yield f"  and about {row['users']:,} of those who asked {row['query']} went to {row['url']}"
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


def one_user(log: Path, least: int = 4, most: int = 7) -> list[list[str]]:
    """The rows of the first user of a log who has a few, of several short queries."""
    with gzip.open(log, "rt", encoding="utf-8") as lines:
        next(lines)
        rows = (line.rstrip("\n").split("\t") for line in lines)
        for _, mine in groupby(rows, key=lambda row: row[0]):
            found = list(islice(mine, most + 1))
            asked = {query for _, query, *_ in found}
            if len(found) <= most and len(asked) >= least and all(query.count(" ") < 3 for query in asked):
                return found
    return []


CARD = """# What only the owner can say; printed on the card.
[card]
title = "What a made-up town looked for, spring 2006"
curator = "The library of a town that does not exist (hubbub demo)"
licence = "CC0-1.0"
contact = "privacy@library.example"
intended_use = "Trying hubbub. Nobody asked any of these queries."
"""
