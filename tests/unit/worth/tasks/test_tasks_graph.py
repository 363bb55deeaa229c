"""The query-click graph and its helpers, against plain Python."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from tests.unit.worth.tasks.test_tasks_base import made_up, write

from hubbub.log import read_log
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.graph import Graph, Matrix, find, number, top
from hubbub.worth.tasks.measures import Lists
from hubbub.worth.tasks.split import cut, part, same_users, select


def graph(clicks: dict[tuple[str, str], int], follows: dict[tuple[str, str], int] | None = None) -> Graph:
    """A graph of a few edges."""
    made = pa.table({"query": [q for q, _ in clicks], "url": [u for _, u in clicks], "n": list(clicks.values())})
    moves = follows or {}
    after = pa.table(
        {
            "query": pa.array([a for a, _ in moves], pa.string()),
            "next_query": pa.array([b for _, b in moves], pa.string()),
            "n": pa.array(list(moves.values()), pa.int64()),
        }
    )
    return Graph.of(made, after)


def lists(rows: list[list[int]], judged: bool = False) -> Lists:
    """Ranked lists of items; judged, each of them relevant."""
    flat = [(i, item, 1 if judged else rank) for i, row in enumerate(rows) for rank, item in enumerate(row)]
    row, item, rank = np.array(flat, np.int64).reshape(-1, 3).T
    return Lists(row, item, rank, len(rows))


def random_graph(seed: int, queries: int = 6, urls: int = 5) -> Graph:
    draw = np.random.default_rng(seed)
    clicks = {
        (f"q{q}", f"u{u}"): int(draw.integers(1, 9)) for q in range(queries) for u in range(urls) if draw.random() < 0.4
    }
    follows = {
        (f"q{a}", f"q{b}"): int(draw.integers(1, 9))
        for a in range(queries)
        for b in range(queries)
        if a != b and draw.random() < 0.3
    }
    return graph(clicks | {("q0", "u0"): 1}, follows)


def test_texts_are_numbered_in_their_order() -> None:
    names, (left, right) = number(pa.array(["b", "ä", "b"]), pa.chunked_array([["a"], ["b"]]))
    assert names.to_pylist() == ["a", "b", "ä"]
    assert left.tolist() == [1, 2, 1] and right.tolist() == [0, 1]
    assert find(pa.array(["ä", "z", "a"]), names).tolist() == [2, -1, 0]
    nothing, (none,) = number(pa.array([], pa.string()))
    assert len(nothing) == 0 and none.size == 0


@pytest.mark.parametrize("k", [1, 3, 5, 25])
def test_the_largest_of_each_row(k: int) -> None:
    draw = np.random.default_rng(k)
    for _ in range(40):
        dense = np.round(draw.random(draw.integers(1, 8, 2)) * 4) / 4 - 0.25  # ties, zeros and negative numbers
        expected = [
            (i, rank, j, dense[i, j])
            for i in range(dense.shape[0])
            for rank, j in enumerate(sorted(np.flatnonzero(dense[i] > 0), key=lambda j: (-dense[i, j], j))[:k])
        ]
        made: Matrix = sp.csr_array(dense)
        assert list(zip(*(part.tolist() for part in top(made, k)), strict=True)) == expected


def test_a_part_is_a_hash_of_the_user(tmp_path: Path) -> None:
    with read_log(write(tmp_path / "log.parquet", [(str(n), 1, "a", None) for n in range(300)])) as log:
        name = cut(log, 7, 5)
        found = {row["uid"]: row["part"] for row in log.engine.fetch(f"SELECT uid, part FROM {name}").to_pylist()}
        select(log, "kept", name, "part <> 2")
        kept = {row["uid"] for row in log.engine.fetch("SELECT uid FROM kept").to_pylist()}
    digests = {n: hashlib.md5(f"hubbub tasks 7\x1f{n}".encode(), usedforsecurity=False).digest() for n in found}
    assert found == {n: int.from_bytes(digest[:4]) * 5 >> 32 for n, digest in digests.items()}
    assert set(found.values()) == set(range(5)) and kept == {n for n, p in found.items() if p != 2}
    assert part(0, 1) == "0"


def test_which_logs_share_their_users(tmp_path: Path) -> None:
    """Those that say so; equal ids say nothing."""
    with (
        read_log(write(tmp_path / "one.parquet", made_up(0))) as one,
        read_log(write(tmp_path / "two.parquet", made_up(0)[:50])) as two,
    ):
        original = Evidence.of_log(one)
        assert same_users(original, original) and same_users(Evidence.of_log(two, same_users=True), original)
        assert not same_users(Evidence.of_log(two), original) and not same_users(Evidence.of_tables({}), original)
