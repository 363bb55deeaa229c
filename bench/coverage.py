"""How often the interval that a card states holds the right number, by region of a table. Run by hand.

    python bench/coverage.py [--users 20000] [--draws 40] [--only crowd]

Made-up logs, many draws of noise over each. The interval is value ± 1.96 noise_sd for Gaussian noise, and value ± the
half width on the card for Laplace noise; for crowd's exact numbers it is the wider one that its cards state
(`hubbub.mechanisms.measured.half_width`). Two right numbers: *without noise* (what the same release would say of the
same rows if its noise were taken off again: the bounded count, or crowd's estimator on quiet numbers) and *exact* (all
users who hold the key). Regions are what a reader can see: the largest tenth of a table by published value, the
smallest tenth, which is closest to the threshold, and what is between. Shares are means over rows; ± is 1.96 standard
errors over draws, which have independent noise. `total` is the sum of the published values over the sum of the exact.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from hubbub.log import SearchLog
from hubbub.look.estimate.shape import LogShape, held, shape_of
from hubbub.look.estimate.simulate import keys_of
from hubbub.look.estimate.source import made_up
from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.crowd import chain, combine
from hubbub.mechanisms.crowd.combine import Counted
from hubbub.mechanisms.crowd.recount import Recounted
from hubbub.mechanisms.measured import half_width
from hubbub.mechanisms.rounds import Selected, Selection
from hubbub.noise import SeededNoise
from hubbub.privacy.account import Step
from hubbub.privacy.account import half_width as of_laplace
from hubbub.public.lists import QueryPool
from hubbub.steps.counts import Integers
from hubbub.steps.mode import RunMode
from hubbub.steps.pools import EnginePools

Floats = npt.NDArray[np.float64]
NORMAL_95 = 1.96
TENTH = 10
FEWEST = 5
"""A table with fewer rows has no regions."""
CHEAP = 10
"""One draw per row costs little: so many times as many draws."""
REGIONS = ("largest tenth", "middle", "smallest tenth")


@dataclass(frozen=True)
class Rows:
    """One table of one draw, the largest value first.

    Published, half of the interval of its noise, half of that for the exact number; without noise, exact.
    """

    values: Floats
    half: Floats
    wide: Floats
    quiet: Floats
    exact: Floats

    @staticmethod
    def of(values: Integers, half: Any, wide: Any, quiet: Any, exact: Any) -> Rows:
        """Sorted as a release is."""
        order = np.argsort(-values, kind="stable")
        each = (values, np.broadcast_to(half, values.shape), np.broadcast_to(wide, values.shape), quiet, exact)
        return Rows(*(np.asarray(x, float)[order] for x in each))

    def regions(self) -> dict[str, slice]:
        """A tenth at each end, at least one row."""
        n = self.values.size
        tenth = max(1, n // TENTH)
        return dict(zip(REGIONS, (slice(0, tenth), slice(tenth, n - tenth), slice(n - tenth, n)), strict=True))

    def held(self, of: str, where: slice) -> float:
        """The share of rows whose interval holds it."""
        half = self.wide if of == "exact" else self.half
        inside = np.abs(self.values - getattr(self, of)) <= half
        return float(np.mean(inside[where])) if inside[where].size else np.nan


class Remembering(SeededNoise):
    """Noise that keeps what it drew, by step."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.drawn: dict[str, Integers] = {}

    def gaussian(self, step: str, variance: Any, size: int) -> Integers:
        """Drawn, and kept."""
        self.drawn[step] = super().gaussian(step, variance, size)
        return self.drawn[step].copy()


class Quiet:
    """crowd's estimator a second time on the same numbers, less the noise that was drawn: what it would have said."""

    def __init__(self, noise: Remembering) -> None:
        self.noise, self.lives = noise, list[Integers]()
        self.found: dict[str, Integers] = {}
        self._weights, self._combine, self._alone = EnginePools.weights, combine.combine, combine.alone

    def watched(self) -> Any:
        """The functions of a run, replaced by ones that listen."""

        def weights(pools: EnginePools, live: Integers) -> Integers:
            if live.size == pools.size and pools._round == 0:
                self.lives = []
            self.lives.append(live)
            return self._weights(pools, live)

        def both(selected: Selected, plan: Selection, counted: Recounted) -> Counted:
            name = self._name()
            size = int(max((live.max(initial=-1) for live in self.lives), default=-1)) + 1
            gathered = np.zeros((len(self.lives), max(size, int(selected.ids.max(initial=-1)) + 1)), np.int64)
            for r, live in enumerate(self.lives):
                gathered[r:, live] += self.noise.drawn[f"{name} round {r + 1}"]
            known = selected.accumulators - gathered[selected.rounds, selected.ids]
            accumulators = np.where(selected.ids < size, known, 0)  # keys of nobody are noise alone
            self.found[name] = self._combine(
                replace(selected, accumulators=accumulators), plan, self._less(name, counted)
            ).users
            return self._combine(selected, plan, counted)

        def alone(counted: Recounted) -> Counted:
            name = self._name()
            self.found[name] = self._alone(self._less(name, counted)).users
            return self._alone(counted)

        return patch.multiple(chain, combine=both, alone=alone), patch.object(EnginePools, "weights", weights)

    def _name(self) -> str:
        return list(self.noise.drawn)[-1].removesuffix(" kept total")

    def _less(self, name: str, counted: Recounted) -> Recounted:
        drawn = self.noise.drawn
        kept = counted.kept - int(drawn[f"{name} kept total"][0])
        return replace(counted, sums=counted.sums - drawn[f"{name} recount"], kept=kept)

    def of(self, table: str) -> Integers:
        """Without noise; sessions are runs of three, then of four."""
        if table != "sessions":
            return self.found[table]
        return np.concatenate([self.found[name] for name in ("sequences 3", "sequences 4")])


def draws(mechanism: Mechanism, log: SearchLog, how_many: int, first: int = 0) -> Iterator[dict[str, Rows]]:
    """The mechanism's own code, its noise drawn again and again; tables that have numbers."""
    unbounded = {table: held(log, mechanism.offers[table]) for table in mechanism.tables}
    measured: Mapping[str, Any] = {}
    shapes: dict[str, LogShape] = {}
    for seed in range(first, first + how_many):
        noise = Remembering(seed)
        mode = RunMode(noise.secret("bounding"))
        if not measured:
            measured = mechanism.measure(log, mode)
        for m in measured.values():
            if isinstance(m, EnginePools):
                m.again()
        quiet = Quiet(noise)
        one, other = quiet.watched()
        with one, other:
            found = mechanism.draw(measured, noise)
        seen = {}
        for table, released in found.items():
            if released.values is None or not released.ids.size:
                continue
            if table not in shapes or mechanism.name == "crowd":  # keys of crowd's later tables follow from its noise
                keys = keys_of(log, table, measured, found)
                shapes[table] = shape_of(log, mechanism.offers[table], keys, unbounded[table])
            shape = shapes[table]
            exact = shape.by_id(shape.value(mechanism.value_column))[released.ids]
            calm = quiet.of(table) if mechanism.name == "crowd" else measured[table].n[released.ids]
            half = half_of(mechanism, table, released.noise_sd)
            wide = half
            if mechanism.name == "crowd" and released.noise_sd is not None:
                wide = half_width(released.values, released.noise_sd)
            seen[table] = Rows.of(released.values, half, wide, calm, exact)
        yield seen


def half_of(mechanism: Mechanism, table: str, noise_sd: Any) -> Any:
    """Half of the interval on the card; the last step of a table is the one whose values are published."""
    steps = mechanism.steps()
    step = (
        steps[-1]
        if mechanism.variant == "published"
        else next(s for s in steps if s.name in (table, f"{table} recount"))
    )
    return of_laplace(float(step.scale)) if isinstance(step, Step) else NORMAL_95 * noise_sd


@dataclass(frozen=True)
class Share:
    """A mean over draws, and 1.96 of its standard errors."""

    mean: float
    half: float

    @staticmethod
    def of(values: list[float]) -> Share:
        """Draws without a row of the region do not count."""
        seen = np.array([v for v in values if not np.isnan(v)])
        if seen.size < 2:
            return Share(float(seen.mean()) if seen.size else np.nan, np.nan)
        return Share(float(seen.mean()), NORMAL_95 * float(seen.std(ddof=1)) / seen.size**0.5)

    def __str__(self) -> str:
        """In per cent."""
        return "–" if np.isnan(self.mean) else f"{100 * self.mean:.1f} ± {100 * self.half:.1f}"


def shares(tables: list[Rows]) -> dict[str, Share]:
    """By region and by which right number."""
    found = {}
    for of in ("quiet", "exact"):
        found[f"{of}, all"] = Share.of([rows.held(of, slice(None)) for rows in tables])
        for region in REGIONS:
            each = [rows.held(of, rows.regions()[region]) for rows in tables]
            found[f"{of}, {region}"] = Share.of(each)
    found["total"] = Share.of([float(rows.values.sum() / max(rows.exact.sum(), 1)) for rows in tables])
    return found


CASES: tuple[tuple[str, str, dict[str, Any], tuple[str, ...] | None], ...] = (
    *(("crowd", "strict", {"epsilon": e, "delta": "1e-6"}, ("queries",)) for e in (1, 2, 4)),
    *(("crowd", "strict", {"epsilon": e, "delta": "1e-6"}, None) for e in (1, 2, 4)),
    ("gaussian", "strict", {"epsilon": 2, "delta": "1e-6", "d": 5}, None),
    ("korolova", "strict", {"epsilon": 2, "delta": "1e-6", "d": 5, "d_c": 5}, ("queries", "clicks")),
    ("korolova", "published", {"epsilon": 2, "delta": "1e-6", "d": 5}, ("queries",)),
    ("zealous", "strict", {"epsilon": 2, "delta": "1e-6", "m": 5}, ("queries", "clicks", "keywords")),
    ("safelog", "strict", {"epsilon": 2, "K": 20, "q_f": 5}, ("queries",)),
    ("sessions", "strict", {"epsilon": 4, "delta": "1e-6", "l_s": 5, "l_q": 2, "l": 5}, ("sessions", "clicks")),
)


def pool_of(log: SearchLog, size: int = 5000) -> QueryPool:
    """A public list for safelog: the made-up log's own most frequent queries."""
    rows = log.engine.fetch(
        f"SELECT query FROM (SELECT query, count(DISTINCT uid) AS n FROM log GROUP BY query) AS q "
        f"WHERE query IS NOT NULL ORDER BY n DESC, query LIMIT {size}"
    )
    return QueryPool("made up", rows.sort_by("query"), "0" * 64, rows.num_rows, "the made-up log itself")


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--presets", default="aol,gotz")
    parser.add_argument("--only", default=",".join(dict.fromkeys(case[0] for case in CASES)))
    asked = parser.parse_args()
    columns = [f"{of}, {region}" for of in ("quiet", "exact") for region in ("all", *REGIONS)]
    print("| preset | release | table | rows | " + " | ".join(columns) + " | total |")
    print("|---" * (len(columns) + 5) + "|")
    for preset in asked.presets.split(","):
        with made_up(asked.users, preset, asked.users) as source:
            for name, variant, settings, tables in CASES:
                if name not in asked.only.split(","):
                    continue
                lists = {"pool": pool_of(source.log)} if name == "safelog" else {}
                mechanism = build(name, settings, variant=variant, tables=tables, **lists)
                runs = list(draws(mechanism, source.log, asked.draws * (1 if name == "crowd" else CHEAP)))
                for table in mechanism.tables:
                    seen = [run[table] for run in runs if table in run]
                    if sum(one.values.size for one in seen) >= FEWEST * len(runs):
                        found = shares(seen)
                        rows = np.mean([one.values.size for one in seen])
                        cells = [str(found[c]) for c in (*columns, "total")]
                        label = f"{name} {variant}, ε = {settings['epsilon']}" + (
                            ", alone" if tables == ("queries",) else ""
                        )
                        print(f"| {preset} | {label} | {table} | {rows:,.0f} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
