"""Noise drawn inside the engine, part by part: with the same noise, the same keys and numbers as on arrays."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import aol_lines

from hubbub.audit.tiny import SECRET
from hubbub.engines.duckdb import DuckDB
from hubbub.errors import InputError, OurBug
from hubbub.ingest import ingest
from hubbub.ingest.spread import apart, ingest_apart
from hubbub.ledger import Ledger
from hubbub.lists import QueryPool
from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import Mechanism, build, mechanisms, spread
from hubbub.noise import Exits, SecureNoise, SeededNoise
from hubbub.release import Plan, named_rows, run_release, sort_rows
from hubbub.steps.count import Spread

KNOWN = QueryPool("list", pa.table({"query": ["nobody", "news", "rare query 3"]}), "0" * 64, 3, "a test", "list")
CASES: dict[str, tuple[dict[str, object], dict[str, Any]]] = {
    "korolova": ({"epsilon": 4, "delta": "1e-3", "d": 3, "d_c": 2}, {"tables": ["queries", "clicks"]}),
    "korolova published": ({"epsilon": 60, "delta": "1e-3", "d": 3}, {"variant": "published"}),
    "zealous": ({"epsilon": 2, "delta": "1e-3", "m": 3}, {"tables": ["queries", "keywords", "clicks"]}),
    "sessions": ({"epsilon": 4, "delta": "1e-3"}, {}),
    "gaussian": ({"epsilon": 2, "delta": "1e-3"}, {}),
    "gaussian sqrt": ({"epsilon": 2, "delta": "1e-3", "weights": "sqrt"}, {}),
    "geometric": ({"epsilon": 2, "delta": "1e-3"}, {}),
    "sips": ({"epsilon": 2, "delta": "1e-3"}, {}),
    "adaptive": ({"epsilon": 2, "delta": "1e-3", "rounds": "4"}, {}),
    "crowd": ({"epsilon": 20, "delta": "1e-3", "D": 6}, {}),
    "crowd with a list": ({"epsilon": 20, "delta": "1e-3", "D": 6, "F_list": 1}, {"public_list": KNOWN}),
}


class Still(SecureNoise):
    """No noise at all: what remains is exact, whatever the order in which keys are asked for."""

    def laplace(self, step: str, scale: Fraction, size: int) -> npt.NDArray[np.int64]:
        return np.zeros(size, np.int64)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> npt.NDArray[np.int64]:
        return np.zeros(size, np.int64)

    def absent(self, step: str, count: int, *rounds: object) -> Exits:
        return Exits(*(np.zeros(0, np.int64) for _ in range(3)))

    def coins(self, step: str, chances: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        return chances > 1 << 63


def made(name: str) -> Mechanism:
    settings, options = CASES[name]
    return build(name.split()[0], dict(settings), **options)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchLog]:
    path = tmp_path_factory.mktemp("log") / "log.tsv"
    walks = [
        f"{user}\t{query}\t2006-03-29 08:00:{10 * n:02d}\t1\thttp://{n}.example"
        for user in range(120)
        for n, query in enumerate(("bus", "bus times", "train", "train times"))
    ]
    path.write_text("\n".join(aol_lines(120) + walks) + "\n", encoding="utf-8")
    with read_log(path, format="aol") as opened:
        yield opened


@pytest.mark.parametrize("name", CASES)
def test_parts_are_the_whole(log: SearchLog, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "SecureNoise", Still)
    mechanism, found = made(name), []
    assert mechanism.keywise
    for log.spread in (False, True):
        counts = mechanism.measure(log, SECRET)
        if log.spread and not any("pool" in str(vars(c)) for c in counts.values()):
            assert all(isinstance(c, Spread) for c in counts.values())
        tables = spread.perturb(log, mechanism, counts, Still())
        found.append({t: sort_rows(named_rows(log, mechanism, t, counts[t], tables)).to_pylist() for t in tables})
    assert found[0] == found[1]
    assert all(found[0].values()), "nothing to compare"
    log.spread = False


def test_every_mechanism_says_whether_its_keys_stand_alone() -> None:
    """What is not keywise keeps its counts in one place: safelog's pool, optimal's programme, the baselines' groups."""
    alone = {name for name, kind in mechanisms().items() if kind.keywise is not Mechanism.keywise}
    assert alone == {name.split()[0] for name in CASES}


def test_a_list_of_results_needs_the_released_queries() -> None:
    from hubbub.lists import UrlList

    serp = UrlList("s", pa.table({"query": ["news"], "url": ["u"]}), "0" * 64)
    assert not build("korolova", {"epsilon": 1, "delta": "1e-3"}, serp=serp).keywise


def test_seeded_noise_is_drawn_in_one_place(log: SearchLog) -> None:
    log.spread = True
    try:
        for name in ("korolova", "crowd"):
            mechanism = made(name)
            with pytest.raises(OurBug, match="in one place"):
                spread.perturb(log, mechanism, mechanism.measure(log, SECRET), SeededNoise(1))
    finally:
        log.spread = False


class Far(DuckDB):
    """An engine that says its rows lie elsewhere, and remembers what it was asked to bring."""

    spreads = True

    def __init__(self, work: Path) -> None:
        super().__init__(work)
        self.most = 0

    def fetch(self, sql: str) -> pa.Table:
        rows = super().fetch(sql)
        self.most = max(self.most, rows.num_rows)
        return rows


@pytest.mark.parametrize("name", [name for name in CASES if " " not in name])
def test_no_more_than_the_release_is_brought_to_the_driver(name: str, tmp_path: Path) -> None:
    """300 queries of one user each, and two of everybody: only a few rows ever leave the engine."""
    path = tmp_path / "log.tsv"
    path.write_text("\n".join(aol_lines(300)) + "\n", encoding="utf-8")
    settings, options = CASES[name]
    mechanism = build(name, dict(settings), **(options | ({"tables": ["queries"]} if name == "crowd" else {})))
    with Ledger(tmp_path / "ledger.sqlite") as ledger, read_log(path, format="aol", engine=Far) as log:
        result = run_release(log, Plan(mechanism, tmp_path / "out"), ledger)
        assert isinstance(log.engine, Far)
        assert log.engine.most <= max(4, max(result.rows.values())) < 50
        assert [entry.state for entry in ledger.entries()] == ["committed"]


def test_files_of_a_log_are_read_apart(tmp_path: Path) -> None:
    """The same records, rejects and counts as one reader's; a task that ran twice leaves its records once."""
    folder = tmp_path / "log"
    folder.mkdir()
    lines = aol_lines(30)
    for n in range(3):
        own = [lines[0], *lines[1 + n :: 3], *(["broken"] * n)]
        (folder / f"{n}.tsv").write_text("\n".join(own) + "\n", encoding="utf-8")
    (folder / "header.tsv").write_text(lines[0] + "\n", encoding="utf-8")
    one = ingest(folder, tmp_path / "one", format="aol")
    (tmp_path / "two").mkdir()
    engine = Far(tmp_path)

    def twice(name: str, sql: str, function: Any, schema: pa.Schema) -> None:
        DuckDB.map_batches(engine, "lost", sql, function, schema)
        DuckDB.map_batches(engine, name, sql, function, schema)

    engine.map_batches = twice  # type: ignore[method-assign]
    assert apart("aol", folder) and not apart("aol", folder / "0.tsv") and not apart("ubi", folder)
    two = ingest_apart(engine, folder, tmp_path / "two", format="aol")
    assert (one.read, one.kept, one.rejected, one.reasons) == (two.read, two.kept, two.rejected, two.reasons)
    order = [("user", "ascending"), ("time", "ascending"), ("query", "ascending")]
    records = [pq.read_table(found.log).sort_by(order) for found in (one, two)]
    assert records[0].equals(records[1]) and records[0].num_rows == one.kept
    assert pq.read_table(two.rejects).num_rows == 3
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["log.parquet", "rejects.parquet"]
    (folder / "0.tsv").write_bytes(b"\x1f\x8bnot gzip")
    with pytest.raises(InputError):
        ingest_apart(engine, folder, tmp_path / "three", format="aol")
    engine.close()
