"""Raw parameters as given, or from ε alone; thresholds from the size of the pool. Every rounding is towards privacy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.errors import ParameterError
from hubbub.mechanisms.safelog import paper
from hubbub.privacy.guarantee import number

if TYPE_CHECKING:
    from hubbub.mechanisms.base import Value
    from hubbub.mechanisms.laplace import LaplaceMechanism

RELEASED = 1000
"""K_t, unless given, expects one pair of nobody among all pairs of so many released queries."""
GRID = 10**6
"""A scale that is no fraction is rounded up to this grid: more noise."""

LIMITS = {"queries": "q_f", "clicks": "c_f", "transitions": "c_t"}
SCALES = {"b": "q_f", "b_q": "q_f", "b_c": "c_f", "b_t": "c_t"}
OF_PUBLISHED, OF_STRICT = ("b_q", "tau", "p_g"), ("c_t", "K_t")


def settle(mechanism: LaplaceMechanism, given: dict[str, Value], pool: int) -> dict[str, Value]:
    """What will run: limits, scales, thresholds."""
    published, tables = mechanism.variant == "published", mechanism.tables
    _refuse_strangers(mechanism, given)
    scales = ["b"] + (["b_q"] if published else [])
    scales += [name for name, table in (("b_c", "clicks"), ("b_t", "transitions")) if table in tables]
    settings: dict[str, Value] = {
        limit: given.get(limit, 10)
        for table, limit in LIMITS.items()
        if table in tables and not (published and limit in OF_STRICT)
    }
    if published:
        settings |= {"tau": given.get("tau", 5), "p_g": Fraction(given.get("p_g", 1))}
    raw = [name for name in SCALES if name in given]
    if raw and "epsilon" in given:
        raise ParameterError(
            "Give either epsilon or raw noise scales, not both.",
            given=", ".join(["epsilon", *raw]),
            allowed="epsilon, or " + ", ".join(scales),
        )
    if raw and set(raw) != set(scales):
        what = f"safelog {mechanism.variant} for {', '.join(tables)} needs other noise scales."
        raise ParameterError(what, given=", ".join(raw), allowed="exactly " + ", ".join(scales))
    if not raw and "epsilon" not in given:
        what = "safelog needs a privacy budget."
        raise ParameterError(what, given="nothing", allowed="--epsilon, or noise scales " + ", ".join(scales))
    if raw:
        settings |= {name: given[name] for name in scales}
    else:
        settings |= _scales(mechanism, settings, scales, Fraction(given["epsilon"]))
    settings["K"] = given.get("K", above(Fraction(settings["b"]), pool))
    if published:
        _settle_published(settings, given)
    elif "transitions" in tables:
        most = min(pool, RELEASED)
        settings["K_t"] = given.get("K_t", above(Fraction(settings["b_t"]), most * (most - 1)))
    return settings


def above(scale: Fraction, keys: int) -> int:
    """The least K >= 1 for which at most one of so many keys that nobody holds is expected above it."""
    b = float(scale)
    return max(1, math.ceil(b * math.log(max(keys, 1) / (1 + math.exp(-1 / b)))) - 1)  # N a^(K+1)/(1+a) <= 1


def nobody(scale: Fraction, threshold: int) -> float:
    """The chance that a key nobody holds passes: a^T/(1 + a), a = e^(−1/b), T >= 1."""
    return math.exp(-threshold / scale) / (1 + math.exp(-1 / scale))


def _refuse_strangers(mechanism: LaplaceMechanism, given: dict[str, Value]) -> None:
    """A parameter of the other variant, or of a table that is not released."""
    other = OF_STRICT if mechanism.variant == "published" else OF_PUBLISHED
    of_table = {"c_f": "clicks", "b_c": "clicks", "c_t": "transitions", "b_t": "transitions", "K_t": "transitions"}
    for name in given:
        if name in other:
            reason = "strict publishes the values that passed" if name == "b_q" else "it belongs to the other variant"
            raise ParameterError(
                f"safelog {mechanism.variant} has no {name}: {reason}.", given=f"{name} = {given[name]}"
            )
        if of_table.get(name, "queries") not in mechanism.tables:
            what = f"{name} is about {of_table[name]}, which are not released."
            raise ParameterError(what, given=f"{name} = {given[name]}", allowed="tables " + ", ".join(mechanism.tables))


def _scales(
    mechanism: LaplaceMechanism, settings: dict[str, Value], names: list[str], epsilon: Fraction
) -> dict[str, Value]:
    """ε in equal parts; each scale is the limit over its part, twice that for replace."""
    part = epsilon / len(names)
    raw: dict[str, Value] = {}
    for name in names:
        limit = settings.get(SCALES[name], max(1, int(settings["q_f"]) - 1))  # published: q_f − 1 transitions
        raw[name] = mechanism.factor * int(limit) / part
    p_g = Fraction(settings.get("p_g", 1))
    if p_g < 1:  # q_f (1/b + ln(1/p_g)) = part
        left = float(part / int(settings["q_f"])) + math.log(p_g)
        if left <= 0:
            least = len(names) * int(settings["q_f"]) * -math.log(p_g)
            raise ParameterError(
                "The chance p_g alone costs more than this epsilon.",
                given=f"epsilon = {number(float(epsilon))}, p_g = {number(float(p_g))}, q_f = {settings['q_f']}",
                allowed=f"epsilon above {number(least)}",
                next="raise epsilon or p_g, or lower q_f",
            )
        raw["b"] = Fraction(math.ceil(GRID / left), GRID)
    for name, scale in raw.items():
        mechanism.drawable(name, scale, epsilon, "the limits q_f, c_f, c_t")
    return raw


def _settle_published(settings: dict[str, Value], given: dict[str, Value]) -> None:
    """Calibrated, K must be so large that the first entry of α leads: else equation (2) exceeds ε."""
    if "epsilon" not in given:
        return
    b, p_g = float(Fraction(settings["b"])), float(Fraction(settings["p_g"]))
    lead = 1 / b - math.log(p_g)
    least = 1 - b * math.log(-2 * math.expm1(-lead))  # −ln(1 − ½e^((1−K)/b)) <= 1/b + ln(1/p_g)
    if "K" not in given:
        settings["K"] = max(int(settings["K"]), math.ceil(least * (1 + 1e-12)))
    elif paper.log_alpha(b, float(Fraction(settings["K"])), p_g) > lead * (1 + 1e-12):
        raise ParameterError(
            "This K is too small for equation (2) to give this epsilon.",
            given=f"K = {number(float(Fraction(settings['K'])))}, b = {number(b)}",
            allowed=f"K from {math.ceil(least)}",
            next="raise K, or leave it out",
        )
