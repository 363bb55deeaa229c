"""Databases as logs, on real servers: the same rows as from a file, one snapshot, and errors that lose nothing."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests import servers
from typer.testing import CliRunner

import hubbub
from hubbub.cli import app
from hubbub.errors import InputError, ParameterError
from hubbub.ingest import databases, frames
from hubbub.ingest.databases import fetched, is_database

pytestmark = pytest.mark.slow
COLUMNS = {"user": "who", "query": "what", "time": "seen"}
VALUES = [(f"u{n % 7}", f"lilac {n % 3}", f"2006-03-01 07:17:{n % 60:02d}") for n in range(200)]
ROWS = sorted((who, what) for who, what, _ in VALUES)


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    driver = import_module("adbc_driver_postgresql.dbapi")
    with servers.postgresql() as address:
        with driver.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE searches (who text, what text, seen timestamp, extra numeric, id uuid)")
            cursor.executemany("INSERT INTO searches (who, what, seen) VALUES ($1, $2, $3::text::timestamp)", VALUES)
            cursor.execute("GRANT SELECT ON searches TO ann")
        yield address


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with servers.mariadb() as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYSQL_PWD", "lilac")
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        with contextlib.closing(_mysql(address)) as connection, connection.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE searches (who VARCHAR(20), what VARCHAR(99), seen DATETIME, extra DECIMAL(9,2))"
            )
            cursor.executemany("INSERT INTO searches (who, what, seen) VALUES (%s, %s, %s)", VALUES)
            connection.commit()
        yield address


def _mysql(address: str) -> Any:
    socket = address.partition("socket=")[2]
    return import_module("pymysql").connect(unix_socket=socket, user="ann", password="lilac", database="shop")


@pytest.fixture
def embedded(tmp_path: Path) -> dict[str, str]:
    with contextlib.closing(sqlite3.connect(tmp_path / "shop.db")) as lite:
        lite.execute("CREATE TABLE searches (who, what, seen, extra)")
        lite.executemany("INSERT INTO searches (who, what, seen) VALUES (?, ?, ?)", VALUES)
        lite.commit()
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as duck:
        duck.execute("CREATE TABLE searches (who VARCHAR, what VARCHAR, seen TIMESTAMP)")
        duck.executemany("INSERT INTO searches VALUES (?, ?, ?)", VALUES)
    return {"sqlite": f"sqlite://{tmp_path}/shop.db", "duckdb": f"duckdb://{tmp_path}/shop.duckdb"}


def kept(source: str, **what: str) -> list[tuple[str, str]]:
    with hubbub.read_log(source, columns=COLUMNS, **what) as log:  # type: ignore[arg-type]
        rows = pq.read_table(log.ingested.log)
        assert log.ingested.own_query == ("query" in what) and log.ingested.format == "table"
        assert not rows["time"].null_count
        return sorted(zip(rows["user"].to_pylist(), rows["query"].to_pylist(), strict=True))


@pytest.mark.parametrize("kind", ["postgresql", "mariadb", "sqlite", "duckdb"])
@pytest.mark.parametrize("what", [{"table": "searches"}, {"query": "SELECT who, what, seen FROM searches"}])
def test_a_table_and_a_query_give_its_rows(
    kind: str, what: dict[str, str], embedded: dict[str, str], request: pytest.FixtureRequest
) -> None:
    source = embedded.get(kind) or request.getfixturevalue(kind)
    assert is_database(source)
    assert kept(source, **what) == ROWS


@contextlib.contextmanager
def changing(kind: str, source: str) -> Iterator[Any]:
    """A cursor of somebody else's, whose changes are there at once."""
    if kind == "postgresql":
        driver = import_module("adbc_driver_postgresql.dbapi")
        with driver.connect(source, autocommit=True) as other, other.cursor() as cursor:
            yield cursor
        return
    connect = _mysql if kind == "mariadb" else lambda source: sqlite3.connect(source.partition("://")[2])
    with contextlib.closing(connect(source)) as other, contextlib.closing(other.cursor()) as cursor:
        if kind == "sqlite":
            cursor.execute("PRAGMA journal_mode = WAL")  # else a reader keeps writers waiting
        yield cursor
        other.commit()


@pytest.mark.parametrize("kind", ["postgresql", "mariadb", "sqlite"])
def test_one_snapshot_however_long_it_takes(
    kind: str,
    embedded: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Rows that are written while the log is read are not in it."""
    source = embedded.get(kind) or request.getfixturevalue(kind)

    def slowly(batches: Iterator[pa.RecordBatch], work: Path | None) -> Any:
        def between() -> Iterator[pa.RecordBatch]:
            for at, batch in enumerate(batches):
                if at == 0:
                    with changing(kind, source) as cursor:
                        cursor.execute("INSERT INTO searches (who, what) VALUES ('late', 'late')")
                yield batch

        return frames.kept(between(), work)

    with changing(kind, source) as cursor:
        cursor.execute("SELECT count(*) FROM searches")  # a file of SQLite's is set up for writers beside readers
        cursor.fetchall()
    monkeypatch.setattr(databases, "kept", slowly)
    with fetched(source, None, "searches", tmp_path / "work") as file:
        first = pq.read_table(file)["who"].to_pylist()
    with fetched(source, None, "searches", tmp_path / "work") as file:
        later = pq.read_table(file)["who"].to_pylist()
    with changing(kind, source) as cursor:
        cursor.execute("DELETE FROM searches WHERE who = 'late'")
    late = "late" if kind == "postgresql" else b"late"
    assert (first.count(late), later.count(late)) == (0, 1)


def test_a_release_from_a_database_keeps_no_password(
    postgresql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "lilac")
    source = postgresql.replace("user=owner", "user=ann")
    out, sql = tmp_path / "out", "SELECT who, what FROM searches"
    command = ["release", source, "--query", sql, "--columns", "user=who,query=what", "--mechanism", "korolova"]
    command += ["--epsilon", "1", "--delta", "1e-6", "--out", str(out), "--ledger", str(tmp_path / "ledger.sqlite")]
    done = CliRunner().invoke(app, [*command, "--tables", "queries"])
    assert done.exit_code == 0, done.output
    settings = (out / "owner-only" / "run.toml").read_text()
    assert source in settings and sql in settings
    card = (out / "public" / "card.json").read_text()
    assert "a query of the owner's" in card and "postgresql" not in card
    everything = done.output + "".join(path.read_text(errors="replace") for path in out.rglob("*") if path.is_file())
    assert "PGPASSWORD" not in everything
    checked = CliRunner().invoke(app, ["card", str(out), "--check"])
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize(
    ("change", "what", "said"),
    [
        (("user=owner", "user=ann"), "searches", "password"),
        (("user=owner", "user=nobody"), "searches", "nobody"),
        (("/postgres?", "/nothing?"), "searches", "nothing"),
        (("host=", "host=/nowhere"), "searches", "nowhere"),
        (("", ""), "no such table", "no such table"),
    ],
)
def test_what_a_server_refuses_is_one_clear_error(
    postgresql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[str, str], what: str, said: str
) -> None:
    monkeypatch.setenv("PGPASSWORD", "wrong secret")
    with (
        pytest.raises(InputError, match="did not give the rows") as error,
        fetched(postgresql.replace(*change), None, what, tmp_path),
    ):
        pass
    assert said in str(error.value) and "wrong secret" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_a_wrong_password_of_mariadb(mariadb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", "wrong secret")
    with pytest.raises(InputError, match="Access denied") as error, fetched(mariadb, None, "searches", tmp_path):
        pass
    assert "wrong secret" not in str(error.value)


def test_a_statement_that_writes_is_refused(postgresql: str, mariadb: str, tmp_path: Path) -> None:
    for source in (postgresql, mariadb):
        with pytest.raises(InputError), fetched(source, "DELETE FROM searches", None, tmp_path):
            pass
    assert kept(postgresql, table="searches") == kept(mariadb, table="searches") == ROWS


def test_a_connection_that_drops_in_the_middle(postgresql: str, tmp_path: Path) -> None:
    """The server ends the session while rows flow: nothing that looks like a log stays."""
    driver = import_module("adbc_driver_postgresql.dbapi")

    def end() -> None:
        with driver.connect(postgresql, autocommit=True) as other, other.cursor() as cursor:
            ask = (
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE query LIKE '%endless%' AND pid <> pg_backend_pid()"
            )
            for _ in range(200):
                cursor.execute(ask)
                if cursor.fetchone()[0]:
                    return
                stop.wait(0.05)

    stop = threading.Event()
    endless = "SELECT who, what, pg_sleep(0.01) AS endless FROM searches, generate_series(1, 100000)"
    ending = threading.Thread(target=end)
    ending.start()
    try:
        with pytest.raises(InputError, match="did not give the rows"), fetched(postgresql, endless, None, tmp_path):
            pass
    finally:
        stop.set()
        ending.join()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("postgresql://ann:secret@host/shop", {"table": "t"}, "holds no password"),
        ("postgresql://host/shop", {}, "a table or a query"),
        ("postgresql://host/shop", {"table": "t", "query": "SELECT 1"}, "a table or a query"),
        ("log.csv", {"table": "t"}, "Only a database"),
    ],
)
def test_addresses_that_are_refused(source: str, options: dict[str, str], said: str) -> None:
    with pytest.raises(ParameterError, match=said) as error:
        hubbub.read_log(source, columns=COLUMNS, **options)  # type: ignore[arg-type]
    assert "secret" not in str(error.value)


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    for scheme in ("sqlite", "duckdb"):
        with (
            pytest.raises(InputError, match="does not exist"),
            fetched(f"{scheme}://{tmp_path}/no.db", None, "t", tmp_path),
        ):
            pass
    assert not list(tmp_path.iterdir())


def test_a_missing_driver_names_the_line_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pymysql", None)
    with pytest.raises(InputError, match=r"not installed.*") as error, fetched("mysql://h/d", None, "t", tmp_path):
        pass
    assert "pip install 'hubbub[mysql]'" in str(error.value)


def test_a_table_name_is_a_name(embedded: dict[str, str], tmp_path: Path) -> None:
    for source in embedded.values():
        with pytest.raises(InputError), fetched(source, None, 'searches" WHERE who = "u1', tmp_path):
            pass


def test_a_look_at_a_table_nobody_described_proposes_a_command(embedded: dict[str, str], tmp_path: Path) -> None:
    look = ["inspect", embedded["sqlite"], "--table", "searches", "--ledger", str(tmp_path / "ledger.sqlite")]
    done = CliRunner().invoke(app, look)
    assert done.exit_code == 0, done.output
    assert "--columns user=USER" in done.output and "--table searches" in done.output


@pytest.mark.parametrize("kind", ["postgresql", "mariadb", "sqlite", "duckdb"])
def test_a_view_is_a_query_and_must_be_stated(
    kind: str, embedded: dict[str, str], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    source = embedded.get(kind) or request.getfixturevalue(kind)
    view = "CREATE VIEW few AS SELECT who, what, seen FROM searches LIMIT 3"
    if kind == "postgresql":
        driver = import_module("adbc_driver_postgresql.dbapi")
        with driver.connect(source, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(view)
    elif kind == "mariadb":
        with contextlib.closing(_mysql(source)) as connection, connection.cursor() as cursor:
            cursor.execute(view)
    else:
        made = sqlite3.connect(source.partition("://")[2]) if kind == "sqlite" else duckdb.connect(source[9:])
        with contextlib.closing(made):
            made.execute(view)
            made.commit()
    with pytest.raises(InputError, match="no table but a view"), fetched(source, None, "few", tmp_path / "work"):
        pass
    assert not list(tmp_path.glob("work/*"))
    with hubbub.read_log(source, columns=COLUMNS, table="few", own_query=True) as log:
        assert log.ingested.own_query and log.ingested.kept == 3
