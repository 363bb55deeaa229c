"""What δ is, in plain words, by the kind of noise: cards, pages, help texts and the documentation take them from here.

After a Laplace threshold δ is a chance, that a key of one user alone shows. For Gaussian noise it is no chance at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from hubbub.privacy.gaussian import AnyStep, GaussianStep

SHORT = "probability on top of the factor e^ε"
PURE = "Nothing comes on top of the factor e^ε: it holds for every output."
USUAL = ((0.5, 1e-6, 36), (8.0, 1e-6, 4))
"""Gaussian noise at the ends of what is usual: (ε, δ), and the chance to pass the factor in multiples of δ."""
MEANS = {
    "discrete-laplace": "The chance that a key is released which could not be there without one user, such as a query "
    "that nobody else asked. Whenever there is none, the factor e^ε holds.",
    "discrete-gaussian": "Any set of outputs is at most e^ε times as probable with any one user as without, plus δ; "
    "the chance that a key only one user holds is released is part of it. It is not the chance that odds move by more "
    "than e^ε, which is several times δ",
    "coins": "The chance that a key only one user holds is released. For a key that others hold, too, the factor e^ε "
    "may be passed more often than that, but by so little that no set of outputs gains more than δ.",
}
"""By the law of the noise."""
LAPLACE = "`korolova`, `zealous`, `sessions`, `optimal`, `crowd` of items"


def means(steps: Sequence[AnyStep], epsilon: float | None, delta: float | None) -> str:
    """What δ is for these steps; of Gaussian ones also how often their noise passes the factor."""
    if epsilon is None or delta is None or not steps:
        return ""
    if not delta:
        return PURE
    words = MEANS[steps[0].noise]
    if steps[0].noise != "discrete-gaussian":
        return words
    mu2 = sum((s.total for s in steps if isinstance(s, GaussianStep)), Fraction(0))
    return f"{words}: about {beyond(epsilon, math.sqrt(mu2)) / delta:.2g} δ for this noise, mostly by little more."


def beyond(epsilon: float, mu: float) -> float:
    """The chance that the loss of Gaussian noise, N(μ²/2, μ²), is above ε: Φc(ε/μ − μ/2)."""
    return 0.5 * math.erfc((epsilon / mu - mu / 2) / math.sqrt(2))


def table() -> str:
    """For the documentation: every kind of noise and what δ is there."""
    (low, tiny, most), (high, _, least) = USUAL
    usual = f": {least} to {most} δ at δ = {tiny:g} and ε from {high:g} down to {low:g}, mostly by little more."
    told = {law: words + (usual if law == "discrete-gaussian" else "") for law, words in MEANS.items()}
    kinds = {
        "none that pays δ (`safelog`; keys of a public list)": PURE,
        f"discrete Laplace and a threshold ({LAPLACE})": told["discrete-laplace"],
        "discrete Gaussian (`crowd`, `gaussian`, `sips`, `adaptive`)": told["discrete-gaussian"],
        "coins (`geometric`)": told["coins"],
    }
    rows = [f"| {kind} | {words} |" for kind, words in kinds.items()]
    return "\n".join(["| noise | what δ is |", "|---|---|", *rows]) + "\n"
