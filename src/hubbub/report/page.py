"""The public page and the data card: the claim in plain words first, then how to use and to check it.

Both are made from the card and the released tables; this module never sees a log.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import jinja2
import pyarrow.parquet as pq

from hubbub.card.build import PAGES
from hubbub.card.schema import Card
from hubbub.card.words import noise_of, rule_of
from hubbub.guarantee import number

TOP = 100
SHORT = 20


def write_pages(folder: Path, card: Card) -> list[Path]:
    """Write `index.html` and `README.md` into the public folder."""
    pages = []
    for name, text in render(card, read_tables(folder, card)).items():
        (folder / name).write_text(text, encoding="utf-8")
        pages.append(folder / name)
    return pages


@dataclass(frozen=True)
class Shown:
    """A table as a page shows it: its first rows."""

    name: str
    columns: list[str]
    total: int
    rows: list[dict[str, object]]

    @property
    def counted(self) -> bool:
        """Whether its keys come with numbers."""
        return self.keyed and any(row[self.columns[-1]] is not None for row in self.rows)

    @property
    def keyed(self) -> bool:
        """Whether it is keys with numbers, not the rows of a log."""
        return self.columns[-1] == "noise_sd"


def read_tables(folder: Path, card: Card) -> list[Shown]:
    """The released tables, as far as the pages show them."""
    tables = []
    for name in card.release.contains:
        rows = pq.read_table(folder / f"{name}.parquet")
        tables.append(Shown(name, rows.column_names, rows.num_rows, rows.slice(0, TOP).to_pylist()))
    return tables


def render(card: Card, tables: list[Shown]) -> dict[str, str]:
    """Both pages: functions of the card and of the tables, so that a check can make them again."""
    environment = jinja()
    templates = zip(PAGES, ("index.html", "data_card.md"), strict=True)
    return {
        name: environment.get_template(template).render(card=card, tables=tables, top=TOP, short=SHORT)
        for name, template in templates
    }


@lru_cache(maxsize=1)
def jinja() -> jinja2.Environment:
    """Templates that escape what they show and know no undefined name."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hubbub.report"),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": lambda x: "none" if x is None else number(x), "factor": _factor}
    environment.filters |= {"noise": noise_of, "rule": rule_of, "cell": _cell}
    return environment


def _factor(epsilon: float) -> str:
    """e^ε as a number people know."""
    return f"{math.exp(epsilon):.3g}" if epsilon < 20 else "more than any that helps"


def _cell(value: object, column: str) -> str:
    """A value as a page shows it; a key released without a number has an empty cell."""
    if value is None:
        return ""
    if column == "noise_sd":
        return f"{value:.1f}"
    return " → ".join(map(str, value)) if isinstance(value, list) else str(value)
