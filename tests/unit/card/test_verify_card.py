"""The checker beside hubbub: it agrees with every card, and sees each number that was changed."""

from __future__ import annotations

import copy
import importlib.util
import json
import math
import random
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hubbub.card.build import build_card
from hubbub.card.facts import Booked, Facts
from hubbub.card.owner import Owner
from hubbub.card.schema import integrity
from hubbub.mechanisms import build_stated
from hubbub.privacy.account import threshold_delta
from hubbub.privacy.compose import gaussian_delta
from hubbub.public.lists import QueryPool

FILE = Path(__file__).parents[3] / "verify" / "verify_card.py"
POOL = QueryPool("pool", None, "0" * 64, 1000, "a catalogue", "pool")


@pytest.fixture(scope="module")
def checker() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("verify_card", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["verify_card"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["verify_card"]


def card_of(name: str, settings: dict[str, Any], *, seeded: bool = False, **context: Any) -> Any:
    """A card as it is written, of a release that was never drawn."""
    booked = Booked("people", "march", 1, 0.0, 1.0, None, (), ())
    facts = Facts(Owner(), booked, "user", seeded, 0.01, 5000, audit={})
    return json.loads(build_card(build_stated(name, settings, **context), facts).text())


def some(draw: random.Random) -> Any:
    """The card of a mechanism, drawn with its parameters."""
    epsilon = str(Fraction(draw.randrange(1, 200), draw.choice([10, 25, 100])))
    settings: dict[str, Any] = {"epsilon": epsilon, "delta": f"{draw.randrange(1, 10)}e-{draw.randrange(3, 13)}"}
    keys = draw.choice([1, 2, 5, 20])
    name = draw.choice(
        ["crowd", "items", "gaussian", "sips", "adaptive", "geometric", "korolova", "zealous", "sessions", "optimal",
         "ngrams", "safelog"]
    )  # fmt: skip
    context: dict[str, Any] = {}
    if name in ("korolova", "zealous", "sessions", "optimal"):
        context["neighbours"] = draw.choice(["add-remove", "replace"])
    if name == "crowd":
        settings["rounds"] = draw.choice([1, 2, 5])
        context["tables"] = draw.choice([["queries"], ["queries", "clicks"], None])
    elif name == "items":
        name, settings["kind"] = "crowd", "items"
    elif name in ("gaussian", "sips", "adaptive", "korolova", "geometric"):
        settings["d"] = keys
        if name == "gaussian":
            settings["weights"] = draw.choice(["unit", "sqrt"])
        elif name == "korolova":
            context["tables"] = draw.choice([["queries"], ["queries", "clicks"]])
    elif name == "zealous":
        settings["m"] = keys
    elif name == "safelog":
        del settings["delta"]
        context["pool"] = POOL
    return card_of(name, settings, **context)


def broken(checker: ModuleType, card: Any) -> list[str]:
    return [line.what for line in checker.verify(card) if not line.holds]


@pytest.mark.slow
def test_agrees_on_200_random_cards(checker: ModuleType) -> None:
    draw, seen = random.Random(31), set()  # noqa: S311
    for _ in range(200):
        card = some(draw)
        assert broken(checker, card) == [], card["mechanism"]
        seen.add((card["mechanism"]["name"], card["unit"]["neighbouring"]))
    assert len({name for name, _ in seen}) >= 11
    assert ("korolova", "replace") in seen


def test_agrees_on_a_series(checker: ModuleType) -> None:
    card = card_of("series", {"epsilon": 2, "delta": "1e-6", "periods": 4, "first": "2026-01-01"})
    assert broken(checker, card) == []
    card["steps"][0]["law"]["mu2"] = ["1/1000"]
    card["integrity"] = integrity(card)
    assert "the claim follows" in broken(checker, card)


def test_what_is_not_private_claims_nothing(checker: ModuleType) -> None:
    for card in (card_of("k-query", {"k": 5}), card_of("crowd", {"epsilon": 1, "delta": "1e-6"}, seeded=True)):
        assert broken(checker, card) == []
        card["claim"] |= {"epsilon": 1.0, "delta": 0.0}
        assert "what is not private claims nothing" in broken(checker, card)


def leaves(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every word and number of a card."""
    if isinstance(part, dict | list):
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            yield from leaves(value, (*path, key))
    else:
        yield path


def changed(card: Any, path: tuple[Any, ...]) -> Any:
    """The same card with another value at one place."""
    card = copy.deepcopy(card)
    *way, last = path
    part = card
    for key in way:
        part = part[key]
    value = part[last]
    if isinstance(value, bool):
        part[last] = not value
    elif isinstance(value, int | float):
        part[last] = value + 1 if isinstance(value, int) else value * 0.999 + (value == 0) * 1e-9
    elif value is None:
        part[last] = 1
    elif re.fullmatch(r"\d+(/\d+)?", value):
        part[last] = str(Fraction(value) * Fraction(999, 1000))
    else:
        part[last] = "other words"
    return card


def named(path: tuple[Any, ...]) -> str:
    return ".".join(str(key) for key in path if not isinstance(key, int))


def unseen(checker: ModuleType, card: Any) -> set[str]:
    """Where a forger who also writes a new hash is not seen."""
    found = set()
    for path in leaves(card):
        forged = changed(card, path)
        forged["integrity"] = integrity(forged)
        try:
            if not broken(checker, forged):
                found.add(named(path))
        except (checker.CannotCheck, LookupError, ValueError, TypeError, AttributeError, ArithmeticError):
            continue  # ends with 2: nobody takes that for an agreement
    return found


WORDS = {
    "card_version", "integrity", "claim.delta_means", "claim.also_holds_as.how", "claim.conditions", "claim.remarks",
    "claim.interactive", "claim.model", "claim.rho", "claim.strength", "claim.delta_vs_users.source",
    "mechanism.chosen", "mechanism.name", "mechanism.scope", "mechanism.tables", "mechanism.variant",
    "unit.column", "unit.means", "unit.name", "unit.not_protected",
    "steps.composes", "steps.keeps", "steps.mechanism", "steps.name", "steps.proof", "post_processing",
    "implementation.randomness.source", "implementation.randomness.sampler",
}  # fmt: skip
SECTIONS = (
    "release.", "bounding.", "accounting.", "data_dependent_choices.", "unprotected.", "checks.", "accuracy.",
    "hazards.", "mechanism.claimed.", "mechanism.public_lists.", "mechanism.parameters.", "implementation.",
)  # fmt: skip
NEVER = {
    "accounting.total_epsilon", "accounting.total_delta", "release.users_stated_by_owner",
    "implementation.randomness.seeded",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings", "context"),
    [
        ("crowd", {"epsilon": 1, "delta": "1e-6", "D": 10, "D_c": 5}, {"tables": ["queries", "clicks"]}),
        ("korolova", {"epsilon": 2, "delta": "1e-5", "d": 3}, {"neighbours": "replace"}),
        ("geometric", {"epsilon": 1, "delta": "1e-6", "d": 2}, {}),
    ],
)  # fmt: skip
def test_every_number_of_the_claim_that_is_changed_is_seen(
    checker: ModuleType, name: str, settings: dict[str, Any], context: dict[str, Any]
) -> None:
    card = card_of(name, settings, **context)
    missed = unseen(checker, card)
    words = {path for path in missed if path in WORDS or (path.startswith(SECTIONS) and path not in NEVER)}
    harmless = {"steps.scale"} if name != "korolova" else set()  # a field that these steps do not use
    harmless |= {"steps.epsilon", "steps.law.selects"} if name == "crowd" else set()
    if name == "korolova":  # one key more, or twice on one key, is no worse while a user has three searches in all
        harmless = {"steps.sensitivity.l0", "steps.sensitivity.linf"}
    harmless |= {"steps.domain", "steps.sensitivity.l1", "steps.sensitivity.linf"} if name == "geometric" else set()
    assert missed - words - harmless == set()


def test_any_change_shows_in_the_hash(checker: ModuleType) -> None:
    card = card_of("korolova", {"epsilon": 1, "delta": "1e-6"})
    for path in leaves(card):
        lines = list(checker.seal(changed(card, path)))
        assert not lines[0].holds, path


def test_its_formulas_agree_with_ours(checker: ModuleType) -> None:
    for epsilon in (1e-6, 0.01, 0.5, 1.0, 4.0, 20.0, 300.0):
        for mu in (0.001, 0.03, 0.2, 0.7, 2.0, 9.0):
            ours = gaussian_delta(epsilon, mu)
            if ours > 1e-290 and not (epsilon < 1e-3 and mu < 0.01):  # there ours loses digits
                assert math.isclose(checker.gaussian_excess(epsilon, mu * mu), ours, rel_tol=1e-9), (epsilon, mu)
    for bounds in ((1, 1, 1), (3, 7, 4), (5, 5, 2), (4, 16, 4), (2, 9, 6)):
        for threshold in (-3, 1, 4, 40):
            scale = Fraction(7, 3)
            theirs = checker.most_that_shows(scale, threshold, *bounds)
            assert math.isclose(theirs, threshold_delta(scale, threshold, *bounds), rel_tol=1e-12)


def test_the_command(checker: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = card_of("korolova", {"epsilon": 1, "delta": "1e-6"})
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card), encoding="utf-8")
    assert checker.main([str(path)]) == 0
    assert "All 12 checks hold." in capsys.readouterr().out
    card["claim"]["epsilon"] = 0.9
    path.write_text(json.dumps(card), encoding="utf-8")
    assert checker.main([str(path)]) == 1
    assert "NOT  the claim follows: ε = 1, δ = 6.07896203478e-07" in capsys.readouterr().out
    for nothing in ("{}", "[]", "no card"):
        path.write_text(nothing, encoding="utf-8")
        assert checker.main([str(path)]) == 2
    card["steps"][0]["noise"] = "staircase"
    path.write_text(json.dumps(card), encoding="utf-8")
    assert checker.main([str(path)]) == 2
    assert "cannot be checked: noise of these kinds in one release: staircase" in capsys.readouterr().out
    assert checker.main([]) == 2
    assert checker.main([str(tmp_path / "nowhere")]) == 2


def test_it_imports_nothing_of_ours(checker: ModuleType) -> None:
    used = re.findall(r"^(?:from|import) (\w+)", FILE.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(used) <= set(sys.stdlib_module_names)
