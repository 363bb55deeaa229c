"""`NoiseSource`: the one door through which every mechanism asks for noise.

`SecureNoise` draws from the operating system and is the only source a release may use. `SeededNoise` repeats itself
and stamps itself `private = False`; every step has a stream of its own, so the order of steps does not matter and an
equal array gets equal noise on every engine. Both use the same exact samplers.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hubbub.noise import gaussian, laplace
from hubbub.noise.absent import Exits, Rounds, exits
from hubbub.noise.binomial import binomial
from hubbub.noise.bits import Bits, SeededBits, SystemBits, words
from hubbub.noise.cells import Cells
from hubbub.noise.parameters import rational, whole
from hubbub.noise.subset import choose
from hubbub.noise.uniform import below_each
from hubbub.switches import Beyond, switch

Integers = npt.NDArray[np.int64]
SECRET_BYTES = 16
TWO_THREADS = switch(__name__, "TWO_THREADS", 1 << 19, low=32, beyond=Beyond.DRAWS)
"""Draws from which a second thread is worth its start."""


class NoiseSource(Protocol):
    """What a mechanism may ask for. `step` names the draw; the same name twice continues, never repeats."""

    @property
    def private(self) -> bool:
        """True only if nobody can foresee or repeat the noise."""
        ...

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        """Independent discrete Laplace: P(x) proportional to exp(-|x|/scale)."""
        ...

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        """Independent discrete Gaussian: P(x) proportional to exp(-x²/(2 variance))."""
        ...

    def binomial_tail(self, step: str, scale: Fraction, at_least: int, trials: int) -> int:
        """How many of `trials` discrete Laplace draws are at or above `at_least`: an exact binomial.

        The excess of such a draw over a positive `at_least` is again geometric, P(g) proportional to exp(-g/scale),
        which is also the law of a discrete Laplace draw given that it is not negative.
        """
        ...

    def choose(self, step: str, population: int, size: int) -> Integers:
        """`size` distinct indices of range(population), every subset equally likely, sorted."""
        ...

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        """Of `count` keys that gather noise alone, those that pass: (ranks, rounds from 0, accumulators), by rank.

        Round r adds a discrete Gaussian of variance multiples[r] * variance to a key's accumulator; the key passes at
        or above thresholds[r], and otherwise is dropped below drops[r].
        """
        ...

    def below(self, step: str, limits: Integers) -> Integers:
        """Independent uniform integers, the i-th of range(limits[i])."""
        ...

    def coins(self, step: str, chances: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Independent coins, each true with probability chance/2^64 exactly."""
        ...

    def secret(self, step: str) -> bytes:
        """Sixteen random bytes, the key of a keyed hash."""
        ...


class _Sampled:
    """All of NoiseSource on top of one question: which bits serve this step."""

    def _bits(self, step: str) -> Bits:
        raise NotImplementedError

    def _draw(self, law: Cells, step: str, size: int) -> Integers:
        return law.draw(self._bits(step), size)

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        return self._draw(laplace.discrete_laplace(rational("scale", scale)), step, whole("size", size))

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        return self._draw(gaussian.discrete_gaussian(rational("variance", variance)), step, whole("size", size))

    def binomial_tail(self, step: str, scale: Fraction, at_least: int, trials: int) -> int:
        scale, trials = rational("scale", scale), whole("trials", trials)
        least = at_least if at_least >= 1 else 1 - at_least  # by symmetry P(Z >= T) = 1 - P(Z >= 1 - T)
        passed = binomial(self._bits(step), trials, lambda precision: laplace.tail_bounds(scale, least, precision))
        return passed if at_least >= 1 else trials - passed

    def choose(self, step: str, population: int, size: int) -> Integers:
        whole("population", population)
        return choose(self._bits(step), population, whole("size", size, below=population + 1))

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        return exits(self._bits(step), whole("count", count), rounds)

    def below(self, step: str, limits: Integers) -> Integers:
        return below_each(self._bits(step), limits)

    def coins(self, step: str, chances: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        return words(self._bits(step), np.uint64, chances.size) < chances

    def secret(self, step: str) -> bytes:
        return self._bits(step).take(SECRET_BYTES)


class SecureNoise(_Sampled):
    """Noise from the operating system's generator: for releases."""

    @property
    def private(self) -> bool:
        return True

    def _bits(self, step: str) -> Bits:
        return SystemBits()

    def _draw(self, law: Cells, step: str, size: int) -> Integers:
        """Independent draws are independent in two threads, too."""
        if size < TWO_THREADS:
            return super()._draw(law, step, size)
        with ThreadPoolExecutor(2) as threads:
            halves = threads.map(lambda half: law.draw(self._bits(step), half), (size // 2, size - size // 2))
            return np.concatenate(list(halves))


class SeededNoise(_Sampled):
    """Repeatable noise for tests, experiments and reproductions; never private."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._streams: dict[str, SeededBits] = {}

    @property
    def private(self) -> bool:
        return False

    def _bits(self, step: str) -> Bits:
        if step not in self._streams:
            self._streams[step] = SeededBits(self.seed, step)
        return self._streams[step]
