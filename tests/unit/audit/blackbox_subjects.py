"""Mechanisms of somebody else's, sound and not, as the black box meets them."""

from __future__ import annotations

import math
import os
import random
import time
from collections import Counter
from functools import lru_cache
from typing import Any

Log = dict[str, list[str]]
dice = random.SystemRandom()


def counted(log: Log) -> Counter[str]:
    """The first key of each user."""
    return Counter(keys[0] for keys in log.values() if keys)


def noise(scale: float) -> int:
    """Discrete Laplace: the difference of two geometric draws."""
    return int(-math.log(1 - dice.random()) * scale) - int(-math.log(1 - dice.random()) * scale)


def sound(log: Log, *, scale: float, threshold: int) -> dict[str, int]:
    """Every count with noise, from the threshold on; in the order of keys, since that of users would tell of them."""
    drawn = {key: n + noise(scale) for key, n in sorted(counted(log).items())}
    return {key: n for key, n in drawn.items() if n >= threshold}


def accounted(scale: float, threshold: int) -> tuple[float, float]:
    a = math.exp(-1 / scale)
    return 1 / scale, a ** (threshold - 1) / (1 + a)


sound.claims = accounted  # type: ignore[attr-defined]


def every_key(log: Log, *, scale: float, threshold: int) -> dict[str, int]:
    """Unbounded: each user counts for all of her keys."""
    n = Counter(key for keys in log.values() for key in keys)
    drawn = {key: m + noise(scale) for key, m in n.items()}
    return {key: m for key, m in drawn.items() if m >= threshold}


every_key.claims = accounted  # type: ignore[attr-defined]


@lru_cache
def _opendp(scale: float, threshold: int) -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    counts = dp.t.make_count_by(dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())
    return counts >> dp.m.then_laplace_threshold(scale=scale, threshold=threshold)


def opendp(log: Log, *, scale: float, threshold: int) -> dict[str, int]:
    """OpenDP's Laplace threshold, which leaves the mass at the threshold out of δ (opendp#2922)."""
    return dict(_opendp(float(scale), threshold)([keys[0] for keys in log.values() if keys]))


def _their_claim(scale: float, threshold: int) -> Any:
    return _opendp(float(scale), threshold).map(1)


opendp.claims = _their_claim  # type: ignore[attr-defined]


def first_seen(log: Log) -> list[str]:
    """No noise, and rows in the order of the users."""
    return list(dict.fromkeys(key for keys in log.values() for key in keys))


def without_noise(log: Log, *, epsilon: float) -> dict[str, float]:
    """It takes the ε that it is asked about, and draws nothing."""
    return {key: epsilon for keys in log.values() for key in keys}


def by_type(log: Log) -> dict[str, float]:
    """What is released says nothing; whether it is empty or an error says who was there."""
    if "victim" in log:
        raise ValueError("a user could not be read")
    return {}


def shared(log: Log, *, noise: Any = None) -> dict[str, int]:
    """One draw for all keys: the difference of two counts has no noise at all."""
    from fractions import Fraction

    from hubbub.noise import SecureNoise

    drawn = int((noise or SecureNoise()).laplace("n", Fraction(2), 1)[0])
    return {key: n + drawn for key, n in sorted(counted(log).items())}


def hangs(log: Log) -> None:
    time.sleep(1000)


def crashes(log: Log) -> None:
    os._exit(3)


def always_fails(log: Log) -> None:
    raise ValueError("no")


def talks(log: Log) -> None:
    import urllib.request

    urllib.request.urlopen("http://localhost:9/")


def returns_a_number(log: Log) -> int:
    return len(log)


remembered: Counter[str] = Counter()


def remembers(log: Log) -> dict[str, int]:
    remembered.update(counted(log))
    return dict(remembered)


calls = [0]


def changes_its_mind(log: Log) -> list[str]:
    calls[0] += 1
    return ["a"] if calls[0] > 1500 else []


def walked(log: Log, *, noise: Any = None, threshold: int = 3) -> dict[str, int]:
    """Takes its noise as an argument, and counts a user twice."""
    from fractions import Fraction

    from hubbub.noise import SecureNoise

    source = noise or SecureNoise()
    drawn = {key: 2 * n + int(source.laplace("n", Fraction(1), 1)[0]) for key, n in sorted(counted(log).items())}
    return {key: n for key, n in drawn.items() if n >= threshold}


def searches(log: Log, *, epsilon: float, noise: Any = None) -> dict[str, int]:
    """The number of searches, at most six of a user: pure, with noise of scale 6/ε."""
    from fractions import Fraction

    from hubbub.noise import SecureNoise

    source = noise or SecureNoise()
    total = sum(min(6, len(keys)) for keys in log.values())
    return {"searches": total + int(source.laplace("searches", Fraction(6) / Fraction(epsilon), 1)[0])}
