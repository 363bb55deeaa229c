"""safelog on Spark: the same exact counts before the noise, and the same seeded release, as on DuckDB.

With noise that nobody can repeat it is drawn in the workers, here and for other tables over public lists.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hubbub.audit.tiny import MODE, SECRET
from hubbub.engines import Engine
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.mechanisms.base import Rows
from hubbub.noise import SecureNoise, SeededNoise
from hubbub.public.lists import QueryPool, UrlList
from hubbub.release.rows import named_rows, sort_rows
from hubbub.steps.mode import RunMode, Where
from hubbub.steps.pairs import LocalPairs
from tests.conftest import HEADER

Make = Callable[[Path], Engine]
POOL = QueryPool("pool", pa.table({"query": ["a", "b", "nobody", "q q", "é", "ж中"]}), "0" * 64, 6, "made up")
PAGES = [(q, f"http://{u}.example") for q in ("a", "é", "nobody") for u in "xy"]
SERP = UrlList("list", pa.table({"query": [q for q, _ in PAGES], "url": [u for _, u in PAGES]}), "0" * 64)


def lines() -> str:
    draw = random.Random(4)  # noqa: S311
    rows = [HEADER]
    for user in range(60):
        time = 0
        for _ in range(draw.randint(1, 9)):
            time += draw.choice([0, 1, 1800, 1801])
            query = draw.choice(["a", "b", "é", "ж中", "q q", "outside"])
            stamp = f"2006-03-01 {time // 3600:02d}:{time // 60 % 60:02d}:{time % 60:02d}"
            rows.append(f"{user}\t{query}\t{stamp}\t1\thttp://{draw.choice('xyz')}.example")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("variant", ["strict", "published"])
def test_counts_and_seeded_rows_are_those_of_duckdb(variant: str, make_engine: Make, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text(lines(), encoding="utf-8")
    settings = {"q_f": 3, "c_f": 2, "b": 2, "b_c": 2, "b_t": 2, "K": 3}
    settings |= {"c_t": 2, "K_t": 2} if variant == "strict" else {"b_q": 2, "tau": 40}
    mechanism = build("safelog", settings, variant=variant, pool=POOL, serp=SERP if variant == "strict" else None)
    seen = []
    engines: list[str | Make] = ["duckdb", make_engine]
    for engine in engines:
        with read_log(tmp_path / "log.tsv", format="aol", engine=engine) as log:
            counts = mechanism.measure(log, MODE)
            tables = mechanism.draw(counts, SeededNoise(5))
            rows = {t: sort_rows(named_rows(log, mechanism, t, counts, tables)).to_pylist() for t in tables}
            exact = {t: c.n.tolist() for t, c in counts.items()}
            pairs = counts["transitions"]
            assert isinstance(pairs, LocalPairs)
            seen.append((exact, LocalPairs.ids(pairs.first, pairs.second).tolist(), rows))
    assert seen[0] == seen[1]
    assert sum(seen[0][0]["queries"]) > 50 and len(seen[0][2]["queries"]) >= 3 and len(seen[0][2]["transitions"]) >= 3


USERS, FEW = 60, 20
KNOWN = ["a", "b", *(f"{word} {user}" for word in ("own", "too") for user in range(USERS))]
SITES = [f"http://{query.replace(' ', '-')}.example" for query in KNOWN]
OWN = QueryPool("pool", pa.table({"query": KNOWN}), "0" * 64, len(KNOWN), "made up")
CLICKED = UrlList("list", pa.table({"query": KNOWN, "url": SITES}), "0" * 64)
CASES: dict[str, tuple[dict[str, object], dict[str, Any]]] = {
    "safelog": ({"epsilon": 60}, {"pool": OWN, "serp": CLICKED}),
    "korolova": ({"epsilon": 60, "delta": "1e-3", "d": 3, "d_c": 3}, {"serp": CLICKED, "variant": "published"}),
    "optimal": ({"epsilon": 60, "delta": "1e-3"}, {}),
}


def test_what_is_brought_is_what_is_released(make_engine: Make, tmp_path: Path) -> None:
    """Sixty users, each with queries and clicks of her own that every list knows: nobody's are brought."""
    rows = [HEADER]
    for user in range(USERS):
        for n, query in enumerate(("a", "b", f"own {user}", f"too {user}")):
            rows.append(f"{user}\t{query}\t2006-03-01 08:0{n}:00\t1\t{SITES[KNOWN.index(query)]}")
    (tmp_path / "log.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    with read_log(tmp_path / "log.tsv", format="aol", engine=make_engine) as log:
        fetch, brought = log.engine.fetch, [0]

        def counted(sql: str) -> pa.Table:
            found = fetch(sql)
            brought.append(found.num_rows)
            return found

        log.engine.fetch = counted  # type: ignore[method-assign]
        for name, (settings, options) in CASES.items():
            mechanism = build(name, dict(settings), **options)
            brought.clear()
            counts = mechanism.measure(log, RunMode(SECRET, False, Where.ENGINE))
            tables = mechanism.draw(counts, SecureNoise())
            texts = {
                table: out.rows if isinstance(out, Rows) else named_rows(log, mechanism, table, counts, tables)
                for table, out in tables.items()
            }
            assert max(brought) <= sum(out.num_rows for out in texts.values()) + FEW, name
            table = "log" if name == "optimal" else "queries"
            assert {"a", "b"} <= set(texts[table].column("query").to_pylist()), name
