"""`pip install hubbub` brings the core: what needs more says which line to type, before it costs anything."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub

from hubbub.errors import NotInstalled
from hubbub.extras import EXTRAS, imported, line
from hubbub.ingest.excel import _rows
from hubbub.mechanisms.optimal.published.highs import installed
from hubbub.public.nouns import nouns
from hubbub.release.opened import Frame
from hubbub.show.charts import Chart, library
from hubbub.show.charts.vega import END
from hubbub.worth.tasks.measures import Lists, measured

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NONE = np.zeros(0, np.int64)
NOTHING = Lists(NONE, NONE, NONE, 0)
CHART = Chart("Users", "One bar.", {"data": {"values": [{"x": 1}]}, "mark": "bar", "encoding": {}})


def _excel(path: Path) -> object:
    with _rows(path / "log.xlsx") as rows:
        return rows


USES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "to_pandas": ("pandas", lambda path: Frame(path / "queries.parquet").to_pandas()),
    "to_polars": ("polars", lambda path: Frame(path / "queries.parquet").to_polars()),
    "png": ("charts", lambda _: CHART.png()),
    "svg": ("charts", lambda _: CHART.svg()),
    "solver": ("solver", lambda _: installed()),
    "measures": ("measures", lambda _: measured(("AP@5",), NOTHING, NOTHING)),
    "excel": ("excel", _excel),
    "nouns": ("pool", lambda _: nouns(pa.array(["house"]))),
}


@pytest.mark.parametrize("use", USES)
def test_without_the_extra_the_line_to_type(use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extra, call = USES[use]
    pq.write_table(pa.table({"query": ["a"]}), tmp_path / "queries.parquet")
    for module in [name for name in sys.modules if name.split(".")[0] in EXTRAS[extra].modules]:
        monkeypatch.delitem(sys.modules, module)
    for module in EXTRAS[extra].modules:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(NotInstalled) as told:
        call(tmp_path)
    assert line(extra) == f"pip install 'hubbub[{extra}]'" and line(extra) in str(told.value)
    assert told.value.exit_code == 2 and told.value.because is None


def test_the_solver_is_missed_before_the_log_is_read_or_anything_is_spent(
    hubbub: Hubbub, log_file: Path, own_ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    out = tmp_path / "out"
    asked = ("--mechanism", "optimal", "--variant", "published", "--epsilon", 1, "--delta", "0.1", "--not-private")
    told = hubbub("release", log_file, "--format", "aol", *asked, "--out", out, code=2)
    assert line("solver") in told.stderr and not out.exists()


def test_notebooks_do_without_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert set(CHART._repr_mimebundle_()) >= {"text/plain", "application/vnd.vegalite.v5+json"}
    assert "image/png" not in CHART._repr_mimebundle_()


def test_pages_draw_with_what_the_wheel_carries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carried = tmp_path / "vega.js"
    carried.write_text("the library" + END, encoding="utf-8")
    monkeypatch.setattr(library, "SHIPPED", carried)
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert library.library.__wrapped__() == "the library" + END


def test_the_extras_are_those_that_are_declared() -> None:
    declared = PROJECT["optional-dependencies"]
    assert {*EXTRAS, "dev"} == set(declared)
    core = " ".join(PROJECT["dependencies"])
    assert not [extra for extra in EXTRAS if declared[extra][0] in core]


def test_what_is_there_is_imported() -> None:
    assert imported("polars", "polars", "polars").__name__ == "polars"
    assert EXTRAS["polars"].missing() == []
