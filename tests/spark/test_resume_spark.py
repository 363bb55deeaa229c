"""`--work` on Spark: before the noise an interrupted run goes on from folders of Parquet; after it, it never draws."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import hubbub.log
from hubbub.card import check
from hubbub.engines import resumable
from hubbub.engines.resumable import Resumable
from hubbub.engines.spark import Spark
from tests.conftest import Hubbub
from tests.spark.conftest import Shared
from tests.unit.release.test_resume import command, kill, states

KOROLOVA = ("--format", "aol", "--mechanism", "korolova", "--epsilon", "2", "--delta", "1e-5", "--set", "d=3")
ON_SPARK = (*KOROLOVA, "--engine", "spark", "--master", "local[2]", "--memory", "1GB")

Make = Callable[[Path], Spark]


@pytest.fixture
def shared_session(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line without a session of its own, keeping every table that it computes."""
    monkeypatch.setattr(hubbub.log, "_engine", lambda name, work, *given: shared.engine(work))
    monkeypatch.setattr(resumable, "WORTH", 0)


def test_killed_before_the_noise_it_goes_on(
    shared_session: None,
    hubbub: Hubbub,
    log_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed when the budget was reserved: the next run reads what was counted, and pays nothing more."""
    hubbub("ledger", "cap", "default", "--epsilon", 2, "--delta", "1e-5", "--ledger", tmp_path / "ledger.sqlite")
    kill(log_file, tmp_path, "hubbub.privacy.ledger.Ledger.drawing", "before", *ON_SPARK)
    assert states(tmp_path) == ["reserved"]
    kept = list((tmp_path / "work").glob("*/tables/*.parquet"))
    assert all(table.is_dir() for table in kept) and len(kept) == 2, "what each user asked, and how many asked it"
    assert sum(not table.stem.endswith("-") for table in kept) == 1, "one numbering of the queries"

    def never(*arguments: object) -> None:
        raise AssertionError("computed again")

    for computed in ("gather", "total"):
        monkeypatch.setattr(Spark, computed, never)
    said = hubbub(*command(log_file, tmp_path, *ON_SPARK)).output
    assert "on its reservation (entry 1)" in said
    assert states(tmp_path) == ["committed"], "one reservation, spent once: the cap allows no second"
    assert [finding.what for finding in check(tmp_path / "out") if not finding.holds] == []
    assert list((tmp_path / "work").iterdir()) == []


def test_ended_after_the_first_noise_it_never_draws_again(
    shared_session: None, hubbub: Hubbub, log_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended while the workers' noise is written: whoever runs it again is refused, and nothing is drawn."""
    drawn: list[str] = []
    draw = Spark.map_batches

    def ends(engine: Spark, name: str, *given: object) -> None:
        draw(engine, name, *given)  # type: ignore[arg-type]
        drawn.append(name)
        raise KeyboardInterrupt

    monkeypatch.setattr(Spark, "map_batches", ends)
    hubbub(*command(log_file, tmp_path, *ON_SPARK), code=130)
    for _ in range(2):
        assert "ended while it drew its noise" in hubbub(*command(log_file, tmp_path, *ON_SPARK), code=2).output
        assert states(tmp_path) == ["drawing"] and len(drawn) == 1, "drawn once, in the workers"
    [dead] = (tmp_path / "work").iterdir()
    assert [path.name for path in dead.iterdir()] == ["run.json"], "raw data and noise are gone"


def test_a_numbering_that_lost_a_file_is_lost(
    make_engine: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table is a folder, of which a cleaner may take a part: it is computed again, and nothing beside it is mixed."""
    monkeypatch.setattr(resumable, "WORTH", 0)
    read, held = [], []
    for turn in range(3):
        engine = Resumable(make_engine(tmp_path), tmp_path / "tables", "key")
        engine.number("ids", "SELECT CAST(id AS STRING) AS k FROM range(0, 40, 1, 2)", (), "kid")
        engine.save("odd", "SELECT kid FROM ids WHERE CAST(k AS INT) % 2 = 1")
        read.append(engine.read)
        rows = engine.fetch("SELECT CAST(i.k AS INT) AS k FROM odd AS o JOIN ids AS i ON o.kid = i.kid ORDER BY k")
        held.append(rows["k"].to_pylist())
        engine.close()
        if turn == 1:
            [numbered] = [path for path in (tmp_path / "tables").iterdir() if not path.stem.endswith("-")]
            parts = sorted(numbered.glob("part-*"))
            assert len(parts) == 2
            parts[0].unlink()
    assert read == [[], ["ids", "odd"], []]
    assert held == [list(range(1, 40, 2))] * 3
