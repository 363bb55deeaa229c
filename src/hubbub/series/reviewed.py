"""A reviewed period of a series: the drawn rows without those that were struck, in the same place. No noise is drawn.

What a review makes is one commit of the state, with the list of what it struck: a kill before it has changed nothing,
after it the next call puts the new bytes in place. The state is locked meanwhile, and a reviewer who has looked at a
card that is no longer the latest is told so.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from hubbub.card.check import DRAFT
from hubbub.errors import ParameterError, Refused
from hubbub.release.earlier import output_of
from hubbub.release.review.anew import (
    AS_DRAWN,
    Approved,
    approve,
    named_reviewer,
    refuse_empty,
    refuse_unstruck,
    reviewed_facts,
    revision_after,
    write_reviewed,
)
from hubbub.series import periods
from hubbub.series.placed import approved_place, kept_places, latest_card, place
from hubbub.series.plan import OWNER_ONLY, PLAN, PUBLISHED, STATE, format_of, opened
from hubbub.series.state import IDLE, StateFolder, alone
from hubbub.series.struck import earlier_strikes, newly_struck, struck_keys, write_struck

if TYPE_CHECKING:
    from hubbub.card.schema import Card
    from hubbub.privacy.ledger import Ledger
    from hubbub.release.review.strikes import Strikes


def series_of(release: Path) -> tuple[Path, str] | None:
    """The folder of the series and the label, if this is the folder of a period whose state is kept."""
    path = release.absolute()
    path = path.parent if path.name in (DRAFT, PUBLISHED) else path
    plan = path.parent / OWNER_ONLY / PLAN
    return (path.parent, path.name) if plan.is_file() and format_of(plan) != periods.FORMAT else None


def all_strikes(release: Path, own: Strikes) -> Strikes:
    """With what earlier reviews of the same series have struck; of another release, these alone."""
    found = series_of(release)
    return own if found is None else earlier_strikes(found[0], own)


def _elsewhere(release: Path, out: Path | None) -> Path:
    """Where a reviewed release goes: never into the folder of a series, which would take it for a period."""
    if out is not None:
        if (out.absolute().parent / OWNER_ONLY / PLAN).is_file():
            raise ParameterError(
                "A reviewed release does not go into the folder of a series, where it would pass for a period.",
                given=f"--out {out}",
                next="give a folder elsewhere, or leave --out out",
            )
        return out
    path = release.absolute()
    if (path.parent / OWNER_ONLY / PLAN).is_file():
        return path.parent.with_name(f"{path.parent.name}-{path.name}-reviewed")
    return release.with_name(f"{release.name}-reviewed")


def approve_drawn(
    release: Path, card: Card, strikes: Strikes, by: str, out: Path | None, ledger: Ledger, reason: str = AS_DRAWN
) -> Approved:
    """Approve what is not struck of a release: a period of a series in its place, any other in a folder of its own."""
    found = series_of(release)
    if found is None:
        return approve(release, strikes, by, _elsewhere(release, out), ledger, reason)
    if out is not None:
        raise ParameterError("A period of a series stands in its place.", given=f"--out {out}", next="leave --out out")
    return _approve_period(*found, card, strikes, named_reviewer(by), ledger, reason)


def _approve_period(
    folder: Path, label: str, card: Card, own: Strikes, by: str, ledger: Ledger, reason: str
) -> Approved:
    plan, entry = opened(folder, ledger)
    with alone(folder / OWNER_ONLY):
        held = StateFolder(folder / OWNER_ONLY / STATE, ledger, entry, plan.id)
        if held.state.stage != IDLE:
            raise Refused("A period is under way.", next=f"finish it first: hubbub series add {folder}")
        labels = [plan.mechanism.calendar.label(number) for number in held.state.periods]
        if label not in labels or latest_card(held, labels.index(label)).integrity != card.integrity:
            raise Refused(
                "This period was approved already, meanwhile or by another reviewer.",
                given=f"{folder / label}: its card is no longer the one that was looked at",
                next="look at it again; nothing of this review was kept",
            )
        run = labels.index(label)
        refuse_unstruck(card, own, folder / label)
        source = kept_places(held, run)[-1]
        tables = {table: pq.read_table(source / f"{table}.parquet") for table in card.release.contains}
        strikes = earlier_strikes(folder, own)
        left, struck = strikes.left(tables)
        refuse_empty(left, strikes)
        revision = revision_after(card)
        new = held.path / approved_place(run, revision)
        write_reviewed(new, card, left, reviewed_facts(card, strikes, struck, by, reason))
        before = struck_keys(held.path, held.state.files)
        names, gone = write_struck(held, [*before, *newly_struck(own, tables, label)])
        names += [f"{new.name}/{path.name}" for path in sorted(new.iterdir())]
        drawn = {f"{label} revision {revision} {table}": output_of(new / f"{table}.parquet") for table in left}
        held.commit(held.state, names, gone, drawn)
        made = place(label, folder, held, run)
    rows = {table: rows.num_rows for table, rows in left.items()}
    return Approved(made.folder, rows, struck, strikes.tables, entry)
