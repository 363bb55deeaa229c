"""Numbers and experiments as one HTML page with charts, which needs no network and no script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from hubbub.papers.charts import charts
from hubbub.papers.experiments import ids
from hubbub.papers.experiments.show import number
from hubbub.papers.inventory import INVENTORY
from hubbub.papers.numbers import PAPERS, NumberRow, reproduce
from hubbub.papers.numbers.rows import VERDICTS, shown
from hubbub.show.charts import Chart

Record = dict[str, Any]


def html(run: Record, draw: Callable[[Chart], str] = Chart.svg, numbers: Sequence[NumberRow] | None = None) -> str:
    """The page of a run of the experiments, with the papers' numbers computed now."""
    from hubbub.show.page import jinja

    rows: list[Record] = run["rows"]
    drawn = charts(rows)
    parts = []
    for (paper, title), same in groupby(rows, key=lambda row: (row["paper"], row["part"])):
        of_part = list(same)
        id = of_part[0]["id"].rpartition("/")[0].replace("/", "-")
        found = [drawn[row["id"]] for row in of_part if row["id"] in drawn]
        parts.append({"id": id, "paper": paper, "title": title, "rows": of_part, "charts": found})
    papers = []
    for key, together in groupby(reproduce() if numbers is None else numbers, lambda row: row.id.partition("/")[0]):
        of_paper = list(together)
        counts = Counter(row.verdict for row in of_paper)
        papers.append({"title": PAPERS[key].title, "rows": of_paper, "counts": counts})
    return (
        jinja()
        .get_template("papers.html")
        .render(
            log=run.get("log"),
            command=run["command"],
            statements=len(ids()),
            verdicts=VERDICTS,
            papers=papers,
            parts=parts,
            inventory=INVENTORY,
            shown=shown,
            seen=seen,
            stands=stands,
            draw=lambda chart: Markup(draw(chart)),  # the chart's own drawing, made from data: labels are escaped in it
        )
    )


def seen(samples: Mapping[str, Record]) -> str:
    """Means and half their intervals in a line."""
    told = []
    for name, sample in samples.items():
        mean, high = sample["mean"], sample["high"]
        half = 0.0 if mean is None or high is None else high - mean
        around = f" ± {number(float(f'{half:.2g}'))}" if half else ""
        told.append(f"{name}: –" if mean is None else f"{name}: {number(mean)}{around}")
    return "; ".join(told)


def stands(row: Record) -> str:
    """Whether the verdict stands among all rows."""
    if row["verdict"] not in ("shown", "differs"):
        return ""
    if row["corrected"] is None:
        return "not computed: means only"
    if row["p"] is None:
        return "no test"
    return "yes" if row["corrected"] == row["verdict"] else "no"
