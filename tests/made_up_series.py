"""A series made up for tests of its index: real cards, tables of one's own; no log, no noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.card.build import build_card
from hubbub.card.facts import Booked, Facts, Written
from hubbub.card.owner import Owner
from hubbub.card.schema import sha256_of
from hubbub.mechanisms import build
from hubbub.show.series.published import SHOWN, SeriesNumbers

OWNER = Owner(
    title="Searches of a made-up library",
    curator=("The made-up library",),
    licence="CC-BY-4.0",
    contact="privacy@library.example",
)
WHOLE, REAL, TEXT = pa.int64(), pa.float64(), pa.string()
SERIES = pa.schema(
    [
        ("query", TEXT),
        ("period", TEXT),
        ("users_in_period", WHOLE),
        ("noise_sd_in_period", REAL),
        ("users", WHOLE),
        ("noise_sd", REAL),
    ]
)
EACH = pa.schema([("query", TEXT), ("users", WHOLE), ("noise_sd", REAL)])
Row = tuple[object, ...]


def publish(folder: Path, periods: Mapping[str, Sequence[Row]], *, owner: Owner = OWNER, seeded: bool = False) -> Path:
    """Write the public folder of each period, but for its page; rows of six columns, or of three."""
    for number, (label, rows) in enumerate(periods.items(), 1):
        public = folder / label / "public"
        public.mkdir(parents=True)
        schema = SERIES if rows and len(rows[0]) == len(SERIES) else EACH
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        table = pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema)
        path = public / "queries.parquet"
        pq.write_table(table, path)
        mechanism = build("crowd", {"epsilon": "1", "delta": "1e-6"}, tables=("queries",))
        booked = Booked("readers", label, number, 0.0, 1.0, None, (), ())
        facts = Facts(
            owner, booked, "AnonID", seeded, 0.05, 20_000, files={path.name: Written(sha256_of(path), len(rows))}
        )
        (public / "card.json").write_text(build_card(mechanism, facts).text(), encoding="utf-8")
    return folder


def as_published(noisy: npt.NDArray[Any], sd: float = 10.0, came_out: list[int] | None = None) -> SeriesNumbers:
    """Noisy numbers, queries × periods, as a series publishes them."""
    queries, periods = noisy.shape
    since = np.array(came_out or [0] * queries)
    out = np.arange(periods) >= since[:, None]
    shown = np.where(out & (noisy >= SHOWN * sd), noisy, np.nan)
    nothing = np.full(noisy.shape, np.nan)
    labels = tuple(f"2026-{n + 1:02}" for n in range(periods))
    names = tuple(f"query {n}" for n in range(queries))
    return SeriesNumbers(labels, names, since, shown, np.where(out, sd, np.nan), nothing, nothing, whole=True)


SHAPES = {
    "weather": (900, 0),
    "rising star": (120, 60),
    "falling leaf": (800, -60),
    "one big day": (250, 0),
    "zürich": (500, 0),
    "天気": (420, 0),
    "كتاب": (380, 0),
}
"""Users in the first period, and how many more in each that follows; one big day is in the eighth."""


def some_periods(months: int = 12, seed: int = 1, sd: float = 20.0, names: Sequence[str] = ()) -> dict[str, list[Row]]:
    """A year of a library: steady queries, one that rises, one that falls, one burst; small ones come out later."""
    noise = np.random.default_rng(seed)
    shapes = SHAPES | {f"steady {n}": (700 - 30 * n, 0) for n in range(16)}
    shapes |= {f"small {n}": (70 - n, 0) for n in range(30)} | dict.fromkeys(names, (2000, 0))
    time = np.arange(months)
    users = {query: np.rint(a + b * time + noise.normal(0, sd, months)) for query, (a, b) in shapes.items()}
    users["one big day"][7:8] += 900
    since = {
        query: 0 if not query.startswith("small") else 1 + int(query.split()[1]) % max(1, months - 1)
        for query in shapes
    }
    labels = [f"2026-{month + 1:02}" for month in range(months)]
    periods: dict[str, list[Row]] = {}
    for t, label in enumerate(labels):
        rows: list[Row] = []
        for query, values in users.items():
            if since[query] > t:
                continue
            here = int(values[t]) if values[t] >= 3 * sd else None
            so_far = int(values[: t + 1].max() * (1 + t / 6))
            shown = so_far >= 3 * sd
            rows.append(
                (
                    query,
                    labels[since[query]],
                    here,
                    None if here is None else sd,
                    so_far if shown else None,
                    sd * 0.9 if shown else None,
                )
            )
        periods[label] = sorted(rows, key=lambda row: (-(row[4] or 0), row[0]))  # type: ignore[operator]
    return periods


def publish_further(folder: Path, label: str, table: str, rows: Sequence[Row]) -> None:
    """Lay a table of clicks, transitions or keywords beside the queries of a period; the card does not know of it."""
    columns = {"clicks": ("query", "url"), "transitions": ("query", "next_query"), "keywords": ("keyword",)}[table]
    schema = pa.schema([*((column, TEXT) for column in columns), *list(SERIES)[1:]])
    arrays = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), schema, strict=True)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), folder / label / "public" / f"{table}.parquet")


def with_further(folder: Path) -> Path:
    """Two periods with clicks, next queries and words."""
    publish(folder, dict(list(some_periods().items())[:2]))
    for label in ("2026-01", "2026-02"):
        sd = 20.0
        clicks: list[Row] = [("weather", "sky.example/<b>", "2026-01", 90, sd, 140, sd)]
        if label == "2026-02":
            clicks.append(("zürich", "city.example", "2026-02", None, None, None, None))
        publish_further(folder, label, "clicks", clicks)
        publish_further(folder, label, "transitions", [("weather", "zürich", "2026-01", 80, sd, 120, sd)])
        publish_further(folder, label, "keywords", [("steady", "2026-01", 700, 50.0, 900, 60.0)])
    return folder
