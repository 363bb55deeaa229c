"""A mechanism that somebody else registers: the audit looks at it by generic means, and says that it does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import pytest
from tests.conftest import Hubbub, document

from hubbub.audit import recurring, shared
from hubbub.audit.checks import generic
from hubbub.audit.mutants import Mutant
from hubbub.audit.protocols import Subject
from hubbub.audit.subjects import PLANS, AuditPlan
from hubbub.card import audited
from hubbub.errors import ParameterError
from hubbub.mechanisms.base import DELTA, EPSILON, Bound, Mechanism, Parameter, Released, Tables, Value
from hubbub.mechanisms.crowd import Crowd
from hubbub.noise import NoiseSource
from hubbub.privacy.account import Domain, Loss, Step, smallest_threshold
from hubbub.privacy.guarantee import Claim
from hubbub.steps import bound
from hubbub.steps.keys import QUERIES
from hubbub.steps.mode import RunMode

pytestmark = pytest.mark.slow


class Plain(Mechanism):
    """Users of a query, Laplace noise, a threshold."""

    name, paper, about, proof = "plain", "nobody", "a plug-in", "elsewhere"
    offers = {"queries": QUERIES}  # noqa: RUF012
    default_tables = ("queries",)
    variants = ("strict",)
    parameters: ClassVar[tuple[Parameter, ...]] = (EPSILON, DELTA)

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        return given

    def steps(self) -> tuple[Step, ...]:
        from decimal import Decimal

        scale, delta = 1 / Fraction(self.settings["epsilon"]), Fraction(self.settings["delta"])
        threshold = smallest_threshold(scale, Decimal(delta.numerator) / delta.denominator, 1, 1, 1)
        return (Step("queries", scale, threshold, 1, 1, 1, Domain.OPEN, self.proof),)

    def bounds(self) -> tuple[Bound, ...]:
        return (Bound("distinct queries per user", "l0", 1, "the first by time"),)

    def claimed(self) -> Claim:
        return Claim("nobody", None, None, True)

    def measure(self, log: Any, mode: RunMode) -> dict[str, Any]:
        from hubbub.steps.count import count

        return {"queries": count(log, QUERIES, bound.first_keys(QUERIES, 1), mode)}

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        (step,) = self.steps()
        assert step.threshold is not None
        n = counts["queries"].n
        noisy = n + noise.laplace("queries", step.scale, n.size)
        ids = (noisy >= step.threshold).nonzero()[0]
        q = math.exp(-1 / step.scale)
        return {"queries": Released(ids, noisy[ids], math.sqrt(2 * q) / (1 - q))}


class Boasting(Plain):
    """It books half of what it spends."""

    name = "boasting"

    def loss(self) -> Loss:
        loss = super().loss()
        return Loss(loss.epsilon / 2, loss.delta, loss.atoms, loss.tv)


class Weak(Plain):
    """It draws half of the noise it states."""

    name = "weak"

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        class Half:
            def laplace(self, step: str, scale: Fraction, size: int) -> Any:
                return noise.laplace(step, scale / 2, size)

        return super().perturb(counts, Half())  # type: ignore[arg-type]


class Chatty(Plain):
    """It publishes one row for every key of the log."""

    name = "chatty"

    def perturb(self, counts: Mapping[str, Any], noise: NoiseSource) -> Tables:
        n = counts["queries"].n
        return {
            "queries": Released((n > 0).nonzero()[0], n + noise.laplace("queries", self.steps()[0].scale, n.size), 1.0)
        }


class Broken(Plain):
    """It cannot count."""

    name = "broken"

    def measure(self, log: Any, mode: RunMode) -> dict[str, Any]:
        raise TypeError("no such thing")


class Choosy(Plain):
    """It needs to be told more than a budget."""

    name = "choosy"
    parameters = (EPSILON, DELTA, Parameter("who", "choice", "somebody", choices=("me", "you")))

    def resolve(self, given: dict[str, Value]) -> dict[str, Value]:
        if "who" not in given:
            raise ParameterError("Who?")
        return given


class Flock(Crowd):
    """A selection in rounds under another name."""

    name = "flock"


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with Mechanism.registry.added(Plain, Boasting, Weak, Chatty, Broken, Choosy, Flock):
        yield


def test_a_plug_in_gets_the_generic_checks(hubbub: Hubbub) -> None:
    result = hubbub("audit", "--quick", "--mechanism", "plain", "--json")
    rows = document(result)["rows"]
    assert isinstance(rows, list)
    assert f"plain: {generic.NO_SUBJECTS}" in result.output
    assert {r["verdict"] for r in rows} == {"not refuted"}
    checks = [r["check"] for r in rows]
    for start in (
        "certificate: ε",
        "noise as stated",
        "threshold as stated",
        "one user's share",
        "exact δ",
        "row order",
    ):
        assert any(c.startswith(start) for c in checks), start
    assert any(c.startswith(("byte difference of public/",)) for c in checks)
    exact = [r for r in rows if r["check"] == "exact δ(ε): a key of her own"]
    assert any(r["observed"] > 0.9 * r["bound"] for r in exact), "the law of a key of her own is enumerated, with power"
    assert audited.known()["plain strict"].checks == len(rows)


@pytest.mark.parametrize(
    ("name", "by"),
    [("boasting", "certificate: ε"), ("weak", "noise as stated"), ("chatty", "threshold as stated")],
)
def test_a_plug_in_that_promises_too_much_is_refuted(hubbub: Hubbub, name: str, by: str) -> None:
    result = hubbub("audit", "--quick", "--mechanism", name, "--json", code=1)
    rows = document(result)["rows"]
    assert isinstance(rows, list)
    refuted = [r["check"] for r in rows if r["verdict"] == "refuted"]
    assert any(check.startswith(by) for check in refuted), refuted


def test_what_cannot_be_run_is_said(hubbub: Hubbub) -> None:
    result = hubbub("audit", "--quick", "--mechanism", "broken")
    assert "not run" in result.output and "TypeError: no such thing" in result.output
    assert "certificate: ε" in result.output, "the certificate needs no log"
    result = hubbub("audit", "--quick", "--mechanism", "choosy")
    assert "not run" in result.output and "give it subjects of its own" in result.output
    assert "0 proven guarantees refuted" in result.output


def test_a_selection_in_rounds_is_known_by_what_it_is(hubbub: Hubbub) -> None:
    rows = document(hubbub("audit", "--quick", "--mechanism", "flock", "--json"))["rows"]
    assert isinstance(rows, list)
    assert {"μ² of every draw of a run", "one user's own key in every round, as stated"} <= {r["check"] for r in rows}


def test_mutants_of_a_plug_in(hubbub: Hubbub) -> None:
    for name in ("plain", "flock"):
        result = hubbub("audit", "--mutants", "--mechanism", name)
        assert f"{name}: {generic.NO_SUBJECTS}" in result.output and "caught" in result.output


def test_a_plug_in_may_bring_a_plan_of_its_own(hubbub: Hubbub) -> None:
    """Its own settings and mutants are used, and the checks that follow from what it is."""
    plan = AuditPlan(
        "plain",
        small=lambda: [Plain(epsilon=1, delta="0.05")],
        used=lambda: [Plain(epsilon=2, delta="1e-7")],
        mutants=lambda: [Mutant("half of the noise", lambda made: replace(Subject.of(made), perturb=weaker(made)))],
    )
    with PLANS.added(plan):
        result = hubbub("audit", "--quick", "--mechanism", "plain", "--json")
        rows = document(result)["rows"]
        assert isinstance(rows, list) and generic.NO_SUBJECTS not in result.output
        assert {r["verdict"] for r in rows} == {"not refuted"}
        assert {r["bound"] for r in rows if r["check"] == "certificate: ε"} == {1.0, 2.0}
        assert any(r["check"].startswith("sampled δ(ε)") for r in rows), "not only what is generic"
        found = document(hubbub("audit", "--mutants", "--mechanism", "plain", "--json"))["rows"]
        assert isinstance(found, list)
        assert [(r["mutant"], r["verdict"]) for r in found] == [("half of the noise", "caught")]
    with pytest.raises(ParameterError, match="already"), PLANS.added(replace(plan, name="crowd")):
        pass


def weaker(made: Mechanism) -> Any:
    return Weak(epsilon=made.given["epsilon"], delta=made.given["delta"]).draw


def test_an_audit_of_everything_goes_past_it(hubbub: Hubbub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.audit.suite.mechanisms", lambda: {"plain": Plain})  # the others have tests of their own
    for room in (shared, recurring):
        monkeypatch.setattr(room, "tests", lambda effort: iter(()))
    assert f"plain: {generic.NO_SUBJECTS}" in hubbub("audit", "--quick").output
