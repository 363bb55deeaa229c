"""The black box beside the audit that knows the code: sound settings, and broken versions of hubbub's own mechanisms.

    python bench/blackbox.py --runs 24000 --most 1 --out found.jsonl    every mutant; resumed where it ended
    python bench/blackbox.py --table found.jsonl                        what docs/zoo.md is made from

A mutant counts as caught once it was refuted at one of the settings that it concerns; the others are then left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from hubbub.audit import black_box
from hubbub.audit.blackbox.ours import settings

SUBJECT = "hubbub.audit.blackbox.ours:release"
FOUND = Path(__file__).parents[1] / "docs" / "data" / "blackbox.json"
LESS = "it releases less, which is no violation"
WHY = {
    "> for >=": LESS,
    "> for >= in the filter": LESS,
    "noise drawn anew on a second read": "needs a second reading, which no output has",
    "most popular items kept": "needs users with more keys than they may bring, whose choice follows others",
}
"""Why the black box cannot see a mutant, where that is known; else it was not found in so many runs."""


def campaign(runs: int, out: Path, only: str, most: int, minutes: float) -> None:
    """Look at what is left, each mutant at so many settings at most, until the time is over."""
    caught: set[tuple[str, str]] = set()
    looked: Counter[tuple[str, str]] = Counter()
    until = time.monotonic() + 60 * minutes
    for asked in settings():
        which = asked["mechanism"], asked["mutant"]
        if which in caught or looked[which] >= most or (only and asked["mechanism"] != only):
            continue
        if time.monotonic() > until:
            sys.exit("the time is over; the same command goes on")
        looked[which] += 1
        found = black_box(SUBJECT, settings=asked, runs=runs, seconds=3600, limit=60, out=out)[0]
        print(f"{found.verdict:12} {found.seconds:6.1f} s  {asked}  {found.event}", flush=True)
        if found.refuted and asked["mutant"]:
            caught.add(which)


def keep(out: Path) -> None:
    """Write what was found where the page takes it from: by mechanism, and why a mutant is not seen."""
    found: dict[str, dict[str, Any]] = {}
    for line in out.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        name, mutant, refuted = row["settings"]["mechanism"], row["settings"]["mutant"], row["verdict"] == "refuted"
        of = found.setdefault(name, {"sound": 0, "refuted": 0, "mutants": {}, "unsettled": {}})
        if mutant and row["verdict"] not in ("refuted", "not refuted"):
            of["unsettled"][mutant] = row["verdict"]
        if mutant:
            of["mutants"][mutant] = of["mutants"].get(mutant, False) or refuted
        else:
            of["sound"] += 1
            of["refuted"] += refuted
    kept = {"mechanisms": dict(sorted(found.items())), "why": WHY}
    FOUND.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    mutants = [caught for of in found.values() for caught in of["mutants"].values()]
    print(f"{sum(mutants)} of {len(mutants)} caught; {FOUND}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=24_000)
    parser.add_argument("--most", type=int, default=1, help="settings at which a mutant is looked at")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no setting after so long")
    parser.add_argument("--mechanism", default="")
    parser.add_argument("--out", type=Path, default=Path("blackbox.jsonl"))
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    if given.table:
        keep(given.table)
    else:
        campaign(given.runs, given.out, given.mechanism, given.most, given.minutes)
