#!/usr/bin/env python3
"""Check the card of a hubbub release without hubbub: one file, Python alone, other formulas than its own.

    python verify_card.py card.json        or the folder of a release, whose files are then checked too

It ends with 0 if everything it can check agrees, with 1 if something does not, with 2 if there is nothing that it can
read or check. What it cannot check stands at the end of what it prints. README.md beside it says which formula stands
for which, and what an agreement does and does not show.
"""

from __future__ import annotations

import cmath
import hashlib
import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, setcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

setcontext(Context(prec=50, Emin=MIN_EMIN, Emax=MAX_EMAX))
BILLIONTH, TRILLIONTH = Decimal("1e-9"), Decimal("1e-12")
SMALLEST = Decimal(math.ulp(0.0))
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹·⁻", "0123456789.-")
CHANGES = {
    "add-remove": "Adding or removing everything one user did",
    "replace": "Exchanging everything one user did for anything else",
}
SENTENCE = re.compile(
    r"(.*) changes the probability of any output by at most a factor (\S+?)(?:, plus (.+?))?\.(?: .*)?", re.DOTALL
)
ADDED = ("approximate", "add-remove")
OPEN = "unknown keys (learned from the data through the threshold)"
QUIET = (
    "keys known without this step (a public list, or keys already released)",
    "keys of the log, none of which shows by this step (its noise only steers a later one)",
)
UNCHECKED = (
    "that the steps on the card are the steps that ran, and that its bounds on a user were kept",
    "words: titles, conditions, remarks, hazards, what a paper claims, what an audit found",
    "what the ledger of the owner says of other releases",
    "how accurate the numbers are",
)


@dataclass(frozen=True)
class Line:
    """One thing looked at: what, whether it holds, and what was seen."""

    what: str
    holds: bool
    seen: str


class CannotCheck(Exception):
    """There is no formula here for what the card says."""


# ------------------------------------------------------------------ Laplace noise on integers


def sum_of_powers(a: Decimal, n: int) -> Decimal:
    """1 + a + … + a^(n-1), by doubling."""
    total, power, done, result = Decimal(1), a, Decimal(1), Decimal(0)
    while n:
        if n & 1:
            result += done * total
            done *= power
        total, power, n = total * (1 + power), power * power, n >> 1
    return result


def laplace_passes(scale: Fraction, threshold: int, count: int) -> Decimal:
    """P(count + Z >= threshold), P(Z = z) proportional to e^(-|z|/scale): probabilities added up, far tails left."""
    a = (-Decimal(scale.denominator) / scale.numerator).exp()
    far = 1 + int(100 * scale)  # what is left off is e^-100 of what is added
    side = sum_of_powers(a, far)
    whole = 2 * side - 1
    gap = threshold - count
    if gap > 0:
        return a**gap * side / whole
    return 1 - a ** (1 - gap) * side / whole


def most_that_shows(scale: Fraction, threshold: int, l0: int, l1: int, linf: int) -> Decimal:
    """The largest chance that any of a user's own keys shows, over every way to distribute what she contributes.

    Every number of keys and every total are gone through: most[s] is the largest chance that one of the keys so far
    shows if together they have s. It needs no convexity, and no difference of nearly equal numbers.
    """
    if l0 * l1 * linf > 5_000_000:
        raise CannotCheck(f"a user's {l1} searches on {l0} keys, up to {linf} on each: too many ways to go through")
    shows = [laplace_passes(scale, threshold, m) for m in range(1, linf + 1)]
    most, best = {0: Decimal(0)}, Decimal(0)
    for _ in range(min(l0, l1)):
        further: dict[int, Decimal] = {}
        for held, chance in most.items():
            for m in range(1, min(linf, l1 - held) + 1):
                either = chance + shows[m - 1] - chance * shows[m - 1]
                further[held + m] = max(either, further.get(held + m, either))
        most, best = further, max(best, *further.values())
    return best


def laplace_step(step: dict[str, Any]) -> tuple[Decimal, Decimal, int | None]:
    """ε, δ and threshold of one step of Laplace noise."""
    scale, bounds, law = Fraction(step["scale"]), step["sensitivity"], step["law"] or {}
    l0, l1, linf = (int(bounds[norm]) for norm in ("l0", "l1", "linf"))
    if scale <= 0 or min(l0, l1, linf) < 1 or l1 > l0 * linf or law.keys() - {"floor"}:
        raise CannotCheck(f"step {step['name']}: these bounds or this law")
    floor, threshold = int(law.get("floor", 1)), step["threshold"]
    epsilon = Decimal(l1) * scale.denominator / scale.numerator
    if step["domain"] in QUIET:
        return epsilon, Decimal(0), threshold
    if step["domain"] != OPEN:
        return epsilon, Decimal(1), threshold
    if threshold is None or floor < 1 or (floor > 1 and linf > 1):
        raise CannotCheck(f"step {step['name']}: keys of anybody without a threshold")
    return epsilon, most_that_shows(scale, threshold - (floor - 1), l0, l1, linf), threshold


# ------------------------------------------------------------------ Gaussian noise


def normal_tail(x: float) -> float:
    """P(N(0, 1) > x) for x >= 1 as an integral over an angle (Craig 1991): (1/π) ∫ e^(-x²/(2 sin²θ)) dθ, 0 to π/2.

    With cot θ = u it is (1/2π) e^(-x²/2) ∫ e^(-x²u²/2)/(1 + u²) du over all u, and equal steps are exact beyond 10⁻¹⁵.
    """
    step = min(0.17, 0.7 / x)
    others = math.fsum(
        math.exp(-((x * n * step) ** 2) / 2) / (1 + (n * step) ** 2) for n in range(1, int(9 / (x * step)) + 2)
    )
    return math.exp(-x * x / 2) * step * (0.5 + others) / math.pi


def gaussian_excess(epsilon: float, mu2: float) -> float:
    """δ at ε of Gaussian noise from the characteristic function of its privacy loss, N(μ²/2, μ²).

    E max(0, 1 − e^(ε − loss)) = (1/2π) ∫ E e^(s loss) e^(-s ε)/(s (s + 1)) dt along s = a + it, for any a > 0: at the
    saddle nothing cancels, and equal steps are exact up to e^(-2πa/step).
    """
    if mu2 <= 0:
        return 0.0
    low, high = 0.0, 2 + 2 * max(epsilon, 1) / mu2 + 1 / math.sqrt(mu2)
    for _ in range(200):  # the saddle: where the logarithm of the integrand has slope 0
        a = (low + high) / 2
        low, high = (low, a) if a * mu2 + mu2 / 2 - epsilon - 1 / a - 1 / (a + 1) > 0 else (a, high)
    step = min(a / 6, 0.7 / math.sqrt(mu2))

    def at(t: float) -> complex:
        s = complex(a, t)
        return cmath.exp(s * (mu2 / 2 - epsilon) + s * s * mu2 / 2 - peak) / (s * (s + 1))

    peak = a * (mu2 / 2 - epsilon) + a * a * mu2 / 2
    others = math.fsum(at(n * step).real for n in range(1, int(9 / (math.sqrt(mu2) * step)) + 2))
    return math.exp(peak) * step * (at(0).real / 2 + others) / math.pi


def key_shows(step: dict[str, Any], caution: int, of: int | None = None) -> Decimal:
    """The chance that a key which only one user holds passes any test of a step; one of so many, if weights shrink."""
    chance = Decimal(0)
    for mean, variance, level in step["law"]["tests"]:
        if of is not None and step["law"]["shrinking"]:
            mean = math.isqrt(mean * mean // of) + 1
        gap = (Decimal(level) - mean - Decimal("0.5")) / Decimal(variance).sqrt()
        gap *= 1 - caution * TRILLIONTH
        chance += 1 if gap < 1 else Decimal(normal_tail(float(gap))) * (1 + caution * BILLIONTH)
    return chance


def gaussian_delta(steps: list[dict[str, Any]], epsilon: Decimal, caution: int) -> Decimal:
    """δ of all Gaussian steps at ε (theorems 1 to 3 of docs/proofs/crowd.md): the number itself, or with caution 1 and
    the margins of its table of roundings, which a card adds."""
    mu2 = sum((fraction(part) for step in steps for part in step["law"]["mu2"]), Decimal(0)) * (1 + caution * BILLIONTH)
    first = [step for step in steps if step["law"]["tightened"]]
    if len(first) > 1:
        raise CannotCheck("two steps that are both the first to learn keys")
    later = Decimal(0)
    for step in steps:
        if step["law"]["tests"] and step not in first:
            later += step["sensitivity"]["l0"] * key_shows(step, caution)
    worst = Decimal(gaussian_excess(float(epsilon), float(mu2)))
    for step in first:
        keys, share = step["sensitivity"]["l0"], fraction(step["law"]["mu2"][0]) * (1 - caution * BILLIONTH)
        alike = None if step["law"]["shrinking"] else key_shows(step, caution)
        for t in range(1, keys + 1):
            shows = key_shows(step, caution, t) if alike is None else alike
            left = float(mu2 - share * t / keys)
            worst = max(worst, Decimal(gaussian_excess(float(epsilon), left)) + t * shows)
    return min(Decimal(1), (worst + later) * (1 + 10 * caution * BILLIONTH))


def fraction(text: str) -> Decimal:
    """A fraction of a card."""
    exact = Fraction(text)
    if exact < 0:
        raise CannotCheck(f"a share of noise below nothing: {text}")
    return Decimal(exact.numerator) / exact.denominator


def noise_of_tests(step: dict[str, Any]) -> list[list[Fraction]]:
    """μ² of every round as its tests have it, in three readings: weights that add up over rounds, that do not, or one
    unit for each key. A draw of variance S counts as S − 4 (lemma A of docs/proofs/crowd.md)."""
    tests, keys = step["law"]["tests"], step["sensitivity"]["l0"]
    grown = [(m - pm, v - pv) for (m, v, _), (pm, pv, _) in zip(tests, [(0, 0, 0), *tests], strict=False)]
    alone = [(m, v) for m, v, _ in tests]
    return [
        [Fraction(m * m * many, v - 4) if v > 4 else Fraction(-1) for m, v in rounds]
        for rounds, many in ((grown, 1), (alone, 1), (alone, keys))
    ]


# ------------------------------------------------------------------ coins


def coins(step: dict[str, Any]) -> tuple[Decimal, Decimal, int]:
    """ε and δ of a step of coins, and the count from which a key shows more often than not."""
    law, keys = step["law"], int(step["sensitivity"]["l0"])
    up, more, shows = fraction(law["epsilon0"]).exp(), fraction(law["delta0"]), Decimal(0)
    for _ in range(keys):
        shows += more - shows * more
    chance, count = Decimal(0), 0
    while 2 * chance < 1:
        chance, count = min(up * chance + more, 1 - (1 - chance - more) / up), count + 1
        if count > 5_000_000:
            raise CannotCheck(f"step {step['name']}: these coins never show a key")
    return keys * fraction(law["epsilon0"]), shows, count


# ------------------------------------------------------------------ the card


def agrees(stated: object, computed: Decimal) -> bool:
    """Whether a number of the card is this one, to 10⁻⁹ of it; what is too small for a float is the smallest float."""
    if not isinstance(stated, int | float) or isinstance(stated, bool):
        return False
    return stated == SMALLEST if 0 < computed < SMALLEST else abs(Decimal(stated) - computed) <= BILLIONTH * computed


def numbers(card: dict[str, Any]) -> Iterator[Line]:
    """ε and δ from the steps, each step for itself and all together."""
    steps, claim = card["steps"], card["claim"]
    kinds = {step["noise"] for step in steps}
    if len(kinds) > 1 or kinds - {"discrete-laplace", "discrete-gaussian", "coins"}:
        raise CannotCheck(f"noise of these kinds in one release: {', '.join(sorted(kinds))}")
    epsilon, delta = Decimal(0), Decimal(0)
    if "discrete-gaussian" in kinds:
        for step in steps:
            yield from gaussian_step(step)
        if not card["mechanism"]["private"]:
            return
        asked = Fraction(card["mechanism"]["parameters"].get("epsilon", "0"))
        epsilon = Decimal(float(asked))
        exact = gaussian_delta(steps, epsilon, caution=0)
        delta = gaussian_delta(steps, epsilon, caution=1)
        what = "δ is not below what the noise gives, before any margin"
        yield Line(what, Decimal(claim["delta"] or 0) >= exact, f"{float(exact):.12g}")
    else:
        for step in steps:
            e, d, even = coins(step) if step["noise"] == "coins" else laplace_step(step)
            same = agrees(step["epsilon"], e) and agrees(step["delta"], d) and step["threshold"] == even
            yield Line(f"step {step['name']}", same, f"ε = {float(e):.12g}, δ = {float(d):.12g}")
            epsilon, delta = epsilon + e, delta + d
        delta = min(delta, Decimal(1))
    if not card["mechanism"]["private"]:
        return
    yield Line("a guarantee has steps", bool(steps), f"{len(steps)}")
    twice = 2 if card["unit"]["neighbouring"] == "replace" else 1
    total = card["accounting"]
    for where, e, d in (
        ("claim", claim["epsilon"], claim["delta"]),
        ("accounting", total["total_epsilon"], total["total_delta"]),
    ):
        same = agrees(e, epsilon * twice) and agrees(d, delta)
        yield Line(f"the {where} follows", same, f"ε = {float(epsilon * twice):.12g}, δ = {float(delta):.12g}")
    if twice == 2:
        others = [(o["definition"], o["neighbouring"], o["epsilon"], o["delta"]) for o in claim["also_holds_as"]]
        same = any(o[:2] == ADDED and agrees(o[2], epsilon) and agrees(o[3], delta) for o in others)
        yield Line("the claim for one user added or removed follows", same, f"ε = {float(epsilon):.12g}")


def gaussian_step(step: dict[str, Any]) -> Iterator[Line]:
    """What one Gaussian step says of itself."""
    law, bounds = step["law"], step["sensitivity"]
    shrinks = law["shrinking"] and not (law["tightened"] and len(law["mu2"]) == 1)
    if law.keys() - {"mu2", "tests", "tightened", "shrinking", "selects"} or not law["mu2"] or shrinks:
        raise CannotCheck(f"step {step['name']}: this law")
    if law["tests"]:
        keys = bounds["l0"]
        shows = min(Decimal(1), keys * key_shows(step, caution=1))
        same = agrees(step["delta"], shows) and step["threshold"] == law["tests"][-1][2] and step["domain"] == OPEN
        yield Line(f"step {step['name']}: its own keys", same, f"any shows with chance {float(shows):.12g} at most")
        stated = [Fraction(part) for part in law["mu2"]]
        if any(stated):  # otherwise it is counted in a step of its own, as in a series
            follows = stated in noise_of_tests(step)
            yield Line(f"step {step['name']}: its noise follows from its tests", follows, f"{len(stated)} rounds")
    else:
        quiet = step["delta"] == 0 and step["threshold"] is None and step["domain"] in QUIET
        yield Line(f"step {step['name']}: shows no key by itself", quiet, step["domain"])


def words(card: dict[str, Any]) -> Iterator[Line]:
    """What the sentence says, and who may claim anything."""
    claim, private = card["claim"], card["mechanism"]["private"]
    seeded, neighbours = card["implementation"]["randomness"]["seeded"], card["unit"]["neighbouring"]
    stamp = card["mechanism"]["stamp"]
    yield Line("it is stamped if it is not private", stamp == (None if private else "NOT PRIVATE"), str(stamp))
    if not private:
        nothing = claim["epsilon"] is None and claim["delta"] is None
        yield Line("what is not private claims nothing", nothing, claim["sentence"])
        return
    yield Line("its noise came from no seed", not seeded, card["implementation"]["randomness"]["source"])
    fits = claim["definition"] == ("approximate" if claim["delta"] else "pure")
    yield Line("the definition fits δ", fits, claim["definition"])
    said = SENTENCE.fullmatch(claim["sentence"])
    if said is None:
        yield Line("the sentence is one this checker reads", False, claim["sentence"])
        return
    yield Line("the sentence names the neighbours", said[1].startswith(CHANGES.get(neighbours, "?")), said[1])
    power = written(said[2].removeprefix("e").removeprefix("^(").removesuffix(")"))
    plus = written(said[3]) if said[3] else 0.0
    for name, shown, exact in (("ε", power, claim["epsilon"]), ("δ", plus, claim["delta"] or 0.0)):
        near = exact * (1 - 1e-11) <= shown <= exact * 1.011
        yield Line(f"the sentence's {name} is the claim's, rounded up", near, f"{shown:g}")
    declared = claim["delta_vs_users"]
    if declared is not None:
        users = card["release"]["users_stated_by_owner"]
        same = declared["users_public_or_noisy"] == users and agrees(
            declared["delta_times_users"], Decimal(claim["delta"]) * users
        )
        yield Line("δ times users follows", same, f"{declared['delta_times_users']:g}")


def written(text: str) -> float:
    """A number as pages write it: 0.05, 8.41 × 10⁻⁷, or in superscripts."""
    plain = text.translate(SUPERSCRIPTS)
    digits, times, power = plain.partition(" × 10")
    return float(f"{digits}e{power}") if times else float(plain)


def seal(card: dict[str, Any]) -> Iterator[Line]:
    """The hash over the card."""
    content = {name: part for name, part in card.items() if name != "integrity"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    found = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    yield Line("the card is as it was written", found == card["integrity"], found)


def files(card: dict[str, Any], folder: Path) -> Iterator[Line]:
    """The files beside the card."""
    for file in card["release"]["files"]:
        path = folder / file["path"]
        found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "not there"
        yield Line(f"{file['path']} has its hash", found == file["sha256"], found[:16])


def verify(card: dict[str, Any], folder: Path | None = None) -> list[Line]:
    """Everything that can be checked; `CannotCheck`, `KeyError` and the like where there is nothing to go by."""
    found = [*seal(card), *words(card), *numbers(card)]
    return found if folder is None else [*found, *files(card, folder)]


def main(arguments: list[str]) -> int:
    """Check one card and say what was seen."""
    if len(arguments) != 1:
        print(__doc__)
        return 2
    given = Path(arguments[0])
    places = [given / "public" / "card.json", given / "card.json"] if given.is_dir() else [given]
    path = next((place for place in places if place.is_file()), places[-1])
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        found = verify(card, path.parent if given.is_dir() else None)
    except CannotCheck as error:
        print(f"cannot be checked: {error}")
        return 2
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        print(f"this is no card that this checker reads: {path}: {type(error).__name__}: {error}")
        return 2
    for line in found:
        print(f"{'ok  ' if line.holds else 'NOT '} {line.what}: {line.seen}")
    bad = sum(not line.holds for line in found)
    if not card["mechanism"]["private"]:
        print("This release is NOT PRIVATE: there is no claim to check.")
    print("Not checked here: " + "; ".join(UNCHECKED) + ".")
    print(f"{bad} of {len(found)} checks do not hold." if bad else f"All {len(found)} checks hold.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
