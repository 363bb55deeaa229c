"""The lemmas of crowd in exact numbers: they hold on every small case, and fail where a condition is broken."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[3] / "verify" / "crowd_lemmas.py"


@pytest.fixture(scope="module")
def lemmas() -> ModuleType:
    """The file, which stands by itself."""
    spec = importlib.util.spec_from_file_location("crowd_lemmas", FILE)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_novel_keys_on_every_small_case(lemmas: ModuleType) -> None:
    found = [lemmas.broken(case) for case in lemmas.family(large=False)]
    assert len(found) == 12
    assert [wrong for wrong, _ in found] == [[]] * len(found)
    assert sum(says for _, says in found) > len(found) / 2, "most cases bound something"


@pytest.mark.parametrize(("fault", "part"), [("NUMBER", "b"), ("LARGEST", "b"), ("HEAVY", "E")])
def test_a_condition_that_is_broken_breaks_a_lemma(lemmas: ModuleType, fault: str, part: str) -> None:
    cases = lemmas.family(large=False, fault=getattr(lemmas, fault))
    assert any(part in lemmas.broken(case)[0] for case in cases)


def test_shifts_that_follow_the_past(lemmas: ModuleType) -> None:
    found, allowed = lemmas.worst_policy(20, (2, 1), 0.5), lemmas.bound(20, (2, 1), 0.5)
    assert 0.5 * allowed < found < allowed
    fixed = lemmas.worst_policy(20, (0, 2), 0.5)
    assert fixed < found, "one step less tells less"
    assert lemmas.worst_policy(20, (4, 1), 0.5) > allowed, "twice the shift is not within the bound"
