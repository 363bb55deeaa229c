"""Public lists the owner brings: result pages (query, url), and pools of queries, that anybody could have seen.

A list must not come from the log it is used with; the card names it and says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from hubbub.errors import InputError, ParameterError, Refused

if TYPE_CHECKING:
    from hubbub.card.schema import Card


@dataclass(frozen=True)
class UrlList:
    """A public list of result pages: distinct (query, url), cleaned like the log."""

    name: str
    rows: pa.Table
    sha256: str

    def __post_init__(self) -> None:
        """A page that stands here twice would be drawn twice."""
        _require_distinct(self.name, self.rows, ["query", "url"])


@dataclass(frozen=True)
class ReleaseOrigin:
    """What the card of an earlier release says of its making, and the hash of its table of queries."""

    mechanism: str
    variant: str
    parameters: dict[str, str]
    name: str
    sha256: str = ""

    @staticmethod
    def of(card: Card, queries: Path) -> ReleaseOrigin:
        """The origin that a card states, with the hash of the file of queries."""
        made = card.mechanism
        return ReleaseOrigin(made.name, made.variant, dict(made.parameters), card.release.id, _sha256(queries))

    def by_name(self) -> ReleaseOrigin:
        """The same origin without the hash, as ledgers knew it before hashes were kept."""
        return replace(self, sha256="")


@dataclass(frozen=True)
class QueryPool:
    """A public pool of queries: distinct, cleaned like the log, in the order of their text."""

    name: str
    rows: pa.Table
    sha256: str
    size: int
    source: str
    """Where it came from, in the words of whoever built it."""
    use: str = "pool"
    """What a mechanism does with it: pool, list or previous."""
    made: ReleaseOrigin | None = None
    """The earlier release that it is, or was made from, as the ledger must know it."""

    def __post_init__(self) -> None:
        """A query that stands here twice would be drawn twice."""
        _require_distinct(self.name, self.rows, ["query"])

    @cached_property
    def queries(self) -> str:
        """The hash of the set of its queries, whatever file they came in."""
        return hash_of(self.rows)

    def record(self) -> dict[str, str]:
        """The pool as a card names it."""
        facts = {"name": self.name, "sha256": self.sha256, "queries": str(self.size), "source": self.source}
        return {"use": self.use} | facts

    @staticmethod
    def read(record: dict[str, str]) -> QueryPool:
        """A stand-in for a pool that a card names: its rows change no number of the claim."""
        return QueryPool(
            record["name"], None, record["sha256"], int(record["queries"]), record["source"], record["use"]
        )


def several(given: QueryPool | Sequence[QueryPool] | None) -> tuple[QueryPool, ...]:
    """One list, several, or none; the same one twice would have two parts of what is shared."""
    found = () if given is None else (given,) if isinstance(given, QueryPool) else tuple(given)
    if len({known.sha256 for known in found}) < len(found):
        names = ", ".join(known.name for known in found)
        raise ParameterError("A public list is given twice.", given=names, next="give each list once")
    return found


LARGEST = 1000
"""The largest weight of a query: sums over a user's pool stay exact in every engine."""


@dataclass(frozen=True)
class OwnPrior:
    """Weights of the owner's own for some queries: a catalogue, titles, place names."""

    name: str
    rows: pa.Table
    """Distinct cleaned queries, each with a whole weight from 1 to LARGEST."""
    sha256: str
    size: int

    @cached_property
    def queries(self) -> str:
        """The hash of the set of its queries, whatever file they came in."""
        return hash_of(self.rows.sort_by("query"))

    def record(self) -> dict[str, str]:
        """The prior as a card names it."""
        stated = {"name": self.name, "sha256": self.sha256, "queries": str(self.size)}
        return {"use": "prior", **stated, "source": "weights that the owner states"}

    @staticmethod
    def read(record: dict[str, str]) -> OwnPrior:
        """A stand-in for a prior that a card names: its rows change no number of the claim."""
        return OwnPrior(record["name"], None, record["sha256"], int(record["queries"]))


def _require_distinct(name: str, rows: pa.Table | None, columns: list[str]) -> None:
    """Every key once, and none empty: the guarantee counts one draw per key. A list that a card names has no rows."""
    if rows is None:
        return
    keys = rows.select(columns)
    if (distinct := keys.group_by(columns).aggregate([]).num_rows) < keys.num_rows:
        given = f"{name}: {keys.num_rows} rows, {distinct} of them different"
        raise ParameterError("A list names a key more than once.", given=given, next="give every key once")
    if any(column.null_count for column in keys.columns):
        raise ParameterError("A list has a row without a key.", given=name, next="leave such rows out")


POOL_KEY = b"hubbub.public.pool"
"""Under this name the metadata of a pool's Parquet file say where it came from."""
LONGEST_SOURCE = 300


def read_serp(path: str | Path, *, canonical_urls: bool = False) -> UrlList:
    """Read a result list: Parquet, or tab-separated text with a header, columns `query` and `url`."""
    import pyarrow.compute as pc

    from hubbub.ingest import clean

    path = Path(path)
    table = _table(path, "The result list", "--serp", ("query", "url"))
    rows = pa.table(
        {
            "query": clean.queries(_text(table.column("query"))),
            "url": clean.urls(_text(table.column("url")), canonical_urls),
        }
    )
    rows = rows.filter(pc.and_kleene(pc.not_equal(rows.column("query"), ""), pc.not_equal(rows.column("url"), "")))
    rows = rows.group_by(["query", "url"]).aggregate([])
    if not rows.num_rows:
        raise InputError("The result list is empty.", given=path)
    return UrlList(path.name, rows, _sha256(path))


def read_pool(path: str | Path) -> QueryPool:
    """Read a pool: what `hubbub pool build` wrote, or any Parquet or TSV file with a column `query`."""
    return _queries(Path(path), "pool", "--pool")


def read_list(path: str | Path) -> QueryPool:
    """Read a public list of queries: any Parquet or TSV file with a column `query`."""
    return _queries(Path(path), "list", "--public-list")


def read_prior(path: str | Path) -> OwnPrior:
    """Read weights of queries: Parquet or TSV with `query` and `weight`, whole numbers; a query once."""
    import pyarrow.compute as pc

    from hubbub.ingest import clean

    path = Path(path)
    _refuse_release(path)
    table = _table(path, "The prior", "--prior", ("query", "weight"))
    if _origin((table.schema.metadata or {}).get(POOL_KEY, b"")) is not None:
        raise Refused(
            "This file was made from a release: it is no prior.", given=path, next="name the release with --previous"
        )
    try:
        weights = table.column("weight").cast(pa.int64()).combine_chunks()
    except pa.ArrowInvalid:
        weights = pa.nulls(table.num_rows, pa.int64())
    inside = pc.and_(pc.greater_equal(weights, 1), pc.less_equal(weights, LARGEST))
    if not pc.all(pc.fill_null(inside, False)).as_py():
        allowed = f"a whole number from 1 to {LARGEST} for each query"
        raise InputError("A weight of the prior is out of its range.", given=path, allowed=allowed)
    rows = pa.table({"query": clean.queries(_text(table.column("query"))), "weight": weights})
    rows = rows.filter(pc.not_equal(rows.column("query"), ""))
    if not rows.num_rows:
        raise InputError("The prior is empty.", given=path)
    _require_distinct(path.name, rows, ["query"])
    return OwnPrior(path.name, rows, _sha256(path), rows.num_rows)


MARK = "NOT-PRIVATE.txt"
"""The file that says so in every folder that hubbub fills from a raw log without a mechanism."""


def _refuse_release(path: Path) -> None:
    marked = next((folder for folder in path.absolute().parents[:2] if (folder / MARK).exists()), None)
    if marked is not None:
        raise Refused(
            "This file lies among what was made from a raw log and is not private: it is no public knowledge.",
            given=f"{path}; {marked / MARK}",
            next="bring a list that anybody could have made without the log",
        )
    if (path.parent / "card.json").exists():
        raise Refused(
            "This file belongs to a release: its queries are not public knowledge but a budget already spent.",
            given=path,
            next="name the release with --previous, so that its budget is added; hubbub pool build makes a pool of it",
        )


def _queries(path: Path, use: str, option: str) -> QueryPool:
    _refuse_release(path)
    table = _table(path, f"The {use}", option, ("query",))
    rows = pooled(table.column("query"))
    if not rows.num_rows:
        raise InputError(f"The {use} is empty.", given=path, next="make one with `hubbub pool build`")
    stated = (table.schema.metadata or {}).get(POOL_KEY, b"")
    return QueryPool(path.name, rows, _sha256(path), rows.num_rows, _source(stated), use, _origin(stated))


def pooled(column: pa.ChunkedArray, most: int | None = None) -> pa.Table:
    """The first `most` queries as a pool holds them: cleaned as the log's are, not empty, once each, sorted by text."""
    import pyarrow.compute as pc

    from hubbub.ingest import clean

    queries = clean.queries(_text(column)).unique()
    first = queries.filter(pc.not_equal(queries, "")).slice(0, most)
    return pa.table({"query": first}).sort_by("query").combine_chunks()


def hash_of(rows: pa.Table) -> str:
    """The hash of queries as a pool holds them."""
    return hashlib.sha256(json.dumps(rows.column("query").to_pylist()).encode()).hexdigest()


def pool_metadata(source: str, made: ReleaseOrigin | None) -> dict[bytes, bytes]:
    """What a pool's file says of itself: where it came from, in words; and of which release it was made."""
    stated = {"source": source} | ({} if made is None else {"release": asdict(made)})
    return {POOL_KEY: json.dumps(stated, ensure_ascii=False).encode()}


def _origin(stated: bytes) -> ReleaseOrigin | None:
    """Of which release a pool says that it was made."""
    try:
        release = json.loads(stated)["release"]
        return ReleaseOrigin(**release) if isinstance(release["sha256"], str) else None
    except (ValueError, KeyError, TypeError):
        return None


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _source(stated: bytes) -> str:
    """Where a pool's file says that it came from, if that is a short text of one line."""
    try:
        source = json.loads(stated)["source"]
    except (ValueError, KeyError, TypeError):
        return "not stated"
    printable = isinstance(source, str) and source.isprintable() and 0 < len(source) <= LONGEST_SOURCE
    return source if printable else "not stated"


def _table(path: Path, what: str, option: str, columns: tuple[str, ...]) -> pa.Table:
    """A list of the owner's: Parquet, or tab-separated text with a header."""
    import pyarrow.csv
    import pyarrow.parquet

    if not path.is_file():
        raise InputError(f"{what} does not exist.", given=path, next=f"give {option} a Parquet or TSV file")
    try:
        if path.suffix == ".parquet":
            table = pyarrow.parquet.read_table(path)
        else:
            table = pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{what} cannot be read.", given=f"{path}: {error}") from error
    if set(columns) - set(table.column_names):
        found, allowed = ", ".join(table.column_names), " and ".join(columns)
        raise InputError(f"{what} lacks a column.", given=found, allowed=allowed)
    return table


def _text(column: pa.ChunkedArray) -> pa.Array:
    return column.cast(pa.string()).combine_chunks().fill_null("")
