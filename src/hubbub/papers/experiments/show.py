"""Rows of experiments for a person: on the terminal, and as cells of the docs page."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from hubbub.papers.experiments.rows import ExperimentRow
from hubbub.papers.experiments.rule import VERDICTS, DrawSample


def number(x: float) -> str:
    """A number with a few digits; whole numbers and large ones as they are."""
    if x == round(x) and abs(x) < 1e15:
        return f"{int(x):,}"
    return f"{x:,.0f}" if abs(x) >= 10_000 else f"{x:.4g}"


def mean(sample: DrawSample) -> str:
    """The mean of a sample and half the width of its interval."""
    if sample.mean is None or sample.half is None:
        return "–"
    margin = f" ± {number(float(f'{sample.half:.2g}'))}" if sample.half and math.isfinite(sample.half) else ""
    return number(sample.mean) + margin


def listed(samples: Mapping[str, DrawSample]) -> str:
    """Names with the means of their samples, in one line."""
    return "; ".join(f"{name}: {mean(sample)}" for name, sample in samples.items()) or "–"


def lines(rows: Sequence[ExperimentRow], width: int, *, details: bool = False) -> Iterator[str]:
    """Paper by paper, figure by figure; with `details` also parameters and the command of each row."""
    for paper, of_paper in groupby(rows, key=lambda row: row.paper):
        yield from ("", paper, "=" * len(paper))
        for part, together in groupby(of_paper, key=lambda row: row.part):
            yield ""
            yield from _wrapped(part, "  ", width)
            for row in together:
                yield f"    {row.verdict:<10}  {row.id}"
                for name, text in (
                    ("paper", row.expected),
                    ("seen", listed(row.seen)),
                    ("of", listed(row.evaluated)),
                    ("why", row.why),
                    ("but", row.caution),
                    ("all", _among_all(row)),
                    ("run", row.parameters if details else ""),
                    ("again", row.command if details else ""),
                ):
                    if text and text != "–":
                        yield from _wrapped(f"{name + ':':<7}{text}", " " * 16, width, " " * 23)
    yield from ("", summary(rows))


def _among_all(row: ExperimentRow) -> str:
    """What becomes of a verdict that does not stand when all rows are allowed for."""
    return "" if row.p is None or row.corrected == row.verdict else f"{row.corrected} among all rows (p = {row.p:.2g})."


def summary(rows: Sequence[ExperimentRow]) -> str:
    """How many rows have each verdict, in one line."""
    many = Counter(row.verdict for row in rows)
    return (
        f"{len(rows)} row{'s' * (len(rows) != 1)}: "
        + ", ".join(f"{many[verdict]} {verdict}" for verdict in VERDICTS)
        + "."
    )


def _wrapped(text: str, indent: str, width: int, later: str | None = None) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent if later is None else later,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
