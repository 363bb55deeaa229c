"""How often each mechanism moves rows between machines (docs/scale.md states it): in the jobs that ran, and in plans.

What is of one user or one key runs, on a tiny log, and every job that moved something is counted. What is left to
Spark's own SQL is planned and not run: a table that would be saved is an empty file of its columns, padded, so that
Spark takes it for a large one and broadcasts none. On real logs there are fewer shuffles, never more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.pandas.types import to_arrow_schema

from hubbub.audit.tiny import SECRET
from hubbub.engines.spark import Spark
from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.optimal import Optimal
from hubbub.noise import SecureNoise
from hubbub.public.lists import QueryPool, UrlList
from hubbub.steps.mode import RunMode, Where
from tests.conftest import aol_lines
from tests.parted import Moving
from tests.spark.conftest import Shared

SMALL = 1 << 15
PADDING = {"padding": "x" * 100 * SMALL}
SHUFFLE = re.compile(r"\bExchange (?:hash|range|round)")
BUDGET = {"epsilon": 1, "delta": "1e-5"}
Moves = tuple[int, int, int]
# mechanism and its tables → before the first noise, and after it: users' rows, sums of keys, shuffles of Spark's own
STATED: dict[tuple[str, str], tuple[Moves, Moves]] = {
    ("korolova", "queries"): ((1, 1, 0), (0, 0, 0)),
    ("korolova", "clicks"): ((1, 1, 0), (0, 0, 0)),
    ("korolova", "queries,clicks"): ((1, 1, 4), (0, 0, 2)),  # a result list, joined with what is clicked
    ("zealous", "queries"): ((1, 1, 0), (0, 0, 0)),
    ("zealous", "clicks"): ((1, 1, 0), (0, 0, 0)),
    ("zealous", "keywords"): ((0, 0, 6), (0, 0, 0)),  # the words of distinct queries, joined with the log
    ("sessions", "sessions"): ((0, 0, 3), (0, 0, 0)),
    ("gaussian", "queries"): ((1, 1, 0), (0, 0, 0)),
    ("geometric", "queries"): ((1, 1, 0), (0, 0, 0)),
    ("sips", "queries"): ((1, 1, 0), (0, 2, 0)),
    ("adaptive", "queries"): ((1, 1, 0), (0, 1, 0)),
    ("safelog", "queries"): ((0, 0, 5), (0, 0, 2)),  # after it, which of the few that noise alone lets pass are held
    ("safelog", "queries,transitions"): ((0, 0, 17), (0, 0, 8)),
    ("optimal", "log"): ((1, 1, 4), (0, 0, 0)),
    ("k-query", "queries"): ((1, 1, 0), (0, 0, 0)),
    ("k-session", "log"): ((0, 0, 6), (0, 0, 0)),
    ("k-click", "clicks"): ((1, 1, 0), (0, 0, 0)),
    ("pseudonyms", "log"): ((0, 0, 0), (0, 0, 0)),
    ("token-hash", "log"): ((0, 0, 1), (0, 0, 0)),
    ("crowd", "queries"): ((1, 1, 0), (0, 5, 0)),  # the sums of rounds 2 to 5, and the recount
}
UNPROVEN = ("k-query", "k-session", "k-click", "pseudonyms", "token-hash")
POOL = QueryPool("pool", pa.table({"query": ["news", "weather"]}), "0" * 64, 2, "made up")
SERP = UrlList("list", pa.table({"query": ["news"], "url": ["http://n.example"]}), "0" * 64)


class Planned(Spark):
    """Runs jobs over parts, and plans every other statement."""

    def __init__(self, work: Path, session: Any) -> None:
        super().__init__(work, session=session)
        self.session.conf.set("spark.sql.autoBroadcastJoinThreshold", str(SMALL))
        self.parted: Moving = Moving(self.session, self.folder, "500MB", self._asking)
        self.shuffles: Counter[str] = Counter()

    def _planned(self, name: str, rows: Any) -> None:
        self.shuffles[name] += len(SHUFFLE.findall(rows._jdf.queryExecution().executedPlan().toString()))

    def _written(self, name: str, rows: Any) -> Any:
        self._planned(name, rows)
        path = self._fresh(name)
        path.mkdir()
        empty = to_arrow_schema(rows.schema).empty_table()
        pq.write_table(empty.replace_schema_metadata(PADDING), path / "rows.parquet")
        return self.session.read.parquet(str(path)), path

    def scan(self, name: str, parquet: Path) -> None:
        padded = self.folder / f"{name}.parquet"
        pq.write_table(pq.read_table(parquet).replace_schema_metadata(PADDING), padded)
        super().scan(name, padded)

    def register(self, name: str, table: pa.Table) -> None:
        super().register(name, table.replace_schema_metadata({} if name.startswith("amounts_") else PADDING))

    def fetch(self, sql: str) -> pa.Table:
        if self.parted._cut(sql) is None:
            self._planned("brought", self._sql(sql))
        return super().fetch(sql)

    def moved(self) -> Moves:
        """So far: of rows, of sums, of Spark's own."""
        kinds = Counter(kind for _, kind, _ in self.parted.moves)
        return kinds["rows"], kinds["sums"], self.shuffles.total()


@pytest.fixture(scope="module")
def log(shared: Shared, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchLog]:
    folder = tmp_path_factory.mktemp("planned")
    (folder / "log.tsv").write_text("\n".join(aol_lines(3)) + "\n", encoding="utf-8")
    shared.engine(folder).close()
    assert shared.owner is not None
    session = shared.owner.session
    with read_log(folder / "log.tsv", format="aol", engine=lambda work: Planned(work, session)) as opened:
        yield opened


def planned(log: SearchLog, mechanism: Mechanism) -> tuple[Moves, Moves]:
    """What the exact half moves, and the other."""
    engine = log.engine
    assert isinstance(engine, Planned) and isinstance(engine.parted, Moving)
    engine.shuffles, engine.parted.moves = Counter(), []
    counts = mechanism.measure(log, RunMode(SECRET, False, Where.ENGINE))
    before = engine.moved()
    noisy = mechanism.histograms if isinstance(mechanism, Optimal) else mechanism  # of empty ones no log is made
    noisy.draw(counts, SecureNoise())
    rows, sums, own = (now - then for now, then in zip(engine.moved(), before, strict=True))
    return before, (rows, sums, own)


@pytest.mark.parametrize(("name", "table"), STATED)
def test_shuffles_are_those_stated(log: SearchLog, name: str, table: str) -> None:
    proven = name not in UNPROVEN
    settings = ({"epsilon": 1} if name == "safelog" else dict(BUDGET)) if proven else {}
    pool, serp = POOL if name == "safelog" else None, SERP if table == "queries,clicks" else None
    mechanism = build(name, settings, tables=table.split(","), pool=pool, serp=serp)
    assert planned(log, mechanism) == STATED[name, table]
