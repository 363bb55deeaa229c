"""DIR/public: the index page of a series, one long table of all periods, and a feed of what is new.

Written anew after each period, file by file, each of them whole or not at all; made from DIR/*/public alone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from hubbub.card.schema import NOT_STATED
from hubbub.files import disk_errors
from hubbub.show.page import jinja
from hubbub.show.public import seen
from hubbub.show.series.feed import feed, stated_address
from hubbub.show.series.further import COLUMNS, FOLLOWS, Left, as_published, hanging, last_rows
from hubbub.show.series.long import long_table, write_long
from hubbub.show.series.published import PublishedSeries, SeriesNumbers, published
from hubbub.show.series.rows import order, pack
from hubbub.show.series.trends import FALSE, QueryTrend, SeriesTrends, find_trends

PAGE, FEED, LONG, LONG_TEXT = "index.html", "feed.xml", "series.parquet", "series.csv"
CHOSEN = 4
"""Queries whose lines show at first."""
LISTED = 50
"""Risers, fallers and bursts that the page lists, each."""
LARGEST = 25


@dataclass(frozen=True)
class PeriodTile:
    """A period in the calendar of the page."""

    label: str
    folder: str
    published: str
    new: int
    out: int


def write_index(folder: str | Path, address: str | None = None, left: Left = as_published) -> Path:
    """Write the index of a series; `address` is where its folder is published, and is remembered."""
    folder = Path(folder)
    series = published(folder, left)
    public = folder / "public"
    with disk_errors(public, "folder"):
        public.mkdir(exist_ok=True)
        public.chmod(0o755)
        title = _title(series)
        address = stated_address(public / FEED) if address is None else address
        written = feed(series, title, address)
        longs = {(LONG, LONG_TEXT): long_table(series.numbers)}
        longs |= {long_names(table): long for table, long in series.further.items()}
        names = [*(name for pair in longs for name in pair), FEED, PAGE]
        parts = {name: public / f".{name}.partial" for name in names}
        for (parquet, text), long in longs.items():
            write_long(long, parts[parquet], parts[text])
        parts[FEED].write_bytes(written)
        parts[PAGE].write_text(render_index(series), encoding="utf-8")
        for name, path in parts.items():
            path.chmod(0o644)
            os.replace(path, public / name)
        for name in (name for table in COLUMNS.keys() - series.further.keys() for name in long_names(table)):
            (public / name).unlink(missing_ok=True)  # of a table that was struck since
    return public / PAGE


def long_names(table: str) -> tuple[str, str]:
    """How the long table of clicks, transitions or keywords is called, in both forms."""
    return f"series-{table}.parquet", f"series-{table}.csv"


def render_index(series: PublishedSeries) -> str:
    """The page: a function of the published cards and tables."""
    numbers, last = series.numbers, series.cards[-1]
    trends = find_trends(numbers) if numbers.whole else None
    further = {table: last_rows(table, long, numbers.labels[-1]) for table, long in series.further.items()}
    follows = hanging(further) if set(FOLLOWS) & further.keys() else None
    shown, inside = pack(numbers, _chosen(numbers, trends), follows=follows)
    return jinja().get_template("series.html").render(
        title=_title(series),
        card=last,
        stamp=next((card.mechanism.stamp for card in series.cards if card.mechanism.stamp), None),
        numbers=numbers,
        tiles=_tiles(series),
        trends=trends,
        lists=_lists(numbers, trends),
        largest=[_row(numbers, n) for n in order(numbers)[:LARGEST]],
        by_chance=FALSE,
        inside=inside,
        link=lambda query: "#q=" + quote(seen(query), safe=""),
        rows=Markup(shown),
        planned=_planned(series),
        names={"page": PAGE, "feed": FEED, "long": LONG, "text": LONG_TEXT},
        further={table: (len(rows), rows[:LARGEST]) for table, rows in further.items()},
        further_columns=COLUMNS,
        further_files={table: long_names(table) for table in further},
        follows=follows is not None,
    )  # fmt: skip


def _title(series: PublishedSeries) -> str:
    stated = series.cards[-1].release.title
    return "A series of releases" if stated == NOT_STATED else seen(stated)


def _planned(series: PublishedSeries) -> str | None:
    """How many periods the series was planned for, if its card says so."""
    return str(series.cards[-1].mechanism.parameters.get("periods", "")) or None if series.numbers.whole else None


def _tiles(series: PublishedSeries) -> list[PeriodTile]:
    numbers = series.numbers
    return [
        PeriodTile(
            label,
            quote(label),
            series.cards[n].release.published,
            int((numbers.came_out == n).sum()),
            int((numbers.came_out <= n).sum()) if numbers.whole else int(numbers.shown[:, n].sum()),
        )
        for n, label in enumerate(numbers.labels)
    ]


def _chosen(numbers: SeriesNumbers, trends: SeriesTrends | None) -> list[int]:
    """What shows at first: what moves most surely, then what is largest."""
    moving = [] if trends is None else [*trends.rising[:2], *trends.falling[:1]]
    found = dict.fromkeys([*(one.query for one in moving), *order(numbers)])
    return list(found)[:CHOSEN]


def _lists(numbers: SeriesNumbers, trends: SeriesTrends | None) -> dict[str, list[dict[str, object]]]:
    """Risers, fallers and bursts as the page prints them."""
    if trends is None:
        return {}
    bursts = {one.query: numbers.labels[one.period] for one in reversed(trends.bursts)}
    moved = {"rising": trends.rising, "falling": trends.falling}
    lists: dict[str, list[dict[str, object]]] = {
        name: [_row(numbers, one.query) | {"by": _by(one), "burst": bursts.get(one.query)} for one in ones[:LISTED]]
        for name, ones in moved.items()
    }
    lists["bursts"] = [
        {
            "query": numbers.queries[one.query],
            "period": numbers.labels[one.period],
            "users": int(numbers.in_period[one.query, one.period]),
            "expected": round(one.expected),
        }
        for one in trends.bursts[:LISTED]
    ]
    return lists


def _by(one: QueryTrend) -> str:
    """A change in words; the slope is that of a line, so a large factor is a rough one."""
    if one.factor is None:
        return "from hardly anybody"
    if one.factor == 0:
        return "to hardly anybody"
    return f"× {one.factor:.2g}"


def _row(numbers: SeriesNumbers, n: int) -> dict[str, object]:
    """A query with its first and last number in a period, and its last to date."""
    first, last = int(numbers.came_out[n]), numbers.periods - 1
    return {
        "query": numbers.queries[n],
        "since": numbers.labels[first],
        "first": _number(numbers, n, first),
        "last": _number(numbers, n, last),
        "to_date": None if _missing(numbers.to_date[n, last]) else int(numbers.to_date[n, last]),
    }


def _number(numbers: SeriesNumbers, n: int, period: int) -> str:
    if not _missing(numbers.in_period[n, period]):
        return f"{int(numbers.in_period[n, period]):,}"
    return f"below {int(-(-numbers.limit[n, period] // 1)):,}" if numbers.whole and numbers.there[n, period] else ""


def _missing(value: float) -> bool:
    return value != value
