"""The truth tables: what the log's queries mean, where the public finds them, and what was planted.

    intents.parquet             query, intent, variant, kind, users     every query of the log
    topics.parquet              query, topic                            every query text but the canaries
    completions.parquet         phrase, completion, query, share        "fear of …", by true popularity
    serp.parquet                query, rank, url                        ten results of each text of 5 users or more
    relevance.parquet           query, url, gain                        which of them people want: 2 what was meant, 1
    document_frequency.parquet  keyword, documents                      every word of the log, of 10,000,000 documents
    canaries.parquet            query, url, user, times                 one row per canary and user

A log in which something changes has three more (over_time.py), a log with groups or typing errors one (groups.py,
typos.py); a misspelt text is in the latter alone. A text that two intents share is listed under both in `intents`;
elsewhere it is the one of more users. The tables are made by DuckDB in a stated amount of memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import OutputError
from hubbub.synth import canaries as planting
from hubbub.synth.canaries import Canary, Planted
from hubbub.synth.groups import GROUPED, users_by_group
from hubbub.synth.hashing import Ints
from hubbub.synth.made_up import RANKED_WORDS
from hubbub.synth.numbers import COMPLETIONS
from hubbub.synth.over_time import CHANGES, IN_PERIODS, STAYS, changes, shares, stays, users_by_period
from hubbub.synth.presets import Preset
from hubbub.synth.queries import queries
from hubbub.synth.typos import MEANT, TYPOS, users_by_typo
from hubbub.synth.vocabulary import FEARS, PHRASE, RESIDUES
from hubbub.synth.world import World
from hubbub.synth.write import Parquet

if TYPE_CHECKING:
    import duckdb

NAMES = ("intents", "topics", "completions", "serp", "relevance", "document_frequency", "canaries")
MORE_NAMES = ("changes", "periods", "stays")
SERP_USERS, SERP_DEPTH = 5, 10
MEMORY = "1GB"
TEXT, WHOLE = pa.string(), pa.int64()
INTENTS = pa.schema([("query", TEXT), ("intent", WHOLE), ("variant", pa.int32()), ("kind", TEXT), ("users", WHOLE)])
TOPIC = pa.schema([("query", TEXT), ("topic", TEXT)])
SERP = pa.schema([("query", TEXT), ("rank", pa.int32()), ("url", TEXT)])
RELEVANCE = pa.schema([("query", TEXT), ("url", TEXT), ("gain", pa.int32())])
DOCUMENTS = pa.schema([("keyword", TEXT), ("documents", WHOLE)])
COMPLETION = pa.schema([("phrase", TEXT), ("completion", TEXT), ("query", TEXT), ("share", pa.float64())])
CANARIES = pa.schema([("query", TEXT), ("url", TEXT), ("user", TEXT), ("times", pa.int32())])


def names(preset: Preset, *, groups: bool = False, typos: bool = False) -> tuple[str, ...]:
    """The truth tables of a log of this shape."""
    more = (*(("groups",) if groups else ()), *(("typos",) if typos else ()))
    return (*NAMES, *(MORE_NAMES if changes(preset) else ()), *more)


class TruthWriter:
    """Collects what is asked while the log is made, and writes the tables when it is whole."""

    def __init__(
        self, folder: Path, world: World, users: int, seed: int, canaries: Sequence[Canary], planted: Planted
    ) -> None:
        self.folder, self.world, self.canaries, self.planted = folder, world, canaries, planted
        self._users, self._seed, self._changes = users, seed, changes(world.preset)
        self._work = folder / "work"
        self._work.mkdir()
        self._engine = engine(self._work)
        self._engine.execute("CREATE TABLE counts (intent BIGINT, variant INTEGER, users BIGINT)")
        self._engine.execute("CREATE TABLE held (period BIGINT, query VARCHAR, users BIGINT)")
        self._groups = self._typos = False

    def dividing(self) -> None:
        """Batches have groups, and the truth about them is wanted."""
        self._groups = True
        self._engine.execute("CREATE TABLE by_group (name VARCHAR, value VARCHAR, query VARCHAR, users BIGINT)")

    def slipping(self) -> None:
        """Batches say what was meant, and the truth about typing errors is wanted."""
        self._typos = True
        self._engine.execute("CREATE TABLE slips (query VARCHAR, meant VARCHAR, users BIGINT)")

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the users of each query of a batch; no user may be in two batches."""
        if self._typos:
            self._insert("slips", users_by_typo(batch.filter(batch[MEANT].is_valid())))
            batch = batch.filter(batch[MEANT].is_null())
        asked = pa.table({name: batch[name] for name in ("intent", "variant", "user")})
        users = asked.group_by(["intent", "variant", "user"], use_threads=False).aggregate([])
        counts = users.group_by(["intent", "variant"], use_threads=False).aggregate([([], "count_all")])
        self._insert("counts", counts)
        if self._changes:
            self._insert("held", users_by_period(self.world, batch))
        if self._groups:
            self._insert("by_group", users_by_group(batch))

    def finish(self) -> None:
        """Write every table."""
        tables = [
            ("intents", INTENTS, self._intents()),
            ("topics", TOPIC, self._topics()),
            ("serp", SERP, self._serp()),
            ("relevance", RELEVANCE, self._relevance()),
            ("document_frequency", DOCUMENTS, self._documents()),
            ("completions", COMPLETION, completions(self.world).to_batches()),
            ("canaries", CANARIES, planting.table(self.canaries, self.planted).to_batches()),
        ]
        if self._changes:
            tables += [
                ("changes", CHANGES, self._changing()),
                ("periods", IN_PERIODS, self._periods()),
                ("stays", STAYS, stays(self.world, self._users, self._seed)),
            ]
        if self._groups:
            tables.append(("groups", GROUPED, self._in_groups()))
        if self._typos:
            tables.append(("typos", TYPOS, self._slips()))
        for name, schema, rows in tables:
            with closing(Parquet(self.folder / f"{name}.parquet", schema)) as writer:
                for batch in rows:
                    writer.write(batch)
        self.close()

    def close(self) -> None:
        """Close the database and remove its files, so that only the tables stay."""
        self._engine.close()
        shutil.rmtree(self._work, ignore_errors=True)

    def _insert(self, table: str, rows: pa.Table | pa.RecordBatch) -> None:
        with self._engine.cursor() as cursor:
            cursor.register("rows", rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows]))
            cursor.execute(f"INSERT INTO {table} SELECT * FROM rows")

    def _read(self, query: str, rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        yield from self._engine.sql(query).to_arrow_reader(rows)

    def _intents(self) -> Iterator[pa.RecordBatch]:
        """The rows of `intents`: every (intent, variant) with its text. The tables that follow are made from them."""
        self._engine.execute("CREATE TABLE intents (query VARCHAR, intent BIGINT, users BIGINT)")
        for batch in self._read(
            "SELECT intent, variant, sum(users)::BIGINT AS users FROM counts GROUP BY ALL ORDER BY 3 DESC, 1, 2"
        ):
            intent, variant, users = batch.columns
            texts = self._texts(intent.to_numpy(), variant.to_numpy().astype(np.int64))
            self._insert("intents", pa.table({"query": texts, "intent": intent, "users": users}))
            columns = [texts, intent, variant, self.world.kind(intent.to_numpy()), users]
            yield pa.RecordBatch.from_arrays(columns, schema=INTENTS)

    def _texts(self, intent: Ints, variant: Ints) -> pa.Array:
        """The text of queries and canaries; the latter have negative intents."""
        texts = queries(self.world, np.maximum(intent, 1), variant)
        if (intent < 0).any():
            planted = pa.array([self.canaries[-1 - n].query for n in intent[intent < 0].tolist()], pa.string())
            texts = pc.replace_with_mask(texts, pa.array(intent < 0), planted)
        return texts

    def _topics(self) -> Iterator[pa.RecordBatch]:
        """The rows of `topics`: for each text the topic of its one intent."""
        self._engine.execute(
            """CREATE TABLE texts AS
               SELECT query, sum(users) AS users, arg_max(intent, (users, -intent)) AS intent
               FROM intents WHERE intent >= 0 GROUP BY query"""
        )
        for batch in self._read("SELECT query, intent FROM texts ORDER BY users DESC, query"):
            yield pa.RecordBatch.from_arrays([batch["query"], World.topic(batch["intent"].to_numpy())], schema=TOPIC)

    def _serp(self) -> Iterator[pa.RecordBatch]:
        """The rows of `serp`: the public result lists of the texts that several users ask."""
        found = f"SELECT query, intent FROM texts WHERE users >= {SERP_USERS} ORDER BY users DESC, query"
        for batch in self._read(found, 10_000):
            query = batch["query"].take(pa.array(np.repeat(np.arange(batch.num_rows), SERP_DEPTH)))
            rank = np.tile(np.arange(1, SERP_DEPTH + 1, dtype=np.int32), batch.num_rows)
            url = self.world.serp(batch["intent"].to_numpy(), SERP_DEPTH)
            yield pa.RecordBatch.from_arrays([query, pa.array(rank), url], schema=SERP)

    def _relevance(self) -> Iterator[pa.RecordBatch]:
        """The rows of `relevance`: the site that is meant, and the result at which the first click of most lands."""
        found = f"SELECT query, intent FROM texts WHERE users >= {SERP_USERS} ORDER BY users DESC, query"
        for batch in self._read(found, 10_000):
            intent = batch["intent"].to_numpy()
            best, meant = self.world.best(intent), self.world.navigational(intent)
            which = np.concatenate([np.flatnonzero(meant), np.flatnonzero(~meant | (best != 1))])
            place = np.concatenate([np.ones(meant.sum(), np.int64), best[~meant | (best != 1)]])
            gain = np.where((np.arange(len(which)) < meant.sum()) | ~meant[which], 2, 1).astype(np.int32)
            order = np.lexsort((-gain, which))
            which, place, gain = which[order], place[order], gain[order]
            url = self.world.urls(self.world.results(intent[which], place))
            query = batch["query"].take(pa.array(which))
            yield pa.RecordBatch.from_arrays([query, url, pa.array(gain)], schema=RELEVANCE)

    def _documents(self) -> Iterator[pa.RecordBatch]:
        """The rows of `document_frequency`: each keyword with as many documents as its frequency rank gives it."""
        self._engine.register("known", self.world.wording.keywords(self.world))
        for batch in self._read(
            f"""SELECT keyword, coalesce(rank, {RANKED_WORDS}) AS rank, md5_number_lower(keyword) AS key
                FROM (SELECT DISTINCT unnest(string_split(query, ' ')) AS keyword FROM intents)
                LEFT JOIN (SELECT keyword, min(rank) AS rank FROM known GROUP BY keyword) USING (keyword)
                ORDER BY keyword"""
        ):
            documents = self.world.documents(batch["rank"].to_numpy(), batch["key"].to_numpy())
            yield pa.RecordBatch.from_arrays([batch["keyword"], pa.array(documents)], schema=DOCUMENTS)

    def _changing(self) -> Iterator[pa.RecordBatch]:
        """The rows of `changes`: the texts that several users ask for a need that changes."""
        needs = [] if self.world.changing is None else self.world.changing.intent.tolist()
        self._engine.register("needs", pa.table({"intent": pa.array(needs, WHOLE)}))
        for batch in self._read(
            f"""SELECT query, intent FROM texts SEMI JOIN needs USING (intent)
                WHERE users >= {SERP_USERS} ORDER BY users DESC, query"""
        ):
            yield shares(self.world, batch)

    def _periods(self) -> Iterator[pa.RecordBatch]:
        """The rows of `periods`: who asks what in which period."""
        named = pa.table({"period": np.arange(len(self.world.periods)), "name": self.world.periods.names})
        self._engine.register("named", named)
        yield from self._read(
            f"""SELECT name AS period, query, sum(held.users)::BIGINT AS users
                FROM held JOIN named USING (period) JOIN texts USING (query) WHERE texts.users >= {SERP_USERS}
                GROUP BY held.period, name, query ORDER BY held.period, 3 DESC, query"""
        )

    def _in_groups(self) -> Iterator[pa.RecordBatch]:
        """The rows of `groups`: who asks what in which group."""
        yield from self._read(
            f"""SELECT name, value, query, sum(by_group.users)::BIGINT AS users
                FROM by_group JOIN texts USING (query) WHERE texts.users >= {SERP_USERS}
                GROUP BY name, value, query ORDER BY name, value, 4 DESC, query"""
        )

    def _slips(self) -> Iterator[pa.RecordBatch]:
        """The rows of `typos`: what was typed, what was meant, by how many."""
        yield from self._read(
            "SELECT query, meant, sum(users)::BIGINT AS users FROM slips GROUP BY ALL ORDER BY 3 DESC, 1, 2"
        )


@contextmanager
def plain_errors(folder: Path) -> Iterator[None]:
    """Turn the database's errors about a full disk or too little memory into errors that a user understands."""
    import duckdb

    try:
        yield
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        what = str(error).splitlines()[0]
        raise OutputError(
            f"The truth tables cannot be written: {what}", given=folder, next="free some space"
        ) from error


def engine(work: Path) -> duckdb.DuckDBPyConnection:
    """A database of its own in a folder, within a stated amount of memory."""
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY,
        "threads": 1,
        "temp_directory": str(work),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    return duckdb.connect(str(work / "truth.duckdb"), config=settings)


def completions(world: World) -> pa.Table:
    """The family "fear of …": what may follow, and how many of those who ask ask it."""
    share = np.diff(world.fears, prepend=0.0)
    intents = COMPLETIONS + RESIDUES * np.arange(len(FEARS))
    return pa.table(
        {
            "phrase": pa.array([PHRASE] * len(FEARS)),
            "completion": pa.array(FEARS),
            "query": queries(world, intents, np.zeros(len(FEARS), np.int64)),
            "share": pa.array(share),
        }
    )
