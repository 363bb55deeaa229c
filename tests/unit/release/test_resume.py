"""A run that was interrupted before its noise goes on where it ended, on one reservation; after it, it never draws."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub, aol_lines
from tests.forked import kill_at

from hubbub.card import check
from hubbub.engines import resumable
from hubbub.engines.duckdb import DuckDB
from hubbub.engines.resumable import Resumable
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.privacy.ledger import Ledger
from hubbub.release.resume import Run
from hubbub.steps.mode import RunMode

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_report")]

CROWD = ("--format", "aol", "--mechanism", "crowd", "--epsilon", "8", "--delta", "1e-3", "--set", "rounds=2")
CHAIN = (*CROWD, "--tables", "queries,clicks")

# where a run is killed, whether it had reserved, and tables that need not be computed again
BEFORE = [
    ("hubbub.ingest.ingest", "before", False, 0),
    ("hubbub.log.SearchLog.__post_init__", "before", False, 0),  # the log is read
    ("hubbub.steps.pools.EnginePools.__init__", "after", False, 2),  # and the pools stand
    ("hubbub.privacy.ledger.Ledger.reserve", "after", True, 2),
    ("hubbub.privacy.ledger.Ledger.drawing", "before", True, 2),
]
AFTER = [
    ("hubbub.privacy.ledger.Ledger.drawing", "after"),
    ("hubbub.mechanisms.crowd.select_known", "after"),
    ("pathlib.Path.rename", "before"),
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.tsv"
    path.write_text("\n".join(aol_lines(200)) + "\n", encoding="utf-8")
    return path


def command(log: Path, folder: Path, *more: str) -> list[str]:
    places = {"--out": folder / "out", "--work": folder / "work", "--ledger": folder / "ledger.sqlite"}
    return ["release", str(log), *(more or CHAIN), *(str(part) for pair in places.items() for part in pair)]


def kill(log: Path, folder: Path, place: str, moment: str, *more: str, worth: float = 0) -> None:
    """One release in a process of its own, killed where the name says; every table counts as one that took long."""
    settings = {"hubbub.engines.resumable.WORTH": worth}
    kill_at(place, moment, command(log, folder, *more), folder.parent / f"{folder.name}-said", **settings)


def states(folder: Path) -> list[str]:
    with Ledger(folder / "ledger.sqlite") as book:
        return [entry.state for entry in book.entries()]


@pytest.mark.parametrize(("place", "moment", "reserved", "tables"), BEFORE, ids=[f"{p} {m}" for p, m, _, _ in BEFORE])
def test_before_the_noise_it_goes_on(
    place: str, moment: str, reserved: bool, tables: int, log: Path, hubbub: Hubbub, tmp_path: Path
) -> None:
    hubbub("ledger", "cap", "default", "--epsilon", 8, "--delta", "1e-3", "--ledger", tmp_path / "ledger.sqlite")
    kill(log, tmp_path, place, moment)
    assert states(tmp_path) == (["reserved"] if reserved else [])
    [kept] = (tmp_path / "work").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert "DO NOT PUBLISH" in (kept / "NOT-PRIVATE.txt").read_text()
    assert len(list(kept.glob("tables/*.parquet"))) >= tables
    read = (kept / "ingested.json").exists()
    assert read == (place != "hubbub.ingest.ingest")
    said = hubbub(*command(log, tmp_path), "--verbose").output
    assert ("Going on with the run that was interrupted" in said) == read
    assert ("on its reservation (entry 1)" in said) == reserved
    assert states(tmp_path) == ["committed"], "one reservation, spent once: the cap allows no second"
    assert all(finding.holds for finding in check(tmp_path / "out"))
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.parametrize(("place", "moment"), AFTER, ids=[f"{p} {m}" for p, m in AFTER])
def test_after_the_first_noise_it_never_draws_again(
    place: str, moment: str, log: Path, hubbub: Hubbub, tmp_path: Path
) -> None:
    kill(log, tmp_path, place, moment)
    assert states(tmp_path) == ["drawing"]
    for _ in range(2):
        said = hubbub(*command(log, tmp_path), code=2).output
        assert "ended while it drew its noise" in said and "entry 1" in said and "remove" in said
        assert states(tmp_path) == ["drawing"] and not (tmp_path / "out").exists()
    [dead] = (tmp_path / "work").iterdir()
    assert [path.name for path in dead.iterdir()] == ["run.json"], "the copies of the raw log are gone"
    (dead / "run.json").unlink()
    hubbub(*command(log, tmp_path))
    assert states(tmp_path) == ["drawing", "committed"], "a new release, at a new cost"


def test_the_exact_half_is_that_of_an_undisturbed_run(log: Path, hubbub: Hubbub, tmp_path: Path) -> None:
    """Seeded, so that both can be compared; tables are made as in the command."""
    seeded = (*CHAIN, "--seed", "3", "--not-private")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    hubbub(*command(log, whole, *seeded))
    kill(log, broken, "hubbub.privacy.ledger.Ledger.drawing", "before", *seeded)
    hubbub(*command(log, broken, *seeded))
    for table in ("queries", "clicks"):
        one, two = (pq.read_table(folder / "out" / "public" / f"{table}.parquet") for folder in (whole, broken))
        assert one.equals(two) and one.num_rows > 0, table


def test_kept_tables_are_read_and_not_computed(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With noise that nobody can repeat, ids are given in any order: they are kept with the tables that use them."""
    monkeypatch.setattr(resumable, "WORTH", 0)
    mechanism = build("crowd", {"epsilon": 8, "delta": "1e-3"}, tables=["queries"])
    seen, read = [], []
    for _ in range(2):
        run = Run(tmp_path / "work", {"what": "test"}, tmp_path / "out")
        with read_log(log, format="aol", run=run) as opened:
            secret = run.bounding(lambda: os.urandom(16))
            opened.engine = run.checkpoints(opened.engine)
            pools = mechanism.measure(opened, RunMode(secret, repeatable=False))["queries"]
            rows = opened.engine.fetch(f"SELECT kid, query, w FROM {pools.keys}").sort_by("kid").to_pylist()
            seen.append(rows)
            read.append(list(run.read))
    assert seen[0] == seen[1] and len(seen[0]) == 203
    assert read[0] == [] and {"held_queries", "heavy_queries", "pooled_queries"} <= set(read[1])


def test_ids_in_any_order_that_are_not_kept_spoil_what_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that refers to ids is of no use once the keys are numbered anew."""
    read = []
    for _ in range(2):
        engine = Resumable(DuckDB(tmp_path), tmp_path / "tables", "key")
        monkeypatch.setattr(resumable, "WORTH", 1e9)  # the numbering is quick
        engine.number("ids", "SELECT 'a' AS k UNION ALL SELECT 'b' AS k", (), "kid")
        monkeypatch.setattr(resumable, "WORTH", 0)  # what follows takes long
        engine.save("sums", "SELECT kid, 1 AS n FROM ids")
        read.append(engine.read)
        engine.close()
    assert read == [[], []]


def test_a_numbering_that_was_lost_spoils_what_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cleaner of old files takes one checkpoint: the next run numbers anew and reads no ids of the old numbering."""
    monkeypatch.setattr(resumable, "WORTH", 0)
    read = []
    for turn in range(3):
        engine = Resumable(DuckDB(tmp_path), tmp_path / "tables", "key")
        engine.number("ids", "SELECT 'a' AS k UNION ALL SELECT 'b' AS k", (), "kid")
        engine.save("sums", "SELECT CAST(kid AS BIGINT) AS kid FROM ids")
        read.append(engine.read)
        engine.close()
        if turn == 1:
            [numbered] = [path for path in (tmp_path / "tables").iterdir() if not path.stem.endswith("-")]
            numbered.unlink()
    assert read == [[], ["ids", "sums"], []]


def test_a_reservation_of_something_cheaper_is_not_used(log: Path, hubbub: Hubbub, tmp_path: Path) -> None:
    kill(
        log,
        tmp_path,
        "hubbub.privacy.ledger.Ledger.reserve",
        "after",
        *CROWD[:5],
        "0.5",
        *CROWD[6:],
        "--tables",
        "queries",
    )
    [cheap] = (tmp_path / "work").iterdir()
    token = json.loads((cheap / "run.json").read_text())["token"]
    kill(log, tmp_path, "hubbub.privacy.ledger.Ledger.reserve", "before")
    [dear] = [path for path in (tmp_path / "work").iterdir() if path != cheap]
    state = json.loads((dear / "run.json").read_text())
    (dear / "run.json").write_text(json.dumps(state | {"token": token}))
    assert "is not what this release costs" in hubbub(*command(log, tmp_path), code=2).output
    assert states(tmp_path) == ["reserved"] and not (tmp_path / "out").exists()


def test_a_folder_that_somebody_planted_gets_no_log(log: Path, hubbub: Hubbub, tmp_path: Path) -> None:
    kill(log, tmp_path, "hubbub.privacy.ledger.Ledger.reserve", "before")
    [ours] = (tmp_path / "work").iterdir()
    elsewhere = tmp_path / "elsewhere"
    ours.rename(elsewhere)
    ours.symlink_to(elsewhere)
    assert "was not made by hubbub" in hubbub(*command(log, tmp_path), code=2).output
    ours.unlink()
    ours.mkdir()
    ours.chmod(0o777)
    assert "was not made by hubbub" in hubbub(*command(log, tmp_path), code=2).output
    assert list(ours.iterdir()) == []
    ours.rmdir()
    elsewhere.rename(ours)
    (ours / "run.json").write_text("{")
    assert "cannot be read" in hubbub(*command(log, tmp_path), code=2).output


def test_a_type_that_parquet_changes_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resumable, "WORTH", 0)
    engine = Resumable(DuckDB(tmp_path), tmp_path / "tables", "key")
    engine.save("wide", "SELECT sum(n) AS n FROM (SELECT 1 AS n) AS rows")  # HUGEINT
    engine.save("plain", "SELECT CAST(sum(n) AS BIGINT) AS n FROM (SELECT 1 AS n) AS rows")
    assert len(list((tmp_path / "tables").iterdir())) == 1
    engine.stop()
    engine.save("noisy", "SELECT 1 AS n")
    assert len(list((tmp_path / "tables").iterdir())) == 1, "nothing is kept after the first noise"
    engine.close()


def test_another_log_or_parameter_starts_anew_and_says_what_lies_there(
    log: Path, hubbub: Hubbub, tmp_path: Path
) -> None:
    kill(log, tmp_path, "hubbub.privacy.ledger.Ledger.reserve", "after")
    [dead] = (tmp_path / "work").iterdir()
    log.write_text("\n".join(aol_lines(201)) + "\n", encoding="utf-8")
    said = hubbub(*command(log, tmp_path)).output
    assert "Going on" not in said and str(dead) in said.replace("\n", "")
    assert states(tmp_path) == ["reserved", "committed"]
    assert list((tmp_path / "work").iterdir()) == [dead], "another run's checkpoints are not ours to remove"


def test_a_release_that_stands_is_not_in_the_way_of_the_next(log: Path, hubbub: Hubbub, tmp_path: Path) -> None:
    kill(log, tmp_path, "pathlib.Path.rename", "after")
    assert (tmp_path / "out").exists() and states(tmp_path) == ["drawing"]
    second = [str(tmp_path / "next") if part == str(tmp_path / "out") else part for part in command(log, tmp_path)]
    said = hubbub(*second).output
    assert "its budget is spent. This is a new release" in said and "no noise had been drawn" not in said
    assert states(tmp_path) == ["drawing", "committed"]
    assert list((tmp_path / "work").iterdir()) == []


def test_two_runs_of_one_release_do_not_meet(log: Path, hubbub: Hubbub, tmp_path: Path) -> None:
    kill(log, tmp_path, "hubbub.privacy.ledger.Ledger.reserve", "after")
    [dead] = (tmp_path / "work").iterdir()
    held = os.open(dead, os.O_RDONLY)
    try:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX)
        assert "running in another process" in hubbub(*command(log, tmp_path), code=2).output
    finally:
        os.close(held)
    hubbub(*command(log, tmp_path))
    assert states(tmp_path) == ["committed"]


def test_a_refused_run_keeps_what_it_read_and_says_so(log: Path, hubbub: Hubbub, tmp_path: Path) -> None:
    log.write_text("\n".join([*aol_lines(50), *(["broken"] * 50)]) + "\n", encoding="utf-8")
    said = hubbub(*command(log, tmp_path), code=2).output
    assert "Too many lines" in said and "run again to go on" in said
    said = hubbub(*command(log, tmp_path), "--max-rejects", "60%").output
    assert "Going on" in said and list((tmp_path / "work").iterdir()) == []
    facts = json.loads((tmp_path / "out" / "owner-only" / "facts.json").read_text())
    assert facts["rejects"] == 50
