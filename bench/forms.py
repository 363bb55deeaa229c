"""The forms of queries in a readable made-up log, and what public knowledge is worth on it.

    python bench/forms.py [--users 26000] [--more 110] [--heavy 1000]       the table of forms, beside a real log's
    python bench/forms.py worth [--users 20000] [--heavy 0] [--epsilon 1] [--delta 1e-6] [--draws 3]

`worth` releases queries by crowd (seeded: experiments only) in the two vocabularies, without public knowledge, with
weights by form, and with known words besides. `--heavy N` takes N users who ask more than `--more` different queries.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.noise import SeededNoise
from hubbub.public.prior import SUFFIXES
from hubbub.public.words import ENGLISH, vocabulary
from hubbub.steps.mode import RunMode
from hubbub.synth import SYLLABIC, generate

REAL = {
    "one known word": (3.5, 38, 51, 59),
    "a known pair of words": (1.2, 14, 17, 18),
    "two known words, pair not listed": (18, 27, 19, 8),
    "three known words, both pairs listed": (1.1, 3, 3, 4),
    "other three known words": (22, 8, 4, 2),
    "four or more known words": (37, 1, 0, 1),
    "domain of a known word": (0.2, 4, 4, 6),
    "one unknown word, domain of joined words": (1.4, 1.4, 0.4, 0),
    "anything else": (15, 2, 1, 1),
}
"""Published shares of a web log of 2006, 1,000 heavy users: of all distinct queries, of those of 5, 10 and 20 users."""
USERS = (1, 5, 10, 20)
KNOWLEDGE = {
    "nothing": {"language": "none"},
    "forms": {"language": ENGLISH, "known_words": "no"},
    "forms and known words": {"language": ENGLISH},
}


def made(users: int, words: str, heavy: int, more: int) -> pa.Table:
    """A log, or some of its users who ask much."""
    log = pa.Table.from_batches(list(generate(users, 0, vocabulary=words)))
    if not heavy:
        return log
    with duckdb.connect() as engine:
        engine.register("log", log)
        engine.execute(
            f"""CREATE TABLE heavy AS SELECT "user" FROM log GROUP BY "user" HAVING count(DISTINCT query) > {more}
                ORDER BY hash("user") LIMIT {heavy}"""
        )
        return engine.sql('SELECT log.* FROM log SEMI JOIN heavy USING ("user")').to_arrow_table()


def form(query: str, words: frozenset[str], pairs: frozenset[str]) -> str:
    """The form of a query, by public words and pairs alone."""
    parts = query.split()
    forms = list(REAL)
    if len(parts) == 1:
        stem, dot, suffix = query.removeprefix("www.").rpartition(".")
        return forms[0] if query in words else forms[6] if dot and suffix in SUFFIXES and stem in words else forms[7]
    if not words.issuperset(parts):
        return forms[8]
    if len(parts) == 2:
        return forms[1] if query in pairs else forms[2]
    listed = {" ".join(parts[:2]), " ".join(parts[1:])} <= pairs
    return forms[5] if len(parts) > 3 else forms[3] if listed else forms[4]


def forms(log: pa.Table) -> None:
    """Print the table of forms."""
    known = vocabulary(ENGLISH)
    words, pairs = (frozenset(table.column("query").to_pylist()) for table in (known.words, known.pairs))
    users = Counter(log.group_by(["query", "user"]).aggregate([])["query"].to_pylist())
    sort = {query: form(query, words, pairs) for query in users}
    counts = [Counter(sort[query] for query, count in users.items() if count >= least) for least in USERS]
    print("| form of the query | " + " | ".join(f"≥ {least}: real | ours" for least in USERS) + " |")
    print("|---|" + "--:|--:|" * len(USERS))
    for name, real in REAL.items():
        ours = [100 * found[name] / found.total() for found in counts]
        print(
            f"| {name} | " + " | ".join(f"{one:g} | {other:.1f}" for one, other in zip(real, ours, strict=True)) + " |"
        )
    print(
        "queries:",
        ", ".join(f"{found.total():,} of {least} or more" for found, least in zip(counts, USERS, strict=True)),
    )


def worth(asked: argparse.Namespace) -> None:
    """Print how many queries come out, by vocabulary and by what is known beforehand."""
    print("| words | " + " | ".join(KNOWLEDGE) + " |\n|---|" + "--:|" * len(KNOWLEDGE))
    for words in (SYLLABIC, ENGLISH):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log.parquet"
            pq.write_table(made(asked.users, words, asked.heavy, asked.more), path)
            with read_log(path) as log:
                cells = []
                for settings in KNOWLEDGE.values():
                    budget = {"epsilon": asked.epsilon, "delta": asked.delta}
                    crowd = build("crowd", {**budget, **settings}, tables=["queries"])
                    rows = []
                    for draw in range(asked.draws):
                        noise = SeededNoise(draw)
                        measured = crowd.measure(log, RunMode(noise.secret("bounding")))
                        rows.append(len(crowd.draw(measured, noise)["queries"].ids))
                    cells.append(f"{np.mean(rows):,.1f}")
            print(f"| {words} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", default="forms", choices=["forms", "worth"])
    parser.add_argument("--users", type=int)
    parser.add_argument("--heavy", type=int)
    parser.add_argument("--more", type=int, default=110)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="1e-6")
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    if given.what == "forms":
        forms(made(given.users or 26_000, ENGLISH, given.heavy or 1000, given.more))
    else:
        given.users, given.heavy = given.users or 20_000, given.heavy or 0
        worth(given)
