"""The active attack on the anonymity baselines and on private mechanisms at comparable thresholds. Run by hand.

    python bench/attacks.py [--users 20000] [--targets 500] [--seed 0]

Prints the table of docs/attacks.md in Markdown, for a larger log: success and false alarms with Clopper–Pearson
intervals of 95 %, and what the guarantee allows, e^ε times the upper end of the false alarms plus δ.
"""

from __future__ import annotations

import argparse
import sys
import time

from hubbub.worth.attacks.table import markdown, table


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--targets", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = time.perf_counter()

    def say(name: str) -> None:
        print(f"{time.perf_counter() - started:6.1f} s  {name}", file=sys.stderr)

    lines = table(options.users, options.targets, options.seed, say)
    print(f"\n{options.users:,} synthetic users and {options.targets:,} newcomers, who are the targets\n")
    print(markdown(lines))


if __name__ == "__main__":
    main()
