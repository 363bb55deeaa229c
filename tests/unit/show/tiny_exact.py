"""Exact facts of three made-up queries, as a release of them would gather."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.privacy.ledger import Ledger
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from hubbub.show.exact import ErrorParts, Exact, UsersHistogram

# Three queries: 8 users asked "a" (10 searches), 4 "b" (4 searches), 1 each "c" and "d" (3 searches together).
HELD = UsersHistogram(*(np.array(column) for column in ([1, 4, 8], [2, 1, 1], [3, 4, 10], [0, 0, 1], [0, 0, 10])))


def table(name: str = "queries", **changes: Any) -> Exact:
    points = pa.table(
        {
            "key": ["a"],
            "exact": [8],
            "bounded": [6],
            "released": [9],
            "noise_sd": [2.0],
        }
    )
    facts: dict[str, Any] = {
        "table": name,
        "value": "users",
        "sampled": None,
        "held": HELD,
        "nobodys": 0,
        "error": ErrorParts(1, 4.0, 4.0, -7.0, 1.0),
        "points": points,
    }
    return Exact(**facts | changes)


LOG = """AnonID\tQuery\tQueryTime\tItemRank\tClickURL
1\tweather\t2006-03-01 08:00:00\t1\thttp://w.example
1\tweather\t2006-03-02 08:00:00\t\t
1\t<b>news</b>\t2006-03-01 09:00:00\t\t
2\tweather\t2006-03-01 08:00:00\t\t
2\trare\t2006-03-01 09:00:00\t\t
3\tweather\t2006-03-01 08:00:00\t1\thttp://w.example
3\t<b>news</b>\t2006-03-01 09:00:00\t\t
"""


def release_tiny(folder: Path, d: str = "2", K: str = "1") -> Path:
    """A seeded release with next to no noise: every key that is above the threshold, as it is."""
    (folder / "tiny.tsv").write_text(LOG, encoding="utf-8")
    made = build("korolova", {"d": d, "b": "0.02", "K": K})
    with Ledger(folder / "book.sqlite") as book, read_log(folder / "tiny.tsv", format="aol") as log:
        run_release(log, Plan(made, folder / "out", seed=1, not_private=True), book)
    return folder / "out"
