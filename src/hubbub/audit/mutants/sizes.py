"""Faults that only large logs would meet, or only draws beside others: blocks, threads, heaps on disk, runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.audit.checks import independence, sizes, taint
from hubbub.audit.mutants.fault import Planted
from hubbub.noise import Exits, cells, source
from hubbub.noise.source import Integers
from hubbub.steps import subsequences

# ------------------------------------------------------------------ sizes


def _same_halves(draw: Any) -> Any:
    """Both threads are given the same half."""

    def broken(noise: Any, law: Any, step: str, size: int) -> Integers:
        if size < source.TWO_THREADS:
            drawn: Integers = draw(noise, law, step, size)
            return drawn
        half: Integers = draw(noise, law, step, size - size // 2)
        return np.concatenate([half, half])[:size]

    return broken


def _mirrored(draw: Any) -> Any:
    """The second thread is given the first half from its end, with the opposite sign."""

    def broken(noise: Any, law: Any, step: str, size: int) -> Integers:
        drawn: Integers = draw(noise, law, step, size)
        if size >= source.TWO_THREADS:
            drawn[size - size // 2 :] = -drawn[: size // 2][::-1]
        return drawn

    return broken


def _last_block_again(draw: Any) -> Any:
    """What does not fill a block is taken from the block before."""

    def broken(law: Any, bits: Any, size: int) -> Integers:
        drawn: Integers = draw(law, bits, size)
        rest = size % cells.BLOCK
        if size > cells.BLOCK and rest:
            drawn[-rest:] = drawn[-rest - cells.BLOCK : -cells.BLOCK]
        return drawn

    return broken


def _first_ranks(thinned: Any) -> Any:
    """Keys of nobody that are counted first are the first of their domain."""
    return lambda bits, absent, rounds: (lambda e: Exits(np.arange(e.ranks.size), *e[1:]))(
        thinned(bits, absent, rounds)
    )


def _one_group(by_groups: Any) -> Any:
    """One group is drawn, and taken for all."""

    def broken(bits: Any, trials: int, p: Any) -> int:
        few = max(1, trials // 40)
        return int(by_groups(bits, few, p)) * (trials // few)

    return broken


def _first_piece(pieces: Any) -> Any:
    """Of what does not fit in memory the first half is mined."""

    def broken(batch: pa.RecordBatch, l_q: int) -> Iterator[pa.RecordBatch]:
        large = batch.nbytes << (l_q - 1) > subsequences.AT_ONCE
        yield from pieces(batch.slice(0, batch.num_rows // 2) if large else batch, l_q)

    return broken


def _forgetful_heaps(spill: Any) -> Any:
    """What lies on disk has lost its users: it is joined as one user's."""

    def broken(join: Any) -> None:
        for heap in join._heaps:
            heap[:] = [
                pa.RecordBatch.from_arrays([pa.array(["somebody"] * b.num_rows), *b.columns[1:]], schema=b.schema)
                for b in heap
            ]
        spill(join)

    return broken


def _short_batches(map_batches: Any) -> Any:
    """From the second batch on the first row is left out."""

    def broken(engine: Any, name: str, sql: str, function: Any, schema: Any) -> None:
        def short(batches: Iterator[pa.RecordBatch]) -> Any:
            return function(batch.slice(1) if at else batch for at, batch in enumerate(batches))

        map_batches(engine, name, sql, short, schema)

    return broken


# ------------------------------------------------------------------ steps, threads, runs


class _ThreadStreams:
    """Threads besides the first have fast generators of their own, all of them with the same seed."""

    local = threading.local()

    def take(self, size: int) -> bytes:
        if threading.current_thread() is threading.main_thread():
            return os.urandom(size)
        if not hasattr(self.local, "stream"):
            self.local.stream = np.random.Generator(np.random.Philox(7))
        drawn: bytes = self.local.stream.bytes(size)
        return drawn


def _as_before(gaussian: Any) -> Any:
    """A draw of the same size and variance in a later round is that of the round before."""

    def broken(noise: Any, step: str, variance: Fraction | int, size: int) -> Integers:
        kept = vars(noise).setdefault("kept", {})
        if (variance, size) not in kept or not step.endswith(" round 2"):
            kept[variance, size] = gaussian(noise, step, variance, size)
        drawn: Integers = kept[variance, size]
        return drawn

    return broken


def _next_table(laplace: Any) -> Any:
    """Clicks are given the noise that the queries had."""

    def broken(noise: Any, step: str, scale: Fraction, size: int) -> Integers:
        kept = vars(noise).setdefault("of_queries", {})
        again = step == "clicks" and (scale, size) in kept
        drawn: Integers = kept[scale, size] if again else laplace(noise, step, scale, size)
        if step == "queries":
            kept[scale, size] = drawn
        return drawn

    return broken


DRAW = "hubbub.noise.source:SecureNoise._draw"
SIZE_MUTANTS: tuple[Planted, ...] = (
    ("both halves of a large draw are one", independence.one_draw, {DRAW: _same_halves}),
    ("the second half of a large draw mirrors the first", independence.one_draw, {DRAW: _mirrored}),
    (
        "the last block of a draw is part of the one before",
        independence.one_draw,
        {"hubbub.noise.cells:Cells.draw": _last_block_again},
    ),
    ("keys of a large domain are its first ones", sizes.nobody, {"hubbub.noise.absent:thinned": _first_ranks}),
    ("one group stands for all", sizes.counted, {"hubbub.noise.binomial:by_groups": _one_group}),
    (
        "sessions that do not fit in memory are left out",
        taint.public,
        {"hubbub.steps.subsequences:_pieces": _first_piece},
    ),
    ("rows on disk lose their user", sizes.records, {"hubbub.ingest.join:Join._spill": _forgetful_heaps}),
    ("a row between two batches is lost", taint.public, {"hubbub.engines.duckdb:DuckDB.map_batches": _short_batches}),
    ("threads draw the same", independence.together, {"hubbub.noise.source:SystemBits": lambda _: _ThreadStreams}),
    (
        "a round draws what the round before drew",
        independence.together,
        {"hubbub.noise.source:_Sampled.gaussian": _as_before},
    ),
    (
        "a table draws what the table before drew",
        independence.together,
        {"hubbub.noise.source:_Sampled.laplace": _next_table},
    ),
)
