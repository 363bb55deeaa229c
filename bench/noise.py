"""Draws per second on one core for both noise laws, with OpenDP's samplers timed beside them.

Both sides draw from the operating system's generator and both are exact. OpenDP gets fewer draws, because a rate
needs no more, and its time includes the Python list it returns. Prints a Markdown table.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import opendp.prelude as dp

from hubbub.noise import SecureNoise

Draw = Callable[[int], object]

SCALES = (1, 5, 50, 5_000, 1_000_000, 5_000_000)
OURS = 4_000_000
THEIRS = 20_000
ROUNDS = 3


def rate(draw: Draw, size: int) -> float:
    """The best of a few rounds: what the machine can do when others leave it alone."""
    best = 0.0
    for _ in range(ROUNDS):
        start = time.perf_counter()
        draw(size)
        best = max(best, size / (time.perf_counter() - start))
    return best


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def opendp_draw(law: str, scale: int) -> Draw:
    metric = dp.l1_distance if law == "Laplace" else dp.l2_distance
    make = dp.m.make_laplace if law == "Laplace" else dp.m.make_gaussian
    measure: Any = make(dp.vector_domain(dp.atom_domain(T="i64")), metric(T="i64"), scale=float(scale))
    return lambda size: measure([0] * size)


def hubbub_draw(law: str, scale: int) -> Draw:
    noise = SecureNoise()
    if law == "Laplace":
        return lambda size: noise.laplace("bench", Fraction(scale), size)
    return lambda size: noise.gaussian("bench", scale**2, size)


def row(law: str, scale: int) -> str:
    draw = hubbub_draw(law, scale)
    tables = seconds(lambda: draw(1))
    ours, theirs = rate(draw, OURS), rate(opendp_draw(law, scale), THEIRS)
    return f"| {law} | {scale:,} | {ours / 1e6:.1f} | {theirs / 1e6:.3f} | {ours / theirs:,.0f} | {1000 * tables:.0f} |"


def main() -> None:
    dp.enable_features("contrib")
    print("| law | scale | hubbub, M draws/s | OpenDP, M draws/s | ratio | tables built in, ms |")
    print("|---|--:|--:|--:|--:|--:|")
    for law in ("Laplace", "Gaussian"):
        for scale in SCALES:
            print(row(law, scale), flush=True)


if __name__ == "__main__":
    main()
