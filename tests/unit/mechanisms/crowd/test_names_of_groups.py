"""Any name that a group may have gives the same table: none is taken for a column that a stage uses by itself.

A stage by group runs after noise was drawn, so that a name on which it fails would cost a budget.
"""

import re
from pathlib import Path

import pytest

import hubbub
from hubbub import engines, steps
from hubbub.audit.tiny import MODE
from hubbub.errors import ParameterError
from hubbub.mechanisms import Crowd, crowd
from hubbub.noise import SeededNoise
from hubbub.public.groups import Grouping
from hubbub.release.rows import named_rows

SQL = [
    *(Path(steps.__file__).with_name(f"{name}.py") for name in ("holdings", "pools", "roots", "weights")),
    Path(crowd.__file__).with_name("cells.py"),
    Path(crowd.__file__).with_name("groups.py"),
    Path(engines.__file__).with_name("duckdb.py"),
]
NAMES = sorted({name for path in SQL for name in re.findall(r"\bAS ([a-z][a-z0-9_]+)\b", path.read_text())})
COLUMNS = {"user": "who", "time": "time", "query": "asked"}


def cells(folder: Path, name: str) -> tuple[set[tuple[str, str]], list[int]]:
    """Cells by a group of this name, and the sizes of full pools: two users are in every group."""
    rows = [f"u{i},{1000 + i},q{q},{land}" for i in range(40) for q in range(3) for land in "ABC"[: 3 if i < 2 else 1]]
    (folder / "log.csv").write_text("\n".join(["who,time,asked,land", *rows]))
    grouping, table = Grouping(name, ("A", "B"), "land"), f"queries_by_{name}"
    made = Crowd(epsilon=8, delta="1e-3", language="none", rounds=2, D_g=4, tables=["queries"], by=[grouping])
    with hubbub.read_log(folder / "log.csv", format="table", columns=COLUMNS, by={name: "land"}) as log:
        measured = made.measure(log, MODE)
        found = named_rows(log, made, table, measured, made.draw(measured, SeededNoise(3))).to_pylist()
        sizes = log.engine.fetch(f"SELECT uid, count(*) AS n FROM pool_{table} GROUP BY uid").column("n").to_pylist()
    return {(row[name], row["query"]) for row in found}, sorted(sizes)


@pytest.mark.parametrize("name", [*NAMES, "c1", "c6", "lam"])
def test_a_group_of_any_name_is_refused_or_read(name: str, tmp_path: Path) -> None:
    try:
        Grouping(name, ("A", "B"), "land")
    except ParameterError:
        return
    found, sizes = cells(tmp_path, name)
    assert found >= {("A", "q0"), ("A", "q1"), ("A", "q2")}, "40 users each, at ε = 8: fixed by the seed"
    assert sizes == [3] * 38 + [4] * 2


def drawn(folder: Path, *names: str) -> set[str]:
    """The tables of a release divided by groups of these names."""
    rows = [f"u{i},{1000 + i},q{q},A,B" for i in range(20) for q in range(2)]
    (folder / "log.csv").write_text("\n".join(["who,time,asked,one,two", *rows]))
    by = dict(zip(names, ("one", "two"), strict=True))
    groups = [Grouping(name, ("A", "B"), column) for name, column in by.items()]
    made = Crowd(epsilon=8, delta="1e-3", language="none", rounds=2, tables=["queries"], by=groups)
    with hubbub.read_log(folder / "log.csv", format="table", columns=COLUMNS, by=by) as log:
        return set(made.draw(made.measure(log, MODE), SeededNoise(3)))


def test_no_table_of_a_group_is_taken_for_one_of_another(tmp_path: Path) -> None:
    assert drawn(tmp_path, "by_x", "x_marks") == {"queries", "queries_by_by_x", "queries_by_x_marks"}
    with pytest.raises(ParameterError, match="too much alike"):
        drawn(tmp_path, "age", "age_2")
