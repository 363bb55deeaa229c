"""What safelog says of itself in sentences: conditions, caveats, rows of nobody, and which b to take."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.mechanisms.safelog import paper
from hubbub.mechanisms.safelog.calibrate import nobody
from hubbub.privacy.guarantee import number

if TYPE_CHECKING:
    from hubbub.mechanisms.base import Mechanism

POOL = (
    "The pool must not have been learned from this log; if it comes from an earlier release about the same users, the "
    "two releases add up."
)
SERP = "The result list must not have been learned from this log."
OUTSIDE = "queries outside the pool are never released; a log that shares none with the pool leaves only rows of nobody"

NOTHING = "the filter on rare queries and the queries outside the pool break the paper's claim, and no other is proven"
FALSE = (
    "false: the filter makes ε unbounded, and any finite pool leaves queries that only the log can show "
    "(docs/proofs/safelog.md)"
)


def published(mechanism: Mechanism) -> tuple[str, ...]:
    """Every caveat of the paper's algorithm that concerns these tables."""
    settings = mechanism.settings
    tau, q_f, p_g = settings["tau"], int(settings["q_f"]), float(Fraction(settings["p_g"]))
    exact = paper.exact_selection(q_f, float(Fraction(settings["b"])), p_g)
    notes = [
        f"The filter removes queries asked fewer than {tau} times by all users together, before anybody is limited: "
        f"one user can move the count of a query from 0 to {tau}, and those of as many queries as she ever asked. "
        "ε is unbounded.",
        "The filter counts occurrences: one user who repeats a query often enough passes it alone.",
        "After the filter other users' kept searches move up, so that one user changes what others contribute.",
        "A query of the log that is not in the pool can be released only because somebody asked it: ε is infinite for "
        "it, whatever p_g is. One p_g > 0 for every possible query would make the pool infinite.",
        "The claim needs a pool that is secret, drawn independently for each query and drawn anew: known, reused or of "
        "a fixed size, it does not hold.",
        f"p_g = {number(p_g)} by itself costs q_f ln(1/p_g) = {number(abs(q_f * math.log(p_g)))}.",
        "The second entry of α in equation (2) is never needed where the theorem holds: the exact cost of the "
        f"selection is q_f/b + q_f ln(1/p_g) = {number(exact)}.",
    ]
    if "clicks" in mechanism.tables:
        notes.append(
            "Clicks are listed on the URLs that the log holds, for the paper names no public list: a row shows that "
            "somebody clicked."
        )
    if "transitions" in mechanism.tables:
        notes.append(
            "Transitions are listed for every pair of released queries, as the paper writes; its Table 3 leaves their "
            "term (q_f − 1)/b_t out of ε, equation (2) and the claim on this card do not. After the filter, which "
            "queries follow each other depends on other users."
        )
    return (*notes, POOL)


def spurious(mechanism: Mechanism) -> str:
    """How many rows of nobody to expect; the chance does not depend on the log."""
    steps = {step.name: step for step in mechanism.steps()}
    pool, queries = mechanism.pool, steps["queries"]
    size = 0 if pool is None else pool.size
    chance = nobody(Fraction(queries.scale), int(queries.threshold or 1))  # type: ignore[union-attr]
    text = (
        f"a query of the pool that nobody asked is released with probability {chance:.3g}: at most {size * chance:.3g} "
        f"of {size} are expected to stand for nobody"
    )
    pairs = steps.get("transitions")
    if pairs is not None and pairs.threshold is not None:
        text += (
            f"; an ordered pair of released queries that nobody followed is released with probability "
            f"{nobody(Fraction(pairs.scale), int(pairs.threshold)):.3g}"  # type: ignore[union-attr]
        )
    elif pairs is not None:
        text += "; every ordered pair of released queries is listed, followed or not"
    if "clicks" in steps and mechanism.variant == "strict":
        text += (
            "; every listed page of a released query is there, clicked or not, and its value may be zero or negative"
        )
    return text


def recommended(mechanism: Mechanism) -> dict[str, float]:
    """b for this K: at the paper's turning point, if there is one, and the largest at which rows of nobody are rare."""
    K = float(Fraction(mechanism.settings["K"]))
    point = paper.turning_point(K, float(Fraction(mechanism.settings.get("p_g", 1))))
    rare = largest_scale(K, 0 if mechanism.pool is None else mechanism.pool.size)
    found = {"turning_point_b": math.inf if point is None else point, "largest_b_for_one_of_nobody": rare}
    return {name: b for name, b in found.items() if math.isfinite(b)}


def advice(mechanism: Mechanism) -> tuple[str, ...]:
    """The paper's b for this K, why the exact bound has no such b, and the b at which rows of nobody are rare."""
    K = float(Fraction(mechanism.settings["K"]))
    p_g = float(Fraction(mechanism.settings.get("p_g", 1)))
    b = recommended(mechanism)
    point = b.get("turning_point_b")
    named = f"K = {number(K)}" + ("" if p_g == 1 else f" and p_g = {number(p_g)}")
    at = "has no turning point in b" if point is None else f"is smallest at b = {point:.2f}"
    size = 0 if mechanism.pool is None else mechanism.pool.size
    rare = b.get("largest_b_for_one_of_nobody", math.inf)
    return (
        f"The paper recommends b near the turning point: for {named}, its equation (2) {at}.",
        "That point is an artefact of a loose bound: the exact cost of the selection, q_f/b + q_f ln(1/p_g), falls as "
        "b grows and has none (docs/proofs/safelog.md, section 6). b trades ε for noise; K trades rows of nobody for "
        "real ones.",
        f"With K = {number(K)} and {size:,} queries in the pool, at most one query of nobody is expected up to "
        f"b = {'any' if math.isinf(rare) else f'{rare:.2f}'}.",
    )


def largest_scale(K: float, keys: int) -> float:
    """The largest b at which at most one of so many keys of nobody is expected above K: N a^T/(1 + a) = 1."""
    from scipy.optimize import brentq

    threshold = math.floor(K) + 1

    def expected(b: float) -> float:
        return math.log(max(keys, 1)) - threshold / b - math.log1p(math.exp(-1 / b))

    return math.inf if expected(1e12) <= 0 else float(brentq(expected, 1e-6, 1e12, xtol=1e-9))
