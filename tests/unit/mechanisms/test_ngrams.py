"""ngrams: keys by hand and against plain Python, parameters, and the theorem on tiny logs, run by run."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.checks.exact import distribution, hockey_stick
from hubbub.audit.protocols import Event, Subject
from hubbub.audit.tiny import measured, values_of
from hubbub.errors import InputError, ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.ngrams import held_at_most
from hubbub.steps.counts import LocalCounts
from hubbub.steps.sessions import SEPARATOR
from hubbub.testing import check_mechanism

RAW: dict[str, Any] = {"b": 1, "K": 3}


@pytest.mark.parametrize(
    ("settings", "context"),
    [
        ({"epsilon": 1, "delta": "1e-2", "l_max": 2}, {"neighbours": "replace"}),
        ({"l_max": 2, "n_max": 2, "b": "3/2", "K": "3.5"}, {}),
    ],
)
def test_the_contract_holds(settings: dict[str, Any], context: dict[str, Any]) -> None:
    check_mechanism(build("ngrams", settings, **context))


def counted(settings: dict[str, Any], log: list[Event]) -> dict[tuple[str, ...], int]:
    found = measured(Subject.of(build("ngrams", RAW | settings)), log).by_key("ngrams")
    return {tuple(key[0].split(SEPARATOR)): n for key, n in found.items()}


def test_by_hand() -> None:
    log: list[Event] = [
        ("ann", 5, "a", None),
        ("ann", 9000, "b", "site"),
        ("ann", 9000, "b", "other"),
        ("ann", 9001, "a", None),
        ("ann", 9002, "b", None),
        ("bob", 1, "a", None),
        ("bob", 2, "b", None),
        ("eve", None, "a", None),
    ]
    assert counted({"l_max": 3, "n_max": 2}, log) == {("a",): 2, ("b",): 2, ("a", "b"): 2, ("b", "a"): 1}
    assert counted({"l_max": 3, "n_max": 3}, log)[("a", "b", "a")] == 1, (
        "across a pause; a search with two clicks is one"
    )
    assert counted({"l_max": 1, "n_max": 3}, log) == {("a",): 2}, "of her first search alone"
    with pytest.raises(InputError, match="no times"):
        counted({}, log[-1:])


@pytest.mark.parametrize(("l_max", "n_max"), [(4, 3), (2, 4), (7, 1)])
def test_against_plain_python_and_the_limits(l_max: int, n_max: int) -> None:
    draw = random.Random(l_max)  # noqa: S311
    log: list[Event] = [(f"u{draw.randrange(5)}", draw.randrange(30), draw.choice("pqr"), None) for _ in range(60)]
    expected: Counter[tuple[str, ...]] = Counter()
    for user in {u for u, *_ in log}:
        history = [q for _, q in sorted({(t or 0, q) for u, t, q, _ in log if u == user})][:l_max]
        grams = {tuple(history[i : i + n]) for n in range(1, n_max + 1) for i in range(len(history) - n + 1)}
        assert len(grams) <= held_at_most(l_max, n_max)
        expected.update(grams)
    assert counted({"l_max": l_max, "n_max": n_max}, log) == expected
    distinct: list[Event] = [("greedy", i, f"own{i}", None) for i in range(20)]
    whole = counted({"l_max": l_max, "n_max": n_max}, distinct)
    assert sum(any(q.startswith("own") for q in key) for key in whole) == held_at_most(l_max, n_max), "the limit is met"


@pytest.mark.parametrize(("l_max", "n_max", "L"), [(1, 1, 1), (2, 2, 3), (5, 3, 12), (2, 5, 3)])
def test_what_one_user_adds(l_max: int, n_max: int, L: int) -> None:
    mechanism = build("ngrams", {"epsilon": 2, "delta": "1e-6", "l_max": l_max, "n_max": n_max})
    assert held_at_most(l_max, n_max) == mechanism.steps()[0].l0 == L
    proven = mechanism.proven()
    assert proven.epsilon == 2 and proven.delta is not None and proven.delta <= 1e-6
    lower = build(
        "ngrams", {k: str(v) for k, v in mechanism.settings.items()} | {"K": int(mechanism.settings["K"]) - 1}
    )
    assert lower.loss().delta > 1e-6, "the threshold could be lower"


def test_the_theorem_on_tiny_logs_is_met_and_not_passed() -> None:
    """Two searches of her own: three keys that nobody else has, and three that others have; every run enumerated."""
    mechanism = build("ngrams", {"l_max": 2, "n_max": 2, "b": 1, "K": 3})
    subject, loss = Subject.of(mechanism), mechanism.loss()
    assert loss.epsilon == 3
    victim: tuple[Event, ...] = (("victim", 1, "a", None), ("victim", 2, "b", None))
    bystander: tuple[Event, ...] = (("other", 5, "a", None),)
    for base, tight in (((), True), (bystander, False)):
        small, large = (distribution(subject, measured(subject, log), 9) for log in (base, base + victim))
        lumped = small[1] + large[1]
        worst = max(hockey_stick(small[0], large[0], loss.epsilon), hockey_stick(large[0], small[0], loss.epsilon))
        assert worst <= loss.delta + lumped
        if tight:
            r = math.exp(-3) / (1 + math.exp(-1))
            assert loss.delta == pytest.approx(1 - (1 - r) ** 3) == pytest.approx(worst, abs=lumped)


def test_the_rule_is_at_least_and_bad_parameters_are_named() -> None:
    mechanism = build("ngrams", {"b": 1, "K": 9})
    released = mechanism.draw({"ngrams": LocalCounts(np.array([9, 10, 11]))}, NoNoise())["ngrams"]
    assert released.ids.tolist() == [1, 2] and values_of(released) == [10, 11]
    for settings, word in (
        ({"epsilon": 1}, "privacy budget"),
        ({"epsilon": 1, "delta": "1e-6", "b": 2}, "not both"),
        ({"epsilon": 1, "delta": "1e-6", "l_max": 1000, "n_max": 11}, "range"),
        ({"epsilon": "1e-9", "delta": "1e-6", "l_max": 1000}, "cannot be drawn"),
    ):
        with pytest.raises(ParameterError, match=word):
            build("ngrams", settings)
