"""Sizes at which the code takes another path: all of them are registered, read when they are used, and lowered."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import hubbub
from hubbub.audit.checks import independence, sizes
from hubbub.audit.mutants.sizes import SIZE_MUTANTS
from hubbub.audit.shared import DETECTORS
from hubbub.noise import SecureNoise
from hubbub.switches import PACKAGES, SWITCHES, Beyond, lowered, switch, switches

ROOT = Path(hubbub.__file__).parent
LEAST = 10
"""Numbers from here on might be a size."""

NO_SIZE = {
    "a bound on rounding, or the bits of a number": """noise.absent:_GUARD noise.gaussian:_GUARD noise.intervals:GUARD
        noise.laplace:_GUARD noise.tables:FIRST_PRECISION noise.tables:NEXT_PRECISION noise.tables:GUIDE_BITS
        noise.tables:WORD_BITS noise.binomial:GROUP_MEAN noise.source:SECRET_BYTES
        mechanisms.crowd.calibrate:LAMBDA_BITS
        mechanisms.crowd.histograms:GRID_BITS mechanisms.crowd.cells:SIZES_BITS
        mechanisms.rounds:GRID_BITS mechanisms.safelog.calibrate:GRID
        mechanisms.parameter:DIGITS mechanisms.series.constants:MOST_BITS
        mechanisms.series.constants:FINE mechanisms.series.counts:SCALE""",
    "a limit beyond which it is refused": """noise.bernoulli:DENOMINATOR_LIMIT ingest.arrays:HEAD
        noise.gaussian:NUMERATOR_LIMIT noise.laplace:SCALE_LIMIT noise.laplace:NUMERATOR_LIMIT noise.uniform:MOST
        steps.holdings:MOST mechanisms.crowd.cells:MOST
        mechanisms.rounds:WIDEST_NOISE mechanisms.safelog.perturb:MOST_PAIRS
        mechanisms.series.constants:WIDEST mechanisms.series.constants:ROOM
        mechanisms.sessions:MOST engines.spark.session:LEAST engines.spark.session:PATIENCE
        ingest.clickhouse:SECONDS ingest.clickhouse:KEPT""",
    "a bound on one user, and tests have users on both sides of it": """mechanisms.crowd.items:KEPT_MOST
        mechanisms.crowd.items:PASSES""",
    "a scale, and the audit samples the law on both sides": "noise.gaussian:DIRECT_BELOW noise.laplace:DIRECT_BELOW",
    "a rule for one line or one value, whatever else the log holds": """ingest.lines:MAX_LINE ingest.lines:NEWLINE
        ingest.lines:RETURN ingest.clean:BLANK ingest.numbers:LATEST ingest.numbers:MAX_RANK ingest.numbers:ISO_LENGTH
        ingest.times:YEAR_1990 ingest.times:YEAR_2100 ingest.times:FURTHEST
        ingest.proposal:HEAD ingest.proposal:LONGEST ingest.output:SHOWN
        ingest.schema:TEXT_KEPT ingest.sniff:LINES ingest.flat_objects:LOOKED ingest.flat_objects:EVERY
        ingest.flat_objects:DIGITS ingest.alike_objects:LONGEST""",
    "a unit, a width, a share, a number of bins or of letters": """steps.profile:BUSIEST steps.profile:WEEK
        steps.profile:HOUR steps.profile:MONDAY steps.sessions:GAP mechanisms.crowd.stages:KEYWORDS
        steps.pools:TURN mechanisms.crowd.stated:SMALLEST_POOL mechanisms.crowd.stated:FEW_USERS
        mechanisms.crowd.stated:USUAL_POOL mechanisms.crowd.items:LOOK_UNIT steps.ballots:LAST
        mechanisms.crowd.synthetic:SHORTEST mechanisms.crowd.synthetic:LONGEST mechanisms.crowd.synthetic:ORDINARY
        mechanisms.optimal.sample:WORDS
        mechanisms.series.constants:LEVELS mechanisms.series.counts:PAIRS
        mechanisms.safelog.calibrate:RELEASED mechanisms.survival:REACH mechanisms.crowd.common:GROUP
        engines.contract:DRAWN""",
}
NOT_PRIVATE = ("mechanisms/anonymity/", "mechanisms/optimal/")
"""Baselines without a guarantee, and the optimisation of `published`, of which nothing is proven …"""
BUT = ("__init__", "histograms", "sample", "strict")
"""… but for what `optimal` strict is made of."""
IN_COMPARISONS = {
    "steps/bound.py: len(secret) < 16",
    "steps/holdings.py: int(sums.max()) >= 1 << 56",
    "mechanisms/crowd/combine.py: len(bins) >= 12",  # reached in the audit, where BIN is 1
}
"""Numbers written into a comparison of a length or of a size: refusals, and one that follows from a switch."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if name.startswith(NOT_PRIVATE) and not ("optimal" in name and path.stem in BUT):
                continue
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def number(node: ast.expr) -> float | None:
    try:
        value = eval(compile(ast.Expression(node), "", "eval"), {"Fraction": Fraction, "__builtins__": {}})
    except Exception:
        return None
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value


def constants(tree: ast.Module) -> Iterator[tuple[str, float]]:
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            for name, value in zip(names, values, strict=False):
                if isinstance(name, ast.Name) and (found := number(value)) is not None and found >= LEAST:
                    yield name.id, found


def test_every_size_is_a_switch_or_said_to_be_none() -> None:
    """A new constant is either registered where it is defined, or listed above with the reason why it is no size."""
    said = {name for names in NO_SIZE.values() for name in names.split()}
    found = set()
    for path, tree in modules():
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        found |= {f"{module}:{name}" for name, _ in constants(tree)}
    assert found - said == set(), "make it with hubbub.switches.switch, or say why it is none"
    assert said - found == set(), "no longer there"


def test_no_size_is_written_into_a_comparison() -> None:
    found = set()
    for path, tree in modules():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Compare):
                continue
            text = ast.unparse(node)
            sized = any(word in text for word in ("len(", ".size", "num_rows", "nbytes", ".sum()", ".max()"))
            if sized and any((number(side) or 0) >= LEAST for side in (node.left, *node.comparators)):
                found.add(f"{path}: {text}")
    assert found == IN_COMPARISONS


def test_a_switch_is_read_when_it_is_used() -> None:
    """Imported by name, or made the default of a parameter, it would keep its usual size in an audit."""
    names = {(each.module, each.name) for each in switches().values()}
    for path, tree in modules():
        module = "hubbub." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert not [a.name for a in node.names if (node.module, a.name) in names], path
            if isinstance(node, ast.FunctionDef):
                defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
                used = {n.id for d in defaults for n in ast.walk(d) if isinstance(n, ast.Name)}
                assert not [name for name in used if (module, name) in names], path


def test_switches_are_lowered_and_put_back() -> None:
    every = switches()
    assert len(every) > 15 and {each.beyond for each in every.values()} == set(Beyond)
    with pytest.raises(KeyError), lowered() as chosen:
        assert {(each.module, each.name) for each in chosen} == {(each.module, each.name) for each in every.values()}
        assert all(getattr(import_module(each.module), each.name) == each.low < each.usual for each in chosen)
        raise KeyError
    assert all(getattr(import_module(each.module), each.name) == each.usual for each in every.values())


def test_a_new_switch_is_known_at_once() -> None:
    assert switch(__name__, "SOME", 1000, low=3) == 1000
    try:
        assert SWITCHES[f"{__name__}:SOME"].low == 3
    finally:
        del SWITCHES[f"{__name__}:SOME"]


@pytest.mark.slow
def test_a_large_draw_is_no_copy_of_itself() -> None:
    """At the real size; a false alarm has probability 1e-9: of 2^19 draws about 3 are like another, not 2^18."""
    for size in ((1 << 19) - 1, 1 << 19, (1 << 19) + 1):
        values = SecureNoise().laplace("queries", independence.SCALE, size)
        assert values.size == size and np.unique(np.abs(values)).size > size - 100


def test_the_audit_looks_at_both_sides() -> None:
    assert independence.tests in DETECTORS and sizes.tests in DETECTORS
    assert len(SIZE_MUTANTS) >= 6
