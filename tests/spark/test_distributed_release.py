"""crowd with every table on Spark, with noise that nobody can repeat: drawn in the workers, stage by stage."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pyarrow as pa

from hubbub.card import check
from hubbub.engines.spark import Spark
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.privacy.fingerprint import RECORDS, USERS
from hubbub.privacy.ledger import Ledger
from hubbub.public.lists import QueryPool
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from tests.conftest import aol_lines

TABLES = ("queries", "clicks", "transitions", "sessions", "keywords", "log")


def test_a_release_of_every_table(make_engine: Callable[[Path], Spark], tmp_path: Path) -> None:
    walks = [
        f"{user}\t{query}\t2006-03-29 08:00:{10 * n:02d}\t1\thttp://{n}.example"
        for user in range(150)
        for n, query in enumerate(("bus", "bus times", "train", "train times"))
    ]
    strays = [  # 15 queries that many ask, and every step from one to another made by one user
        f"{a}-{b}\tplace {query}\t2006-03-30 08:00:{seconds}\t\t"
        for a, b in permutations(range(15), 2)
        for seconds, query in (("00", a), ("10", b))
    ]
    known = pa.table({"query": sorted({f"rare query {i}" for i in range(150)} | {f"nobody {i}" for i in range(100)})})
    log = tmp_path / "log.tsv"
    log.write_text("\n".join(aol_lines(150) + walks + strays) + "\n", encoding="utf-8")
    most: dict[str, int] = {}

    def engine(work: Path) -> Spark:
        made = make_engine(work)
        real = made.fetch

        def fetch(sql: str) -> pa.Table:
            rows = real(sql)
            most[sql] = rows.num_rows
            return rows

        made.fetch = fetch  # type: ignore[method-assign]
        return made

    listed = QueryPool("list", known, "0" * 64, known.num_rows, "a test", "list")
    settings = {"epsilon": 20, "delta": "1e-3", "D": 6, "rounds": 2, "F_known": "1e-3", "known_words": "no"}
    mechanism = build("crowd", settings, tables=TABLES, public_list=listed)
    with Ledger(tmp_path / "ledger.sqlite") as ledger, read_log(log, format="aol", engine=engine) as opened:
        result = run_release(opened, Plan(mechanism, tmp_path / "out"), ledger)
        assert any("tested_queries" in sql for sql in most), "the rounds ran inside the engine"
        assert [entry.state for entry in ledger.entries()] == ["committed"]
    assert [f.what for f in check(tmp_path / "out") if not f.holds] == []
    assert {"bus", "train times", "news"} <= set(result.release.queries.to_arrow()["query"].to_pylist())
    assert all(result.rows[table] for table in TABLES), result.rows
    bins = max(n for sql, n in most.items() if "bin" in sql)
    # the ledger's fingerprint is a sample of fixed size
    marks = [most.pop(sql) for sql in list(most) if "PARTITION BY who" in sql]
    assert len(marks) == 1 and marks[0] <= USERS * RECORDS
    assert max(most.values()) <= max(bins, *(n for table, n in result.rows.items() if table != "log")) < 150
