"""What several releases cost together, added up again: sums of decimals, and every outcome of every draw.

`compose` takes loss distributions on a grid and a closed form; here randomised responses are added up outcome by
outcome, and the Gaussian part is integrated for each. Only fixed sequences: releases that follow earlier outputs are
another matter.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from hubbub.audit import recompute
from hubbub.audit.protocols import AuditRow, Kind, shared_faults, shared_row
from hubbub.mechanisms import build
from hubbub.privacy import compose
from hubbub.privacy.account import DiscreteLaplace, Gaussian, Generic, Loss, Pure
from hubbub.privacy.gaussian import mu_of

CLOSE = 1e-10
"""Relative: far above the error of the sums here, far below a forgotten draw."""
BUDGETS = [(epsilon, delta) for epsilon in (0.1, 0.5, 1.0, 2.0, 5.0, 10.0) for delta in (1e-3, 1e-6, 1e-9, 1e-12)]


def sequences() -> dict[str, tuple[list[Loss], float]]:
    """Releases in a row, and the δ they are looked at: of one kind, of several, with and without thresholds."""
    crowd = build("crowd", {"epsilon": 1, "delta": "1e-6"}, tables=["queries"]).loss()
    counts = build("korolova", {"epsilon": 1, "delta": "1e-7", "d": 20}).loss()
    coins = build("geometric", {"epsilon": "1/5", "delta": "1e-7", "d": 2}).loss()
    repeats = build("korolova", {"epsilon": "1/4", "delta": "1e-7", "d": 3}, variant="published").loss()
    pure = Loss(0.1, 0.0, (Pure(Fraction(1, 10)),), 0.0)
    bare = replace(counts, atoms=(), tv=counts.delta)
    return {
        "one release of Gaussian noise": ([crowd], 1e-6),
        "twelve of Gaussian noise": ([crowd] * 12, 1.2e-5),
        "three of Laplace noise on twenty keys": ([counts] * 3, 1e-6),
        "Gaussian and Laplace noise": ([crowd, counts, crowd], 1e-5),
        "thirty pure steps": ([pure] * 30, 1e-6),
        "three pure steps and no δ": ([pure] * 3, 0.0),
        "twenty of coins": ([coins] * 20, 1e-5),
        "repeats and pure steps": ([repeats] * 4 + [pure] * 9, 1e-5),
        "a release of which only (ε, δ) is known": ([bare, crowd], 1e-5),
    }


def tests() -> Iterator[AuditRow]:
    """The sums, the composed ε, and the Gaussian hockey stick that both the ledger and calibrations use."""
    for name, (losses, delta) in sequences().items():
        stated, found = compose.compose(losses, delta), together(losses, delta)
        low = float(found) * (1 - CLOSE) - CLOSE
        detail = f"ε = {stated:.9g} stated, {float(found):.9g} found at δ = {delta:g}"
        yield shared_row(f"certificate of a sum: {name}", stated, max(low, 0.0), CLOSE, detail, Kind.RECOMPUTED)
        sums = (sum((Decimal(repr(getattr(x, part))) for x in losses), Decimal(0)) for part in ("epsilon", "delta"))
        less = sum(Decimal(repr(a)) < b for a, b in zip(compose.basic_sums(losses), sums, strict=True))
        yield shared_faults(f"certificate of a sum: ε and δ of {name}", less, kind=Kind.RECOMPUTED)
        lost = sum(compose.read_loss(json.loads(json.dumps(compose.loss_record(x)))) != x for x in losses)
        yield shared_faults(f"certificate of a sum: read back, {name}", lost, kind=Kind.RECOMPUTED)
    worst = max(recompute.stick(e, mu_of(e, d)) / d for e, d in BUDGETS)
    yield shared_row(
        "certificate of a Gaussian: δ of the noise for (ε, δ)", 1.0 + CLOSE, worst, CLOSE, kind=Kind.RECOMPUTED
    )
    worst = max(recompute.stick(e, m) / compose.gaussian_delta(e, m) for e, _ in BUDGETS for m in (e / 6, e / 3, 1.0))
    yield shared_row("certificate of a Gaussian: the hockey stick", 1.0 + CLOSE, worst, CLOSE, kind=Kind.RECOMPUTED)
    worst = max(
        recompute.needed(d, m * m, {}) / compose.gaussian_epsilon(d, m * m) for _, d in BUDGETS for m in (0.2, 1)
    )
    yield shared_row("certificate of a Gaussian: ε at δ", 1.0, worst, CLOSE, kind=Kind.RECOMPUTED)


def together(losses: Sequence[Loss], delta: float) -> float:
    """The smaller of the two bounds of docs/proofs/composition.md for a sequence fixed beforehand."""
    epsilons, deltas = (sum((Fraction(repr(getattr(x, p))) for x in losses), Fraction(0)) for p in ("epsilon", "delta"))
    basic = float(epsilons) if deltas <= Fraction(repr(delta)) else math.inf
    mu2, room, draws = Fraction(0), Fraction(repr(delta)), Counter[Fraction]()
    for loss in losses:
        room -= Fraction(loss.tv) if loss.atoms else Fraction(repr(loss.delta))
        if not loss.atoms:
            draws[Fraction(repr(loss.epsilon))] += 1
        for atom in loss.atoms:
            if isinstance(atom, Gaussian):
                mu2 += atom.mu2
            elif isinstance(atom, DiscreteLaplace):
                draws[1 / atom.scale] += atom.keys
            else:
                draws[atom.epsilon] += 1
                room -= Fraction(atom.delta) if isinstance(atom, Generic) else 0
    tight = recompute.needed(float(room), float(mu2), draws) if room >= 0 else math.inf
    return min(basic, tight)
