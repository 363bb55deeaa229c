"""Any mechanism: its own pairs of `measure` and `perturb`, with repeatable noise, a few times.

Nothing is approximated but the mean over runs. The noise repeats itself, so no run of it can ever be a release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.look.estimate.curve import by_keys, points
from hubbub.look.estimate.result import Error, TableEstimate, Volume, volume_of
from hubbub.look.estimate.scale import follows, grown, scalable, scaled, start_over
from hubbub.look.estimate.shape import LogShape, held, key_table, shape_of
from hubbub.mechanisms.base import Released, Tables
from hubbub.noise import SeededNoise
from hubbub.steps.counts import LocalCounts
from hubbub.steps.mode import RunMode
from hubbub.steps.pools import EnginePools

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.look.estimate.source import Source
    from hubbub.mechanisms import Mechanism

Floats = npt.NDArray[np.float64]
NORMAL_95 = 1.96


@dataclass(frozen=True)
class SimulatedRun:
    """One run of one table: all keys, whether each was released, and the errors of those with a value."""

    shape: LogShape
    released: Floats
    volume: Volume
    square: float | None = None
    bounding: float | None = None
    noise: Floats = field(default_factory=lambda: np.zeros(0))
    bias: float = 0.0
    cut: float = 0.0


def estimate(mechanism: Mechanism, source: Source, runs: int) -> dict[str, TableEstimate]:
    """Every table whose keys the engine holds."""
    seen: dict[str, list[SimulatedRun]] = {}
    for run in each(mechanism, source, runs):
        for table, one in run.items():
            seen.setdefault(table, []).append(one)
    return {table: _mean(mechanism, source, found) for table, found in seen.items()}


def each(mechanism: Mechanism, source: Source, runs: int) -> Iterator[dict[str, SimulatedRun]]:
    """Runs with the seeds 0, 1, …; the log is measured once where what was measured can be used again."""
    log = source.log
    counted = [table for table in mechanism.tables if not mechanism.offers[table].rows]
    unbounded = {table: held(log, mechanism.offers[table]) for table in counted}
    measured: Mapping[str, Any] | None = None
    samples: dict[str, LogShape] = {}
    for seed in range(runs):
        noise = SeededNoise(seed)
        mode = RunMode(noise.secret("bounding"))
        if measured is None or not all(scalable(m) or follows(m) for m in measured.values()):
            measured = mechanism.measure(log, mode)
            samples = {
                table: shape_of(log, mechanism.offers[table], keys, unbounded[table])
                for table in counted
                if (keys := key_table(measured.get(table)))
            }
        scale = source.scale if all(scalable(m) or follows(m) for m in measured.values()) else 1.0
        start_over(measured)
        ready = {
            name: scaled(m, samples[name].by_id(samples[name].users), scale) if name in samples else m
            for name, m in measured.items()
            if scale == 1 or not follows(m)  # what follows from released queries can be counted, not scaled up
        }
        found = mechanism.draw(ready, noise)
        shapes = samples | {
            table: shape_of(log, mechanism.offers[table], keys_of(log, table, measured, found), unbounded[table])
            for table in found
            if table in unbounded and _later(measured.get(table), samples.get(table), found[table])
        }
        yield {
            table: look(mechanism.value_column, sample, scale, measured.get(table), ready.get(table), found[table])
            for table, sample in shapes.items()
            if table in found
        }


def keys_of(log: SearchLog, table: str, measured: Mapping[str, Any], found: Tables) -> str:
    """The engine's table of a table's keys by id: those that were measured, or those that were released."""
    text = found[table].text
    if table in measured or text is None:
        return str(measured[table].keys)
    log.engine.register(f"released_{table}", text.append_column("kid", pa.array(found[table].ids)))
    return f"released_{table}"


def _later(measured: Any, sample: LogShape | None, found: Released) -> bool:
    """Whether keys are known only now: they followed from a release, or stood on a list and nobody holds them."""
    adopted = isinstance(measured, EnginePools) and sample is not None and measured.size > int((sample.id >= 0).sum())
    return adopted or (measured is None and found.text is not None)


def look(value: str, sample: LogShape, scale: float, measured: Any, ready: Any, found: Released) -> SimulatedRun:
    """Compare what was released with what is there. Pools are bounded by weight: no count of theirs is cut."""
    shape = grown(sample, scale)
    released = np.zeros(int((shape.id >= 0).sum()))
    released[found.ids] = 1
    mask, truth = shape.by_key(released), shape.value(value)
    whole, asked = float(sample.value(value).sum()), float(sample.events.sum())
    counting = isinstance(measured, LocalCounts)
    counted = shape.by_key(ready.n) if counting else truth
    cut = 1 - float(measured.n.sum()) / max(whole, 1.0) if counting else 0.0
    volume = volume_of(whole * scale, cut, counted, asked * scale, shape.events, mask)
    if found.values is None or found.noise_sd is None or not found.ids.size:
        return SimulatedRun(shape, mask, volume)
    real = shape.by_id(truth)[found.ids]
    lost = real - shape.by_id(counted)[found.ids]
    error = found.values - real
    return SimulatedRun(
        shape,
        mask,
        volume,
        square=float((error**2).mean()),
        bounding=float((lost**2).mean()) if counting else None,
        noise=np.broadcast_to(found.noise_sd, error.shape).astype(float),
        bias=float(error.mean()),
        cut=float(lost.sum() / max(float(real.sum()), 1.0)),
    )


def _mean(mechanism: Mechanism, source: Source, seen: list[SimulatedRun]) -> TableEstimate:
    rows = np.array([one.released.sum() for one in seen])
    users = np.concatenate([one.shape.users for one in seen])
    return TableEstimate(
        method="simulated",
        runs=len(seen),
        value=mechanism.value_column,
        keys=int((seen[0].shape.users > 0).sum()) if source.scale == 1 else None,
        rows=float(rows.mean()),
        rows_sd=float(rows.std(ddof=1)) if len(seen) > 1 else float(rows.mean() ** 0.5),
        volume=Volume(*(float(np.mean([getattr(s.volume, f) for s in seen])) for f in Volume.__dataclass_fields__)),
        error=_error([one for one in seen if one.square is not None]),
        half_width=_half_width(seen),
        curve=by_keys(points(int(users.max(initial=1))), users, np.concatenate([one.released for one in seen])),
    )


def _error(seen: list[SimulatedRun]) -> Error | None:
    """Pools are bounded by weight, not by count: there, what is not noise is bounding, and the model that undoes it."""
    if not seen:
        return None
    square = float(np.mean([one.square for one in seen]))
    noise = float(np.mean([(one.noise**2).mean() for one in seen]))
    cuts = [one.bounding for one in seen if one.bounding is not None]
    bounding = float(np.mean(cuts)) if cuts else square - noise
    bias, cut = (float(np.mean([getattr(one, name) for one in seen])) for name in ("bias", "cut"))
    return Error(bounding, noise, square - bounding - noise, bias, cut)


def _half_width(seen: list[SimulatedRun]) -> float | None:
    noise = np.concatenate([one.noise for one in seen])
    return NORMAL_95 * float(np.median(noise)) if noise.size else None
