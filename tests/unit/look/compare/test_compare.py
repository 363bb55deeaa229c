"""compare: which rows there are, intervals by hand, cells that are kept, mistakes, and the look in the ledger."""

from __future__ import annotations

import csv
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.conftest import Hubbub, aol_lines, document

import hubbub
from hubbub.errors import OutputError, ParameterError
from hubbub.log import SearchLog, read_log
from hubbub.look.compare import CompareRequest, computed, draws
from hubbub.look.compare.cells import FOLDER, Cell
from hubbub.look.compare.choices import Sweep, choose
from hubbub.look.compare.place import place
from hubbub.look.compare.summary import Comparison, Row
from hubbub.mechanisms import mechanisms
from hubbub.noise import SeededNoise
from hubbub.privacy.ledger import Ledger
from hubbub.steps.mode import RunMode

BUDGET = {"epsilon": "4", "delta": "1e-3"}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchLog]:
    """A log on which every mechanism releases something."""
    path = tmp_path_factory.mktemp("compare") / "log.tsv"
    path.write_text("\n".join(aol_lines(400)) + "\n", encoding="utf-8")
    with read_log(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A public pool."""
    path = tmp_path_factory.mktemp("pool") / "pool.tsv"
    path.write_text("query\nweather\nnews\nmaps\nnobody asks this\n", encoding="utf-8")
    return path


def private() -> list[str]:
    """Every registered mechanism that proves something at a budget, found without compare's own code."""
    found = []
    for name, kind in mechanisms().items():
        given: dict[str, Any] = {k: v for k, v in BUDGET.items() if k in {p.name for p in kind.parameters}}
        if kind.takes_pool or kind(**given).proven().private:
            found.append(name)
    return found


# ------------------------------------------------------------------ which rows


def test_by_default_every_private_mechanism_is_a_row() -> None:
    rows = choose(None, BUDGET)
    assert [row.mechanism for row in rows] == private()
    assert len(rows) >= 10
    assert [row.mechanism for row in rows if row.reason] == ["safelog"]
    assert "pool" in next(row.reason for row in rows if row.reason)
    for row in rows:
        if not row.reason:
            proven = row.build().proven()
            assert proven.private and (proven.epsilon or 9) <= 4 + 1e-9 and (proven.delta or 0) <= 1e-3


def test_with_a_pool_nothing_is_left_out(pool: Path) -> None:
    rows = choose(None, BUDGET, pool=pool)
    assert not [row for row in rows if row.reason]
    assert next(r for r in rows if r.mechanism == "safelog").build().proven().delta == 0


def test_what_proves_nothing_is_compared_when_named() -> None:
    rows = choose(["k-query", "zealous:published", "zealous"], BUDGET | {"zealous:published.U": "1000"})
    assert [row.label for row in rows] == ["k-query", "zealous:published(U=1000)", "zealous"]
    assert rows[1].build().variant == "published" and rows[2].build().variant == "strict"


def test_a_sweep_changes_one_parameter_at_a_time() -> None:
    sweeps = [Sweep.read("epsilon=1,2,4"), Sweep.read("zealous.m=1,3")]
    rows = choose(["zealous", "geometric"], BUDGET, sweeps)
    assert [row.label for row in rows] == [
        "zealous",
        "zealous(epsilon=1)",
        "zealous(epsilon=2)",
        "zealous(m=3)",
        "geometric",
        "geometric(epsilon=1)",
        "geometric(epsilon=2)",
    ]
    assert rows[0].at == {"epsilon": "4", "zealous.m": "1"}  # the row as it is stands on both sweeps
    assert rows[3].at == {"zealous.m": "3"} and rows[3].build().settings["m"] == 3
    assert rows[1].build().proven().epsilon == pytest.approx(1)


def test_a_raw_parameter_proves_a_budget_of_its_own() -> None:
    rows = choose(["korolova"], BUDGET, [Sweep.read("K=50")])
    assert rows[1].label == "korolova(K=50)"
    at, swept = (row.build() for row in rows)
    assert swept.settings == dict(at.settings) | {"K": 50}
    assert 0 < (swept.proven().delta or 0) < (at.proven().delta or 0)
    assert [Row.of(row, {}).raw for row in rows] == [False, True]


def test_a_log_counts_occurrences_and_other_tables_what_they_say() -> None:
    rows = choose(["optimal", "zealous", "sessions:published", "k-query"], BUDGET)
    assert [Row.of(row, {}).counts for row in rows] == ["count", "users", "count", "users"]


def test_a_row_on_two_sweeps_is_one_row() -> None:
    rows = choose(["zealous"], BUDGET, [Sweep.read("m=2"), Sweep.read("zealous.m=2,3")])
    assert [row.label for row in rows] == ["zealous", "zealous(m=2)", "zealous(m=3)"]
    assert rows[1].at == {"m": "2", "zealous.m": "2"}


def test_a_budget_may_be_swept_alone() -> None:
    rows = choose(["korolova"], {"delta": "1e-3"}, [Sweep.read("epsilon=1,2")])
    assert [row.label for row in rows] == ["korolova(epsilon=1)", "korolova(epsilon=2)"]


@pytest.mark.parametrize(
    ("names", "settings", "sweeps", "message"),
    [
        (["nothing"], BUDGET, [], "no such mechanism"),
        (["zealous:secret"], BUDGET, [], "no such variant"),
        (["zealous"], {"epsilon": "1"}, [], "--delta is missing"),
        (None, {}, [], "--delta and --epsilon is missing"),
        (["zealous"], BUDGET | {"d": "3"}, [], "None of the mechanisms has this parameter"),
        (["zealous"], BUDGET | {"crowd.D": "3"}, [], "not compared"),
        (["zealous"], BUDGET, ["m"], "cannot be read"),
        (["zealous"], BUDGET, ["m="], "cannot be read"),
        (["zealous"], BUDGET, [".m=1"], "cannot be read"),
        (["zealous"], BUDGET, ["q_f=1"], "None of the mechanisms has this parameter"),
        (["zealous"], BUDGET, ["m=0,-1"], "Nothing of this can run"),
        (["zealous"], BUDGET | {"epsilon": "-1"}, [], "Nothing of this can run"),
        (["zealous"], BUDGET, ["m=1", "m=2"], "swept twice"),
    ],
)
def test_mistakes_are_refused(
    names: list[str] | None, settings: dict[str, str], sweeps: list[str], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        CompareRequest(settings, names, sweeps=sweeps)


@pytest.mark.parametrize(
    "more", [{"draws": 0}, {"draws": 10**6}, {"seed": -1}, {"tasks": ["cooking"]}, {"truth": "/nowhere"}]
)
def test_other_mistakes_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(hubbub.errors.UserError):
        CompareRequest(BUDGET, ["zealous"], **more)


# ------------------------------------------------------------------ draws


@pytest.mark.parametrize("name", private())
def test_a_draw_is_the_same_after_others_as_alone(log: SearchLog, pool: Path, name: str) -> None:
    """What one draw leaves behind in the engine or in the measure must not reach the next."""
    row = choose([name], BUDGET, pool=pool)[0]
    mechanism, mode = row.build(), RunMode(SeededNoise(0).secret("bounding"))
    measured = mechanism.measure(log, mode)
    again = [draws.drawn(mechanism, measured, seed) for seed in (5, 6, 7)][-1]
    alone = draws.drawn(row.build(), row.build().measure(log, mode), 7)
    assert list(again) == list(alone) == list(mechanism.tables)
    for table in alone:
        assert again[table].ids.tolist() == alone[table].ids.tolist()
        np.testing.assert_equal(again[table].values, alone[table].values)
        rows = [getattr(one[table], "rows", None) for one in (again, alone)]
        assert rows[0] == rows[1]


def compared(log: SearchLog, out: Path, **more: Any) -> Comparison:
    """Three mechanisms, two draws."""
    asked = CompareRequest(BUDGET, more.pop("mechanisms", ["zealous", "sessions", "k-query"]), **({"draws": 2} | more))
    with place(out) as folder:
        return computed(asked, log, folder)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers(log: SearchLog, tmp_path: Path) -> None:
    one, two, other = (compared(log, tmp_path / f"{i}", seed=seed) for i, seed in enumerate((1, 1, 2)))
    assert one.record() == two.record()
    assert one.record()["rows"] != other.record()["rows"]


def test_rows_error_and_volume_by_hand(log: SearchLog, tmp_path: Path) -> None:
    """k-query publishes exact numbers of the queries of 20 users or more: weather and news of 400, maps of 200."""
    row = compared(log, tmp_path / "out", mechanisms=["k-query"]).rows[0]
    assert row.metrics["rows.queries"].mean == 3 and row.metrics["rows.queries"].low == 3
    assert row.metrics["error"].mean == 0
    assert row.metrics["volume"].mean == pytest.approx(1000 / 1400)
    assert row.metrics["rows.queries"].original == 403
    assert not row.proven["private"] and row.proven["definition"] == "k-anonymity"


def test_what_cannot_run_on_this_log_is_a_row_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    path.write_text("user\tquery\n" + "".join(f"{u}\tweather\n" for u in range(100)), encoding="utf-8")
    with read_log(path, format="table", columns={"user": "user", "query": "query"}) as without_times:
        found = compared(without_times, tmp_path / "out", mechanisms=["sessions", "zealous"], tasks=["suggestion"])
    sessions, zealous = found.rows
    assert "time" in sessions.reason and not sessions.metrics
    assert zealous.metrics["rows.queries"].mean == 1
    assert "suggestion" in zealous.not_evaluable
    assert sessions.reason in (tmp_path / "out/owner-only/compare.html").read_text(encoding="utf-8")
    assert sessions.reason in (tmp_path / "out/owner-only/compare.csv").read_text(encoding="utf-8")


# ------------------------------------------------------------------ what is kept


def cells(out: Path) -> dict[str, int]:
    """The cells that are there, and when each was written."""
    return {path.name: path.stat().st_mtime_ns for path in (out / "owner-only" / FOLDER).iterdir()}


def test_what_is_finished_is_not_computed_again(
    log: SearchLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    first = compared(log, out)
    before = cells(out)
    assert len(before) == 3 * 2 * 2  # mechanisms, draws, tasks (basics and counts)
    monkeypatch.setattr(draws.Bench, "run", lambda *_: pytest.fail("nothing is missing"))
    assert compared(log, out).record() == first.record()
    assert cells(out) == before


def test_only_what_is_missing_or_broken_is_done(log: SearchLog, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = compared(log, out)
    before = cells(out)
    lost, cut = sorted(before)[:2]
    (out / "owner-only" / FOLDER / lost).unlink()
    whole = (out / "owner-only" / FOLDER / cut).read_text(encoding="utf-8")
    (out / "owner-only" / FOLDER / cut).write_text(whole[: len(whole) // 2], encoding="utf-8")
    assert compared(log, out).record() == first.record()
    after = cells(out)
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} == {lost, cut}
    compared(log, out, draws=3)
    more = cells(out)
    assert all(more[name] == after[name] for name in after) and len(more) == 3 * 3 * 2


def test_other_parameters_seeds_and_code_are_other_cells(
    log: SearchLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    compared(log, out, mechanisms=["zealous"], draws=1)
    for more in ({"seed": 9}, {"sweeps": ["m=2"]}, {"tasks": ["fears"]}):
        before = len(cells(out))
        compared(log, out, mechanisms=["zealous"], draws=1, **more)
        assert len(cells(out)) > before, more
    before = len(cells(out))
    monkeypatch.setattr("hubbub.look.compare.run.code", lambda: "another version")
    compared(log, out, mechanisms=["zealous"], draws=1)
    assert len(cells(out)) == before + 2


def test_a_cell_of_something_else_is_not_taken(tmp_path: Path) -> None:
    cell, other = Cell({"draw": 1}), Cell({"draw": 2})
    cell.write(tmp_path, {"a": {"original": 1, "release": 2}})
    assert cell.read(tmp_path) == {"a": {"original": 1, "release": 2}}
    assert other.read(tmp_path) is None
    (tmp_path / cell.name).rename(tmp_path / other.name)
    assert other.read(tmp_path) is None
    (tmp_path / other.name).write_text("[]", encoding="utf-8")
    assert other.read(tmp_path) is None


def test_everything_is_marked_and_the_owners_alone(log: SearchLog, tmp_path: Path) -> None:
    compared(log, tmp_path / "out")
    folder = tmp_path / "out" / "owner-only"
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["owner-only"]
    assert "DO NOT PUBLISH" in (folder / "NOT-PRIVATE.txt").read_text(encoding="utf-8")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = [p for p in folder.rglob("*") if p.is_file() and p.name != "NOT-PRIVATE.txt"]
    assert {stat.S_IMODE(p.stat().st_mode) for p in files} == {0o600}
    assert "NOT PRIVATE. DO NOT PUBLISH" in (folder / "compare.html").read_text(encoding="utf-8")
    assert json.loads((folder / "compare.json").read_text(encoding="utf-8"))["owner_only"] is True


def test_other_folders_are_left_alone(released: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work", encoding="utf-8")
    for out in (released, tmp_path / "mine"):
        with pytest.raises(OutputError, match="something else"), place(out):
            pass


# ------------------------------------------------------------------ the command


COMMAND = ("--epsilon", "4", "--delta", "1e-3", "--mechanism", "zealous", "--mechanism", "sessions")


def test_the_command(hubbub: Hubbub, log_file: Path, tmp_path: Path, own_ledger: Path) -> None:
    out = tmp_path / "out"
    said = hubbub("compare", log_file, *COMMAND, "--draws", 2, "--sweep", "m=1,2", "--out", out, "--jobs", 1)
    assert "OWNER ONLY" in said.output and "zealous(m=2)" in said.output and "Student's t" in said.output
    with Ledger(own_ledger) as book:
        assert [look.command for look in book.looks("default", "default")] == ["compare"]
        assert not book.entries()
    rows = list(csv.DictReader((out / "owner-only" / "compare.csv").read_text(encoding="utf-8").splitlines()))
    volume = [row for row in rows if row["metric"] == "volume" and row["row"] == "zealous"]
    assert len(volume) == 1 and float(volume[0]["low"]) <= float(volume[0]["mean"]) <= float(volume[0]["high"])
    again = hubbub("compare", log_file, *COMMAND, "--draws", 2, "--sweep", "m=1,2", "--out", out, "--json", "--quiet")
    parsed = document(again)
    assert parsed == json.loads((out / "owner-only" / "compare.json").read_text(encoding="utf-8"))


def test_a_release_after_it_says_so(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    hubbub("compare", log_file, *COMMAND, "--draws", 1, "--jobs", 1)
    hubbub("release", log_file, "--mechanism", "zealous", *COMMAND[:4], "--format", "aol", "--out", tmp_path / "r")
    card = json.loads((tmp_path / "r" / "public" / "card.json").read_text(encoding="utf-8"))
    assert card["data_dependent_choices"][0]["informed_by"] == "raw"
    assert "compare" in card["data_dependent_choices"][0]["note"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--plot", "volume"), "--plot needs two metrics"),
        (("--plot", "volume,beauty"), "No row has this metric"),
        (("--jobs", "0"), "--jobs must be"),
        (("--sweep", "m"), "--sweep cannot be read"),
        (("--task", "cooking"), "no such task"),
    ],
)
def test_mistakes_end_with_exit_code_2(hubbub: Hubbub, log_file: Path, more: tuple[str, ...], message: str) -> None:
    said = hubbub("compare", log_file, *COMMAND, "--draws", 1, "--jobs", 1, *more, code=2)
    assert message in said.output and "Traceback" not in said.output


@pytest.mark.slow
def test_two_processes_say_what_one_says(log_file: Path, hubbub: Hubbub, tmp_path: Path) -> None:
    rows = []
    for jobs in (1, 2):
        run = ("compare", log_file, *COMMAND, "--draws", 2, "--jobs", jobs, "--out", tmp_path / f"{jobs}")
        hubbub(*run)
        rows.append(json.loads((tmp_path / f"{jobs}/owner-only/compare.json").read_text(encoding="utf-8"))["rows"])
    assert rows[0] == rows[1]


@pytest.mark.slow
def test_interrupted_it_keeps_what_is_finished(log_file: Path, tmp_path: Path) -> None:
    """The whole process group ends, nothing raw is left behind, and the next run only does the rest."""
    out, work = tmp_path / "out", tmp_path / "work"
    command = [sys.executable, "-m", "hubbub", "compare", str(log_file), *COMMAND, "--draws", "400", "--out", str(out)]
    command += ["--work", str(work), "--quiet"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    try:
        folder = out / "owner-only" / FOLDER
        until = time.monotonic() + 120
        while time.monotonic() < until and not (folder.is_dir() and any(folder.glob("*.json"))):
            time.sleep(0.1)
        os.kill(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=120)
    finally:
        running.kill()
    assert running.returncode == 130, said
    assert b"Traceback" not in said, said
    left = SimpleNamespace(cells=sorted(folder.glob("*.json")), raw=list(work.iterdir()))
    assert left.cells and not left.raw
    assert all(json.loads(path.read_text(encoding="utf-8"))["scores"] for path in left.cells)
    assert not (out / "owner-only" / "compare.html").exists()
