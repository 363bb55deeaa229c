"""The public page and the data card: the claim in plain words first, then how to use and to check it.

Both are made from the card and the released tables; this module never sees a log.
"""

from __future__ import annotations

from pathlib import Path

import jinja2
import pyarrow.parquet as pq

from hubbub.card.schema import Card
from hubbub.guarantee import number

TOP = 100


def write_pages(folder: Path, card: Card) -> list[Path]:
    """Write `index.html` and `README.md` into the public folder."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hubbub.report"),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda x: "none" if x is None else number(x)
    tables = []
    for name in card.release.contains:
        rows = pq.read_table(folder / f"{name}.parquet")
        shown = rows.slice(0, TOP).to_pylist()
        tables.append({"name": name, "columns": rows.column_names, "total": rows.num_rows, "rows": shown})
    pages = []
    for template, name in (("index.html", "index.html"), ("data_card.md", "README.md")):
        text = environment.get_template(template).render(card=card, tables=tables, top=TOP)
        (folder / name).write_text(text, encoding="utf-8")
        pages.append(folder / name)
    return pages
