"""What a release of crowd is worth to the tasks of today, on a made-up log with typing errors. Run by hand.

    python bench/today.py [--users 200000] [--epsilon 2] [--delta 1e-6] [--data FOLDER]

The release is made of nine tenths of the users, those that the original's column learns from, and asked by the others.
Prints a Markdown table, and the CPU seconds and peak memory of the tasks together.
"""

from __future__ import annotations

import argparse
import os
import resource
from pathlib import Path

from hubbub.log import read_log
from hubbub.mechanisms import build as mechanism
from hubbub.release import release
from hubbub.synth.run import synthesise
from hubbub.worth.tasks import Evidence, Truth, build
from hubbub.worth.tasks.completion import PARTS
from hubbub.worth.tasks.run import score
from hubbub.worth.tasks.split import cut, select

TASKS = ("completion", "spelling", "synonyms", "ranking", "popularity")


def main() -> None:
    """Make what is not there yet; release; score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200_000)
    parser.add_argument("--epsilon", default="2")
    parser.add_argument("--delta", default="1e-6")
    parser.add_argument("--data", type=Path, default=Path("bench/data"))
    asked = parser.parse_args()
    place = asked.data / f"today-{asked.users}"
    path, truth, train, out = (place / name for name in ("log.parquet", "truth", "train.parquet", "release"))
    if not path.exists():
        synthesise(asked.users, path, truth=truth, typos=0.03)
    crowd = mechanism(
        "crowd", {"epsilon": asked.epsilon, "delta": asked.delta}, tables=["queries", "clicks", "transitions"]
    )
    with read_log(path) as log:
        if not out.exists():
            view = select(log, "trained", cut(log, 0, PARTS), f"part < {PARTS - 1}")
            log.engine.save("kept", f'SELECT uid AS "user", "time", query, "rank", url FROM {view}')
            log.engine.write("kept", train)
            with read_log(train) as part:
                release(part, crowd, out, ledger=place / "ledger.sqlite")
        started = sum(os.times()[:2])
        print("| task | score | log | release | 95 % | no log | ceiling |\n|---|---|--:|--:|---|--:|--:|")
        with Evidence.of_release(out) as theirs:
            for task in TASKS:
                for metric, pair in score(build(task), Evidence.of_log(log), theirs, Truth(truth))[0].items():
                    shown = {side: "–" if x is None else f"{x:.3g}" for side, x in pair.items()}
                    beside = [shown.get(side, "–") for side in ("floor", "ceiling")]
                    interval = f"{shown.get('low', '–')} to {shown.get('high', '–')}"
                    cells = [task, metric, shown["original"], shown["release"], interval, *beside]
                    print(f"| {' | '.join(cells)} |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\n{sum(os.times()[:2]) - started:.0f} CPU seconds, {peak:.2f} GB")


if __name__ == "__main__":
    main()
