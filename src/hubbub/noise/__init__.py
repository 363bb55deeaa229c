"""Exact integer noise: random bits in, discrete Laplace or discrete Gaussian integers out.

    bits.py       where random bytes come from: the operating system, or a seed (tests and experiments)
    intervals.py  exp(-x) and π enclosed between two integers, at any precision
    tables.py     inversion of a cumulative table that is refined only when a draw asks for it
    bernoulli.py  coins with probability n/d and exp(-n/d)
    cells.py      |x| = h B + l: the cell h from a table, the place l uniform, an exact coin to accept
    laplace.py    discrete Laplace, and its tail probability
    privacy/gaussian.py   discrete Gaussian, and its tail probability
    binomial.py   how many of n draws pass a threshold, without making n draws
    subset.py     uniform subsets and orders
    uniform.py    uniform integers, each below a limit of its own
    scalar.py     single draws with rationals of any size
    absent.py     keys that nobody holds: which of them pass a selection in rounds
    source.py     NoiseSource, the one door through which mechanisms ask for noise

No floating-point number stands between the random bits and a result. The argument for exactness is in
docs/proofs/noise.md.
"""

from __future__ import annotations

from hubbub.noise.absent import Exits
from hubbub.noise.bits import Bits, SeededBits, SystemBits
from hubbub.noise.gaussian import DiscreteGaussian, discrete_gaussian
from hubbub.noise.laplace import LaplaceSampler, discrete_laplace
from hubbub.noise.source import NoiseSource, SecureNoise, SeededNoise

__all__ = [
    "Bits",
    "DiscreteGaussian",
    "Exits",
    "LaplaceSampler",
    "NoiseSource",
    "SecureNoise",
    "SeededBits",
    "SeededNoise",
    "SystemBits",
    "discrete_gaussian",
    "discrete_laplace",
]
