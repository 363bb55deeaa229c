"""Users → rows: what a log of a size is worth, for docs/estimate.md and `hubbub estimate --users N`.

    python bench/worth.py            the table again, by the estimate; writes look/estimate/worth.json (two minutes)
    python bench/worth.py --check    made-up logs of three sizes, really released, beside the estimate (minutes)

The reference is the public shape `aol` (three months of web search, 2006), the mechanism crowd, its table of queries,
δ = 1e-7, the number of users declared, and no public knowledge of words (--language none), which would add rows.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import hubbub
from hubbub.look.estimate import estimate_users
from hubbub.look.estimate.worth import DELTA, EPSILONS, FILE, PRESET, interpolated
from hubbub.mechanisms import Mechanism, build

USERS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
CHECKED = (3_000, 10_000, 60_000)


def mechanism(users: int, epsilon: str) -> Mechanism:
    """The reference mechanism."""
    settings = {"epsilon": epsilon, "delta": DELTA, "language": "none", "users": str(users)}
    return build("crowd", settings, tables=["queries"])


def table() -> dict[str, object]:
    """Expected rows, and the share of all searches that asked one of them, by users and ε."""
    found: dict[str, list[list[float]]] = {}
    for users in USERS:
        found[str(users)] = []
        for epsilon in EPSILONS:
            queries = estimate_users(mechanism(users, epsilon), users, preset=PRESET).tables["queries"]
            found[str(users)].append([round(queries.rows, 1), round(queries.volume.searches, 4)])
            print(users, epsilon, found[str(users)][-1], flush=True)
    return {"preset": PRESET, "delta": DELTA, "epsilons": EPSILONS, "rows": found}


def check() -> None:
    """Real releases of made-up logs, one for each ε, beside the table."""
    print("| users | ε | rows released | rows by the table |\n|---|---|---|---|")
    for users in CHECKED:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log.parquet"
            hubbub_synth(users, log)
            with hubbub.read_log(log) as raw:
                for epsilon, expected in zip(EPSILONS, interpolated(users), strict=True):
                    out = Path(folder) / f"release-{epsilon}"
                    made = hubbub.release(raw, mechanism(users, epsilon), out, ledger=Path(folder) / f"l{epsilon}")
                    print(f"| {users:,} | {epsilon} | {len(made.queries)} | {expected.rows:.0f} |", flush=True)


def hubbub_synth(users: int, log: Path) -> None:
    """A made-up log of the reference shape; another seed than the estimate's."""
    from hubbub.cli.synth import synth

    synth(users=users, out=str(log), preset=PRESET, seed=7, quiet=True)


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        check()
    else:
        made = table()
        FILE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
