"""The selection benchmark of the field: how many keys come out at the same (ε, δ), and how good their counts are.

    python bench/selection.py [--users 2000] [--draws 2] [--budgets 1:1e-6] [--only crowd;MAD] [--rivals PYTHON]
    python bench/selection.py --users 200000 --draws 5 --budgets 1:1e-6,4:1e-7      the record

Made-up logs (`--presets aol,gotz`), and the public sets of the folder that HUBBUB_DATA names (sets-*.tsv.gz: user
and item). Every rival runs at each setting of its grid below and shows the best by keys released, chosen by
looking, in its favour; crowd runs at its defaults, on the sets also with items stated. Rules from papers are in
`bench/field`, in floating point; libraries run through their public interface, in an environment of their own
(`--rivals`, the Python of one with python-dp, pipeline-dp, opendp[polars] and pyarrow). Each finished run is a line
of the file of rows (`--out`): started again, it goes on where it stopped, `--minutes` at a time. Experiments only:
noise is seeded, nothing is released.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from field.bernoulli import non_additive
from field.parallel import mad2r, sips, weighted_gaussian
from field.sequential import greedy, policy_gaussian, policy_laplace
from field.sets import Ints, Sets
from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import build
from hubbub.noise import SeededNoise
from hubbub.steps.mode import RunMode
from made_up import make_log

HERE = Path(__file__).parent
Setting = dict[str, Any]
RULES: dict[str, tuple[Callable[..., Ints], list[Setting]]] = {
    "weighted Gaussian": (weighted_gaussian, [{"d": d} for d in (10, 20, 50, 100, 300)]),
    "DP-SIPS": (
        sips,
        [{"d": d, "shares": s} for d in (20, 50, 100) for s in ((1, 3, 9), (1, 9))],
    ),
    "MAD": (mad2r, [{"d": d, "d_max": m, "first": 0, "margin": 0} for d in (50, 100) for m in (10, 50)]),
    "MAD2R": (
        mad2r,
        [
            {"d": d, "d_max": 50, "first": f, "margin": c}
            for d in (50, 100, 300)
            for f in (0.1, 0.2)
            for c in (0.5, 1, 2)
        ],
    ),
    "policy Gaussian": (policy_gaussian, [{"d": d, "alpha": a} for d in (20, 100) for a in (3, 5)]),
    "policy Laplace": (policy_laplace, [{"d": d, "alpha": 5} for d in (2, 3, 5, 20)]),
    "greedy": (greedy, [{"d": d, "alpha": 5} for d in (2, 3, 5, 20)]),
    "non-additive": (non_additive, [{"d": d} for d in (1, 5, 20, 100)]),
}
"""Rules that publish keys alone: all of their budget goes into the selection."""
OURS: dict[str, tuple[str, list[Setting]]] = {
    "crowd": ("crowd", [{}]),
    "crowd, one round": ("crowd", [{"rounds": 1}]),
    "crowd, keys alone": ("crowd", [{"recount": 1, "kept": 1}]),
    "Gaussian threshold": ("gaussian", [{"d": d} for d in (1, 2, 5, 20, 50)]),
}
"""Mechanisms of hubbub, run by their own code on integers; all but `keys alone` publish counts."""
ITEMS = "crowd, items stated"
"""crowd on sets, whose owner states that they are items: one vote each."""
LIBRARIES: dict[str, tuple[str, list[Setting]]] = {
    "PyDP": ("pydp_polars", [{"keys": d} for d in (1, 5, 20)]),
    "PipelineDP": ("pipelinedp_local", [{"keys": d} for d in (1, 5, 20)]),
    "OpenDP": ("opendp_polars", [{"keys": d} for d in (1, 5, 20)]),
}
"""Scripts of bench/rivals, with counts, at their best bound."""


@dataclass(frozen=True)
class Data:
    """One data set: the log in the engine, as arrays, and as a file for other Pythons."""

    name: str
    log: SearchLog
    sets: Sets
    file: Path
    items: bool = False
    """Whether its owner would state items: baskets, visits, downloads."""

    def texts(self) -> list[str]:
        """The queries, in the order of the keys of `sets`."""
        rows = self.log.engine.fetch("SELECT DISTINCT query FROM log ORDER BY query")
        return [str(text) for text in rows.column("query").to_pylist()]


def scores(data: Data, released: Ints, values: Any = None) -> dict[str, float]:
    """Keys, the share of (user, key) pairs whose key is missing, and how many counts are near the truth."""
    exact = data.sets.counts()
    found: dict[str, float] = {
        "released": int(released.size),
        "missing": 1 - float(exact[released].sum() / exact.sum()),
    }
    if values is not None:
        off = np.abs(np.asarray(values, float) - exact[released]) / np.maximum(exact[released], 1)
        found |= {"within_10": int((off <= 0.1).sum()), "within_25": int((off <= 0.25).sum())}
        found["median"] = float(np.median(off)) if off.size else 0.0
    return found


def of_paper(data: Data, rule: Callable[..., Ints], setting: Setting, epsilon: str, delta: str, seed: int) -> Any:
    """One draw of a rule of `bench/field`."""
    return scores(data, rule(data.sets, float(epsilon), float(delta), np.random.default_rng(seed), **setting))


def of_hubbub(data: Data, name: str, setting: Setting, epsilon: str, delta: str, seed: int) -> Any:
    """One draw of a mechanism, by its own code."""
    context = {"tables": ["queries"]} if name == "crowd" else {}
    mechanism = build(name, {"epsilon": epsilon, "delta": delta, **setting}, **context)
    noise = SeededNoise(seed)
    measured = mechanism.measure(data.log, RunMode(noise.secret("bounding")))
    out = mechanism.draw(measured, noise)["queries"]
    texts = measured["queries"].text(data.log.engine, mechanism.offers["queries"], out.ids).column("query").to_pylist()
    place = {text: i for i, text in enumerate(data.texts())}
    at = np.array([place[text] for text in texts], np.int64)
    return scores(data, at, None if setting.get("recount") == 1 else out.values)


def of_library(data: Data, script: str, setting: Setting, epsilon: str, delta: str, python: str) -> Any:
    """One run of a script in the rivals' environment; its noise is its own."""
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.parquet"
        command = [python, str(HERE / "rivals" / f"{script}.py"), str(data.file), str(out), epsilon, delta]
        subprocess.run([*command, str(setting["keys"])], check=True, capture_output=True, text=True)
        rows = pq.read_table(out)
    place = {text: i for i, text in enumerate(data.texts())}
    at = np.array([place[text] for text in rows.column("query").to_pylist()], np.int64)
    return scores(data, at, rows.column("users").to_numpy())


def runs(data: Data, epsilon: str, delta: str, draws: int, rivals: str | None) -> Iterator[tuple[dict[str, Any], Any]]:
    """Every run as what names it, and what does it."""
    for seed in range(draws):
        named = {"data": data.name, "epsilon": epsilon, "delta": delta, "seed": seed}
        for rule, (how, grid) in RULES.items():
            for setting in grid:
                yield (
                    named | {"rule": rule, "setting": setting},
                    lambda h=how, s=setting, n=seed: of_paper(data, h, s, epsilon, delta, n),
                )
        ours = OURS | ({ITEMS: ("crowd", [{"kind": "items"}])} if data.items else {})
        for rule, (name, grid) in ours.items():
            for setting in grid:
                yield (
                    named | {"rule": rule, "setting": setting},
                    lambda m=name, s=setting, n=seed: of_hubbub(data, m, s, epsilon, delta, n),
                )
        for rule, (script, grid) in LIBRARIES.items() if rivals else ():
            for setting in grid:
                yield (
                    named | {"rule": rule, "setting": setting},
                    lambda f=script, s=setting: of_library(data, f, s, epsilon, delta, str(rivals)),
                )


def key(row: dict[str, Any]) -> str:
    """What names a run."""
    return json.dumps({k: row[k] for k in ("data", "epsilon", "delta", "seed", "rule", "setting")}, sort_keys=True)


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """One Markdown table per data set and budget: the best setting of each rule by mean keys released."""
    for where in dict.fromkeys((row["data"], row["epsilon"], row["delta"]) for row in rows):
        here = [row for row in rows if (row["data"], row["epsilon"], row["delta"]) == where]
        yield f"\n**{where[0]}, ε = {where[1]}, δ = {where[2]}**\n"
        yield "| rule | best setting | draws | keys | missing mass | within 10 % | within 25 % | median error |"
        yield "|---|---|--:|--:|--:|--:|--:|--:|"
        best = []
        for rule in dict.fromkeys(row["rule"] for row in here):
            by_setting: dict[str, list[dict[str, Any]]] = {}
            for row in here:
                if row["rule"] == rule:
                    by_setting.setdefault(json.dumps(row["setting"]), []).append(row)
            best.append(max(by_setting.values(), key=lambda found: float(np.mean([row["released"] for row in found]))))
        for found in sorted(best, key=lambda f: -float(np.mean([row["released"] for row in f]))):
            means = {
                c: float(np.mean([row[c] for row in found]))
                for c in ("released", "missing", "within_10", "within_25", "median")
                if c in found[0]
            }
            said = ", ".join(f"{k} = {v}" for k, v in found[0]["setting"].items()) or "defaults"
            cells = (
                [f"{means['within_10']:,.0f}", f"{means['within_25']:,.0f}", f"{means['median']:.1%}"]
                if "median" in means
                else ["–"] * 3
            )
            yield (
                f"| {found[0]['rule']} | {said} | {len(found)} | {means['released']:,.0f} | {means['missing']:.1%} | "
                + " | ".join(cells)
                + " |"
            )


@contextmanager
def opened(name: str, path: Path, columns: dict[str, str] | None) -> Iterator[Data]:
    """A data set, read once; the file for other Pythons has `user` and `query` alone."""
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as work, read_log(path, format="table", columns=columns, work=Path(work)) as log:
        file = Path(work) / "pairs.parquet"
        pq.write_table(log.engine.fetch('SELECT uid AS "user", query FROM log'), file)
        yield Data(name, log, Sets.of(log), file, items=columns is not None)


def sources(options: argparse.Namespace) -> Iterator[tuple[str, Path, dict[str, str] | None]]:
    """The made-up logs, made if they are not there, and the public sets."""
    options.data.mkdir(parents=True, exist_ok=True)
    for preset in filter(None, options.presets.split(",")):
        path = options.data / f"{preset}-{options.users}.parquet"
        if not path.exists():
            make_log(path, options.users, preset)
        yield f"{preset}, {options.users:,} users", path, None
    outside = os.environ.get("HUBBUB_DATA")
    if not outside:
        print("HUBBUB_DATA names no folder: the public sets are left out", file=sys.stderr)
    some = tuple((options.sets or "").split(","))
    for path in sorted(Path(outside).glob("sets-*.tsv.gz")) if outside else ():
        name = path.name.removeprefix("sets-").removesuffix(".tsv.gz")
        if name.startswith(some):
            yield name, path, {"user": "1", "query": "2"}


def main() -> None:
    """Run what is missing, then print every table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=2_000)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=1e9, help="start no run after so many; go on another time")
    parser.add_argument("--sets", help="public sets whose name starts so, separated by commas; default: all")
    parser.add_argument("--presets", default="aol,gotz")
    parser.add_argument("--budgets", default="1:1e-6", help="ε:δ, separated by commas")
    parser.add_argument("--only", help="rules whose name starts so, separated by semicolons")
    parser.add_argument("--rivals", help="the Python of an environment with the libraries")
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--out", type=Path, help="the file of rows; default: selection-USERS.jsonl in --data")
    options = parser.parse_args()
    begun = time.perf_counter()
    out = options.out or options.data / f"selection-{options.users}.jsonl"
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []
    done = {key(row) for row in rows}
    only = tuple(options.only.split(";")) if options.only else ("",)
    for name, path, columns in sources(options):
        with opened(name, path, columns) as data:
            for budget in options.budgets.split(","):
                epsilon, delta = budget.split(":")
                for named, work in runs(data, epsilon, delta, options.draws, options.rivals):
                    late = time.perf_counter() > begun + 60 * options.minutes
                    if late or key(named) in done or not named["rule"].startswith(only):
                        continue
                    started = time.perf_counter()
                    row = named | work() | {"seconds": round(time.perf_counter() - started, 2)}
                    rows.append(json.loads(json.dumps(row)))
                    with out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
