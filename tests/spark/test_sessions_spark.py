"""Sessions on Spark: the same exact counts and the same seeded release as on DuckDB."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.audit.tiny import MODE
from hubbub.engines import Engine
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.noise import SeededNoise
from hubbub.release.rows import named_rows, sort_rows
from tests.conftest import HEADER

Make = Callable[[Path], Engine]


def lines() -> str:
    """Sessions with ties, repeats and text beyond ASCII; gaps on both sides of half an hour."""
    draw = random.Random(3)  # noqa: S311
    rows = [HEADER]
    for user in range(60):
        time = 0
        for _ in range(draw.randint(1, 9)):
            time += draw.choice([0, 1, 1800, 1801])
            query = draw.choice(["a", "b", "é", "ж中", "q q"])
            stamp = f"2006-03-01 {time // 3600:02d}:{time // 60 % 60:02d}:{time % 60:02d}"
            rows.append(f"{user}\t{query}\t{stamp}\t1\thttp://{draw.choice('xyz')}.example")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("variant", ["strict", "published"])
def test_counts_and_seeded_rows_are_those_of_duckdb(variant: str, make_engine: Make, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text(lines(), encoding="utf-8")
    mechanism = build("sessions", {"b": 1, "K": 4, "l_s": 2, "l_q": 6}, variant=variant)
    seen = []
    engines: list[str | Make] = ["duckdb", make_engine]
    for engine in engines:
        with read_log(tmp_path / "log.tsv", format="aol", engine=engine) as log:
            counts = mechanism.measure(log, MODE)
            tables = mechanism.draw(counts, SeededNoise(5))
            rows = {t: sort_rows(named_rows(log, mechanism, t, counts, tables)).to_pylist() for t in tables}
            seen.append(({t: c.n.tolist() for t, c in counts.items()}, rows))
    assert seen[0] == seen[1]
    assert len(seen[0][0]["sessions"]) > 100 and len(seen[0][1]["sessions"]) > 3
