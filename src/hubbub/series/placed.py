"""Where the periods of a series stand: each as its state keeps it, as a draft until somebody has approved it.

The state holds every byte: what was drawn (`published-000/`), and what each review made of it (`approved-000-1/`). The
folder of a period is a copy of the latest, which is made again whenever it is missing or an older one.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hubbub.card.check import DRAFT, check, load, parsed, public_folder
from hubbub.errors import Refused
from hubbub.files import PRIVATE, READABLE, permit, whole
from hubbub.series.plan import PUBLISHED
from hubbub.series.struck import index

if TYPE_CHECKING:
    from hubbub.card.schema import Card
    from hubbub.mechanisms.series.calendar import SeriesCalendar
    from hubbub.series.state import StateFolder

CARD = "card.json"


@dataclass(frozen=True)
class SeriesPeriod:
    """A period that stands: its label, its folder, and what it has."""

    label: str
    folder: Path
    repeated: bool
    """Whether it stood before: then these are the same bytes."""
    draft: bool = False
    """Whether somebody has yet to approve it."""


def drawn_place(run: int) -> str:
    """The folder of the state for what a run has drawn."""
    return f"published-{run:03}"


def approved_place(run: int, revision: int) -> str:
    """The folder of the state for what a review made of it."""
    return f"approved-{run:03}-{revision}"


def kept_places(held: StateFolder, run: int) -> list[Path]:
    """All that the state keeps of a run's publications: as drawn, then review by review."""
    stem = f"approved-{run:03}-"
    names = {name.split("/")[0] for name in held.state.files}
    reviewed = sorted((name for name in names if name.startswith(stem)), key=lambda n: int(n.removeprefix(stem)))
    return [held.path / name for name in (drawn_place(run), *reviewed)]


def latest_card(held: StateFolder, run: int) -> Card:
    """The card of a period as it stands."""
    return parsed(load(kept_places(held, run)[-1], draft=True))


def waiting_draft(held: StateFolder) -> int | None:
    """The run whose draft nobody has approved yet; only the last can be one."""
    last = held.state.run - 1
    return last if last >= 0 and latest_card(held, last).release.draft else None


def refuse_waiting(held: StateFolder, calendar: SeriesCalendar, folder: Path) -> None:
    """The next period shows every key that is out so far: it waits until somebody has looked at the last."""
    waiting = waiting_draft(held)
    if waiting is not None:
        out = folder / calendar.label(held.state.periods[waiting])
        raise Refused(
            "The last period is a draft that nobody has approved yet.",
            given=out,
            allowed="a further period once it is approved: its tables show what is in the draft, too",
            next=f"look at its rows: hubbub review {out}; then approve it: hubbub review {out} --approve --by NAME",
        )


def place(label: str, folder: Path, held: StateFolder, run: int) -> SeriesPeriod:
    """Put the kept bytes of a period where they belong, unless they stand there; then the index of what is out."""
    out, kept = folder / label, kept_places(held, run)
    draft = bool(latest_card(held, run).release.draft)
    aside = folder / f".{label}.gone"  # a name that nothing reads: what a killed call left is removed by the next
    shutil.rmtree(aside, ignore_errors=True)
    if out.exists():
        if not _is_older(out, kept):
            stands = standing_folder(label, out, draft=draft)
            if not draft:
                index(folder)  # a killed call may have left an older one
            return stands
        out.rename(aside)
    with whole(out) as made:
        inside = made / (DRAFT if draft else PUBLISHED)
        shutil.copytree(kept[-1], inside)
        permit(inside, *(PRIVATE if draft else READABLE))
    shutil.rmtree(aside, ignore_errors=True)
    if not draft:
        index(folder)
    return SeriesPeriod(label, out, False, draft)


def _is_older(out: Path, kept: list[Path]) -> bool:
    """Whether what stands is what the state kept before its last review."""
    card = public_folder(out) / CARD
    stands = card.read_bytes() if card.is_file() else b""
    return any(stands == (older / CARD).read_bytes() for older in kept[:-1])


def standing_folder(label: str, out: Path, *, draft: bool = False) -> SeriesPeriod:
    """A period that stands, if it is as it was written."""
    broken = [finding.what for finding in check(out, draft=draft) if not finding.holds]
    if broken:
        raise Refused(
            "The folder of this period is not as it was written.",
            given=f"{out}: {broken[0]}",
            next="move it away, and the same call writes it again, with the same bytes",
        )
    return SeriesPeriod(label, out, True, draft)
