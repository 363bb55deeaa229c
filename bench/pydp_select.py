"""PyDP's partition selection on counts from standard input; run by the Python of an environment that has python-dp.

    python -m venv rival && rival/bin/pip install python-dp
    python bench/utility.py --pydp rival/bin/python

Reads {"counts": [...], "epsilon": e, "delta": d, "keys": d, "draws": n}, prints how many keys each draw keeps, for
PyDP's Gaussian and truncated geometric strategies. It selects only: no counts are bought with this budget.
"""

import json
import sys

from pydp.algorithms.partition_selection import (
    create_gaussian_partition_strategy,
    create_truncated_geometric_partition_strategy,
)


def main() -> None:
    """Every key of every draw through the library's own `should_keep`."""
    asked = json.load(sys.stdin)
    found = {}
    for name, create in (
        ("gaussian", create_gaussian_partition_strategy),
        ("geometric", create_truncated_geometric_partition_strategy),
    ):
        strategy = create(asked["epsilon"], asked["delta"], asked["keys"])
        found[name] = [sum(map(strategy.should_keep, asked["counts"])) for _ in range(asked["draws"])]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
