"""Public folders made up for the browser: a real card, real pages, tables of one's own; no log, no noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.card.build import build_card
from hubbub.card.facts import Booked, Facts, Written
from hubbub.card.owner import Owner
from hubbub.card.schema import sha256_of
from hubbub.log import Period
from hubbub.mechanisms import build
from hubbub.public.groups import group_by
from hubbub.show.page import write_pages

TEXT, TEXTS, NUMBER, SPREAD = pa.string(), pa.list_(pa.string()), pa.int64(), pa.float64()
NOISY = {"users": NUMBER, "noise_sd": SPREAD}
SCHEMAS = {
    "queries": {"query": TEXT} | NOISY,
    "clicks": {"query": TEXT, "url": TEXT} | NOISY,
    "transitions": {"query": TEXT, "next_query": TEXT} | NOISY,
    "sessions": {"queries": TEXTS} | NOISY,
    "keywords": {"keyword": TEXT} | NOISY,
    "queries_by_country": {"country": TEXT, "query": TEXT} | NOISY,
    "log": {"user": TEXT, "time": NUMBER, "query": TEXT, "rank": pa.int32(), "url": TEXT},
}
OWNER = Owner(
    title="Searches of a made-up library",
    curator=("The made-up library",),
    licence="CC-BY-4.0",
    contact="privacy@library.example",
    period=Period(date(2006, 3, 1), date(2006, 5, 31)),
)
Rows = Sequence[tuple[object, ...]]


def publish(folder: Path, tables: Mapping[str, Rows], *, owner: Owner = OWNER, seeded: bool = False) -> Path:
    """Write tables, pages and card as a release of crowd does; the address of the page."""
    folder.mkdir(parents=True)
    written: dict[str, Written] = {}
    for name, rows in tables.items():
        schema = pa.schema(SCHEMAS[name])
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        path = folder / f"{name}.parquet"
        pq.write_table(pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema), path)
        written[path.name] = Written(sha256_of(path), len(rows))
    by = [group_by("country", "Land", ["DE", "FR"])] if "queries_by_country" in tables else []
    mechanism = build("crowd", {"epsilon": "1", "delta": "1e-6"}, tables=tuple(tables), by=by)
    booked = Booked("readers", "spring", 1, 0.0, 1.0, None, (), ())
    facts = Facts(owner, booked, "AnonID", seeded, 0.05, 20_000, files=written)
    for page in write_pages(folder, build_card(mechanism, facts)):
        written[page.name] = Written(sha256_of(page))
    (folder / "card.json").write_text(build_card(mechanism, replace(facts, files=written)).text(), encoding="utf-8")
    return folder / "index.html"


def some_tables() -> dict[str, Rows]:
    """All tables of crowd: 60 queries and what hangs on them."""
    names = ["weather", "news", "train times", "zürich", "天気", "كتاب", *(f"query {n}" for n in range(54))]
    users = [3000 // (n + 1) for n in range(60)]
    sd = [round(4 + u**0.5, 3) for u in users]
    return {
        "queries": list(zip(names, users, sd, strict=True)),
        "clicks": [
            (q, f"http://www.{n}.example", u // 2, 5.5) for n, (q, u) in enumerate(zip(names, users, strict=True))
        ],
        "transitions": [(a, b, 40 - n, 12.25) for n, (a, b) in enumerate(pairwise(names[:31]))],
        "sessions": [(["weather", "news", "train times"], None, None)],
        "keywords": [],
        "log": [(str(1 + n // 3), 1141582858 + 60 * n, names[n % 60], None if n % 2 else 1, None) for n in range(1500)],
    }
