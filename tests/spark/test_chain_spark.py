"""A chain of stages on Spark: the same keys, weights and counts as on DuckDB, so the same seeded release."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from hubbub.audit.tiny import MODE
from hubbub.engines import Engine
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.noise import SeededNoise
from hubbub.public.lists import QueryPool
from hubbub.release.rows import named_rows, sort_rows
from tests.conftest import HEADER

Make = Callable[[Path], Engine]
WORDS = ("a", "b b", "é", "ж中", "q q", "one two", "x", "y")


def lines() -> str:
    """Users who walk round a ring of queries, with ties, repeats and gaps; some hold more than a pool."""
    draw = random.Random(3)  # noqa: S311
    rows = [HEADER]
    for user in range(120):
        time, at = 0, draw.randrange(len(WORDS))
        for _ in range(draw.randint(4, 14)):
            time += draw.choice([0, 5, 5, 5, 1801])
            at += draw.choice([1, 1, 1, 0, 3])
            stamp = f"2006-03-01 {time // 3600:02d}:{time // 60 % 60:02d}:{time % 60:02d}"
            rows.append(f"{user}\t{WORDS[at % len(WORDS)]}\t{stamp}\t1\thttp://{draw.choice('xyz')}.example")
    return "\n".join(rows) + "\n"


def test_a_seeded_chain_is_that_of_duckdb(make_engine: Make, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text(lines(), encoding="utf-8")
    known = QueryPool("list", pa.table({"query": ["nobody", "x", "y"]}), "0" * 64, 3, "a test", "list")
    settings = {"epsilon": 20, "delta": "1e-3", "D": 5, "D_c": 6, "D_t": 5, "D_s": 3, "F": 20, "rounds": 3}
    mechanism = build("crowd", {**settings, "F_known": 2, "language": "none"}, public_list=known)
    seen = []
    engines: list[str | Make] = ["duckdb", make_engine]
    for engine in engines:
        with read_log(tmp_path / "log.tsv", format="aol", engine=engine) as log:
            pools = mechanism.measure(log, MODE)
            tables = mechanism.draw(pools, SeededNoise(5))
            rows = {t: sort_rows(named_rows(log, mechanism, t, pools, tables)).to_pylist() for t in tables}
            seen.append(rows)
    assert seen[0] == seen[1]
    assert all(len(seen[0][t]) > 3 for t in ("queries", "clicks", "transitions", "sessions", "keywords"))
