"""ClickHouse as a log: over HTTP and in this process; what breaks off, is refused or fails late is one clear error.

`made up` tests the protocol alone, everywhere; `chdb` runs the same with ClickHouse's own engine where it is installed
(`pip install '.[clickhouse]'`).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests import clickhouse as interface
from typer.testing import CliRunner

import hubbub
from hubbub.cli import app
from hubbub.errors import InputError
from hubbub.ingest.clickhouse import NotWholeError, messages
from hubbub.ingest.databases import fetched

COLUMNS = {"user": "who", "query": "what", "time": "seen"}
VALUES = [(f"u{n % 7}", f"lilac {n % 3}", f"2006-03-01 07:17:{n % 60:02d}") for n in range(200)]
ROWS = sorted((who, what) for who, what, _ in VALUES)


ENGINES = ["made up", *([pytest.param("chdb", marks=pytest.mark.slow)] if interface.INSTALLED else [])]


@pytest.fixture(params=ENGINES)
def server(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("CLICKHOUSE_PASSWORD", interface.PASSWORD)
    monkeypatch.chdir(tmp_path)
    if request.param == "chdb":
        engine = interface.Chdb(tmp_path / "data", VALUES)
        with interface.served(engine) as address:
            yield address
        engine.session.close()
    else:
        with interface.served(interface.MadeUp(VALUES)) as address:
            yield address


def kept(source: str, **what: str) -> list[tuple[str, str]]:
    with hubbub.read_log(source, columns=COLUMNS, **what) as log:  # type: ignore[arg-type]
        rows = pq.read_table(log.ingested.log)
        assert log.ingested.own_query == ("query" in what) and not rows["time"].null_count
        return sorted(zip(rows["user"].to_pylist(), rows["query"].to_pylist(), strict=True))


def failed(source: str, tmp_path: Path, query: str | None = None, table: str | None = None) -> str:
    work = tmp_path / "work"
    with pytest.raises(InputError, match="did not give the rows") as error, fetched(source, query, table, work):
        pass
    assert not list(work.glob("*"))
    return str(error.value)


def test_a_table_and_a_query_give_its_rows(server: str) -> None:
    assert kept(server, table="searches") == kept(server, query="SELECT who, what, seen FROM searches;") == ROWS


def test_an_error_in_the_middle_is_no_end(server: str, tmp_path: Path) -> None:
    """The server has said 200 and given rows; what it says then stands in the body."""
    late = "SELECT who, what, seen, throwIf(number = 200000) AS late FROM searches, numbers(300000)"
    assert "DB::Exception" in failed(server, tmp_path, query=late)


def test_a_connection_that_drops_in_the_middle(server: str, tmp_path: Path) -> None:
    failed(server, tmp_path, query="SELECT who, what, seen FROM searches WHERE who != 'drop'")


def test_a_wrong_password_is_named_and_not_shown(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLICKHOUSE_PASSWORD", "wrong secret")
    said = failed(server, tmp_path, table="searches")
    assert "Authentication failed" in said and "wrong secret" not in said


@pytest.mark.parametrize(
    ("what", "said"),
    [({"table": "no such table"}, "no such table"), ({"query": "INSERT INTO searches VALUES (1)"}, "Syntax error")],
)
def test_what_a_server_refuses(server: str, tmp_path: Path, what: dict[str, str], said: str) -> None:
    assert said in failed(server, tmp_path, **what)
    assert kept(server, table="searches") == ROWS


def test_nobody_listens(tmp_path: Path) -> None:
    assert "refused" in failed("clickhouse://127.0.0.1:9/shop", tmp_path, table="searches")


def test_a_view_is_a_query_and_must_be_stated(server: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table but a view"), fetched(server, None, "few", tmp_path / "work"):
        pass
    with hubbub.read_log(server, columns=COLUMNS, table="few", own_query=True) as log:
        assert log.ingested.own_query and log.ingested.kept == 3


def test_a_release_keeps_no_password(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the client's own file, too."""
    monkeypatch.delenv("CLICKHOUSE_PASSWORD")
    Path("clickhouse-client.xml").write_text(
        f"<config><user>x</user><password>{interface.PASSWORD}</password></config>"
    )
    command = ["release", server, "--table", "searches", "--columns", "user=who,query=what", "--mechanism", "korolova"]
    command += ["--epsilon", "1", "--delta", "1e-6", "--out", "out", "--ledger", "ledger.sqlite"]
    done = CliRunner().invoke(app, [*command, "--tables", "queries", "--quiet"])
    assert done.exit_code == 0, done.output
    files = [path for path in Path("out").rglob("*") if path.suffix in (".json", ".toml", ".html", ".md")]
    texts = {path.name: path.read_text() for path in files}
    assert server in texts["run.toml"] and "clickhouse" not in texts["card.json"]
    assert not [name for name, text in texts.items() if "password" in text.lower() and name == "run.toml"]


def test_every_place_at_which_a_stream_may_break_off() -> None:
    """pyarrow takes a stream without its end for a whole one; hubbub does not."""
    rows = pa.table({"who": ["u1", "u2", "u3"] * 50})
    whole = interface.arrow(rows)
    assert sum(batch.num_rows for batch in messages(io.BytesIO(whole))) == rows.num_rows
    for size in range(len(whole)):
        with pytest.raises(NotWholeError):
            list(messages(io.BytesIO(whole[:size])))
    for more in (b"x", interface.BROKEN.encode()):
        with pytest.raises(NotWholeError, match=r"end|Memory limit"):
            list(messages(io.BytesIO(whole + more)))
    # the words of today, and those of versions of 2018
    for said in (interface.BROKEN, "Code: 241, e.displayText() = DB::Exception: Memory limit exceeded, e.what() = …"):
        with pytest.raises(NotWholeError, match=r"^Code: 241.*Memory limit exceeded"):
            list(messages(io.BytesIO(whole[:-8] + said.encode())))


def test_a_missing_engine_names_the_line_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "chdb.session", None)
    with pytest.raises(InputError, match="not installed") as error, fetched("chdb://", "SELECT 1", None, tmp_path):
        pass
    assert "pip install 'hubbub[clickhouse]'" in str(error.value)


def test_the_engine_in_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    interface.embedded(monkeypatch, interface.MadeUp(VALUES))
    assert kept(f"chdb://{tmp_path}", table="shop.searches") == ROWS
    assert "does not exist" in failed("chdb://", tmp_path, table="no such table")
    with pytest.raises(InputError, match="folder does not exist"):
        kept(f"chdb://{tmp_path}/nothing", table="t")
    assert not (tmp_path / "nothing").exists()


@pytest.mark.slow
@pytest.mark.skipif(not interface.INSTALLED, reason="ClickHouse's engine is not installed: pip install '.[clickhouse]'")
def test_folders_and_files_in_the_engine_itself(tmp_path: Path) -> None:
    engine = interface.Chdb(tmp_path / "data", VALUES)
    every = "id UUID, day Date, at DateTime64(3), ip Nullable(IPv4), kind Enum8('a' = 1), name FixedString(4)"
    engine.session.query(f"CREATE TABLE shop.types ({every}) ENGINE = Log")
    one = "'61f0c404-5cb3-11e7-907b-a6006ad3dba0', '2006-03-01', '2006-03-01 07:17:12.5', NULL, 'a', 'ann'"
    engine.session.query(f"INSERT INTO shop.types VALUES ({one})")
    engine.session.close()
    assert kept(f"chdb://{tmp_path}/data", table="shop.searches") == ROWS
    with fetched(f"chdb://{tmp_path}/data", None, "shop.types", tmp_path / "work") as file:
        row = {name: values[0] for name, values in pq.read_table(file).to_pydict().items()}
    assert row["id"] == b"61f0c404-5cb3-11e7-907b-a6006ad3dba0" and row["day"] == b"2006-03-01"
    assert row["ip"] is None and row["kind"] == b"a" and row["name"] == b"ann" and row["at"].second == 12
    (tmp_path / "log.csv").write_text("who,what\n" + "".join(f"{who},{what}\n" for who, what, _ in VALUES))
    sql = f"SELECT who, what, 1141197432 AS seen FROM file('{tmp_path}/log.csv', 'CSVWithNames')"
    assert kept("chdb://", query=sql) == ROWS
