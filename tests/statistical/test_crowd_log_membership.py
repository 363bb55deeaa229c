"""Membership attacks on the synthetic log do no better than the guarantee: many copies of one small log in one run.

Selection decides key by key, so copies that share neither users nor keys are independent runs. The attacker knows the
target's rare query and its page, and all others who ask it; she looks for them in the log, and counts.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.checks.statistical import lower, upper
from hubbub.audit.protocols import Event
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.mechanisms import Mechanism, build
from hubbub.noise import NoiseSource, SecureNoise

COPIES = 600


def mechanism() -> Mechanism:
    return build(
        "crowd", {"epsilon": 1, "delta": "0.05", "D": 1, "D_c": 1, "rounds": 2, "language": "none"}, tables=["log"]
    )


def copies(holders: int) -> list[Event]:
    """In every copy so many users ask its rare query, and click on its page."""
    return [
        (f"{copy}-{u}", 100_000 * (u % 5) + copy, f"rare {copy}", f"page {copy}")
        for copy in range(COPIES)
        for u in range(holders)
    ] + [("bystander", 0, "something else", None)]


def seen(holders: int, noise: NoiseSource) -> dict[str, npt.NDArray[np.int64]]:
    """For every copy, how many synthetic users ask its query, and how many click on its page."""
    made = mechanism()
    with tiny_log(copies(holders)) as log:
        released: Any = made.draw(made.measure(log, MODE), noise)["log"]
    found = {}
    for column in ("query", "url"):
        pairs = set(
            zip(released.rows.column("user").to_pylist(), released.rows.column(column).to_pylist(), strict=True)
        )
        users = Counter(text for _, text in pairs)
        texts = [f"{'rare' if column == 'query' else 'page'} {copy}" for copy in range(COPIES)]
        found[column] = np.array([users[text] for text in texts])
    return found


def excess(holders: int, noise: NoiseSource) -> float:
    """The largest sure violation of P(E | in) <= e^ε P(E | out) + δ, both ways, over simple likelihood-ratio events."""
    out, inside = seen(holders, noise), seen(holders + 1, noise)
    worst = -1.0
    for column in out:
        for cut in {1, *np.quantile(inside[column], [0.5, 0.8]).astype(int).tolist()}:
            for one, other in ((inside, out), (out, inside)):
                for present in (True, False):
                    p, q = (int(((w[column] >= cut) == present).sum()) for w in (one, other))
                    worst = max(worst, lower(p, COPIES) - math.e * upper(q, COPIES) - 0.05)
    return worst


@pytest.mark.parametrize("near", [False, True])
def test_the_attack_does_no_better_than_the_guarantee(near: bool) -> None:
    """A query of nobody else's, and one whose weight is at the threshold. Fails by chance less than once in 10^4."""
    holders = mechanism().thresholds()["queries"] - 1 if near else 0
    assert excess(holders, SecureNoise()) <= 0


def test_without_noise_the_attack_succeeds() -> None:
    """The same attack, no noise: at the threshold one user decides, and the bound is refuted."""
    holders = mechanism().thresholds()["queries"] - 1
    assert excess(holders, NoNoise()) > 0.5
