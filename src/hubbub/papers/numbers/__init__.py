"""The papers' numbers, computed again in front of the reader: expected, computed, verdict, why.

Everything follows from the papers' formulas with real-valued noise, as they are printed; nothing is sampled and no log
is read. What hubbub itself draws is discrete, and is stated by its cards.

    rows           the row and its verdict; the list of papers
    losses         distributions of privacy loss, added up
    korolova, gotz, safelog, sessions_2017, hong    a paper each
    gotz_definitions    how its two definitions compare, and its lower bound, enumerated
    hong_printed   Hong's tables
    strict         what hubbub's strict variants have instead
    page           the docs page made of all rows
"""

from __future__ import annotations

from difflib import get_close_matches

from hubbub.errors import ParameterError
from hubbub.papers.numbers import gotz, hong, korolova, safelog, sessions_2017, strict
from hubbub.papers.numbers.rows import PAPERS, NumberRow, Paper, register

__all__ = ["PAPERS", "NumberRow", "Paper", "reproduce"]

for module in (korolova, gotz, safelog, sessions_2017, hong, strict):
    register(module.PAPER)


def reproduce(id: str | None = None) -> list[NumberRow]:
    """All rows, or those whose id is `id` or begins with `id/`."""
    if id is None:
        return [row for paper in PAPERS.values() for row in paper.rows()]
    wanted = id.strip().strip("/")
    paper = PAPERS.get(wanted.partition("/")[0])
    candidates = list(paper.rows()) if paper else []
    found = [row for row in candidates if row.id == wanted or row.id.startswith(wanted + "/")]
    if not found:
        parts = {row.id.rpartition("/")[0] for row in candidates}
        known = sorted({row.id for row in candidates} | parts) if candidates else sorted(PAPERS)
        near = get_close_matches(wanted, known, 3, 0.6)
        raise ParameterError(
            "There is no such row.",
            given=id,
            allowed=", ".join(near or sorted(parts) or known),
            next="see hubbub reproduce for all of them",
        )
    return found
