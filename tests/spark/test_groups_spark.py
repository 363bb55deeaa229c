"""Tables by group on Spark: the same cells, weights and counts as on DuckDB, so the same seeded release."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from hubbub.audit.tiny import MODE
from hubbub.engines import Engine
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.noise import SeededNoise
from hubbub.public.groups import group_by
from hubbub.release.rows import named_rows, sort_rows

Make = Callable[[Path], Engine]
DAY = 86_400


def lines() -> str:
    """Users in several countries, some of them not declared, on days before and after 1970."""
    draw = random.Random(7)  # noqa: S311
    rows = ["user,time,query,url,land"]
    for user in range(150):
        for _ in range(draw.randint(2, 9)):
            time, query = DAY * draw.randint(-40, 400) + draw.randrange(DAY), f"q{draw.randrange(6)}"
            land = draw.choice(["DE", "de ", "FR", "Ö", "", "US"])
            rows.append(f"{user},{time},{query},http://{draw.choice('xy')}.example,{land}")
    return "\n".join(rows) + "\n"


def test_a_seeded_release_by_group_is_that_of_duckdb(make_engine: Make, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(lines(), encoding="utf-8")
    columns = {name: name for name in ("user", "time", "query", "url")}
    by = [group_by("country", "land", ["DE", "FR", "ö"]), group_by("month"), group_by("hour", values=["00", "23"])]
    settings = {"epsilon": 30, "delta": "1e-3", "D": 5, "D_g": 6, "F": 20, "rounds": 2, "language": "none"}
    mechanism = build("crowd", settings, tables=["queries", "clicks"], by=by)
    seen = []
    engines: list[str | Make] = ["duckdb", make_engine]
    for engine in engines:
        with read_log(
            tmp_path / "log.csv", format="table", columns=columns, by={"country": "land"}, engine=engine
        ) as log:
            pools = mechanism.measure(log, MODE)
            tables = mechanism.draw(pools, SeededNoise(5))
            seen.append({t: sort_rows(named_rows(log, mechanism, t, pools, tables)).to_pylist() for t in tables})
    assert seen[0] == seen[1]
    assert all(len(seen[0][t]) > 3 for t in mechanism.tables)
    assert {row["country"] for row in seen[0]["queries_by_country"]} == {"DE", "FR", "ö", "other"}
