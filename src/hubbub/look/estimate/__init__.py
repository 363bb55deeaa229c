"""What a release would keep, before anything is spent.

    source      whose shape: the owner's log, or a made-up log of public shape, scaled to N users
    grouped     made-up users in groups, by stated shares
    shape       every key: who holds it, how often, and the id a mechanism gave it
    scale       from the users of a sample to N
    laplace     korolova, zealous: exact probabilities   simulate    any mechanism: its own code, seeded, a few times
    zealous     its paper's measures of utility, corrected
    safelog     exact, keys that nobody holds included
    curve       the chance of a key that n users hold    result      the numbers, and how they add up
    why         thresholds, taken apart                  words       all of it for a terminal
    gains       which table more budget, more users or another period would help most

A mechanism names its function (mechanism, source, runs) → a `TableEstimate` for each table as its `estimator`; others
are simulated.
"""

from __future__ import annotations

from collections.abc import Iterable
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from hubbub.look.estimate.gains import gains as gained
from hubbub.look.estimate.grouped import stated_shares, with_columns
from hubbub.look.estimate.result import Estimate, TableEstimate
from hubbub.look.estimate.source import PRESET, SAMPLE, Source, made_up
from hubbub.look.estimate.why import explain
from hubbub.privacy.guarantee import typeset

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.mechanisms import Mechanism

__all__ = ["RUNS", "Estimate", "Source", "TableEstimate", "estimate_log", "estimate_users"]

SEES = 2
"""Thresholds are well seen where this many users of a sample reach them."""
RUNS = 4
"""How often a mechanism is simulated; rows of one run differ from the mean by about their square root."""


def estimate_log(mechanism: Mechanism, log: SearchLog, *, runs: int = RUNS, gains: bool = False) -> Estimate:
    """From the log itself: not private, for the owner's eyes only. With `gains`, what more of something would bring."""
    return _estimate(mechanism, Source(log, log.users()), runs, gains)


def estimate_users(
    mechanism: Mechanism,
    users: int,
    *,
    preset: str = PRESET,
    sample: int = SAMPLE,
    runs: int = RUNS,
    gains: bool = False,
    shares: Iterable[str] = (),
) -> Estimate:
    """From a declared number of users and a public shape: no log is read.

    `shares` are NAME=P,P,…: per cent of the users in each declared group, for groups by a column.
    """
    stated = stated_shares(shares, mechanism.by)
    with made_up(users, preset, sample, lambda rows: with_columns(rows, mechanism.by, stated)) as source:
        return _estimate(mechanism, source, runs, gains)


def _estimate(mechanism: Mechanism, source: Source, runs: int, gains: bool) -> Estimate:
    tables = resolve_name(mechanism.estimator)(mechanism, source, runs)
    warnings = tuple(_warnings(mechanism, source, tables))
    more = gained(mechanism, source, tables) if gains else ()
    return Estimate(mechanism, source.record(), tables, explain(mechanism), warnings, more)


def _warnings(mechanism: Mechanism, source: Source, tables: dict[str, TableEstimate]) -> list[str]:
    warnings = []
    delta = mechanism.proven().delta or 0.0
    if delta * source.users >= 1:
        warnings.append(
            f"δ = {typeset(delta)} is not below 1/{source.users}: it would allow publishing somebody outright"
        )
    thresholds = mechanism.thresholds()
    for table in mechanism.tables:
        if table not in tables:
            larger = f": ask again with --sample {source.users}" if source.scale > 1 else ""
            warnings.append(f"{table}: {mechanism.name} has no estimate for this table{larger}")
        elif tables[table].rows < 1:
            warnings.append(f"{table}: less than one row is expected; raise ε or δ, or bound each user more tightly")
        elif source.scale > 1 and thresholds.get(table, 0) < SEES * source.scale:
            warnings.append(
                f"{table}: one made-up user stands for {source.scale:.0f}, so the sample hardly sees keys near the "
                "threshold; there may be more rows than this: ask again with a larger --sample"
            )
    return warnings
