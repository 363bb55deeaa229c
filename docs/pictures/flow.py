"""The flow in one picture: a log goes in, only what passed through noise comes out."""

from __future__ import annotations

from hubbub.show.charts import palette

WIDTH, HEIGHT = 960, 300
BOX, TALL, ROW, BELOW = 132, 80, 58, 196
INK, RAW, PRIVATE, BOOK = "#222222", "#b34700", "#00664b", palette.BLUE

STAGES = [
    ("your log", "AOL, UBI, SogouQ,", "Excite, any table", INK),
    ("read", "line by line;", "rejects kept aside", INK),
    ("bound", "each user counts", "with a few keys", INK),
    ("count", "exact integers, in", "DuckDB or Spark", INK),
    ("noise, threshold", "exact integer noise;", "too few users: no row", PRIVATE),
    ("public/", "tables, a page,", "the privacy card", PRIVATE),
]
TITLE = "A log is read, each user is bounded, keys are counted, noise is added; only the result is public."


def svg() -> str:
    """The drawing."""
    at = [12 + 161 * i for i in range(len(STAGES))]
    middle = ROW + TALL / 2
    wall = at[4] - 14
    parts = [f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>"]
    parts += [box(x, ROW, BOX, *stage) for x, stage in zip(at, STAGES, strict=True)]
    parts += [line(f"M {x + BOX + 3} {middle} H {x + 158}", INK) for x in at[:-1]]
    parts.append(f"<path d='M {wall} 16 V {HEIGHT - 10}' stroke='{PRIVATE}' stroke-width='2' stroke-dasharray='6 4'/>")
    parts.append(text(wall - 12, 32, "raw: stays with its owner", RAW, "end"))
    parts.append(text(wall + 12, 32, "private: proven, booked, checked", PRIVATE, "start"))
    parts.append(
        box(at[2], BELOW, BOX * 2 + 29, "owner-only/", "exact numbers, scores, attacks, a report:", "not private", RAW)
    )
    parts.append(line(f"M {at[1] + BOX / 2} {ROW + TALL + 3} V {BELOW + TALL / 2} H {at[2] - 4}", RAW))
    parts.append(line(f"M {at[3] + BOX / 2} {ROW + TALL + 3} V {BELOW - 4}", RAW))
    parts.append(box(at[4], BELOW, BOX, "ledger", "books ε and δ before", "the first draw", BOOK))
    parts.append(line(f"M {at[4] + BOX / 2} {BELOW - 3} V {ROW + TALL + 4}", BOOK))
    parts.append(box(at[5], BELOW, BOX, "card --check", "anybody, again,", "without the log", BOOK))
    parts.append(line(f"M {at[5] + BOX / 2} {ROW + TALL + 3} V {BELOW - 4}", BOOK))
    return f"{HEAD}\n" + "\n".join(parts) + "\n</svg>"


HEAD = f"""<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' role='img' aria-label='{TITLE}'
 font-family='system-ui, sans-serif' font-size='13'>
<title>{TITLE}</title>
<defs>{
    "".join(
        f"<marker id='tip{c[1:]}' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='8' markerHeight='8' orient='auto'>"
        f"<path d='M 0 0 L 8 4 L 0 8 z' fill='{c}'/></marker>"
        for c in (INK, RAW, PRIVATE, BOOK)
    )
}</defs>"""


def box(x: float, y: float, wide: float, heading: str, first: str, second: str, colour: str) -> str:
    """A stage: what it is called, what happens there."""
    frame = (
        f"<rect x='{x}' y='{y}' width='{wide}' height='{TALL}' rx='8' fill='white' stroke='{colour}' stroke-width='2'/>"
    )
    middle = x + wide / 2
    words = text(middle, y + 24, heading, colour, "middle", "bold 15")
    return frame + words + text(middle, y + 46, first) + text(middle, y + 63, second)


def text(x: float, y: float, words: str, colour: str = INK, anchor: str = "middle", font: str = "normal 13") -> str:
    """A line of words."""
    weight, size = font.split()
    style = f"fill='{colour}' text-anchor='{anchor}' font-weight='{weight}' font-size='{size}'"
    return f"<text x='{x}' y='{y}' {style}>{words}</text>"


def line(path: str, colour: str) -> str:
    """An arrow along a path."""
    return f"<path d='{path}' fill='none' stroke='{colour}' stroke-width='2' marker-end='url(#tip{colour[1:]})'/>"
