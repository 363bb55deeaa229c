"""Add a period to a series of either unit: one guarantee for all periods, or one for each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hubbub.errors import ParameterError
from hubbub.series import periods, story
from hubbub.series.placed import SeriesPeriod
from hubbub.series.plan import OWNER_ONLY, PLAN, format_of
from hubbub.steps.mode import Say, quiet

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.privacy.ledger import Ledger


def add(
    folder: str | Path,
    log: SearchLog | None,
    ledger: Ledger,
    *,
    period: str | None = None,
    other_ids: bool = False,
    other_people: bool = False,
    review: bool = False,
    noise: NoiseSource | None = None,
    say: Say = quiet,
) -> SeriesPeriod:
    """Run the next period, or the named one; a log of it, or one that contains it. With `review` it is a draft."""
    folder = Path(folder)
    if format_of(folder / OWNER_ONLY / PLAN) != periods.FORMAT:
        how = {"other_ids": other_ids, "other_people": other_people, "review": review}
        return story.add(folder, log, ledger, period=period, noise=noise, say=say, **how)
    if other_ids or other_people:
        raise ParameterError("Periods that are released one by one ask for no such word.", next="leave it out")
    if review:
        raise ParameterError(
            "Periods that are released one by one are not drafts of a series.",
            given="--review",
            next="leave it out; and review a period that stands: hubbub review DIR/PERIOD --out elsewhere",
        )
    return periods.add_release(folder, log, ledger, period, noise)
