"""Wrong accounting, planted: constants off by one or by a factor, a rounding in the wrong direction, a part forgotten.

None of them changes what runs, so no law that is enumerated or sampled at small parameters need show them; what is
stated is wrong. Each entry is a name, who must notice, and what is replaced, as `mutants/fault.py` has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hubbub.audit.checks import sums
from hubbub.audit.checks.ran import as_used
from hubbub.audit.mutants.fault import Change, Planted
from hubbub.audit.protocols import AuditRow
from hubbub.audit.subjects import PLANS


def _of(*names: str) -> Callable[[], Iterator[AuditRow]]:
    def look() -> Iterator[AuditRow]:
        for name in names:
            for mechanism in PLANS[name].used():
                yield from as_used(mechanism)

    return look


def _given(**changes: Change) -> Change:
    """The same function, some of its arguments changed."""

    def change(function: Any) -> Any:
        import inspect

        names = list(inspect.signature(function).parameters)

        def changed(*given: Any, **named: Any) -> Any:
            all_given = dict(zip(names, given, strict=False)) | named
            return function(**all_given | {name: edit(all_given[name]) for name, edit in changes.items()})

        return changed

    return change


def _stated(**changes: Change) -> Change:
    """What a mechanism states of its steps, not what it draws: fields of the first step changed."""

    def change(steps: Any) -> Any:
        def stated(mechanism: Any) -> Any:
            first, *rest = steps(mechanism)
            return (replace(first, **{name: edit(getattr(first, name)) for name, edit in changes.items()}), *rest)

        return stated

    return change


def _but(**changes: Any) -> Change:
    """A result with other values in some of its fields."""
    return lambda function: lambda *given, **named: replace(function(*given, **named), **changes)


def _down(x: Any) -> float:
    """The largest float that is not above x."""
    nearest = float(Fraction(x))
    return nearest if Fraction(nearest) <= Fraction(x) else math.nextafter(nearest, 0.0)


def _half_atom(loss_of: Any) -> Any:
    def halved(*given: Any) -> Any:
        loss = loss_of(*given)
        return replace(loss, atoms=tuple(replace(a, mu2=a.mu2 / 2) for a in loss.atoms))

    return halved


def _telling(call: Any) -> Any:
    """The noise_sd of a row grows with its exact count."""

    def told(test: Any, n: Any, noise: Any) -> Any:
        released = call(test, n, noise)
        return replace(released, noise_sd=(released.noise_sd**2 + n[released.ids]) ** 0.5)

    return told


def _single(proven: Any) -> Any:
    """Replace costs as much as add-remove."""
    return lambda mechanism: replace(proven(mechanism), epsilon=mechanism.loss().epsilon)


def _first_stage_alone(certify: Any) -> Any:
    """Thresholds of later stages are taken for free."""
    return lambda steps, epsilon: certify(
        [replace(s, tests=(), keys=0) if i and s.tests else s for i, s in enumerate(steps)], epsilon
    )


CERTIFICATE_MUTANTS: tuple[Planted, ...] = (
    (
        "ε by L∞ where L1 counts",
        _of("sessions"),
        {"hubbub.privacy.account:Step.epsilon": lambda _: property(lambda s: s.linf / s.scale)},
    ),
    (
        "δ of one new key for all of them",
        _of("korolova"),
        {"hubbub.privacy.account:threshold_delta": _given(l0=lambda _: 1)},
    ),
    (
        "a user's own keys taken one short",
        _of("zealous"),
        {"hubbub.privacy.account:threshold_delta": _given(l0=lambda n: max(1, n - 1), l1=lambda n: max(1, n - 1))},
    ),
    (
        "repeats of a new key forgotten",
        _of("korolova"),
        {"hubbub.privacy.account:threshold_delta": _given(linf=lambda _: 1)},
    ),
    (
        ">= accounted as >",
        _of("korolova"),
        {"hubbub.privacy.account:threshold_delta": _given(threshold=lambda t: t + 1)},
    ),
    (
        "the filter before the noise forgotten in δ",
        _of("zealous"),
        {"hubbub.privacy.account:Step.delta": lambda delta: property(lambda s: delta.fget(replace(s, floor=1)))},
    ),
    ("ε and δ rounded down", _of("korolova", "zealous"), {"hubbub.privacy.account:round_up": lambda _: _down}),
    ("slack with the wrong sign", _of("korolova"), {"hubbub.privacy.account:SLACK": lambda slack: -slack}),
    (
        "the largest δ of several tables",
        _of("korolova"),
        {
            "hubbub.privacy.account:total_delta": lambda _: (
                lambda steps: max((s.delta for s in steps), default=Decimal(0))
            )
        },
    ),
    ("the ledger's threshold δ forgotten", _of("korolova"), {"hubbub.privacy.gaussian:loss_of": _but(tv=0.0)}),
    (
        "the ledger books one key for all",
        _of("zealous"),
        {"hubbub.privacy.account:DiscreteLaplace": lambda atom: lambda scale, keys: atom(scale, 1)},
    ),
    (
        "replace costs no more than add-remove",
        _of("korolova", "sessions"),
        {"hubbub.mechanisms.base:Mechanism.proven": _single},
    ),
    (
        "a threshold stated one higher",
        _of("sessions"),
        {
            "hubbub.mechanisms.sessions:Sessions._steps": lambda steps: (
                lambda m, settings: tuple(
                    s if s.threshold is None else replace(s, threshold=s.threshold + 1) for s in steps(m, settings)
                )
            )
        },
    ),
    (
        "half the noise, stated whole",
        _of("zealous"),
        {"hubbub.mechanisms.zealous:Zealous.steps": _stated(scale=lambda b: 2 * b)},
    ),
    (
        "one key fewer stated than kept",
        _of("korolova"),
        {"hubbub.mechanisms.korolova:Korolova.steps": _stated(l0=lambda n: n - 1, l1=lambda n: n - 1)},
    ),
    (
        "a filter stated one higher",
        _of("zealous"),
        {
            "hubbub.mechanisms.zealous:Zealous.steps": lambda steps: (
                lambda m: tuple(replace(s, floor=max(1, s.floor - 1)) for s in steps(m))
            )
        },
    ),
    (
        "items at the edge undercounted",
        _of("zealous"),
        {"hubbub.mechanisms.zealous.formulas:probabilistic": _given(users=lambda u: u // 2)},
    ),
    (
        "coins of one key for all",
        _of("geometric"),
        {"hubbub.privacy.coins:CoinStep.loss": lambda loss: property(lambda s: loss.fget(replace(s, l0=1)))},
    ),
    (
        "μ² halved",
        _of("sips"),
        {"hubbub.mechanisms.rounds:mu2_of": lambda mu2_of: lambda shift2, variance: mu2_of(shift2, variance) / 2},
    ),
    ("μ² halved in the ledger", _of("crowd"), {"hubbub.privacy.gaussian:gaussian_loss": _half_atom}),
    (
        "the δ of thresholds forgotten in the ledger",
        _of("crowd"),
        {"hubbub.privacy.gaussian:gaussian_loss": _but(tv=0.0)},
    ),
    ("later thresholds are free", _of("crowd"), {"hubbub.privacy.gaussian:certify": _first_stage_alone}),
    (
        "slack of μ² and tails with the wrong sign",
        _of("crowd"),
        {"hubbub.privacy.gaussian:SLACK": lambda slack: -slack},
    ),
    (
        "half a unit on the wrong side of a tail",
        _of("gaussian"),
        {
            "hubbub.privacy.gaussian:Test.novel": lambda novel: property(
                lambda t: novel.fget(replace(t, threshold=t.threshold + 1))
            )
        },
    ),
    (
        "one user's weight in early rounds forgotten",
        _of("crowd"),
        {
            "hubbub.mechanisms.rounds:Selection.means": lambda means: property(
                lambda plan: tuple(plan.unit for _ in means.fget(plan))
            )
        },
    ),
    (
        "half of one user's weight in fresh rounds",
        _of("adaptive"),
        {
            "hubbub.mechanisms.rounds:Selection.means": lambda means: property(
                lambda plan: tuple(x // 2 for x in means.fget(plan))
            )
        },
    ),
    (
        "the kept total is free",
        _of("crowd"),
        {
            "hubbub.mechanisms.crowd.calibrate:Stage.steps": lambda steps: (
                lambda stage, proof, *, tightened: tuple(
                    s for s in steps(stage, proof, tightened=tightened) if "kept" not in s.name
                )
            )
        },
    ),
    (
        "the kept total at half of what a user may add",
        _of("crowd"),
        {
            "hubbub.mechanisms.crowd.calibrate:Recount.kept_variance": lambda kept: property(
                lambda r: kept.fget(r) // 4 + 4
            )
        },
    ),
    ("noise_sd tells the count", _of("korolova"), {"hubbub.mechanisms.noisy:Noisy.__call__": _telling}),
    ("μ² composed by its half", sums.tests, {"hubbub.privacy.compose:_root_up": lambda root: lambda x: root(x / 2)}),
    ("a slack of sums with the wrong sign", sums.tests, {"hubbub.privacy.compose:SLACK": lambda slack: -slack}),
    (
        "the hockey stick without its second term",
        sums.tests,
        {"hubbub.privacy.compose:gaussian_delta": lambda stick: lambda epsilon, mu: stick(epsilon, mu) * (1 - 1e-6)},
    ),
)
