"""Means over draws with 95 % intervals, the Pareto front, and what must not be compared.

    mean ± t s / √n        t: the 97.5 % quantile of Student's t with n − 1 degrees of freedom, s with n − 1, n draws

The interval is about the mean over noise, on this log; one draw has none.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub.errors import ParameterError
from hubbub.look.compare.choices import Candidate, declared
from hubbub.mechanisms import Mechanism
from hubbub.privacy.guarantee import Guarantee, finite, number
from hubbub.show.charts import meanings
from hubbub.worth.tasks.run import NOT_EVALUABLE

LESS = ("error", "delta", "epsilon")
"""Of these, less is better; what is so of the tasks' scores they say themselves."""


@dataclass(frozen=True)
class Mean:
    """A metric over the draws that have it."""

    mean: float
    low: float | None
    high: float | None
    draws: int
    original: float | None = None

    @property
    def half(self) -> float | None:
        """Half of the interval's width."""
        return None if self.high is None else self.high - self.mean

    @property
    def side(self) -> int:
        """1 where the whole interval is above the original's score, -1 where it is below, else 0."""
        low, high = (self.mean, self.mean) if self.low is None or self.high is None else (self.low, self.high)
        if self.original is None:
            return 0
        return int(low > self.original) - int(high < self.original)

    @staticmethod
    def of(values: Sequence[float], original: float | None = None) -> Mean:
        """The mean of these values, with its interval by Student's t."""
        mean, n = float(np.mean(values)), len(values)
        if n < 2:
            return Mean(mean, None, None, n, original)
        from scipy.stats import t

        half = float(t.ppf(0.975, n - 1)) * float(np.std(values, ddof=1)) / math.sqrt(n)
        return Mean(mean, mean - half, mean + half, n, original)


@dataclass(frozen=True)
class Row:
    """One mechanism at one setting: what it proves, and its means."""

    label: str
    mechanism: str
    variant: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    at: Mapping[str, str] = field(default_factory=dict)
    """Its place on each sweep."""
    proven: Mapping[str, Any] = field(default_factory=dict)
    raw: bool = False
    """Whether its parameters were given instead of a budget."""
    counts: str = ""
    """What its numbers count: users, or occurrences (count)."""
    tables: tuple[str, ...] = ()
    metrics: Mapping[str, Mean] = field(default_factory=dict)
    not_evaluable: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    asked: str = ""
    """The ε that it was calibrated to; empty where its parameters are raw."""

    @property
    def budget(self) -> str:
        """The ε that was asked for, or that raw parameters prove; empty where nothing is proven end to end."""
        if self.reason or not self.proven.get("private"):
            return ""
        return number(float(Fraction(self.asked or self.proven["epsilon"])))

    @staticmethod
    def of(choice: Candidate, scores: Mapping[str, Sequence[Mapping[str, Any]]]) -> Row:
        """From the cells of a row; metrics of a task carry its name, those of every release none."""
        if choice.reason:
            return Row(choice.label, choice.mechanism, choice.variant, choice.given, choice.at, reason=choice.reason)
        built = choice.build()
        metrics: dict[str, Mean] = {}
        why: dict[str, str] = {}
        for task, draws in scores.items():
            refused = next((str(d[NOT_EVALUABLE]) for d in draws if NOT_EVALUABLE in d), None)
            why |= {} if refused is None else {task: refused}
            held = [d for d in draws if NOT_EVALUABLE not in d]
            for metric in dict.fromkeys(name for d in held for name in d):
                pairs = [d[metric] for d in held if metric in d]
                values = [float(p["release"]) for p in pairs if p["release"] is not None]
                if values:
                    name = metric if task == "basics" else f"{task}.{metric}"
                    metrics[name] = Mean.of(values, pairs[0]["original"])
        return Row(
            choice.label,
            choice.mechanism,
            built.variant,
            {k: str(v) for k, v in built.settings.items()},
            choice.at,
            stated(built.proven()),
            "epsilon" in declared(choice.mechanism) and "epsilon" not in choice.given,
            unit(built),
            built.tables,
            metrics,
            why,
            asked=choice.given.get("epsilon", ""),
        )


def unit(mechanism: Mechanism) -> str:
    """What its numbers count; a log without other tables is counted by its rows."""
    keyed = any(not mechanism.offers[table].rows for table in mechanism.tables)
    return mechanism.value_column if keyed else "count"


def stated(proven: Guarantee) -> dict[str, Any]:
    """A guarantee as a row states it."""
    return {
        "definition": proven.definition.value,
        "epsilon": finite(proven.epsilon),
        "delta": finite(proven.delta),
        "neighbours": proven.neighbours.value,
        "private": proven.private,
        "scope": proven.scope,
    }


@dataclass(frozen=True)
class Comparison:
    """Every row, and what they were made with. Not private: every number was computed from the raw log."""

    rows: tuple[Row, ...]
    asked: Mapping[str, Any]
    """The common budget, tasks, draws, seed, sweeps."""

    def originals(self) -> dict[str, float]:
        """The original's own score of each metric, counted in users where some row counts users."""
        found: dict[str, float] = {}
        for row in sorted(self.rows, key=lambda row: row.counts != "users"):
            for name, mean in row.metrics.items():
                if mean.original is not None:
                    found.setdefault(name, mean.original)
        return found

    def metrics(self) -> list[str]:
        """Every metric of any row, in order."""
        return list(dict.fromkeys(name for row in self.rows for name in row.metrics))

    def refuse_unknown_plot(self) -> None:
        """Axes must be metrics of some row."""
        known = ["epsilon", "delta", *self.metrics()]
        for name in self.asked["plot"]:
            if self.metrics() and name not in known:
                raise ParameterError("No row has this metric.", given=f"--plot {name}", allowed=", ".join(known))

    def record(self) -> dict[str, Any]:
        """As JSON."""
        rows = [{**asdict(row), "pareto": row.label in self.front()} for row in self.rows]
        return {
            "owner_only": True,
            **self.asked,
            "rows": rows,
            "notes": list(notes(self.rows)),
        }

    def front(self) -> set[str]:
        """Rows that no other of the same ε beats on both metrics of the plot; of all rows where ε itself is plotted."""
        x, y = self.asked["plot"]
        if "epsilon" in (x, y):
            return front(self.rows, x, y)
        groups: dict[str, list[Row]] = {}
        for row in self.rows:
            if row.budget:
                groups.setdefault(row.budget, []).append(row)
        return {label for rows in groups.values() for label in front(rows, x, y)}

    def csv(self) -> str:
        """One line per row and metric."""
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        heads = ("row", "mechanism", "variant", "definition", "epsilon", "delta", "counts", "metric", "original")
        out.writerow([*heads, "mean", "low", "high", "draws", "reason"])
        for row in self.rows:
            guarantee = [row.proven.get(k) for k in ("definition", "epsilon", "delta")]
            first = [row.label, row.mechanism, row.variant, *guarantee, row.counts]
            for name, m in row.metrics.items():
                out.writerow([*first, name, m.original, m.mean, m.low, m.high, m.draws, ""])
            for task, why in row.not_evaluable.items():
                out.writerow([*first, task, *[""] * 5, why])
            if row.reason:
                out.writerow([*first, *[""] * 6, row.reason])
        return text.getvalue()


def less_is_better(metric: str) -> bool:
    """Whether a small value of this metric is the good one."""
    words = metric.replace("@", ".").split(".")
    return any(word in LESS or meanings.less_is_better(word) for word in words)


def front(rows: Iterable[Row], x: str, y: str) -> set[str]:
    """The Pareto front of two metrics by their means."""
    points = {}
    for row in rows:
        place = [value(row, name) for name in (x, y)]
        if None not in place:
            signs = [-1.0 if less_is_better(name) else 1.0 for name in (x, y)]
            points[row.label] = [float(v) * s for v, s in zip(place, signs, strict=True) if v is not None]
    return {
        label
        for label, p in points.items()
        if not any(q != p and q[0] >= p[0] and q[1] >= p[1] for q in points.values())
    }


def value(row: Row, metric: str) -> float | None:
    """A metric's mean, or a number of the guarantee."""
    if metric in ("epsilon", "delta"):
        found = row.proven.get(metric)
        return None if found is None else float(found)
    return row.metrics[metric].mean if metric in row.metrics else None


# ------------------------------------------------------------------ what does not compare


def notes(rows: Sequence[Row]) -> Iterable[str]:
    """What must not be read off the table, as far as these rows raise it."""
    ran = [row for row in rows if not row.reason]
    units = {row.counts: [r.label for r in ran if r.counts == row.counts] for row in ran}
    if len(units) > 1:
        said = "; ".join(f"{_unit(unit)}: {', '.join(labels)}" for unit, labels in units.items())
        yield f"Numbers count different things ({said}). Each error is relative to the original counted the same way."
    if bare := [row.label for row in ran if "error" not in row.metrics]:
        yield f"No released number to be wrong, so no error: {', '.join(bare)}."
    if len({row.tables for row in ran}) > 1:
        yield (
            "Mechanisms release different tables, and a budget that buys five tables buys less of each: compare rows "
            "within one column, or give every mechanism the same tables (--tables queries)."
        )
    if any("sessions" in row.tables for row in ran):
        yield "Sessions are subsequences of sessions, of the lengths each mechanism offers: their rows do not compare."
    if any("log" in row.tables for row in ran):
        yield (
            "Rows of a log are events of synthetic users (for k-anonymity: of real ones), not keys; its numbers come "
            "from counting it, and a log smaller than the original has smaller numbers: its error says mostly that."
        )
    definitions = {str(row.proven["definition"]): row.label for row in ran}
    if len(definitions) > 1:
        yield f"The rows satisfy different definitions ({', '.join(sorted(definitions))}); see each one's."
    if any(not row.proven["private"] for row in ran):
        yield f"Nothing is proven end to end of {', '.join(r.label for r in ran if not r.proven['private'])}."
    if raw := [row.label for row in ran if row.raw]:
        yield (
            f"Raw parameters (a threshold, a scale) stand instead of a budget, so these prove an ε and δ of their own, "
            f"not the common ones: {', '.join(raw)}."
        )


def _unit(counts: str) -> str:
    return "distinct users" if counts == "users" else "occurrences"
