"""An estimate, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hubbub.look.estimate.curve import Curve, series
from hubbub.look.estimate.gains import said
from hubbub.look.estimate.result import Estimate, TableEstimate
from hubbub.plurals import counted

LINES = 9
EVENTS = {"clicks": "clicks", "keywords": "words asked", "transitions": "transitions"}


def lines(estimate: Estimate) -> Iterator[str]:
    """Everything, in the order in which questions come."""
    source = estimate.source
    if estimate.owner_only:
        yield f"Shape: the log itself, {source['users']:,} users."
    else:
        scaled = "" if source["sample"] == source["users"] else f", scaled from a sample of {source['sample']:,}"
        yield f"Shape: public, {source['users']:,} users of a made-up log like {source['preset']}{scaled}."
    yield f"{estimate.mechanism.proven().sentence()} Nothing is spent by estimating."
    told = set()
    for why in estimate.why:
        yield ""
        yield f"{why.step}: threshold {_number(why.threshold)}"
        yield f"  why      {why.sentence}"
        if why.lower:
            yield "  lower    " + "; ".join(f"{_number(t)} with {change}" for change, t in why.lower)
        if why.step in estimate.tables:
            told.add(why.step)
            yield from _table(why.step, estimate.tables[why.step])
    for name, table in estimate.tables.items():
        if name not in told:
            yield ""
            yield f"{name}:"
            yield from _table(name, table)
    if estimate.gains:
        yield ""
        yield "What would bring more rows (expected, from simulated runs):"
        yield from said(estimate.gains)


def _table(name: str, table: TableEstimate) -> Iterator[str]:
    yield from _kept(name, table)
    for i, note in enumerate(table.notes):
        yield f"  {'utility' if i == 0 else '':<8} {note}"


def _kept(name: str, table: TableEstimate) -> Iterator[str]:
    yield from _survival(table.curve)
    how = "" if table.runs is None else f" ({counted(table.runs, 'simulated run')})"
    of = "" if table.keys is None else f" of {table.keys:,}"
    yield (
        f"  rows     {table.rows:,.0f} ± {table.rows_sd:,.0f}{of} expected{how}; they are "
        f"{table.volume.searches:.1%} of the {EVENTS.get(name, 'searches')}"
    )
    volume = table.volume
    yield (
        f"  volume   {volume.bounding:.1%} is cut by bounding, {volume.threshold:.1%} falls to the threshold, "
        f"{volume.published:.1%} is published"
    )
    if table.error is None:
        yield "  error    no counts are published" if table.rows else "  error    no row is expected"
        return
    error = table.error
    bounding = "bounding" if table.volume.bounding else "bounding and the model that undoes it"
    yield (
        f"  error    of a published value: ± {error.rms:,.1f} (root mean square), from {bounding} "
        f"{_root(error.bounding)}, noise {_root(error.noise)}, threshold {_root(error.threshold)}"
    )
    if error.cut:
        yield f"           bounding takes {error.cut:.1%} of it; values are {error.bias:+,.1f} off on average"
    yield f"           about 95 % of the noise of a row is within ± {_number(table.half_width or 0)}"


def _survival(curve: Curve) -> Iterator[str]:
    """The part of the curve that answers "will it be there?"."""
    most = int(curve.users[-1])
    fine = [n for n in (1, 2, 3, 5, 7, *(m * 10**k for k in range(1, 10) for m in (1, 1.5, 2, 3, 5, 7))) if n <= most]
    shown = _around(curve, [int(n) for n in fine])
    if len(shown) > LINES:
        shown = _around(curve, [n for n in series() if n <= most])[:LINES]
    yield "  held by  " + " ".join(f"{n:>8,}" for n in shown) + "  users"
    yield "  released " + " ".join(f"{_percent(curve.at(n)):>8}" for n in shown)
    if curve.counted is not None:
        counted = np.interp(shown, curve.users, curve.counted)
        yield "  counted  " + " ".join(f"{n:>8,.0f}" for n in counted) + "  of them after bounding"
    half, sure = curve.reaches(0.5), curve.reaches(0.95)
    if half is None:
        yield f"           no key has an even chance: the most popular one is held by {most:,}"
    else:
        yield f"           an even chance from {half:,} users on" + ("" if sure is None else f", 95 % from {sure:,}")


def _around(curve: Curve, known: list[int]) -> list[int]:
    """Where the chance rises, with one number before and one after; the last one if it never does."""
    never = [n for n in known if curve.at(n) < 0.001]
    always = [n for n in known if curve.at(n) >= 0.9995]
    rises = [n for n in known if 0.001 <= curve.at(n) < 0.9995]
    return never[-1:] + rises + always[:1]


def _percent(chance: float) -> str:
    return f"{chance:.0%}" if chance >= 0.1 or chance == 0 else "< 0.1%" if chance < 0.001 else f"{chance:.1%}"


def _root(square: float) -> str:
    """A part of the mean square as a length; what makes the error smaller has a minus sign."""
    return f"{'−' if square < -0.005 else ''}{abs(square) ** 0.5:,.1f}"


def _number(x: float) -> str:
    return f"{x:,.0f}" if float(x).is_integer() else f"{x:,.1f}"
