"""The way of a release through the rooms: what the story calls, top to bottom; the rooms it enters, left to right."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from flow import INK, PRIVATE, text

LEFT, TOP, COLUMN, LINE = 262, 104, 46, 25
TITLE = "One release, traced: each call that the story makes, and the rooms in which it enters new files."


class Traced(Protocol):
    """What is drawn (tests/docs/way.py makes it)."""

    def rooms(self) -> list[str]:
        """The rooms in the order in which they are entered."""

    def chapters(self) -> dict[str, Counter[str]]:
        """New files by room, for each call of the story."""

    def passed(self, chapter: str) -> set[str]:
        """The rooms in which a call of the story runs a function for the first time."""


def svg(way: Traced) -> str:
    """The drawing: a filled dot holds the number of files that are new, a small one marks new functions alone."""
    rooms, chapters = way.rooms(), way.chapters()
    at = {room: LEFT + 20 + COLUMN * i for i, room in enumerate(rooms)}
    width, height = LEFT + COLUMN * len(rooms) + 30, TOP + LINE * len(chapters) + 14
    parts = [f"<rect width='{width}' height='{height}' fill='white'/>"]
    for room, x in at.items():
        parts.append(f"<path d='M {x} {TOP - 8} V {height - 12}' stroke='#dddddd'/>")
        parts.append(f"<g transform='translate({x + 4} {TOP - 14}) rotate(-45)'>{text(0, 0, room, INK, 'start')}</g>")
    for i, (chapter, new) in enumerate(chapters.items()):
        y = TOP + LINE * i + 8
        parts.append(text(LEFT, y + 4, chapter, INK, "end"))
        passed = [at[room] for room in way.passed(chapter)]
        parts.append(f"<path d='M {min(passed)} {y} H {max(passed)}' stroke='{PRIVATE}' stroke-width='2'/>")
        for room in sorted(way.passed(chapter), key=rooms.index):
            files = new.get(room, 0)
            parts.append(f"<circle cx='{at[room]}' cy='{y}' r='{10 if files else 4}' fill='{PRIVATE}'/>")
            if files:
                parts.append(text(at[room], y + 4.5, str(files), "white"))
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' role='img' aria-label='{TITLE}'\n"
        f" font-family='system-ui, sans-serif' font-size='13'>\n<title>{TITLE}</title>"
    )
    return f"{head}\n" + "\n".join(parts) + "\n</svg>"
