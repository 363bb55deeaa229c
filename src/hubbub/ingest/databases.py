"""A table or a query of a database as a log: read once, as a stream, into a file of the owner's alone.

    postgresql://host/shop   ADBC, through COPY             sqlite:///shop.db, duckdb:///shop.duckdb   read only
    mysql://host/shop, mariadb://host/shop                  PyMySQL, row by row from the server
    clickhouse://host/shop, chdb:///folder                  Arrow, from a server or in this process (clickhouse.py)

One statement in one transaction that reads only and sees one state of the database, however long it takes. A password
never stands in the address: it would be in the shell's history and in run.toml. It comes from where the database's
own tools take it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

import pyarrow as pa

from hubbub.errors import InputError, ParameterError
from hubbub.extras import imported
from hubbub.ingest import clickhouse
from hubbub.ingest.frames import Batches, kept
from hubbub.switches import switch

ROWS = switch(__name__, "ROWS", 65_536, low=3)
DRIVER = "The driver of this database"
CLICKHOUSE = ("clickhouse", "chdb")
BACKSLASHED = ("mysql", *CLICKHOUSE)  # a backslash in a text means something
PASSWORDS = {
    "postgresql": "~/.pgpass, PGPASSWORD or a service file, as psql does",
    "mysql": "~/.my.cnf or MYSQL_PWD, as mysql does",
    "clickhouse": "CLICKHOUSE_PASSWORD or ~/.clickhouse-client/config.xml, as clickhouse-client does",
}
KINDS = {"postgres": "postgresql", "mariadb": "mysql", "clickhouse+https": "clickhouse"}
KINDS |= {name: name for name in ("postgresql", "mysql", "sqlite", "duckdb", "clickhouse", "chdb")}
EXAMPLES = "postgresql://host/database, mysql://…, clickhouse://…, sqlite:///FILE, duckdb:///FILE, chdb:///FOLDER"


def is_database(source: object) -> bool:
    """Whether a log is the address of a database."""
    return isinstance(source, str) and urlsplit(source).scheme in KINDS


def shown(source: str) -> str:
    """The address without a password, for messages."""
    parts = urlsplit(source)
    if parts.password is None:
        return source
    return parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":…@")).geturl()


@contextmanager
def fetched(
    source: str, query: str | None, table: str | None, work: Path | None, own_query: bool = False
) -> Iterator[Path]:
    """The rows as a Parquet file that nobody else may read, removed at the end.

    A view is a query of somebody's: it is refused as a table, unless the owner states that it is hers (`own_query`).
    """
    address = urlsplit(source)
    kind = KINDS[address.scheme]
    _refuse(source, address, kind, query, table)
    if table and not own_query:
        _refuse_view(source, kind, table)
    statement = query or f"SELECT * FROM {_quoted(str(table), kind)}"
    with kept(_told(READERS[kind](source, statement), source, statement), work) as file:
        yield file


def refuse_statements(source: object, query: str | None, table: str | None) -> None:
    """Refuse a table or a query for what is no database."""
    if query or table:
        raise ParameterError("Only a database has tables and queries.", given=source, allowed=EXAMPLES)


def _refuse(source: str, address: SplitResult, kind: str, query: str | None, table: str | None) -> None:
    if address.password is not None:
        raise ParameterError(
            "The address of a database holds no password: it would stay in the shell's history and in run.toml.",
            given=shown(source),
            next=f"leave it out, and keep it in {PASSWORDS.get(kind, 'its own place')}",
        )
    if bool(query) == bool(table):
        raise ParameterError(
            "A database needs to be told what to read: a table or a query.",
            given="both" if query else "neither",
            allowed='--table searches, or --query "SELECT person, text, at FROM searches"',
        )


def _refuse_view(source: str, kind: str, table: str) -> None:
    """Refuse what is no table of its own rows; a name that is not there is refused when it is read."""
    asked, tables = RELATIONS[kind]
    schema, _, name = table.rpartition(".")
    words = {"whole": _quoted(table, kind), "name": name, "schema": schema}
    if kind in BACKSLASHED:
        words = {word: text.replace("\\", "\\\\") for word, text in words.items()}
    look = asked.format(**{word: text.replace("'", "''") for word, text in words.items()})
    found = {
        value.decode() if isinstance(value, bytes) else str(value)
        for batch in _told(READERS[kind](source, look), source, look)
        for value in batch.column(0).to_pylist()
    }
    if found - tables:
        raise InputError(
            "This is no table but a view, or something like it: a query made its rows.",
            given=f"--table {table}",
            allowed="a table; or a view, if each of its rows comes from rows of that row's own user alone",
            next="say --own-query too, and the card will say that you state it",
        )


def _told(batches: Batches, source: str, statement: str) -> Batches:
    """The same batches; what a driver says when it fails becomes one clear error."""
    try:
        yield from batches
    except (InputError, ParameterError):
        raise
    except Exception as error:  # each driver has classes of its own
        raise _failed(source, statement, error) from None


def _failed(source: str, statement: str, error: Exception) -> InputError:
    """What the database answered, in its own first line."""
    said = " ".join(str(error).split())[:300]
    return InputError(
        f"The database did not give the rows: {said.rstrip('.')}.",
        given=f"{shown(source)}: {statement[:200]}",
        next="check address, password and statement with the database's own tool; nothing was released or spent",
    )


def _quoted(table: str, kind: str) -> str:
    """A table's name, perhaps with its schema, as an identifier."""
    if kind in CLICKHOUSE:
        return ".".join(clickhouse.quoted(part) for part in table.split("."))
    mark = "`" if kind == "mysql" else '"'
    return ".".join(f"{mark}{part.replace(mark, mark * 2)}{mark}" for part in table.split("."))


def _postgresql(source: str, statement: str) -> Batches:
    driver = imported("adbc_driver_postgresql.dbapi", "postgres", DRIVER)
    with driver.connect(source) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute(statement)
        reader = cursor.fetch_record_batch()
        yield pa.RecordBatch.from_pylist([], schema=reader.schema)
        yield from reader


def _duckdb(source: str, statement: str) -> Batches:
    import duckdb

    with duckdb.connect(str(_file(source)), read_only=True) as engine:
        reader = engine.sql(statement).to_arrow_reader(ROWS)
        yield pa.RecordBatch.from_pylist([], schema=reader.schema)
        yield from reader


def _sqlite(source: str, statement: str) -> Batches:
    with closing(sqlite3.connect(f"{_file(source).absolute().as_uri()}?mode=ro", uri=True)) as database:
        cursor = database.execute(statement)
        yield from _rows([name for name, *_ in cursor.description or ()], cursor.fetchmany)


def _mysql(source: str, statement: str) -> Batches:
    driver = imported("pymysql", "mysql", DRIVER)
    at = urlsplit(source)
    options: dict[str, Any] = {"database": unquote(at.path.lstrip("/")), "charset": "utf8mb4"}
    if at.hostname:
        options |= {"host": at.hostname, "port": at.port or 3306}
    if at.username:
        options["user"] = unquote(at.username)
    if os.environ.get("MYSQL_PWD"):
        options["password"] = os.environ["MYSQL_PWD"]
    socket = dict(pair.partition("=")[::2] for pair in at.query.split("&") if pair).get("socket")
    if socket:
        options["unix_socket"] = unquote(socket)
    own = Path("~/.my.cnf").expanduser()
    if own.exists():
        options["read_default_file"] = str(own)
    streamed = driver.cursors.SSCursor
    with closing(driver.connect(**options, cursorclass=streamed)) as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        cursor.execute(statement)
        yield from _rows([name for name, *_ in cursor.description or ()], cursor.fetchmany)


READERS: dict[str, Callable[[str, str], Batches]] = {
    "postgresql": _postgresql,
    "mysql": _mysql,
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "clickhouse": clickhouse.served,
    "chdb": clickhouse.embedded,
}


RELATIONS = {
    "postgresql": ("SELECT relkind::text AS kind FROM pg_class WHERE oid = to_regclass('{whole}')", {"r", "p"}),
    "mysql": (
        "SELECT table_type AS kind FROM information_schema.tables "
        "WHERE table_name = '{name}' AND table_schema = coalesce(nullif('{schema}', ''), DATABASE())",
        {"BASE TABLE"},
    ),
    "sqlite": ("SELECT type AS kind FROM sqlite_master WHERE name = '{name}' COLLATE NOCASE", {"table"}),
    "duckdb": (
        "SELECT table_type AS kind FROM information_schema.tables WHERE lower(table_name) = lower('{name}')",
        {"BASE TABLE"},
    ),
} | dict.fromkeys(
    CLICKHOUSE,
    (
        "SELECT engine AS kind FROM system.tables "
        "WHERE name = '{name}' AND database = if('{schema}' = '', currentDatabase(), '{schema}')",
        {"MergeTree", "ReplicatedMergeTree", "SharedMergeTree", "Log", "StripeLog", "TinyLog", "Memory"},
    ),
)
"""How each database says what stands behind a name, and what it says of tables."""


def _rows(names: list[str], fetch: Callable[[int], Any]) -> Batches:
    """Batches of rows that come as tuples: every value as text, so that no row changes how another is read."""
    schema = pa.schema([(name, pa.binary()) for name in names])
    yield pa.RecordBatch.from_pylist([], schema=schema)
    while found := fetch(ROWS):
        columns = [pa.array([_bytes(value) for value in column], pa.binary()) for column in zip(*found, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _bytes(value: Any) -> bytes | None:
    """A value of a row as bytes; a whole number without a fraction, a time in the form of ISO 8601."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).encode(errors="surrogateescape")


def _file(source: str) -> Path:
    """The file of an embedded database; it must exist, or the driver would make one."""
    at = urlsplit(source)
    found = Path(unquote(at.netloc + at.path))
    if not found.is_file():
        raise InputError(
            "The database's file does not exist.",
            given=source,
            allowed=f"{at.scheme}:///absolute/path or {at.scheme}://relative/path",
        )
    return found
