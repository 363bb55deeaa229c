"""Classes of cells: the same in SQL and by numbers, each cell in one of them, F shared by all, users of length one."""

from collections import Counter
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub.engines.duckdb import DuckDB
from hubbub.errors import ParameterError
from hubbub.mechanisms.crowd.calibrate import closed
from hubbub.mechanisms.crowd.cells import CLASSES, ExpectedCells, GroupSizes, mark_of
from hubbub.mechanisms.crowd.groups import group_sizes
from hubbub.mechanisms.rounds import Selection
from hubbub.public.groups import group_by
from hubbub.steps.keys import CLICKS, QUERIES, Keys, divided

PLAN = Selection(3, (1, 2), (640, 1280), 100, (), ())
"""σ = √1920/24, about 1.8 users."""
GROUPING = group_by("land", "country", ["AA", "BB", "CC"])


def made(seed: int, base: Keys = QUERIES, *, n: int = 40) -> ExpectedCells:
    random = np.random.default_rng(seed)
    users = np.rint(random.pareto(0.7, n) * 3).astype(np.int64)
    sizes = np.rint(random.pareto(0.7, 4) * 500 - 400).astype(np.int64)
    keys = pa.table({column: [f"{column} {i}" for i in range(n)] for column in base.columns})
    return ExpectedCells(base, GROUPING, keys, users, sizes, PLAN)


def by_hand(cells: ExpectedCells) -> dict[tuple[Any, ...], int]:
    """The class of every cell: whole deviations of the noise in its expected users, in fractions."""
    sizes = [max(1, int(n)) for n in cells.sizes]
    deviation = Fraction(43, 24)  # isqrt(1920) = 43
    found = {}
    for group, size in zip(GROUPING.groups, sizes, strict=True):
        for key, users in zip(cells.keys.to_pylist(), cells.users.tolist(), strict=True):
            expected = Fraction(users * size, sum(sizes)) / deviation
            found[group, *key.values()] = sum(expected >= one.above for one in CLASSES[1:])
    return found


@pytest.mark.parametrize("base", [QUERIES, CLICKS], ids=["queries", "clicks"])
@pytest.mark.parametrize("seed", range(6))
def test_every_cell_is_in_the_class_that_sql_and_numbers_say(seed: int, base: Keys, tmp_path: Path) -> None:
    cells = made(seed, base)
    right = by_hand(cells)
    assert len(set(right.values())) > 2
    domains = [domain for domain, _ in cells.domains(Fraction(1))]
    for number, domain in enumerate(domains):
        rows = domain.rows(np.arange(domain.size)).to_pylist()
        assert Counter(tuple(row.values()) for row in rows) == Counter(c for c, one in right.items() if one == number)
    with closing(DuckDB(tmp_path)) as engine:
        cells.register(engine)
        marks = engine.fetch(f"SELECT * FROM {domains[0].table}").to_pylist()
        engine.register("asked", pa.Table.from_pylist([{k: v for k, v in row.items() if k != "mark"} for row in marks]))
        weighed = engine.fetch(cells.weighed("asked")).to_pylist()
    assert {tuple(row.values())[:-1]: row["mark"] for row in marks} == {c: mark_of(one) for c, one in right.items()}
    columns = ("land", *base.columns)
    assert {tuple(row[c] for c in columns): row["g"] for row in weighed} == {
        c: CLASSES[one].amplitude ** 2 for c, one in right.items()
    }
    places = np.array([cells.keys.to_pylist().index(dict(zip(base.columns, c[1:], strict=True))) for c in right])
    groups = np.array([GROUPING.groups.index(c[0]) for c in right])
    assert cells.classes(places, groups).tolist() == list(right.values())


@pytest.mark.parametrize("seed", range(6))
def test_all_classes_together_spend_what_they_have(seed: int) -> None:
    cells, false = made(seed), Fraction(3, 2)
    domains = cells.domains(false)
    assert sum(part for _, part in domains) == false
    assert sum(domain.size for domain, _ in domains) == 4 * 40
    levels = [closed(PLAN, domain.size, part).thresholds[-1] for domain, part in domains if domain.size]
    assert len(set(levels)) > 1, "where cells are likely the level is lower"


def test_without_numbers_all_cells_are_alike() -> None:
    cells = ExpectedCells(QUERIES, GROUPING, made(1).keys, np.zeros(40, np.int64), made(1).sizes, PLAN)
    assert [domain.size for domain, _ in cells.domains(Fraction(1))] == [160, 0, 0, 0, 0, 0, 0]


def test_marks_are_none_of_those_that_mean_something_else() -> None:
    assert [mark_of(number) for number in range(len(CLASSES))] == [0, 2, 3, 4, 5, 6, 7]


def test_a_user_has_length_one_in_the_sizes_of_groups(tmp_path: Path) -> None:
    rows = [("u", "AA", f"q{i}") for i in range(30)] + [("u", "BB", "q1"), ("v", "CC", "q1")]
    held = pa.table(dict(zip(("uid", "land", "query"), map(list, zip(*rows, strict=True)), strict=True)))
    kind = divided(QUERIES, GROUPING)
    with closing(DuckDB(tmp_path)) as engine:
        engine.register("held", held)
        both = group_sizes(engine, Keys("x", kind.columns, "SELECT * FROM held", ()), GROUPING, 10)
    assert both.tolist() == [1023, 34, 1024, 0], "30 : 1 of 1024, as integers; somebody; nobody"
    assert sum(int(n) ** 2 for n in both[:2]) <= 4**10


def test_the_noise_of_sizes_is_what_is_paid_for() -> None:
    for mu2 in (Fraction(1, 100), Fraction(3, 10**7), Fraction(1, 10**9)):
        sizes = GroupSizes.of("x", mu2)
        assert Fraction(4**sizes.bits, sizes.variance - 4) <= mu2
    with pytest.raises(ParameterError, match="more noise"):
        GroupSizes.of("x", Fraction(1, 10**14))
