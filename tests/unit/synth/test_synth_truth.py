"""Truth tables: complete, consistent with the log, and the same for every chunking."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from tests.made_up import synthesise

from hubbub.errors import OutputError
from hubbub.synth import MADE_UP
from hubbub.synth.truth import NAMES, plain_errors
from hubbub.synth.vocabulary import TOPICS

USERS = 4_000


class Made:
    """A log and its truth, open in DuckDB."""

    def __init__(self, folder: Path) -> None:
        told = synthesise(USERS, folder / "log.parquet", truth=folder / "truth", canaries=MADE_UP)
        assert list(told.truth) == list(NAMES)
        self.folder, self.engine = folder, duckdb.connect()
        self.engine.register("log", pq.read_table(folder / "log.parquet"))
        for name, path in told.truth.items():
            self.engine.register(name, pq.read_table(path))

    def one(self, query: str) -> float:
        row = self.engine.execute(query).fetchone()
        assert row is not None
        return float(row[0])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("truth"))


@pytest.mark.slow
def test_the_folder_holds_the_tables_and_nothing_else(made: Made) -> None:
    assert sorted(path.name for path in (made.folder / "truth").iterdir()) == sorted(f"{n}.parquet" for n in NAMES)
    columns = {name: pq.read_schema(made.folder / "truth" / f"{name}.parquet").names for name in NAMES}
    assert columns == {
        "intents": ["query", "intent", "variant", "kind", "users"],
        "topics": ["query", "topic"],
        "completions": ["phrase", "completion", "query", "share"],
        "serp": ["query", "rank", "url"],
        "relevance": ["query", "url", "gain"],
        "document_frequency": ["keyword", "documents"],
        "canaries": ["query", "url", "user", "times"],
    }


def test_intents_list_every_query_with_its_users(made: Made) -> None:
    assert made.one("SELECT count(DISTINCT query) FROM log") == made.one("SELECT count(DISTINCT query) FROM intents")
    assert made.one("SELECT count(*) FROM intents WHERE query NOT IN (SELECT query FROM log)") == 0
    assert made.one("SELECT count(*) FROM intents") == made.one("SELECT count(DISTINCT (intent, variant)) FROM intents")
    differ = made.one(
        """SELECT count(*) FROM (SELECT query, count(DISTINCT "user") AS users FROM log GROUP BY query) AS found
           JOIN (SELECT query, sum(users) AS users, count(*) AS n FROM intents GROUP BY query) AS told USING (query)
           WHERE found.users > told.users OR (n = 1 AND found.users < told.users)"""
    )
    assert differ == 0
    kinds = made.engine.execute("SELECT DISTINCT kind FROM intents ORDER BY 1").fetchall()
    assert kinds == [("canary",), ("completion",), ("informational",), ("navigational",)]
    assert made.one("SELECT count(*) FROM intents WHERE kind = 'canary'") == len(MADE_UP)


def test_topics_name_every_text_once(made: Made) -> None:
    assert made.one("SELECT count(*) FROM topics") == made.one("SELECT count(DISTINCT query) FROM topics")
    missing = "SELECT count(*) FROM intents WHERE kind <> 'canary' AND query NOT IN (SELECT query FROM topics)"
    assert made.one(missing) == 0
    assert {row[0] for row in made.engine.execute("SELECT DISTINCT topic FROM topics").fetchall()} == set(TOPICS)
    assert made.one("SELECT count(*) FROM topics WHERE starts_with(query, 'fear of ') AND topic <> 'health'") == 0


def test_result_lists_hold_what_was_clicked(made: Made) -> None:
    """A list is looked up by text: 99.8 % of the clicks on its ten places agree, at 657,426 users."""
    lists = made.one("SELECT count(DISTINCT query) FROM serp")
    several = "SELECT count(*) FROM (SELECT query FROM intents WHERE intent >= 0 GROUP BY 1 HAVING sum(users) >= 5)"
    assert lists == made.one(several) > 500
    assert (
        made.one("SELECT count(*) FROM serp")
        == 10 * lists
        == made.one("SELECT count(DISTINCT (query, rank)) FROM serp")
    )
    assert made.one("SELECT count(DISTINCT query) FROM relevance") == lists, "people want something of every list"
    listed = (
        "SELECT count(*) FROM relevance ANTI JOIN serp USING (query, url) JOIN serp AS s USING (query) WHERE s.rank = 1"
    )
    assert made.one(listed) < 0.02 * lists, "what people want is on the list, or just beyond it"
    agree = made.one("SELECT avg((log.url = serp.url)::INT) FROM log JOIN serp USING (query, rank)")
    assert agree > 0.99
    inside = made.one(
        "SELECT avg((rank <= 10)::INT) FROM log WHERE url IS NOT NULL AND query IN (SELECT query FROM serp)"
    )
    assert 0.85 < inside < 0.95


def test_documents_cover_every_keyword(made: Made) -> None:
    made.engine.execute("CREATE TEMP TABLE w AS SELECT DISTINCT unnest(string_split(query, ' ')) AS keyword FROM log")
    assert made.one("SELECT count(*) FROM w") == made.one("SELECT count(*) FROM document_frequency")
    assert made.one("SELECT count(*) FROM w JOIN document_frequency USING (keyword)") == made.one(
        "SELECT count(*) FROM w"
    )
    assert made.one("SELECT min(documents) FROM document_frequency") >= 1
    often = "SELECT documents FROM document_frequency WHERE keyword = 'of'"
    assert made.one(often) > 1000 * made.one("SELECT median(documents) FROM document_frequency")
    correlated = """SELECT corr(ln(n), ln(documents)) FROM document_frequency JOIN
        (SELECT unnest(string_split(query, ' ')) AS keyword, count(*) AS n FROM log GROUP BY 1 HAVING n > 20)
        USING (keyword)"""
    assert made.one(correlated) > 0.2


def test_completions_are_ranked_by_what_people_ask(made: Made) -> None:
    table = pq.read_table(made.folder / "truth" / "completions.parquet").to_pylist()
    assert len(table) == 60 and abs(sum(row["share"] for row in table) - 1) < 1e-9
    assert [row["share"] for row in table] == sorted((row["share"] for row in table), reverse=True)
    assert table[0]["query"] == f"{table[0]['phrase']} {table[0]['completion']}" == "fear of flying"
    asked = 'SELECT count(DISTINCT "user") FROM log JOIN completions USING (query)'
    assert made.one(asked) > 10


@pytest.mark.slow
def test_chunks_and_the_log_alone_change_nothing(tmp_path: Path) -> None:
    for name, chunk_users in (("one", 4096), ("two", 77)):
        synthesise(500, tmp_path / f"{name}.tsv", truth=tmp_path / name, canaries=MADE_UP, chunk_users=chunk_users)
    synthesise(500, tmp_path / "alone.tsv", canaries=MADE_UP)
    assert (tmp_path / "one.tsv").read_bytes() == (tmp_path / "alone.tsv").read_bytes()
    for name in NAMES:
        one, two = (pq.read_table(tmp_path / folder / f"{name}.parquet") for folder in ("one", "two"))
        assert one.equals(two), name


def test_without_canaries_their_table_is_empty(tmp_path: Path) -> None:
    synthesise(50, tmp_path / "log.tsv", truth=tmp_path / "it's [a] truth*")
    assert pq.read_table(tmp_path / "it's [a] truth*" / "canaries.parquet").num_rows == 0


def test_a_full_disk_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"), plain_errors(tmp_path):
        raise duckdb.IOException("Could not write file: No space left on device")
