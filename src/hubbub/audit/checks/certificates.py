"""Certificates recomputed: what a mechanism states of its steps, against what `recompute` finds for the same law.

One side counts: a certificate may be larger than needed, never smaller. Comparisons are exact where the numbers are
fractions, and to eleven digits where they are integrals; the slack that the proof pages promise is asked for, too.
That the steps are those that run is looked at in `ran`.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from hubbub.audit import recompute
from hubbub.audit.protocols import AuditRow, Kind, Subject
from hubbub.audit.recompute import EXACTLY, NEARLY
from hubbub.mechanisms.base import Mechanism
from hubbub.privacy.account import Atom, DiscreteLaplace, Domain, Gaussian, Generic, Pure, Step
from hubbub.privacy.coins import CoinStep
from hubbub.privacy.gaussian import AnyStep, GaussianStep, Test, read_any
from hubbub.privacy.guarantee import Definition, Neighbours

SLACK = 1e-9
"""Of μ² and of every tail: what section 12 of docs/proofs/crowd.md promises beyond the theorem."""
MOST_SPLITS = 25
"""Above so many keys the splits into new and known ones are not all tried."""
Number = Fraction | float


def certificate(subject: Subject) -> Iterator[AuditRow]:
    """ε, δ, what the ledger gets, what the card prints of each step: none below what is found here."""
    mechanism = subject.mechanism
    proven = mechanism.proven()
    if proven.definition in (Definition.NONE, Definition.K_ANONYMITY) or not mechanism.steps():
        stated = (proven.epsilon, proven.delta) != (None, None) or proven.private
        yield _row(subject, "nothing is stated where nothing is proven", 0.0, float(stated))
        return
    steps, loss = mechanism.steps(), mechanism.loss()
    epsilon, delta = needed(steps, loss.epsilon)
    yield _row(subject, "ε", loss.epsilon, epsilon)
    yield _row(subject, "δ", loss.delta, delta)
    factor = 2 if mechanism.neighbours is Neighbours.REPLACE else 1
    yield _row(subject, f"proven ε, {mechanism.neighbours.value}", _number(proven.epsilon), factor * epsilon)
    yield _row(subject, f"proven δ, {mechanism.neighbours.value}", _number(proven.delta), delta)
    wrong = (proven.neighbours is not mechanism.neighbours) + (proven.definition is Definition.PURE and delta > 0)
    yield _row(subject, "definition and neighbours", 0.0, float(wrong))
    spoken = _spoken(proven.sentence())
    yield _row(subject, "ε in the sentence", spoken[0], float(factor * epsilon) if delta < 1 else 0.0)
    yield _row(subject, "δ in the sentence", spoken[1], float(delta) if delta < 1 else -1.0)
    yield from _asked(subject, _number(proven.epsilon), _number(proven.delta))
    yield from _ledger(subject, steps)
    for step in steps:
        yield from _card(subject, step)
        yield from _splits(subject, step)
    yield from _also(subject)


RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹·⁻", "0123456789.-")
SENTENCE = re.compile(
    r"factor e(?:\^\((?P<plain>[\d.e+-]+)\)|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹·]+))"
    r"(?:, plus (?P<delta>[\d.]*\d)(?: × 10(?P<power>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?)?"
)


def _spoken(sentence: str) -> tuple[float, float]:
    """ε and δ as a reader takes them from the sentence; −1 where it names none."""
    said = SENTENCE.search(sentence)
    if not said:
        return -1.0, -1.0
    epsilon = said["plain"] or said["raised"].translate(RAISED)
    return float(epsilon), float(f"{said['delta'] or 0}e{(said['power'] or '0').translate(RAISED)}")


def printed(mechanism: Mechanism, card: Mapping[str, Any]) -> Iterator[AuditRow]:
    """What a written card says of its release: the claim, the relation, every step."""
    subject, claim, steps = Subject.of(mechanism), card["claim"], mechanism.steps()
    epsilon, delta = needed(steps, mechanism.loss().epsilon)
    factor = 2 if mechanism.neighbours is Neighbours.REPLACE else 1
    yield _row(subject, "ε on a card that was written", _number(claim["epsilon"]), factor * epsilon)
    yield _row(subject, "δ on a card that was written", _number(claim["delta"]), delta)
    for other in claim["also_holds_as"]:
        if other["definition"] != Definition.PROBABILISTIC.value:  # those are looked at where they are stated
            twice = 2 if other["neighbouring"] == Neighbours.REPLACE.value else 1
            yield _row(
                subject, f"ε on a card, also {other['neighbouring']}", _number(other["epsilon"]), twice * epsilon
            )
            yield _row(subject, f"δ on a card, also {other['neighbouring']}", _number(other["delta"]), delta)
    wrong = card["steps"] != json.loads(json.dumps([s.record() for s in steps]))
    wrong += card["unit"]["neighbouring"] != mechanism.neighbours.value
    yield _row(subject, "steps and relation on a card that was written", 0.0, float(wrong))


def _number(stated: float | None) -> float:
    return -1.0 if stated is None else stated


def _row(subject: Subject, what: str, stated: Number, found: Number, detail: str = "") -> AuditRow:
    """Refuted if what is stated is below what was found, by more than this way of finding it can be wrong."""
    exact = isinstance(found, Fraction)
    low = found * (1 - EXACTLY) if isinstance(found, Fraction) else Fraction(found * (1 - NEARLY))
    verdict = "refuted" if (stated < math.inf and Fraction(stated) < low) else "not refuted"
    name, variant, power = subject.mechanism.name, subject.mechanism.variant, 0.0 if exact else NEARLY * float(found)
    numbers = float(stated), float(found), power
    return AuditRow(name, variant, f"certificate: {what}", "proven", *numbers, verdict, detail, kind=Kind.RECOMPUTED)


# ------------------------------------------------------------------ what is needed


def needed(steps: Iterable[AnyStep], at: float) -> tuple[Number, Number]:
    """(ε, δ) of all steps together under add-remove; Gaussian steps have a δ at the ε that is stated."""
    steps = tuple(steps)
    gaussian = [s for s in steps if isinstance(s, GaussianStep)]
    if gaussian:
        return at, _gaussian(gaussian, at)
    epsilon, delta = Fraction(0), Fraction(0)
    for step in steps:
        if isinstance(step, CoinStep):
            epsilon += step.l0 * step.epsilon0
            delta += 1 - (1 - step.delta0) ** step.l0
        elif isinstance(step, Step):
            epsilon += Fraction(step.l1) / step.scale
            delta += own_keys(step)
    return epsilon, min(delta, Fraction(1))


def own_keys(step: Step) -> Fraction:
    """The δ that a step of Laplace noise needs, by the domain of its keys."""
    if step.domain is Domain.SEEN:
        return Fraction(1)
    if step.domain in (Domain.CLOSED, Domain.UNSEEN):
        return Fraction(0)
    if step.threshold is None:
        return Fraction(1)
    return recompute.new_keys(step.scale, step.threshold, step.floor, step.l0, step.l1, step.linf)


def _passes(test: Test, share: float = 1.0) -> float:
    """Lemma B: a key that one user alone holds reaches the threshold; half a unit is the price of integers."""
    z = (test.threshold - test.mean * share - 0.5) / math.sqrt(test.variance)
    return 1.0 if z < 1 else recompute.tail(z) * (1 + SLACK)


def own_key(step: GaussianStep, t: int = 1) -> float:
    """The chance that one of her t keys passes any test of the step."""
    return math.fsum(_passes(test, 1 / math.sqrt(t) if step.shrinking else 1.0) for test in step.tests)


def _gaussian(steps: list[GaussianStep], epsilon: float) -> float:
    """Theorem 3: the first open stage is tightened, later ones pay in full, whatever they say of themselves."""
    mu2 = float(sum((x for s in steps for x in s.mu2), Fraction(0))) * (1 + SLACK)
    opened = [s for s in steps if s.tests]
    if opened[:1] != steps[:1]:  # nothing is fixed before the first noise: theorem 1
        own = math.fsum(s.keys * own_key(s) for s in opened)
        return min(1.0, recompute.stick(epsilon, math.sqrt(mu2)) + own)
    opening, rest = opened[0], math.fsum(s.keys * own_key(s) for s in opened[1:])
    once = own_key(opening)
    own_of = [t * (own_key(opening, t) if opening.shrinking and t else once) for t in range(opening.keys + 1)]
    first = float(opening.mu2[0]) * (1 - SLACK)
    return min(1.0, recompute.tightened(epsilon, mu2, first, opening.keys, own_of, rest))


# ------------------------------------------------------------------ what is asked for, booked and printed


def _asked(subject: Subject, epsilon: float, delta: float) -> Iterator[AuditRow]:
    """A budget that was asked for is not passed: here the asked number is what must not be smaller."""
    given = subject.mechanism.given
    for name, stated in (("epsilon", epsilon), ("delta", delta)):
        if name in given:
            asked = Fraction(given[name])
            within = stated if stated > math.nextafter(float(asked), math.inf) else min(Fraction(stated), asked)
            yield _row(subject, f"no more {name} than was asked for", asked, Fraction(within))


def _ledger(subject: Subject, steps: tuple[AnyStep, ...]) -> Iterator[AuditRow]:
    """What releases are added up by: μ² of all Gaussian draws, one atom for every other step, and the thresholds' δ."""
    loss = subject.mechanism.loss()
    gaussian = [s for s in steps if isinstance(s, GaussianStep)]
    booked = sum((a.mu2 for a in loss.atoms if isinstance(a, Gaussian)), Fraction(0))
    drawn = sum((x for s in gaussian for x in s.mu2), Fraction(0))
    if gaussian:
        yield _row(subject, "μ² in the ledger", booked, drawn)
    missing = Counter(_atom(s) for s in steps if not isinstance(s, GaussianStep))
    missing.subtract(
        Pure(a.epsilon) if isinstance(a, Generic) else a for a in loss.atoms if not isinstance(a, Gaussian)
    )
    lost = [str(atom) for atom, n in missing.items() if n > 0]
    yield _row(subject, "steps in the ledger", 0.0, float(len(lost)), "; ".join(lost))
    own: Number = math.fsum(s.keys * own_key(s) for s in gaussian) if gaussian else needed(steps, 0.0)[1]
    coins = sum((Fraction(a.delta) for a in loss.atoms if isinstance(a, Generic)), Fraction(0))
    yield _row(subject, "δ of thresholds in the ledger", Fraction(loss.tv) + coins, min(own, 1))


def _atom(step: AnyStep) -> Atom:
    """What a step is to be composed as; the δ of coins is looked at with that of thresholds."""
    if isinstance(step, Step) and step.linf == 1:
        return DiscreteLaplace(step.scale, step.l0)
    epsilon = needed((step,), 0.0)[0]
    assert isinstance(epsilon, Fraction)
    return Pure(epsilon)


def _card(subject: Subject, step: AnyStep) -> Iterator[AuditRow]:
    """The step as the card prints it, number by number, and read back from it."""
    record = step.record()
    again = read_any(json.loads(json.dumps(record)))
    sensitivity = record["sensitivity"]
    assert isinstance(sensitivity, dict)
    norms = {"l0": step.l0, "l1": step.l1, "linf": step.linf} if not isinstance(step, GaussianStep) else {}
    wrong = (again != step) + (dict(sensitivity) | norms != dict(sensitivity)) + (record["threshold"] != step.threshold)
    yield _row(subject, f"the card's record of {step.name}", 0.0, float(wrong))
    if isinstance(step, GaussianStep):
        yield _row(
            subject, f"δ of {step.name} on the card", _float(record["delta"]), min(1.0, step.keys * own_key(step))
        )
        return
    epsilon, delta = needed((step,), 0.0)
    yield _row(subject, f"ε of {step.name} on the card", _float(record["epsilon"]), epsilon)
    yield _row(subject, f"δ of {step.name} on the card", _float(record["delta"]), delta)
    if isinstance(step, Step):
        yield _row(subject, f"δ of {step.name}, to the last digit", Fraction(step.delta), delta)
    else:
        yield _row(subject, f"coins of {step.name}", 0.0, float(unfair(step)))


def _float(x: object) -> float:
    return float(x) if isinstance(x, int | float) else -1.0


def unfair(step: CoinStep) -> int:
    """How many coins break (ε₀, δ₀) for one user more, in either direction; the coin of nobody never shows."""
    grow, whole = Fraction(1 << recompute.BITS, recompute.decay(step.epsilon0)), 1 << 64
    chances = [Fraction(int(c), whole) for c in step.chances]
    wrong = int(chances[0] != 0)
    for one, two in pairwise(chances):
        wrong += two > grow * one + step.delta0 + EXACTLY or 1 - one > grow * (1 - two) + step.delta0 + EXACTLY
        wrong += two < one
    return wrong


def _splits(subject: Subject, step: AnyStep) -> Iterator[AuditRow]:
    """The law itself, however many of a user's keys are new: no lemma between the chance of one key and δ(ε)."""
    if not isinstance(step, Step) or step.linf > 1 or step.domain is not Domain.OPEN or step.l0 > MOST_SPLITS:
        return
    assert step.threshold is not None
    r, each = float(recompute.passes(step.scale, step.threshold, step.floor)), float(1 / step.scale)
    replace = subject.mechanism.neighbours is Neighbours.REPLACE
    epsilon = (2 if replace else 1) * _float(step.record()["epsilon"])
    found = recompute.over_splits(epsilon, each, step.l0, r, step.l0 if replace else 0) if r < 1 else 1.0
    yield _row(subject, f"δ(ε) of {step.name}, whatever is new", _float(step.record()["delta"]), found)


def _also(subject: Subject) -> Iterator[AuditRow]:
    """Probabilistic privacy, where it is stated: the items at the filter's edge, each shown with one user's chance."""
    mechanism: Mechanism = subject.mechanism
    for guarantee, _ in mechanism.also():
        users, steps = int(mechanism.settings["U"]), [s for s in mechanism.steps() if isinstance(s, Step)]
        epsilon = delta = Fraction(0)
        for step in steps:
            if step.threshold is None:  # keys of a public list: noise alone
                epsilon += 2 * step.l0 / step.scale
                continue
            r = recompute.passes(step.scale, step.threshold, step.floor)
            edge = users * step.l0 // step.floor
            delta += recompute.new_keys(step.scale, step.threshold, step.floor, edge, edge, 1)
            silent = -math.log1p(-float(r)) * (1 - NEARLY)
            epsilon += 2 * step.l0 * max(1 / step.scale, Fraction(silent))
        yield _row(subject, "ε besides, probabilistic", _number(guarantee.epsilon), epsilon)
        yield _row(subject, "δ besides, probabilistic", _number(guarantee.delta), min(delta, Fraction(1)))
