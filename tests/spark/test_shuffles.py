"""How often each mechanism moves rows between machines, read from Spark's own plans (docs/scale.md states them).

Nothing is computed: every table that would be saved is an empty file of its columns, so that the next plan can be made.
Every file is padded, so that Spark takes it for a large one and broadcasts none but the D amounts: on real logs there
are fewer shuffles, never more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.pandas.types import to_arrow_schema

from hubbub.audit.tiny import SECRET
from hubbub.engines.base import Batches
from hubbub.engines.spark import Spark
from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.optimal import Optimal
from hubbub.noise import SecureNoise
from hubbub.public.lists import QueryPool, UrlList
from hubbub.steps.mode import RunMode, Where
from tests.conftest import aol_lines
from tests.spark.conftest import Shared

SMALL = 1 << 15
SHUFFLE = re.compile(r"\bExchange (?:hash|range|round)")
BUDGET = {"epsilon": 1, "delta": "1e-5"}
# mechanism and its tables → shuffles before the first noise, and after it (a round's table is read by the next)
STATED = {
    ("korolova", "queries"): (3, 0),  # distinct by user and query; by user, to bound her; by query, to count
    ("korolova", "clicks"): (3, 0),
    ("korolova", "queries,clicks"): (9, 2),  # a result list: joined with what is clicked, then with the queries
    ("zealous", "queries"): (3, 0),
    ("zealous", "clicks"): (3, 0),
    ("zealous", "keywords"): (6, 0),  # the words of distinct queries, joined with the log
    ("sessions", "sessions"): (3, 0),
    ("gaussian", "queries"): (3, 0),
    ("geometric", "queries"): (3, 0),
    ("sips", "queries"): (8, 16),
    ("adaptive", "queries"): (8, 10),
    ("safelog", "queries"): (5, 2),  # after it, which of the few that noise alone lets pass are held
    ("safelog", "queries,transitions"): (17, 8),
    ("optimal", "log"): (7, 0),
    ("k-query", "queries"): (2, 0),
    ("k-session", "log"): (6, 0),
    ("k-click", "clicks"): (2, 0),
    ("pseudonyms", "log"): (0, 0),
    ("token-hash", "log"): (1, 0),
    ("crowd", "queries"): (10, 41),  # 15 in round 2, 6 in each later one, 8 in the recount; known words are 2 and 5
}
USUAL, HELD = 4, 2
"""Shuffles of what crowd brings to name its keys, and those that ask whether anybody holds a known word that passed."""
UNPROVEN = ("k-query", "k-session", "k-click", "pseudonyms", "token-hash")
POOL = QueryPool("pool", pa.table({"query": ["news", "weather"]}), "0" * 64, 2, "made up")
SERP = UrlList("list", pa.table({"query": ["news"], "url": ["http://n.example"]}), "0" * 64)


class Planned(Spark):
    """Plans every statement and runs none of them."""

    def __init__(self, work: Path, session: Any) -> None:
        super().__init__(work, session=session)
        self.session.conf.set("spark.sql.autoBroadcastJoinThreshold", str(SMALL))
        self.shuffles: Counter[str] = Counter()
        self.limited = 0

    def _plan(self, name: str, sql: str, schema: pa.Schema | None = None) -> pa.Schema:
        rows = self.session.sql(sql)
        text = rows._jdf.queryExecution().executedPlan().toString()
        self.shuffles[name] += len(SHUFFLE.findall(text))
        self.limited += "WindowGroupLimit" in text
        return to_arrow_schema(rows.schema) if schema is None else schema

    def _empty(self, name: str, schema: pa.Schema) -> None:
        self.register(name, schema.empty_table())

    def scan(self, name: str, parquet: Path) -> None:
        self.register(name, pq.read_table(parquet))

    def register(self, name: str, table: pa.Table) -> None:
        padding = {} if name.startswith("amounts_") else {"padding": "x" * 100 * SMALL}
        super().register(name, table.replace_schema_metadata(padding))

    def save(self, name: str, sql: str) -> None:
        self._empty(name, self._plan(name, sql))

    def number(self, name: str, sql: str, by: Sequence[str], id: str) -> None:
        order = f" ORDER BY {', '.join(by)}" if by else ""
        self._empty(name, self._plan(name, sql + order).append(pa.field(id, pa.int64())))

    def map_batches(self, name: str, sql: str, function: Batches, schema: pa.Schema) -> None:
        self._plan(name, sql)
        self._empty(name, schema)

    def fetch(self, sql: str) -> pa.Table:
        self._plan("brought", sql)
        return super().fetch(sql)


@pytest.fixture(scope="module")
def log(shared: Shared, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchLog]:
    folder = tmp_path_factory.mktemp("planned")
    (folder / "log.tsv").write_text("\n".join(aol_lines(3)) + "\n", encoding="utf-8")
    shared.engine(folder).close()
    assert shared.owner is not None
    session = shared.owner.session
    with read_log(folder / "log.tsv", format="aol", engine=lambda work: Planned(work, session)) as opened:
        yield opened


def planned(log: SearchLog, mechanism: Mechanism) -> tuple[int, int, Counter[str]]:
    """Shuffles of the exact half, of the other, and by table."""
    engine = log.engine
    assert isinstance(engine, Planned)
    engine.shuffles = Counter()
    counts = mechanism.measure(log, RunMode(SECRET, False, Where.ENGINE))
    before = engine.shuffles.total()
    noisy = mechanism.histograms if isinstance(mechanism, Optimal) else mechanism  # of empty ones no log is made
    noisy.draw(counts, SecureNoise())
    return before, engine.shuffles.total() - before, engine.shuffles


@pytest.mark.parametrize(("name", "table"), STATED)
def test_shuffles_are_those_stated(log: SearchLog, name: str, table: str) -> None:
    proven = name not in UNPROVEN
    settings = ({"epsilon": 1} if name == "safelog" else dict(BUDGET)) if proven else {}
    pool, serp = POOL if name == "safelog" else None, SERP if table == "queries,clicks" else None
    before, after, by_table = planned(log, build(name, settings, tables=table.split(","), pool=pool, serp=serp))
    if name == "crowd":  # noise decides whether a known word of nobody passes, which then is looked for among the held
        after -= HELD if by_table["brought"] > USUAL else 0
    assert (before, after) == STATED[name, table], by_table
