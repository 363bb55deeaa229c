"""The README of an export: the claim first, then the files, how to read them, and what not to read into them."""

from __future__ import annotations

from hubbub.card.schema import NOT_STATED, STAMP, Card
from hubbub.show.export.base import CheckedRelease, Folder, Format
from hubbub.show.page import plain

WARNING = f"{STAMP}. Made for tests or experiments. Do not publish."


def readme(source: CheckedRelease, form: Format, folder: Folder) -> str:
    """Made from the card and the names of the files: no released text stands in it."""
    card, release = source.card, source.card.release
    part = ""
    if source.group is not None:
        part = f" **Of one group alone: {source.group[0]} = {plain(source.group[1])}.**"
    title = release.title if release.title != NOT_STATED else release.id
    files = [f"| `{file.name}` | {file.rows:,} | {file.about} |" for file in folder.written]
    stamp = [f"**{WARNING}**"] if card.mechanism.stamp else []
    own = "" if form.copies else " Its hashes are those of the release's own files, not of these."
    paragraphs = [
        f"# {plain(title)}",
        *stamp,
        card.claim.sentence,
        f"Unit: {card.unit.means} ({card.unit.neighbouring}).",
        f"This is release `{release.id}` as {form.about}. It was computed from the released tables and nothing else "
        "(`hubbub export`), which costs nothing: what is said above of the release holds for it too. The full claim is "
        f"in `card.json`.{own}{part}",
        "\n".join(["| file | rows | what |", "|---|---|---|", *files]),
        "## Format",
        form.notes(card),
        "## Before you count",
        "\n".join(
            [
                f"- {card.accuracy.expect_missing}",
                f"- Spurious rows: {card.accuracy.spurious_rows}.",
                f"- {_limits(card)}",
                "- Confidence intervals: `hubbub.simulate` draws the noise again, from the release itself.",
            ]
        ),
        f"Curator: {', '.join(release.curator)}. Contact: {release.contact}. Licence: {release.licence}. Released "
        f"{release.published} with {card.implementation.software}. Please do not try to single anybody out.",
    ]
    return form.front(card) + "\n\n".join(paragraphs) + "\n"


def _limits(card: Card) -> str:
    if not card.bounding:
        return "Nobody was limited before counting."
    said = card.accuracy.values
    return f"{said[:1].upper()}{said[1:]} (`bounding` in `card.json`)."
