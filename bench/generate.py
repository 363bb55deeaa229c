"""Make a deterministic, AOL-shaped search log fast: input for benchmarks, nothing more.

    python bench/generate.py --rows 10000000 --out log.tsv      (or .tsv.gz, or .parquet with SearchLog's columns)

The shape is what matters to a reader's speed: heavy-tailed users of about 55 rows, Zipf-like queries of which about
28 % are distinct, about half the rows clicked, about 70 bytes per row, sorted by user and time as the AOL files are.
A chunk of rows is a function of the seed and the chunk's number, so memory does not grow with the log.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

Ints = npt.NDArray[np.int64]

CHUNK = 1_000_000
HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
START, SECONDS = 1_141_171_200, 92 * 86_400  # 1 March 2006, three months
MEAN_ROWS, USER_SIGMA, USERS_A_CHUNK = 55.0, 1.4, 100_000
NEW_QUERY, SAME_SEARCH, CLICKED = 0.23, 0.12, 0.43
SYLLABLES = [c + v + e for c in "bdfgklmnprstvz" for v in "aeiou" for e in ("", "l", "n", "r", "s")]


def vocabulary(size: int = 4096) -> pa.Array:
    """Pseudo-words of two or three syllables, all different."""
    base = len(SYLLABLES)
    mixed = [(i * 2_654_435_761) % base**3 for i in range(size)]
    return pa.array(
        [SYLLABLES[m % base] + SYLLABLES[m // base % base] + (SYLLABLES[m // base**2] if m % 2 else "") for m in mixed]
    )


WORDS = vocabulary()


def words(ids: Ints) -> pa.Array:
    """One word per number."""
    return WORDS.take(pa.array(ids % len(WORDS)))


def queries(ids: Ints) -> pa.Array:
    """A query a number: the number in base |vocabulary|, then a word that depends on the rest."""
    size = len(WORDS)
    tail = pc.if_else(pa.array(ids % 3 == 0), words(ids * 31 + 7), pa.scalar(None, pa.string()))
    high = pc.if_else(pa.array(ids >= size**2), words(ids // size**2), pa.scalar(None, pa.string()))
    return pc.binary_join_element_wise(words(ids // size), words(ids), high, tail, " ", null_handling="skip")


def chunk(number: int, rows: int, total: int, seed: int) -> pa.Table:
    """Rows number·CHUNK … of the log, in SearchLog's columns."""
    rng = np.random.default_rng([seed, number])
    mu = np.log(MEAN_ROWS) - USER_SIGMA**2 / 2
    sizes = np.maximum(1, rng.lognormal(mu, USER_SIGMA, USERS_A_CHUNK).astype(np.int64))
    users = np.repeat(np.arange(USERS_A_CHUNK, dtype=np.int64), sizes)[:rows]
    times = np.sort(users * SECONDS + rng.integers(0, SECONDS, rows)) - users * SECONDS

    head = max(1000, total // 8)
    ids = np.exp(rng.random(rows) * np.log(head)).astype(np.int64)
    new = rng.random(rows) < NEW_QUERY
    ids[new] = head + number * CHUNK + np.flatnonzero(new)
    same = rng.random(rows) < SAME_SEARCH
    same[0] = False
    same[1:] &= users[1:] == users[:-1]
    first = np.maximum.accumulate(np.where(same, 0, np.arange(rows)))
    ids, times = ids[first], times[first]

    clicked = (rng.random(rows) < CLICKED) | same | np.append(same[1:], False)
    ranks = np.minimum(1 + rng.geometric(0.3, rows) + np.arange(rows) - first, 500)
    sites = (ids * 7919 + ranks) % 1_500_000
    urls = pc.binary_join_element_wise("http://www.", words(sites // len(WORDS)), words(sites), ".com", "")
    return pa.table(
        {
            "user": pa.array(101 + 7 * (users + number * USERS_A_CHUNK)).cast(pa.string()),
            "time": pa.array(START + times),
            "query": queries(ids),
            "rank": pa.array(ranks, pa.int32(), mask=~clicked),
            "url": pc.if_else(pa.array(clicked), urls, pa.scalar(None, pa.string())),
        }
    )


def chunks(rows: int, seed: int) -> Iterator[pa.Table]:
    """The whole log, a chunk at a time."""
    for number, start in enumerate(range(0, rows, CHUNK)):
        yield chunk(number, min(CHUNK, rows - start), rows, seed)


def text(table: pa.Table) -> memoryview:
    """The chunk as lines of the AOL format."""
    column = {name: table[name].combine_chunks() for name in table.column_names}
    when = column["time"].cast(pa.timestamp("s")).cast(pa.string())
    rank = column["rank"].cast(pa.string()).fill_null("")
    url = pc.binary_join_element_wise(column["url"].fill_null(""), "\n", "")
    lines = pc.binary_join_element_wise(column["user"], column["query"], when, rank, url, "\t")
    _, offsets, data = lines.buffers()
    return memoryview(data)[: np.frombuffer(offsets, np.int32)[len(lines)]]


def write(rows: int, out: Path, seed: int = 1) -> None:
    """Write the log in the form its name asks for."""
    if out.suffix == ".parquet":
        writer: Any = None
        for table in chunks(rows, seed):
            writer = writer or pq.ParquetWriter(out, table.schema)
            writer.write_table(table, row_group_size=122_880)
        writer.close()
        return
    with gzip.open(out, "wb", compresslevel=6) if out.suffix == ".gz" else out.open("wb") as stream:
        stream.write(HEADER)
        for table in chunks(rows, seed):
            stream.write(text(table))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    write(given.rows, given.out, given.seed)


if __name__ == "__main__":
    main()
