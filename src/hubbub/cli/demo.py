"""`hubbub demo`: make a small log, release it, and show where everything is."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.shared import Json, Quiet, Terminal, Verbose, command

WORDS = [
    "weather",
    "map",
    "news",
    "bank",
    "hotel",
    "music",
    "video",
    "recipe",
    "travel",
    "school",
    "garden",
    "history",
    "game",
    "house",
    "car",
    "film",
    "health",
    "phone",
    "island",
    "river",
    "cheap",
    "best",
    "free",
    "online",
    "local",
    "old",
    "new",
    "photo",
    "book",
    "train",
]


@command
def demo(
    out: Annotated[str, typer.Option(help="Where to put the log, the ledger and the release.", metavar="DIR")] = "demo",
    users: Annotated[int, typer.Option(help="How many users the made-up log has.", min=100)] = 20_000,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make up a log, release it privately, and say what to open.

    Example: hubbub demo --out demo
    """
    from hubbub.card.owner import Owner
    from hubbub.cli.release import run

    terminal = Terminal(as_json=json, quiet=quiet, verbose=verbose)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"log-{users}.tsv.gz"
    if not log.exists():
        write_log(log, users)
    terminal.say(f"A made-up log of {users} users: {log}")
    number = 1
    while (folder / f"release-{number}").exists():
        number += 1
    given = dict.fromkeys(
        [
            "variant",
            "neighbours",
            "tables",
            "columns",
            "canonical_urls",
            "max_rejects",
            "serp",
            "engine",
            "memory",
            "threads",
            "work",
            "users_public",
            "seed",
            "not_private",
        ]
    )
    run(
        given
        | {
            "log": str(log),
            "out": str(folder / f"release-{number}"),
            "mechanism": "korolova",
            "format": "aol",
            "population": "demo",
            "dataset": "demo-log",
            "ledger": str(folder / "ledger.sqlite"),
        },
        {"epsilon": "2", "delta": "1e-6", "d": "10"},
        Owner(title="A made-up search log", curator=("hubbub demo",), licence="CC0-1.0"),
        {},
        terminal,
    )


def write_log(path: Path, users: int) -> None:
    """A small log in AOL's format: Zipf queries of one to three words, half of them clicked."""
    import numpy as np

    random = np.random.default_rng(0)
    searches = np.minimum(1 + random.lognormal(1.8, 1.1, users).astype(int), 500)
    user = np.repeat(np.arange(1, users + 1), searches)
    rank = np.minimum(np.exp(random.random(user.size) * np.log(50_000)).astype(int), 49_999)
    start = np.datetime64("2006-03-01T00:00:00")
    time = start + np.sort(random.integers(0, 90 * 86_400, user.size)).astype("timedelta64[s]")
    clicked = random.random(user.size) < 0.5
    order = np.lexsort((time, user))
    temporary = path.with_suffix(".partial")
    with gzip.open(temporary, "wt", encoding="utf-8", compresslevel=1) as file:
        file.write("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n")
        for i in order.tolist():
            k = int(rank[i])
            words = [WORDS[k % 30], WORDS[k // 30 % 30], WORDS[k // 900 % 30]][: 1 + (k > 30) + (k > 900)]
            suffix = f" {k // 27_000}" if k >= 27_000 else ""
            stamp = str(time[i]).replace("T", " ")
            click = f"1\thttp://www.{words[0]}{k % 7}.example" if clicked[i] else "\t"
            file.write(f"{user[i]}\t{' '.join(words)}{suffix}\t{stamp}\t{click}\n")
    temporary.rename(path)
