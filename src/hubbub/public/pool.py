"""Make a public pool of queries: from n-grams of the web, from a file of queries, or from an earlier release.

`nouns` keeps what Safelog's recipe has: two to five words, the last a noun (`public/nouns.py`).

A pool is cleaned as a log's queries are, and written with a word about where it came from, which the card of a release
repeats. Nothing here may read the log that the pool will be used with. The queries of a release are as private as the
release, so only one that is proven to be, and is as it was written, is taken.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from hubbub.errors import InputError, OutputError, ParameterError, Refused
from hubbub.files import disk_errors
from hubbub.privacy.guarantee import number
from hubbub.public.lists import LONGEST_SOURCE, ReleaseOrigin, pool_metadata, pooled
from hubbub.public.nouns import ending_in_nouns, recipe, tagged_by
from hubbub.public.words import ngrams

NGRAMS = ("wordsegment", ("unigrams.txt", "bigrams.txt"))
"""The package that ships n-grams, and its files: a phrase, a tab, how often the web had it."""


@dataclass(frozen=True)
class Built:
    """A pool as it was written."""

    path: Path
    queries: int
    source: str
    sha256: str


def build(
    out: str | Path,
    *,
    queries: str | Path | None = None,
    release: str | Path | None = None,
    size: int | None = None,
    nouns: bool = False,
) -> Built:
    """Write a pool to a new Parquet file: of n-grams (the `size` most frequent), of a file, or of a release."""
    path = Path(out)
    if queries is not None and release is not None:
        raise ParameterError(
            "A pool has one source.", given="a file and a release", allowed="one of the two, or neither"
        )
    if size is not None and (size < 1 or queries is not None or release is not None):
        raise ParameterError("The size is that of a pool of n-grams, at least 1.", given=size)
    if nouns and release is not None:
        raise ParameterError(
            "Nouns are for n-grams and files: a release is taken as it is.", given="--nouns, --release"
        )
    if path.suffix != ".parquet":
        raise ParameterError("A pool is a Parquet file.", given=path, allowed="a name that ends in .parquet")
    if path.exists() or path.is_symlink():
        raise OutputError("The pool exists already.", given=path, next="choose another --out, or remove it")
    made = None
    if release is not None:
        column, source, made = _of_release(Path(release))
    elif queries is not None:
        column, source = _of_file(Path(queries))
        if nouns:
            column = pa.chunked_array([ending_in_nouns(pooled(column).column("query"))])
            source = f"of {source}, what has two to five words and ends in a noun, as {tagged_by()} tags it"
    else:
        column, source = _of_ngrams(nouns, size)
        source = source if size is None else f"the {size} most frequent {source}"
    rows = pooled(column, size)
    if not rows.num_rows:
        raise InputError("There is no query to make a pool of.", given=queries or release)
    _write(rows.replace_schema_metadata(pool_metadata(source[:LONGEST_SOURCE], made)), path)
    return Built(path, rows.num_rows, source[:LONGEST_SOURCE], hashlib.sha256(path.read_bytes()).hexdigest())


def _of_ngrams(nouns: bool, size: int | None) -> tuple[pa.ChunkedArray, str]:
    """Words and pairs of words frequent on the web, the most frequent first; or two to five words ending in a noun."""
    package, files = NGRAMS
    try:
        folder = resources.files(package)
        from importlib.metadata import version

        named = f"{package} {version(package)}"
    except ModuleNotFoundError:
        raise InputError(
            f"The n-grams are in the package {package}, which is not installed.",
            next="pip install wordsegment, or give --queries FILE",
        ) from None
    tables = []
    for name in files:
        with resources.as_file(folder / name) as file:
            tables.append(ngrams(file))
    table = pa.concat_tables(tables).sort_by([("times", "descending"), ("query", "ascending")])
    if nouns:
        chained = recipe(table.column("query"), table.column("times").to_numpy(), size)
        what = (
            f"n-grams of two to five words that end in a noun, as {tagged_by()} tags it, chained from pairs of the web"
        )
        return pa.chunked_array([chained]), f"{what} (Google, 2006), as shipped in {named}"
    return table.column("query"), f"words and pairs of words of the web (Google, 2006), as shipped in {named}"


def _of_file(path: Path) -> tuple[pa.ChunkedArray, str]:
    """One query per line, or the column `query` of a Parquet or TSV file."""
    if not path.is_file():
        raise InputError("The file of queries does not exist.", given=path)
    try:
        if path.suffix == ".parquet":
            table = pq.read_table(path)
        elif path.suffix == ".tsv":
            text = pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False)
            table = pyarrow.csv.read_csv(path, parse_options=text)
        else:
            lines = path.read_bytes().decode("utf-8-sig", errors="strict").splitlines()
            table = pa.table({"query": pa.array(lines, pa.string())})
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        allowed = "UTF-8 text with one query per line, or .tsv or .parquet with a column query"
        raise InputError("The file of queries cannot be read.", given=f"{path}: {error}", allowed=allowed) from error
    if "query" not in table.column_names:
        found = ", ".join(table.column_names)
        raise InputError("The file of queries lacks its column.", given=found, allowed="query")
    return table.column("query"), f"a file of queries named {path.name}"


def _of_release(path: Path) -> tuple[pa.ChunkedArray, str, ReleaseOrigin]:
    """The released queries, if the release is private and as it was written."""
    from hubbub.card.check import check
    from hubbub.card.schema import Card
    from hubbub.release.opened import Release

    opened = Release(path)
    if not opened.private:
        raise Refused(
            "A pool of a release that is not private would not be public.",
            given=path,
            allowed="a release whose card proves a guarantee",
            next="build the pool from n-grams or from a public file of queries",
        )
    wrong = [finding for finding in check(path) if not finding.holds]
    if wrong:
        seen = f"{wrong[0].what}: {wrong[0].seen}"
        raise Refused("The release is not as it was written.", given=seen, next=f"see hubbub card {path} --check")
    if "queries" not in opened.tables:
        raise InputError("The release has no table of queries.", given=", ".join(opened.tables))
    card = Card.model_validate(opened.card)
    cost = f"ε = {number(card.claim.epsilon or 0.0)}, δ = {number(card.claim.delta or 0.0)}"
    source = f"the queries of release {card.release.id} ({cost})"
    return opened.queries.to_arrow().column("query"), source, ReleaseOrigin.of(card, opened.public / "queries.parquet")


def _write(rows: pa.Table, path: Path) -> None:
    """Write the pool's file whole or not at all."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    with disk_errors(path):
        try:
            pq.write_table(rows, partial, compression="zstd")
            partial.rename(path)
        finally:
            partial.unlink(missing_ok=True)
