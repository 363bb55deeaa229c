"""The black box beside the audit that knows the code: sound settings, and broken versions of hubbub's own mechanisms.

    python bench/blackbox.py --runs 3000 --most 2 --out FOUND.jsonl    every mutant; resumed where it ended

A mutant counts as caught once it was refuted at one of the settings that it concerns; the others are then left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from hubbub.audit import black_box
from hubbub.audit.blackbox.ours import settings

SUBJECT = "hubbub.audit.blackbox.ours:release"


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


def table(out: Path) -> None:
    sound: dict[str, list[bool]] = defaultdict(list)
    broken: dict[str, dict[str, bool]] = defaultdict(dict)
    for line in out.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        name, mutant, refuted = (
            found["settings"]["mechanism"],
            found["settings"]["mutant"],
            found["verdict"] == "refuted",
        )
        if mutant:
            broken[name][mutant] = broken[name].get(mutant, False) or refuted
        else:
            sound[name].append(refuted)
    print("| mechanism | sound settings | refuted | broken versions | caught | missed |")
    print("|---|---|---|---|---|---|")
    for name in sound:
        missed = [mutant for mutant, refuted in broken[name].items() if not refuted]
        caught = len(broken[name]) - len(missed)
        cells = (name, len(sound[name]), sum(sound[name]), len(broken[name]), caught, "; ".join(missed) or "none")
        print("| " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3_000)
    parser.add_argument("--most", type=int, default=2, help="settings at which a mutant is looked at")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no setting after so long")
    parser.add_argument("--mechanism", default="")
    parser.add_argument("--out", type=Path, default=Path("blackbox.jsonl"))
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    if given.table:
        table(given.table)
    else:
        campaign(given.runs, given.out, given.mechanism, given.most, given.minutes)
