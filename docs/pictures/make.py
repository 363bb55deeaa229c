"""Every picture of the documentation, from hubbub's own functions and from a real browser: `make pictures`.

    python docs/pictures/make.py              all of them
    python docs/pictures/make.py survival     some of them, by the name of the file

Charts are computed again, a release is traced and its way drawn, screenshots are taken of a demo release in Chromium.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

import charts  # noqa: E402
import flow  # noqa: E402
import rooms  # noqa: E402
import screens  # noqa: E402
from tests.docs.way import way  # noqa: E402

PICTURES: dict[str, Callable[[], None]] = {
    **{name: lambda name=name, chart=chart: write(name, chart().svg()) for name, chart in charts.CHARTS.items()},
    "flow": lambda: write("flow", flow.svg()),
    "rooms": lambda: write("rooms", rooms.svg(way())),
    "screens": lambda: screens.take(HERE),
    "studio": lambda: screens.take_studio(HERE),
    "studio-choice": lambda: screens.take_choice(HERE),
}


def write(name: str, svg: str) -> None:
    """One picture, on white: readable whatever the page around it looks like."""
    (HERE / f"{name}.svg").write_text(svg.strip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        print(name, flush=True)
        PICTURES[name]()
