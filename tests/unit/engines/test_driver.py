"""Where rows lie on several machines, no question brings more to the asking process than the release has rows.

But for one: the ledger's fingerprint, a sample whose size is fixed.

DuckDB plays the cluster: mechanisms see an engine that `spreads`, and every fetch is counted. A whole release, the
owner's report included.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.made_up import synthesise

from hubbub.engines.duckdb import DuckDB
from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import Mechanism, build, mechanisms
from hubbub.privacy.fingerprint import RECORDS, USERS
from hubbub.privacy.ledger import Ledger
from hubbub.public.lists import QueryPool, UrlList
from hubbub.release.plan import Plan
from hubbub.release.story import run_release

FEW = 200
"""Rows of a public histogram (hours of a week), and of questions that answer with one number."""


class Cluster(DuckDB):
    """Counts what is brought."""

    distributed = True

    def __init__(self, work: Path) -> None:
        super().__init__(work, memory="1GB", threads=2)
        self.brought: dict[str, int] = {}

    def fetch(self, sql: str) -> pa.Table:
        rows = super().fetch(sql)
        self.brought[sql] = max(self.brought.get(sql, 0), rows.num_rows)
        return rows


def walkers(schema: pa.Schema) -> pa.Table:
    """People who walk at random among few queries: most pairs of these are held, by too few to be released."""
    user, step = np.divmod(np.arange(300 * 40), 40)
    query = np.random.default_rng(1).integers(0, 60, user.size)
    columns = {
        "user": [f"walker {u}" for u in user],
        "time": 1_150_000_000 + 60 * step,
        "query": [f"walk {q}" for q in query],
    }
    rest = {name: pa.nulls(user.size, schema.field(name).type) for name in schema.names if name not in columns}
    return pa.table(columns | rest).select(schema.names).cast(schema)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchLog]:
    folder = tmp_path_factory.mktemp("large")
    synthesise(600, folder / "log.parquet", seed=5)
    made = pq.read_table(folder / "log.parquet")
    pq.write_table(pa.concat_tables([made, walkers(made.schema)]), folder / "log.parquet")
    with read_log(folder / "log.parquet", format="table", engine=Cluster) as opened:
        yield opened


@pytest.fixture(scope="module")
def lists(log: SearchLog) -> dict[str, Any]:
    """Public lists that know most of the log: what is held and not released must not be brought either."""
    queries = log.engine.fetch("SELECT DISTINCT query FROM log WHERE length(query) > 5")
    nobody = pa.table({"query": [f"nobody {i}" for i in range(1000)]})
    known = pa.concat_tables([queries, nobody])
    clicks = log.engine.fetch("SELECT DISTINCT query, url FROM log WHERE url IS NOT NULL")
    pool = QueryPool("pool", known, "0" * 64, known.num_rows, "made up")
    listed = QueryPool("list", known, "0" * 64, known.num_rows, "made up", "list")
    return {"pool": pool, "public_list": listed, "serp": UrlList("serp", clicks, "0" * 64)}


BUDGET = {"epsilon": 20, "delta": "1e-2"}
LATER = ["queries", "clicks", "transitions", "sessions"]
CASES: dict[str, tuple[dict[str, object], dict[str, Any], tuple[str, ...]]] = {
    "korolova strict": (BUDGET, {"tables": ["queries", "clicks"]}, ()),
    "korolova strict, result list": (BUDGET, {}, ("serp",)),
    "korolova published": (BUDGET, {}, ()),
    "korolova published, result list": (BUDGET, {}, ("serp",)),
    "zealous strict": (BUDGET, {"tables": ["queries", "keywords", "clicks"]}, ()),
    "zealous strict, result list": (BUDGET, {}, ("serp",)),
    "zealous published": ({**BUDGET, "U": 1000}, {}, ()),
    "ngrams strict": ({**BUDGET, "l_max": 2, "n_max": 2}, {}, ()),
    "sessions strict": (BUDGET, {}, ()),
    "sessions published": (BUDGET, {}, ()),
    "gaussian strict": (BUDGET, {}, ()),
    "geometric strict": (BUDGET, {}, ()),
    "sips strict": (BUDGET, {}, ()),
    "adaptive strict": (BUDGET, {}, ()),
    "crowd strict": (BUDGET, {"tables": [*LATER, "keywords"]}, ()),
    "crowd strict, synthetic log": (BUDGET, {"tables": [*LATER, "log"]}, ()),
    "crowd strict, list": (BUDGET, {}, ("public_list",)),
    "safelog strict": ({"epsilon": 20}, {}, ("pool", "serp")),
    "safelog published": ({"epsilon": 40}, {}, ("pool",)),
    "optimal strict": (BUDGET, {}, ()),
    "k-query published": ({}, {}, ()),
    "k-click published": ({}, {}, ()),
    "k-keyword published": ({}, {}, ()),
    "pseudonyms published": ({}, {}, ()),
    "token-hash published": ({}, {}, ()),
    "secret-sharing published": ({}, {}, ()),
}
ONE_PLACE = {
    "optimal published",
    "k-session published",
    "k-vocabulary published",
    "k-similar published",
    "k-core published",
}
"""An optimum over all users, sorts of all sessions or users, and all pairs of queries: docs/scale.md
says that these are not for a cluster."""


def made(case: str, lists: dict[str, Any]) -> Mechanism:
    settings, options, takes = CASES[case]
    name, variant = case.split(",")[0].split()
    return build(name, dict(settings), variant=variant, **options, **{name: lists[name] for name in takes})


def test_every_mechanism_is_here() -> None:
    every = {f"{name} {variant}" for name, kind in mechanisms().items() for variant in kind.variants}
    assert every == {case.split(",")[0] for case in CASES} | ONE_PLACE


@pytest.mark.parametrize("case", CASES)
def test_no_more_than_the_release_is_brought(log: SearchLog, lists: dict[str, Any], tmp_path: Path, case: str) -> None:
    mechanism, engine = made(case, lists), log.engine
    assert isinstance(engine, Cluster)
    engine.brought = {}
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        plan = Plan(mechanism, tmp_path / "out", not_private=not mechanism.proven().private)
        result = run_release(log, plan, ledger)
    released = sum(result.rows.values())
    assert released, "an empty release would show nothing"
    marks = [engine.brought.pop(sql) for sql in list(engine.brought) if "PARTITION BY who" in sql]
    assert marks and max(marks) <= USERS * RECORDS, "the ledger's fingerprint is a sample of fixed size"
    sql = max(engine.brought, key=lambda sql: engine.brought[sql])
    assert engine.brought[sql] <= released + FEW, f"{engine.brought[sql]} rows for {released}: {sql}"
