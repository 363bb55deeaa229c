"""The public page and the data card: the claim in plain words first, then the tables, how to use and to check them.

Both are made from the card and the released tables; this module never sees a log.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import jinja2
import pyarrow.parquet as pq
from markupsafe import Markup, escape

from hubbub.card.build import PAGES
from hubbub.card.schema import NOT_STATED, Card
from hubbub.card.strength import beside, scale
from hubbub.card.words import noise_of, rule_of
from hubbub.privacy.guarantee import raised, small, typeset
from hubbub.show import public
from hubbub.show.dataset import described, headline
from hubbub.show.differences import by_table
from hubbub.show.hub import front_matter
from hubbub.show.maps import world_map

ROWS = 200_000
"""Rows of a table of keys that are looked at for the page; whether they have room is another matter."""
LOG_ROWS = 1_000
"""Rows of a log in the page: its users are not for looking up."""
SHORT = 25
"""Rows that show without a script, and on one sheet with it."""

HAZARDS = {
    "unit": "an ε that does not say for whom",
    "contribution": "one user who counts without limit",
    "repeat-release": "several releases that add up",
    "tuning-on-data": "parameters chosen by looking at the log",
    "data-dependent keys": "a row that shows because one person is in the log",
    "boundary": "an off-by-one at the threshold",
    "floating-point": "last digits that betray the count",
    "rng": "noise that can be guessed",
    "neighbours": "two definitions mixed up",
    "delta": "a δ too large for the number of users",
    "post-hoc filter": "rows taken out by hand",
    "small groups": "small groups that vanish",
}
"""The hazards of a card in words."""


def write_pages(folder: Path, card: Card) -> list[Path]:
    """Write `index.html` and `README.md` into the public folder."""
    pages = []
    for name, text in render(card, read_tables(folder, card)).items():
        (folder / name).write_text(text, encoding="utf-8")
        pages.append(folder / name)
    return pages


@dataclass(frozen=True)
class Shown:
    """A released table as a page shows it: its columns, how many rows it has, and the first of them."""

    name: str
    columns: list[str]
    total: int
    rows: list[dict[str, object]]

    @property
    def counted(self) -> bool:
        """Whether its keys come with numbers."""
        return self.keyed and any(row[self.columns[-1]] is not None for row in self.rows)

    @property
    def noisy(self) -> bool:
        """Whether those numbers have noise in them."""
        return self.keyed and any(row[self.columns[-1]] for row in self.rows)

    @property
    def keyed(self) -> bool:
        """Whether it is keys with numbers, not the rows of a log."""
        return self.columns[-1] == "noise_sd"

    @property
    def keys(self) -> list[str]:
        """The columns that are text."""
        return self.columns[:-2] if self.keyed else self.columns

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers: the noisy value, and the standard deviation of its noise."""
        return self.columns[-2:] if self.keyed else []


def read_tables(folder: Path, card: Card) -> list[Shown]:
    """The released tables, as far as the pages show them."""
    tables = []
    for name in card.release.contains:
        with pq.ParquetFile(folder / f"{name}.parquet") as file:
            columns, total = file.schema_arrow.names, file.metadata.num_rows
            most = min(ROWS if columns[-1] == "noise_sd" else LOG_ROWS, total)
            rows = _first(file, most)
        tables.append(Shown(name, columns, total, rows))
    return tables


def _first(file: pq.ParquetFile, most: int) -> list[dict[str, object]]:
    """The first rows; what follows them is not read."""
    rows: list[dict[str, object]] = []
    batches = file.iter_batches(batch_size=max(1, most))
    while len(rows) < most and (batch := next(batches, None)) is not None:
        rows += batch.slice(0, most - len(rows)).to_pylist()
    return rows


def render(card: Card, tables: list[Shown]) -> dict[str, str]:
    """Both pages: functions of the card and of the tables, so that a check can make them again."""
    packed = public.pack(tables)
    steps = [step.model_dump(mode="json", by_alias=True) for step in card.steps]
    claimed = {"epsilon": card.claim.epsilon, "delta": card.claim.delta, "steps": steps}
    known = {"card": card, "tables": tables, "short": SHORT, "in_page": packed.rows(), "rows": Markup(packed.json())}
    known |= {"claimed": Markup(public.dumps(claimed)), "headline": headline(tables)}
    by_group = by_table([(table.name, table.columns, table.rows) for table in tables])
    known |= {"by_group": by_group, "maps": {name: world_map(groups) for name, groups in by_group.items()}}
    known |= {"front": front_matter(card), "described": Markup(public.dumps(described(card, tables)))}
    templates = zip(PAGES, ("index.html", "data_card.md"), strict=True)
    return {name: jinja().get_template(template).render(known) for name, template in templates}


@lru_cache(maxsize=1)
def jinja() -> jinja2.Environment:
    """Templates that escape what they show and know no undefined name."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hubbub.show"),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": lambda x: "none" if x is None else typeset(x), "factor": _factor, "small": small}
    environment.filters |= {
        "noise": lambda step: raised(noise_of(step)),
        "rule": lambda step: raised(rule_of(step)),
        "cell": public.cell,
        "seen": public.seen,
    }
    environment.filters |= {"by_table": _by_table, "ticks": _ticks, "plain": plain, "bibtex": _bibtex, "csp": csp}
    environment.globals |= {"band": public.band, "HAZARDS": HAZARDS, "NOT_STATED": NOT_STATED}
    environment.globals |= {"SCALE": scale(), "beside": beside}
    return environment


def _factor(epsilon: float) -> str:
    """e^ε as a number people know."""
    if epsilon >= 20:
        return "more than any that helps"
    return f"{math.exp(epsilon):.3g}" if epsilon < 4.6 else f"{math.exp(epsilon):,.0f}"


def _by_table(words: str, names: list[str]) -> list[str]:
    """A statement about several tables ("queries: …; clicks: …") cut into one statement per table."""
    return re.split(rf"; (?=(?:{'|'.join(map(re.escape, names))}|otherwise)\b)|\. (?=A missing row)", words)


def _ticks(words: str) -> Markup:
    """HTML in which names between backticks are code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(words))))


def plain(words: str) -> str:
    """A text of the owner's in Markdown: no tag, no link, no heading of its own."""
    return re.sub(r"([\\`*_{}\[\]<>#|&!])", r"\\\1", " ".join(words.split()))


def _bibtex(words: str) -> str:
    """A text as it can stand between the braces of a BibTeX field."""
    return re.sub(r"([#$%&_])", r"\\\1", re.sub(r"[\\{}]", "", " ".join(words.split())))


def csp(script: str) -> str:
    """The hash by which the page's own script, and no other, may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
