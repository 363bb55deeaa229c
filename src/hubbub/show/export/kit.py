"""A partner's kit: the tables, loaders for four languages, the limits in plain words, and a notebook that runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import ClassVar

import pyarrow as pa

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, WrittenFile, register, value_column
from hubbub.show.page import jinja

DATA = "data"
LOADERS = {
    "load.py": "loads tables in Python (pyarrow), and checks their hashes",
    "load.R": "loads tables in R (arrow, jsonlite)",
    "load.sql": "names the tables in DuckDB",
    "load.mjs": "loads tables in JavaScript, in Node and browsers",
    "LIMITS.md": "what the tables can tell and what they cannot, in plain words",
}
SHOWN = 10
MOST_FREQUENT = """## The most frequent, with what the noise leaves open

Twice `noise_sd` to either side, for the noise alone: `LIMITS.md` says what comes on top, and what was measured."""


class Kit(Format):
    """Everything that a partner needs who has never heard of hubbub."""

    name: ClassVar[str] = "kit"
    about: ClassVar[str] = "a kit for partners: data, loaders, limits of use, a notebook"
    text: ClassVar[bool] = False
    copies: ClassVar[bool] = True

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """The tables as they were published and as JSON, then what reads and explains them."""
        (folder.path / DATA).mkdir()
        for name in source.tables:
            table = source.need(name)
            shutil.copyfile(source.public / f"{name}.parquet", folder.path / DATA / f"{name}.parquet")
            columns = ", ".join(table.column_names)
            folder.written.append(WrittenFile(f"{DATA}/{name}.parquet", table.num_rows, columns))
            text = json.dumps(table.to_pydict(), ensure_ascii=False, separators=(",", ":"), default=str)
            folder.lines(f"{DATA}/{name}.json", "the same, column by column", table.num_rows, [text.encode()])
        known = {"card": source.card, "names": source.tables}
        for name, about in LOADERS.items():
            made = jinja().get_template(f"kit/{name}.jinja").render(known)
            folder.lines(name, about, made.count("\n"), [f"{made.rstrip()}\n".encode()])
        cells = list(notebook(source))
        made = json.dumps(ipynb(cells), indent=1, ensure_ascii=False)
        folder.lines("start.ipynb", "a notebook to begin with", len(cells), [f"{made}\n".encode()])

    def notes(self, card: Card) -> str:
        """For the README: three lines for each language."""
        first = card.release.contains[0]
        return (
            "`data/` has each table as Parquet, with the bytes of the release, and as JSON. In this folder:\n\n"
            f'- Python: `import load; load.check(); load.table("{first}")`\n'
            f'- R: `source("load.R", chdir = TRUE); kit_table("{first}")`\n'
            f"- DuckDB: `duckdb -init load.sql`, then `FROM {first};`\n"
            f'- JavaScript: `import {{ table }} from "./load.mjs"; await table("{first}")`\n\n'
            "`start.ipynb` is a notebook that runs here with pyarrow and duckdb. Read `LIMITS.md` before you conclude "
            "anything."
        )


def notebook(source: CheckedRelease) -> Iterator[tuple[str, str]]:
    """Kind and text of each cell."""
    name = next((table for table in source.tables if source.rows(table)), source.tables[0])
    table = source.need(name)
    yield "markdown", f"# A first look\n\nRelease `{source.card.release.id}`. Read `LIMITS.md` beside it."
    yield "code", "import load\n\nload.check()  # every table is as it was published\nload.NAMES"
    yield "code", f'{name} = load.table("{name}")\n{name}.schema'
    if name == "log" or not _numbered(table):
        yield "code", f"{name}.slice(0, {SHOWN}).to_pylist()"
        return
    number = value_column(table)
    yield "markdown", MOST_FREQUENT
    yield (
        "code",
        "import duckdb\n\n"
        f'duckdb.sql("""SELECT *, greatest({number} - 2 * noise_sd, 0) AS low, {number} + 2 * noise_sd AS high\n'
        f'    FROM {name} ORDER BY {number} DESC LIMIT {SHOWN}""").fetchall()',
    )
    yield "markdown", "## What stands clear of its noise\n\nThe other rows may be small, or not there at all."
    yield "code", f'duckdb.sql("SELECT count(*) FROM {name} WHERE {number} >= 2 * noise_sd").fetchall()[0][0]'


def _numbered(table: pa.Table) -> bool:
    """Whether rows have numbers with noise."""
    return "noise_sd" in table.column_names and table["noise_sd"].null_count < max(table.num_rows, 1)


def ipynb(cells: list[tuple[str, str]]) -> dict[str, object]:
    """The cells in the format of Jupyter, version 4.5, without outputs."""
    made: list[dict[str, object]] = []
    for number, (kind, text) in enumerate(cells):
        cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
        made.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return {"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


register(Kit())
