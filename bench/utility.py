"""How much comes out at the same (ε, δ): every selection mechanism on the synthetic logs, several noise draws.

    python bench/utility.py [--users 200000] [--presets aol,gotz] [--draws 5] [--data FOLDER] [--sets FOLDER] [--joint]

Each rival runs at its best bound, chosen by looking at the result (in its favour); crowd runs at its defaults.
Experiments only: noise is seeded, nothing is released. `--sets` also runs the real baskets of the data
folder (`sets-*.tsv.gz`, user and item). Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import joint
from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import Mechanism, build
from hubbub.noise import SeededNoise
from hubbub.steps.mode import RunMode
from made_up import make_log

BUDGETS = (("1", "1e-6"), ("2", "1e-6"), ("4", "1e-7"))
MODE = RunMode(b"bench/utility.py")
FAMILIES: dict[str, list[tuple[str, dict[str, Any], dict[str, Any]]]] = {
    "korolova as published": [("korolova", {"d": d}, {"variant": "published"}) for d in (1, 2, 5)],
    "korolova strict": [("korolova", {"d": d, "keep": "random"}, {}) for d in (1, 2, 5)],
    "geometric": [("geometric", {"d": d}, {}) for d in (1, 2, 5)],
    "gaussian, unit weights": [("gaussian", {"d": d}, {}) for d in (5, 20, 50)],
    "gaussian, 1/√n weights": [("gaussian", {"d": d, "weights": "sqrt"}, {}) for d in (20, 50, 100)],
    "sips": [("sips", {"d": d}, {}) for d in (20, 50, 100)],
    "adaptive, 2 rounds": [("adaptive", {"d": 100, "rounds": 2, "margin": m}, {}) for m in ("1/2", 1, 2)],
    "adaptive, 4 rounds": [("adaptive", {"d": 100, "rounds": 4, "margin": m}, {}) for m in ("1/2", 1, 2)],
    "crowd": [("crowd", {}, {"tables": ["queries"]})],
    "crowd, 12 rounds": [("crowd", {"rounds": 12}, {"tables": ["queries"]})],
}
BASKETS = "crowd, for baskets"
FAMILIES[BASKETS] = [("crowd", {"D": d, "recount": 50}, {"tables": ["queries"]}) for d in (20, 50, 100)]
"""Tuned as the others are, with less of the budget for counts: users who hold few keys lose little by bounding."""


@dataclass(frozen=True)
class Outcome:
    """Keys released and how far their counts are off, over the draws."""

    label: str
    released: list[int]
    median: list[float]
    top: list[float]

    @property
    def mean(self) -> float:
        """Mean number of keys."""
        return float(np.mean(self.released))


def truth(log: SearchLog) -> dict[str, int]:
    """Distinct users of every query that more than a few users asked."""
    rows = log.engine.fetch(
        "SELECT query, count(DISTINCT uid) AS n FROM log GROUP BY query HAVING count(DISTINCT uid) > 2"
    )
    return dict(zip(rows.column("query").to_pylist(), rows.column("n").to_pylist(), strict=True))


def run(log: SearchLog, mechanism: Mechanism, exact: dict[str, int], draws: int, label: str) -> Outcome:
    """Measure once, draw several times."""
    measured = mechanism.measure(log, MODE)
    released, median, top = [], [], []
    for seed in range(draws):
        if seed and hasattr(measured["queries"], "again"):
            measured["queries"].again()
        out = mechanism.draw(measured, SeededNoise(seed))["queries"]
        released.append(int(out.ids.size))
        if out.values is None or not out.ids.size:
            continue
        texts = measured["queries"].text(log.engine, mechanism.offers["queries"], out.ids).column("query").to_pylist()
        n = np.array([exact.get(t, 1) for t in texts], float)
        off = np.abs(np.asarray(out.values) - n) / n
        median.append(float(np.median(off)))
        top.append(float(np.median(off[np.argsort(-n)[:100]])))
    return Outcome(label, released, median, top)


def outcomes(log: SearchLog, epsilon: str, delta: str, draws: int) -> Iterator[Outcome]:
    """The best setting of each family."""
    exact = truth(log)
    for family, settings in FAMILIES.items():
        tried = []
        for name, own, context in settings:
            mechanism = build(name, {"epsilon": epsilon, "delta": delta, **own}, **context)
            said = ", ".join(f"{k} = {v}" for k, v in own.items() if k not in ("keep", "weights", "rounds"))
            tried.append(run(log, mechanism, exact, draws, f"{family} ({said})" if said else family))
        yield max(tried, key=lambda o: o.mean)


def rival(log: SearchLog, python: str, epsilon: str, delta: str, draws: int) -> Iterator[Outcome]:
    """PyDP's own selection, on the counts that our bounding leaves, at its best bound."""
    best: dict[str, Outcome] = {}
    for d in (5, 20, 50):
        counted = build("gaussian", {"epsilon": epsilon, "delta": delta, "d": d}).measure(log, MODE)["queries"].n
        asked = {"epsilon": float(epsilon), "delta": float(delta), "keys": d, "draws": draws}
        asked["counts"] = counted[counted > 2].tolist()  # fewer never pass at these δ
        script = str(Path(__file__).with_name("pydp_select.py"))
        ran = subprocess.run([python, script], input=json.dumps(asked), capture_output=True, text=True, check=True)
        for name, released in json.loads(ran.stdout).items():
            seen = Outcome(f"PyDP, {name} (d = {d})", released, [], [])
            best[name] = max(best.get(name, seen), seen, key=lambda o: o.mean)
    yield from best.values()


def table(name: str, log: SearchLog, draws: int, pydp: str | None) -> None:
    """One Markdown table per budget."""
    for epsilon, delta in BUDGETS:
        print(f"\n**{name}, ε = {epsilon}, δ = {delta}** ({draws} draws)\n")
        print(
            "| mechanism | released | sd | × korolova as published | × gaussian unit | median error | of the top 100 |"
        )
        print("|---|---|---|---|---|---|---|")
        found = list(outcomes(log, epsilon, delta, draws))
        found += rival(log, pydp, epsilon, delta, draws) if pydp else []
        means = {o.label.split(" (")[0]: o.mean or 1.0 for o in found}
        korolova, gaussian = means["korolova as published"], means["gaussian, unit weights"]
        for o in found:
            errors = (f"{np.mean(o.median):.1%}", f"{np.mean(o.top):.1%}") if o.median else ("–", "–")
            print(
                f"| {o.label} | {o.mean:,.0f} | {np.std(o.released):.0f} | {o.mean / korolova:.2f} | "
                f"{o.mean / gaussian:.2f} | {errors[0]} | {errors[1]} |",
                flush=True,
            )


def main() -> None:
    """Make the logs if needed, run everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=200_000)
    parser.add_argument("--presets", default="aol,gotz")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--data", type=Path, default=Path("bench/data"))
    parser.add_argument(
        "--only", help="families whose name starts so, separated by semicolons; the first two are needed"
    )
    parser.add_argument("--pydp", help="the Python of an environment with python-dp, to run it beside")
    parser.add_argument("--joint", action="store_true", help="all tables from one budget, and public lists, instead")
    parser.add_argument("--sets", type=Path, help="folder with sets-*.tsv.gz, user and item, without header")
    options = parser.parse_args()
    if options.only:
        chosen = tuple(options.only.split(";"))
        for family in [f for f in FAMILIES if not f.startswith(chosen)]:
            del FAMILIES[family]
    options.data.mkdir(parents=True, exist_ok=True)
    baskets = FAMILIES.pop(BASKETS, [])
    for preset in filter(None, options.presets.split(",")):
        path = options.data / f"{preset}-{options.users}.parquet"
        if not path.exists():
            make_log(path, options.users, preset)
        with (
            tempfile.TemporaryDirectory() as work,
            read_log(path, format="table", memory="4GB", work=Path(work)) as log,
        ):
            if options.joint:
                joint.tables(f"{preset}, {options.users:,} users", log, truth(log), options.draws)
            else:
                table(f"{preset}, {options.users:,} users", log, options.draws, options.pydp)
    FAMILIES[BASKETS] = baskets
    for path in sorted(options.sets.glob("sets-*.tsv.gz")) if options.sets else []:
        columns = {"user": "1", "query": "2"}
        with (
            tempfile.TemporaryDirectory() as work,
            read_log(path, format="table", columns=columns, work=Path(work)) as log,
        ):
            table(path.name, log, options.draws, options.pydp)


if __name__ == "__main__":
    main()
