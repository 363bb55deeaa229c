"""The table on a terminal, and the columns that it and the page show: few, and the same for every row."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hubbub.look.compare.finding import finding
from hubbub.look.compare.summary import Comparison, Mean, Row, notes
from hubbub.privacy.guarantee import number, small

TABLES = ("queries", "clicks", "transitions", "sessions", "keywords", "itemsets", "ngrams", "log")
HEADLINES: dict[str, tuple[str, ...]] = {
    "counts": ("queries.coverage@100", "queries.kl@100"),
    "suggestion": ("precision@5", "every_prefix.precision@5", "recall@5", "sessions_evaluated"),
}
"""Of tasks with many metrics, those that stand in the table; of others the first few."""
FEW = 3
COUNTS = ("sessions", "prefixes", "distinct", "total", "unknown")
WORDS = {
    "error": "median error",
    "volume": "volume",
    "suggestion.precision@5": "precision@5",
    "suggestion.every_prefix.precision@5": "of every prefix",
    "suggestion.recall@5": "recall@5",
    "suggestion.sessions_evaluated": "sessions evaluated",
    "suggestion.sessions": "test sessions",
    "counts.queries.coverage@100": "top 100 covered",
    "counts.queries.kl@100": "KL of top 100",
}


@dataclass(frozen=True)
class Column:
    """One metric in the table."""

    metric: str
    title: str

    def cell(self, row: Row) -> str:
        """The mean and half of its interval; a dash where there is none."""
        return "–" if self.metric not in row.metrics else text(self.metric, row.metrics[self.metric])


def columns(comparison: Comparison) -> list[Column]:
    """Volume, error, rows of every table that some row has, then each task's headlines."""
    known = set(comparison.metrics())
    names = ["volume", "error", *(f"rows.{table}" for table in TABLES)]
    for task in comparison.asked["tasks"]:
        mine = [m for m in comparison.metrics() if m.startswith(f"{task}.")]
        names += [f"{task}.{m}" for m in HEADLINES[task]] if task in HEADLINES else mine[:FEW]
    return [Column(name, title(name)) for name in names if name in known]


def title(metric: str) -> str:
    """A metric as a heading."""
    return WORDS.get(metric, metric.removeprefix("rows."))


def text(metric: str, mean: Mean) -> str:
    """As people write it: shares in per cent, counts in whole from a hundred on."""
    share = metric.split(".")[0] in ("volume", "error") or "coverage@" in metric
    whole = metric.startswith("rows.") or metric.split(".")[-1].split("_")[0] in COUNTS
    factor, places = (100, 1) if share else (1, (0 if mean.mean >= 100 else 1) if whole else _places(mean.mean))
    said = f"{factor * mean.mean:,.{places}f}"
    half = "" if mean.half is None else f" ± {factor * mean.half:,.{places}f}"
    return said + half + (" %" if share else "")


def _places(x: float) -> int:
    """Three digits that say something."""
    return max(0, 2 - math.floor(math.log10(abs(x)))) if x else 1


def budget(row: Row) -> str:
    """What a row proves, in a few letters."""
    if not row.proven.get("private"):
        return str(row.proven.get("definition", "–"))
    delta = row.proven["delta"]
    return f"ε {number(row.proven['epsilon'])}" + (f", δ {small(delta)}" if delta else ", pure")


def lines(comparison: Comparison) -> Iterator[str]:
    """The table, what does not compare, and what could not run."""
    shown = columns(comparison)
    ran = [row for row in comparison.rows if not row.reason]
    best, (x, y) = comparison.front(), comparison.asked["plot"]
    head = ["", "proven", "counts", *(column.title for column in shown)]
    body = [
        [row.label + (" *" if row.label in best else ""), budget(row), row.counts, *(c.cell(row) for c in shown)]
        for row in ran
    ]
    originals = comparison.originals()
    body.append(["original", "", "", *(original(originals, column.metric) for column in shown)])
    yield from aligned([head, *body])
    draws = comparison.asked["draws"]
    yield ""
    interval = (
        f"Means of {draws} draws ± half of a 95 % interval (Student's t)" if draws > 1 else "One draw, no interval"
    )
    same = "" if "epsilon" in (x, y) else ", among rows of the same ε"
    yield f"{interval}. * on the Pareto front of {title(x)} and {title(y)}{same}."
    for note in notes(comparison.rows):
        yield f"- {note}"
    for row in ran:
        for task, why in row.not_evaluable.items():
            yield f"  {row.label}: {task} not evaluable: {why}"
    for row in comparison.rows:
        if row.reason:
            yield f"  {row.label} did not run: {row.reason}"
    found = finding(comparison.rows)
    if found is not None:
        yield f"Smaller log, higher precision (Zhang & Yang 2017): {found.verdict}. {found.sentence}"


def original(originals: dict[str, float], metric: str) -> str:
    """The original's own score."""
    return text(metric, Mean(originals[metric], None, None, 1)) if metric in originals else "–"


def aligned(rows: Sequence[Sequence[str]], width: int | None = None) -> Iterator[str]:
    """Columns one under the other, numbers to the right; what is too wide goes on below, row by row again."""
    width = width or max(100, shutil.get_terminal_size().columns)
    sizes = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    at = 1
    while at < len(sizes):
        used, shown = sizes[0], [0]
        while at < len(sizes) and (len(shown) == 1 or used + 2 + sizes[at] <= width):
            used += 2 + sizes[at]
            shown.append(at)
            at += 1
        if shown[1] > 1:
            yield ""
        for row in rows:
            yield "  ".join(row[i].ljust(sizes[i]) if i < 3 else row[i].rjust(sizes[i]) for i in shown).rstrip()
