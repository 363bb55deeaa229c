"""The sentence of a guarantee, and when there is nothing to say."""

from __future__ import annotations

import math

import pytest

from hubbub.privacy.guarantee import ANYTHING, END_TO_END, SEEDED, Definition, Guarantee, Neighbours, finite


def guarantee(epsilon: float | None = 2.0, delta: float | None = 9.2e-7, scope: str = END_TO_END) -> Guarantee:
    definition = Definition.PURE if delta == 0 else Definition.APPROXIMATE
    return Guarantee(definition, epsilon, delta, Neighbours.ADD_REMOVE, scope=scope)


@pytest.mark.parametrize(
    ("x", "power", "text"),
    [
        (1 / 3, "e⁰·³³³³³⁴", "0.333334"),
        (0.30000000000000004, "e⁰·³", "0.3"),
        (1e-6, "e^(1e-06)", "1 × 10⁻⁶"),
        (9.99999e-7, "e^(9.99999e-07)", "1 × 10⁻⁶"),
        (1.0001e-6, "e^(1.0001e-06)", "1.01 × 10⁻⁶"),
        (12.5, "e¹²·⁵", "12.5"),
    ],
)
def test_the_sentence_never_says_less_than_is_proven(x: float, power: str, text: str) -> None:
    assert guarantee(epsilon=x, delta=x).sentence().endswith(f"by at most a factor {power}, plus {text}.")


def test_delta_comes_on_top_of_the_factor() -> None:
    """That is what (ε, δ) means for every mechanism; "except with probability δ" is more, and not always true."""
    assert guarantee().sentence("between May and June") == (
        "Adding or removing everything one user did between May and June changes the probability of any output "
        "by at most a factor e², plus 9.2 × 10⁻⁷."
    )
    assert guarantee(delta=0.0).sentence().endswith("by at most a factor e².")


@pytest.mark.parametrize(("epsilon", "delta"), [(None, None), (math.inf, 0.0), (2.0, 1.0)])
def test_where_nothing_is_proven_the_sentence_says_so(epsilon: float | None, delta: float | None) -> None:
    assert not guarantee(epsilon, delta).private
    assert guarantee(epsilon, delta).sentence().startswith("Nothing is proven")


def test_what_a_run_may_state() -> None:
    assert guarantee().of_run(seeded=False) == guarantee()
    runs = ((guarantee().of_run(seeded=True), SEEDED), (guarantee(delta=1.0).of_run(seeded=False), ANYTHING))
    for run, scope in runs:
        assert (run.definition, run.epsilon, run.delta, run.scope) == (Definition.NONE, None, None, scope)
        assert not run.private


def test_what_json_cannot_hold_is_null() -> None:
    assert [finite(x) for x in (None, math.inf, math.nan, 1.5)] == [None, None, None, 1.5]
