"""Whether selections in rounds run as stated: every variance, every threshold, the weight of one user, what is counted.

The whole mechanism runs once on a small log with noise of zeros. μ² of every draw is then computed from what was asked
of the noise source and from what one user could have moved: her weight in the pools, the length C to which recounts
shrink her, the most of her in a kept total. It must not exceed the stated one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from itertools import accumulate
from math import sqrt
from unittest.mock import patch

import numpy as np

from hubbub.audit.checks.chain import walkers
from hubbub.audit.checks.pooled import Staged, first_selection, landing, one_known, too_many, user_share
from hubbub.audit.checks.watch import Watch, said
from hubbub.audit.neighbours import crowd_of, one_user
from hubbub.audit.protocols import AuditRow, Subject, row
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.mechanisms.baselines.gaussian import GaussianThreshold
from hubbub.mechanisms.crowd import Crowd
from hubbub.mechanisms.rounds import Selection
from hubbub.noise.source import Integers
from hubbub.privacy.gaussian import GaussianStep
from hubbub.steps.counts import LocalCounts
from hubbub.steps.holdings import Holdings
from hubbub.steps.profile import SHAPES

GIVEN_UP = 4
"""Of every variance, by lemma A of docs/proofs/crowd.md."""
OPEN = ("queries", "clicks")
"""Tables whose keys are learned from the log (section 10): their thresholds cost δ, wherever they stand."""
WALKERS = 150


def rounds(subject: Subject) -> Iterator[AuditRow]:
    """Levels, variances, and one user's share where she holds one known key, and more than fit into a pool."""
    yield _levels(subject)
    yield from _variances(subject)
    for pair in (one_known(subject), too_many(subject)):
        yield from user_share(subject, pair)


def _steps(subject: Subject) -> dict[str, GaussianStep]:
    return {s.name: s for s in subject.mechanism.steps() if isinstance(s, GaussianStep)}


# ------------------------------------------------------------------ unit weights


def unit_weights(subject: Subject) -> Iterator[AuditRow]:
    """A key of one user, with noise that lifts it to the threshold or one unit below; μ² by all d keys of hers."""
    if not isinstance(subject.mechanism, GaussianThreshold):
        return
    (step,), plan = _steps(subject).values(), subject.mechanism.selection
    test, wrong = step.tests[-1], []
    for off in (0, -1):
        noise = Watch(test.threshold - test.mean + off)
        shown = subject.perturb({"queries": LocalCounts(np.ones(1, np.int64))}, noise)["queries"]
        if (shown.ids.size == 1) != (off == 0):
            wrong.append(f"{off} from the threshold: {shown.ids.size} shown")
        if not np.allclose(shown.noise_sd or 0.0, sqrt(test.variance) / plan.unit, rtol=1e-9):
            wrong.append(f"noise_sd {shown.noise_sd}")
        if {int(v) for _, v, _ in noise.asked} != {test.variance}:
            wrong.append(f"variance {[str(v) for _, v, _ in noise.asked]}, not {test.variance}")
    yield said(subject, "threshold and variance as stated", wrong)
    drawn = Fraction(step.keys * test.mean**2, test.variance - GIVEN_UP)
    yield row(subject, "μ² of what runs", "proven", 1.0, float(drawn / step.total), 1e-12)
    yield said(subject, "as many keys as the bound", [] if step.keys == plan.limit else [f"{step.keys}, {plan.limit}"])


# ------------------------------------------------------------------ weights in pools


def _levels(subject: Subject) -> AuditRow:
    """In every round: her weight is what the tests count with, and `>=` the stated threshold releases, one less not."""
    plan, step, wrong = first_selection(subject), next(iter(_steps(subject).values())), []
    name = step.name
    with tiny_log(one_user([("own", "site")])) as log:
        pools = subject.measure(log, MODE)[name]
        if (weight := int(pools.weights(np.arange(1))[0])) != plan.unit:
            wrong.append(f"a user of one key weighs {weight}, not {plan.unit}")
    for r, test in enumerate(step.tests):
        for off in (-1, 0):
            noise = landing(plan, r, test.threshold + off, plan.unit)
            found = subject.perturb({name: Staged(np.full(1, plan.unit))}, noise)[name].ids.size
            if (found == 1) != (off == 0):
                wrong.append(f"round {r + 1}, {off} from the threshold: {found} released")
    means, variances = _gathered(plan, [m * plan.unit for m in plan.multiples]), _gathered(plan, plan.variances)
    for test, mean, variance in zip(step.tests, means, variances, strict=True):
        if test.mean < mean or test.variance < variance:
            wrong.append(f"a test of mean {test.mean} and variance {test.variance}, not {mean} and {variance}")
    if step.keys != plan.limit:
        wrong.append(f"{step.keys} keys of a user, not {plan.limit}")
    return said(subject, "one user's own key in every round, as stated", wrong)


def _gathered(plan: Selection, each: list[int] | tuple[int, ...]) -> list[int]:
    return list(accumulate(each)) if plan.recycled else list(each)


def _variances(subject: Subject) -> Iterator[AuditRow]:
    """μ² of every draw of a whole run, by step; and no step without a budget, no open table without its δ."""
    steps, spent = _steps(subject), _spent(subject)
    wrong = [f"{name}: no budget" for name in spent if name not in steps]
    wrong += [f"{name}: never drawn" for name in steps if name not in spent]
    for name, step in steps.items():
        if name in OPEN and not step.tests:
            wrong.append(f"{name}: an open table without the δ of its thresholds")
        if len(spent.get(name, step.mu2)) != len(step.mu2):
            wrong.append(f"{name}: {len(spent[name])} draws, {len(step.mu2)} stated")
        wrong += [
            f"{name}: μ² = {float(drawn):.6g} where {float(stated):.6g} is stated"
            for drawn, stated in zip(spent.get(name, ()), step.mu2, strict=False)
            if drawn > stated
        ]
    yield said(subject, "μ² of every draw of a run", wrong)


def _spent(subject: Subject) -> dict[str, list[Fraction]]:
    """Squared shift over variance less four, for every draw, by the step it belongs to."""
    mechanism, noise = subject.mechanism, Watch()
    events = [*walkers(WALKERS), *crowd_of(3, "rare", "site")]
    with tiny_log(events) as log, _seen() as seen:
        subject.perturb(subject.measure(log, MODE), noise)
    plans = mechanism.selections
    bits = {h.name: h.bits for h in mechanism.histograms} if isinstance(mechanism, Crowd) else {}
    spent: dict[str, list[Fraction]] = {}
    for asked, variance, _ in noise.asked:
        name, _, _ = asked.partition(" round ")
        plan = plans.get(name)
        if name.endswith(" recount"):
            shift2 = seen.recounts.pop(0)
        elif name.endswith(" kept total"):
            shift2 = seen.kept.pop(0) ** 2
        elif name in bits:
            length = SHAPES[name].length
            shift2 = 1 if length is None else 4 ** bits[name] * length**2
        elif plan is not None:
            shift2 = (plan.multiples[len(spent.get(name, ()))] * plan.unit) ** 2
        else:
            shift2 = 1 << 200
        spent.setdefault(name, []).append(
            Fraction(shift2) / (variance - GIVEN_UP) if variance > GIVEN_UP else Fraction(1 << 200)
        )
    return spent


class _Seen:
    """What recounts and kept totals were asked for, in order."""

    def __init__(self) -> None:
        self.recounts: list[int] = []
        self.kept: list[int] = []


@contextmanager
def _seen() -> Iterator[_Seen]:
    seen, recount, kept = _Seen(), Holdings.recount, Holdings.kept

    def recounted(held: Holdings, ids: Integers, lam: Integers, cap2: int) -> Integers:
        seen.recounts.append(cap2)
        return recount(held, ids, lam, cap2)

    def kept_total(held: Holdings, ids: Integers, most: int) -> int:
        seen.kept.append(most)
        return kept(held, ids, most)

    with ExitStack() as stack:
        stack.enter_context(patch.object(Holdings, "recount", recounted))
        stack.enter_context(patch.object(Holdings, "kept", kept_total))
        yield seen
