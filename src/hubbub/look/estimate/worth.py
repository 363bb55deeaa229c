"""Whether a log of a size is worth it: users → rows at three ε, from the estimate on a public shape, made once.

`bench/worth.py` makes the file, and checks it against real releases; docs/estimate.md shows it. Between the sizes of
the file, and not beyond them, rows are taken as a straight line of logarithms.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("worth.json")
PRESET = "aol"
DELTA = "1e-7"
EPSILONS = ("0.5", "1", "2")
SEEN = 100_000
"""Users up to whom keys near the threshold are seen in the sample of 20,000 that is scaled (docs/estimate.md)."""


@dataclass(frozen=True)
class Worth:
    """What a release of the reference keeps at one ε."""

    epsilon: str
    rows: float
    searches: float
    """The share of all searches that asked one of these queries."""


@lru_cache(maxsize=1)
def reference() -> dict[int, tuple[Worth, ...]]:
    """By users, what is expected at each ε."""
    made = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        int(users): tuple(Worth(epsilon, *row) for epsilon, row in zip(made["epsilons"], rows, strict=True))
        for users, rows in made["rows"].items()
    }


def interpolated(users: int) -> tuple[Worth, ...]:
    """The same for any number of users; that of the nearest size for one that is beyond all."""
    sizes = np.log(list(reference()))
    columns = zip(*reference().values(), strict=True)
    return tuple(
        Worth(
            column[0].epsilon,
            float(np.expm1(np.interp(np.log(users), sizes, np.log1p([one.rows for one in column])))),
            float(np.interp(np.log(users), sizes, [one.searches for one in column])),
        )
        for column in columns
    )


def lines(users: int) -> Iterator[str]:
    """For a terminal: the sizes around, and this one."""
    least, most = min(reference()), max(reference())
    shown = sorted({*reference(), users} if least <= users <= most else reference())
    yield "Is a log of this size worth it? Queries released, and the share of all searches that asked one of them:"
    yield f"  {'users':>10}" + "".join(f"{'ε = ' + epsilon:>20}" for epsilon in EPSILONS)
    for size in shown:
        cells = (cell(one) for one in interpolated(size))
        yield f"{'→' if size == users else ' '} {size:>10,}" + "".join(f"{cell:>20}" for cell in cells)
    yield f"  For three months of web search (shape {PRESET}), crowd, δ = {DELTA}, no public knowledge of words: that"
    yield "  adds rows. Searches that repeat more (a shop, a library) give more rows, shorter periods give fewer. Above"
    yield f"  {SEEN:,} users the numbers are low, by a third or more."


def cell(one: Worth) -> str:
    """Rows to two digits, since more would promise too much; and the share of searches."""
    return f"{round(float(f'{one.rows:.2g}')):,} ({one.searches:.1%})"


def record(users: int) -> dict[str, object]:
    """The same for a program."""
    return {"preset": PRESET, "delta": DELTA, "by_epsilon": [asdict(one) for one in interpolated(users)]}
