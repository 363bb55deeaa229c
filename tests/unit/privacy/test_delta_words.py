"""What δ is: the words by kind of noise, against numbers computed here by other means; and no false ones."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from hubbub.card.build import build_card
from hubbub.card.facts import Booked, Facts
from hubbub.card.owner import Owner
from hubbub.card.schema import Card
from hubbub.mechanisms import build
from hubbub.privacy.account import release_probability
from hubbub.privacy.delta import MEANS, PURE, SHORT, USUAL, means
from hubbub.show.page import Shown, render

ROOT = Path(__file__).resolve().parents[3]
FALSE = re.compile(
    r"chance\s+that\s+(it|ε|the\s+bound)\s+(does\s+not\s+hold|fails)|failure\s+chance|chance\s+of\s+failure\s+<",
    re.IGNORECASE,
)


EMPTY = Shown("queries", ["query", "users", "noise_sd"], 0, [])


def card_of(name: str, **settings: object) -> Card:
    facts = Facts(Owner(), Booked("p", "d", 1, 0.0, 1.0, None, (), ()), "user", False, 0.05, 20_000)
    return build_card(build(name, settings), facts)


def excess(epsilon: float, mu: float) -> float:
    """δ of N(μ, 1) against N(0, 1), by integrating what is above e^ε times."""
    start = epsilon / mu + mu / 2
    return quad(lambda x: norm.pdf(x - mu) - np.exp(epsilon) * norm.pdf(x), start, start + 20, epsabs=0)[0]


def passes(epsilon: float, mu: float) -> float:
    """The chance, under N(μ, 1), of an x whose density ratio e^(μx − μ²/2) is above e^ε."""
    return float(norm.sf(epsilon / mu + mu / 2, loc=mu))


@pytest.mark.parametrize(("epsilon", "delta", "multiple"), USUAL)
def test_the_range_that_is_stated_for_gaussian_noise(epsilon: float, delta: float, multiple: int) -> None:
    mu = brentq(lambda m: np.log(excess(epsilon, m)) - np.log(delta), epsilon / 8, epsilon)
    assert round(passes(epsilon, mu) / delta) == multiple


@pytest.mark.parametrize("name", ["crowd", "gaussian", "sips", "adaptive"])
@pytest.mark.parametrize("epsilon", [0.5, 2, 8])
def test_a_gaussian_card_states_its_own_multiple(name: str, epsilon: float) -> None:
    card = card_of(name, epsilon=epsilon, delta="1e-6")
    stated = re.search(r"about (\S+) δ for this noise", card.claim.delta_means)
    assert stated and card.claim.delta
    laws: list[Any] = [step.law for step in card.steps]
    mu2 = float(sum(Fraction(x) for law in laws for x in law["mu2"]))
    assert float(stated[1]) == pytest.approx(passes(epsilon, mu2**0.5) / card.claim.delta, rel=0.06)
    assert 3 < float(stated[1]) < 40, "never δ itself"


def test_after_a_laplace_threshold_delta_is_the_chance_of_a_key_of_ones_own() -> None:
    card = card_of("korolova", epsilon=1, delta="1e-6", d=5)
    assert card.claim.delta_means == MEANS["discrete-laplace"]
    mechanism = build("korolova", {"epsilon": 1, "delta": "1e-6", "d": 5})
    step = mechanism.steps()[0]
    own = float(release_probability(step.scale, step.threshold, 1))  # type: ignore[union-attr,arg-type]
    assert card.claim.delta == pytest.approx(1 - (1 - own) ** 5, rel=1e-6)


def test_coins_pass_the_factor_oftener_than_delta_and_by_little() -> None:
    mechanism = build("geometric", {"epsilon": 1, "delta": "1e-6"})
    card = card_of("geometric", epsilon=1, delta="1e-6")
    assert card.claim.delta_means == MEANS["coins"]
    chances = mechanism.steps()[0].chances / 2.0**64  # type: ignore[union-attr]
    assert chances[1] == pytest.approx(1e-6, rel=1e-6), "a key that she alone holds"
    over = chances[1:] > np.e * chances[:-1] * (1 + 1e-12)
    assert chances[1:][over].max() > 0.1, "loss above ε with a chance far above δ"
    assert (chances[1:] - np.e * chances[:-1]).max() <= 1e-6 * (1 + 1e-9), "but never by more than δ"


def test_pure() -> None:
    steps = build("korolova", {"epsilon": 1, "delta": "1e-6"}).steps()
    assert means(steps, 1.0, 0.0) == PURE
    assert means(steps, None, None) == means((), 1.0, 1e-6) == ""


@pytest.mark.parametrize(("name", "settings"), [("crowd", {}), ("korolova", {"d": 5}), ("geometric", {})])
def test_page_and_card_say_the_same(name: str, settings: dict[str, object]) -> None:
    card = card_of(name, epsilon=2, delta="1e-6", **settings)
    assert card.claim.delta_means
    assert card.claim.delta_means in render(card, [EMPTY])["index.html"]


def test_a_card_from_before_is_read_and_says_nothing_here() -> None:
    document = card_of("crowd", epsilon=2, delta="1e-6").document()
    del document["claim"]["delta_means"]  # type: ignore[attr-defined]
    assert Card.model_validate(document).claim.delta_means == ""


def test_the_false_sentence_is_nowhere() -> None:
    """Whoever writes it again should read the table in docs/choose.md first."""
    assert FALSE.search("roughly the chance that it does not hold") and FALSE.search("Failure chance δ")
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "README.md"]
    code = [p for p in (ROOT / "src").rglob("*") if p.suffix in (".py", ".html", ".md", ".js")]
    said = {str(p.relative_to(ROOT)): FALSE.search(p.read_text(encoding="utf-8")) for p in [*pages, *code]}
    assert {path: found[0] for path, found in said.items() if found} == {}
    assert SHORT in (ROOT / "docs" / "mechanisms" / "crowd.md").read_text(encoding="utf-8")
