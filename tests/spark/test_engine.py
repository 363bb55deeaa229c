"""The same answers as DuckDB, to the last id and byte."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.engines import Engine
from hubbub.engines.duckdb import DuckDB
from hubbub.engines.spark import Spark
from hubbub.errors import InputError
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.privacy.fingerprint import fingerprint
from hubbub.privacy.ledger import Ledger
from hubbub.public.lists import read_serp
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from hubbub.testing import check_engine
from tests.conftest import aol_lines

Make = Callable[[Path], Engine]


def test_spark_passes_the_contract(make_engine: Make) -> None:
    check_engine(make_engine)


def texts(size: int) -> list[str]:
    """Text whose order differs between bytes, UTF-16 and the letters' alphabet."""
    letters = "aB zé~ßЖ中ｑ\uff5e\U0001f600\U00010000"
    draw = random.Random(7)  # noqa: S311
    return ["".join(draw.choices(letters, k=draw.randint(0, 4))) for _ in range(size)]


def test_ids_follow_the_bytes_of_the_text_over_many_partitions(engine: Spark, tmp_path: Path) -> None:
    engine.session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    engine.session.conf.set("spark.sql.shuffle.partitions", "8")
    table = pa.table({"a": texts(5000), "b": [None if n % 9 == 0 else n % 5 for n in range(5000)]})
    sql, numbered = "SELECT a, b, count(*) AS n FROM t GROUP BY a, b", []
    for one in (engine, DuckDB(tmp_path)):
        one.register("t", table)
        one.number("ids", sql, ["a", "b"], "kid")
        numbered.append(one.fetch("SELECT * FROM ids ORDER BY kid").to_pylist())
        one.number("none", f"SELECT * FROM ({sql}) AS rows WHERE n < 0", ["a"], "kid")
        assert one.fetch("SELECT kid, a FROM none").num_rows == 0
    assert numbered[0] == numbered[1]
    assert [row["kid"] for row in numbered[0]] == list(range(len(numbered[0])))
    [parts] = engine.folder.glob("ids-*")
    assert len(list(parts.glob("*.parquet"))) == 8


def test_busy_users_are_left_out_as_on_duckdb(make_engine: Make, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [f"u{user},q{n % 3},{n * 20_000 - 86_400}" for user in range(4) for n in range(user * 4 + 1)]
    path.write_text("\n".join(["who,what,when", *rows, "u0,timeless,", "u0,timeless too,"]) + "\n")
    found = []
    for engine in (make_engine, DuckDB):
        columns = {"user": "who", "query": "what", "time": "when"}
        with read_log(path, format="table", columns=columns, engine=engine, max_searches_a_day=4) as log:
            left = log.engine.fetch('SELECT uid, "time", query FROM log').to_pylist()
            found.append((log.busy(), sorted(map(repr, left))))
    assert found[0] == found[1] and found[0][0] == (3, 5 + 9 + 13)


def lines() -> list[str]:
    """Ties, repeats, several clicks of one search, text beyond ASCII."""
    rows = aol_lines(120)
    for u in range(120):
        for n, text in enumerate(texts(6)):
            rows.append(f"{u}\tx{text or 'y'}\t2006-03-02 08:00:0{n % 3}\t{n + 1}\thttp://{n % 4}.example")
    return rows


@pytest.mark.parametrize(
    ("settings", "variant", "serp"),
    [
        ({"epsilon": 4, "delta": "1e-3", "d": 3, "d_c": 2, "keep": "random"}, "strict", False),
        ({"epsilon": 90, "delta": "1e-3", "d": 12, "d_c": 9}, "published", True),
    ],
)
def test_the_same_seeded_release_is_the_same_to_the_byte(
    settings: dict[str, object], variant: str, serp: bool, make_engine: Make, tmp_path: Path
) -> None:
    log, listed = tmp_path / "log.tsv", tmp_path / "serp.tsv"
    log.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    urls = [*(f"http://{n}.example" for n in range(6)), "http://www.weather.example"]
    listed.write_text("query\turl\n" + "".join(f"weather\t{url}\n" for url in urls), encoding="utf-8")
    given = read_serp(listed, canonical_urls=False) if serp else None
    public = []
    makers: list[str | Make] = ["duckdb", make_engine]
    for name, engine in zip(("duckdb", "spark"), makers, strict=True):
        mechanism = build("korolova", settings, variant=variant, tables=["queries", "clicks"], serp=given)
        plan = Plan(mechanism, tmp_path / name, seed=5, not_private=True)
        with Ledger(tmp_path / f"{name}.sqlite") as ledger, read_log(log, format="aol", engine=engine) as read:
            rows = run_release(read, plan, ledger).rows
            assert rows["queries"] >= 3 and rows["clicks"] >= 1
        public.append({p.name: p.read_bytes() for p in (tmp_path / name / "public").iterdir()})
    assert public[0] == public[1]


def test_names_can_be_used_again_and_folders_may_be_called_anything(make_engine: Make, tmp_path: Path) -> None:
    work = tmp_path / "a b[1]{x}%20*?"
    work.mkdir()
    pq.write_table(pa.table({"n": [1, 2]}), work / "it's.parquet")
    engine = make_engine(work)
    engine.scan("t", work / "it's.parquet")
    engine.view("twice", "SELECT n * 2 AS n FROM t")
    engine.save("t", "SELECT n + 1 AS n FROM t")
    engine.save("t", 'SELECT "N" + 1 AS n FROM t')  # a name is not its case
    assert engine.fetch("SELECT sum(n) AS s FROM twice").to_pylist() == [{"s": 14}]
    engine.register("t", pa.table({"n": [5]}))
    assert engine.fetch("SELECT n, 'it''s' AS text FROM twice").to_pylist() == [{"n": 10, "text": "it's"}]
    engine.view("t", "SELECT 3 AS n")
    engine.drop("t")
    engine.drop("never")
    [folder] = work.glob("spark-*")
    assert list(folder.iterdir()) == [], "files of names that are gone stay behind"
    engine.close()
    assert not folder.exists()


def test_a_missing_file_is_said_plainly(engine: Spark, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        engine.scan("gone", tmp_path / "gone.parquet")
    pq.write_table(pa.table({"n": [1]}), tmp_path / "goes.parquet")
    engine.scan("goes", tmp_path / "goes.parquet")
    (tmp_path / "goes.parquet").unlink()
    with pytest.raises(InputError):
        engine.fetch("SELECT * FROM goes")


@pytest.mark.parametrize("times", [True, False], ids=["times", "no times"])
def test_the_same_fingerprint(make_engine: Make, tmp_path: Path, times: bool) -> None:
    """The ledger knows a log that was looked at on one engine and released on the other."""
    rows = [line.split("\t") for line in lines()[1:]]
    table = pa.table({"u": [r[0] for r in rows], "q": [r[1] for r in rows], "t": [r[2] for r in rows]})
    pq.write_table(table, tmp_path / "log.parquet")
    columns = {"user": "u", "query": "q"} | ({"time": "t"} if times else {})
    found = []
    for engine in ("duckdb", make_engine):
        with read_log(tmp_path / "log.parquet", format="table", columns=columns, engine=engine) as log:
            found.append(fingerprint(log, "5e" * 32))
    assert found[0] == found[1] and found[0].same(found[1]) and len(found[0].users) == 120
