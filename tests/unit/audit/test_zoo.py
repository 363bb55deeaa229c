"""The zoo of other people's mechanisms: everything it declares is there, and many runs as one are told apart again."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ZOO = Path(__file__).parents[3] / "bench" / "zoo"
RIVALS: list[dict[str, Any]] = tomllib.loads((ZOO / "rivals.toml").read_text(encoding="utf-8"))["rival"]


def loaded(name: str) -> ModuleType:
    """A file of the zoo, which stands outside the package."""
    spec = importlib.util.spec_from_file_location(f"zoo_{name}", ZOO / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("rival", RIVALS, ids=[rival["name"] for rival in RIVALS])
def test_a_rival_has_its_subject_and_its_pinned_versions(rival: dict[str, Any]) -> None:
    module, _, name = rival["subject"].partition(":")
    assert f"\ndef {name}(" in (ZOO / f"{module}.py").read_text(encoding="utf-8")
    assert loaded("run").versions(rival["environment"])
    if rival["environment"]:
        pins = (ZOO / "requirements" / f"{rival['environment']}.txt").read_text(encoding="utf-8").split()
        assert pins and all("==" in pin for pin in pins)


def test_copies_of_a_log_are_told_apart() -> None:
    shared = loaded("shared")
    log = {"u": ["a", "b", "a"], "v": ["a:1"]}
    copies = shared.copies(log, 3)
    assert len(copies) == 6
    assert len({key for keys in copies.values() for key in keys}) == 9
    released = [(key, 1) for keys in copies.values() for key in dict.fromkeys(keys)]
    assert shared.apart(released, 3) == [{"a": 1, "a:1": 1, "b": 1}] * 3
    assert shared.counted(log, 1).keys() <= {"a", "b", "a:1"}
    assert sum(shared.counted(log, 2).values()) == 3


def test_the_rule_that_was_refuted_gives_valid_n_grams_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shared", loaded("shared"))
    ngrams = loaded("ngrams_subject")
    sigma = ngrams.scale(1.0, 0.01)
    left, right = (ngrams.NORMAL.cdf(0.5 * sign / sigma - sigma) for sign in (1, -1))
    assert abs(left - 2.718281828459045 * right - 0.01) < 1e-9, "one Gaussian step of (1, 0.01)"
    monkeypatch.setattr(ngrams.dice, "gauss", lambda mean, sd: 0.0)
    monkeypatch.setattr(ngrams.dice, "sample", lambda others, number: others[-number:] if number else [])
    found = {}
    for rule in ("valid", "pairs"):
        coins = iter([1.0] * 98 + [0.0] * 20)  # no pair of words that nobody holds, then every coin says yes
        monkeypatch.setattr(ngrams.dice, "random", lambda coins=coins: next(coins))
        found[rule] = ngrams.release({}, rule=rule, epsilon=1.0, delta=0.02, eta=0.1)
    assert "own" in found["valid"], "the one valid n-gram that nobody holds comes out"
    assert "own" not in found["pairs"], "another one came out in its place"
    assert len(found["valid"]) == len(found["pairs"])
