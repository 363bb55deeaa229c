"""Records of a series: where hashes are equal the text of a key decides; pools in an engine and as arrays are alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.series_made_up import Row, log_of

from hubbub.engines.duckdb import DuckDB
from hubbub.mechanisms.series.rounds import ArraySeriesPools
from hubbub.series import records
from hubbub.series.further import KeywordRecords
from hubbub.series.records import EngineSeriesPools, SeriesRecords
from hubbub.steps import bound

NONE = np.zeros(0, np.int64)


@pytest.fixture(autouse=True)
def equal_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (records, bound):
        monkeypatch.setattr(module, "hashed", lambda keys, secret: "md5('the same')")


def two_runs(work: Path, first: list[Row]) -> SeriesRecords:
    """What somebody else asks first, then one user with more keys than her pool takes."""
    folder, users, keys = work / "state", 0, 0
    folder.mkdir()
    names: list[str] = []
    for t, rows in enumerate((first, [("v", "b", 1), ("v", "a", 1), ("v", "c", 1)])):
        log = log_of(work, rows)
        kept = SeriesRecords(log.engine, folder, names, b"secret")
        kept.read(t, users, keys, 1, NONE)
        names += kept.write(t, folder)
        users, keys = users + kept.added("users"), keys + kept.added("keys")
        if t == 0:
            log.close()
    return SeriesRecords(log.engine, folder, names, b"secret")


@pytest.mark.parametrize("first", [[("u", "c", 0)], [("u", "b", 0)], [("u", "z", 0)]])
def test_pools_and_counts_take_the_first_text(tmp_path: Path, first: list[Row]) -> None:
    kept = two_runs(tmp_path, first)
    pooled = kept.engine.fetch("SELECT kid FROM series_pool WHERE run = 1").column("kid").to_numpy()
    assert list(kept.texts(pooled).values()) == [("a",)]
    hers = "SELECT person, kid FROM series_held WHERE person = 1"
    by_key, by_user = kept.counted(hers, np.array([0, 1]))
    assert list(kept.texts(by_key.column("kid").to_numpy()).values()) == [("a",)]
    assert by_user.to_pylist() == [{"person": 1, "n": 1}]


def test_words_keep_their_ids_however_the_engine_reads_them(tmp_path: Path) -> None:
    """The n-th word is the one with id n, not the n-th row that comes back."""
    log = log_of(tmp_path, [("u", "old sky", 0)])
    SeriesRecords(log.engine, tmp_path, [], b"secret")
    pq.write_table(pa.table({"kid": [1, 0], "keyword": ["sky", "old"]}), tmp_path / "keywords.keys-000.parquet")
    words = KeywordRecords(log.engine, tmp_path, ["keywords.keys-000.parquet"], b"secret", "keywords")
    _, new = words.named(1, pa.array(["old sky", "new sky"]))
    assert new.tolist() == [2] and words.texts(new) == {0: ("old",), 1: ("sky",), 2: ("new",)}
    log.close()


def test_pools_in_an_engine_and_as_arrays_give_the_same_integers(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    person, kid, run = chance.integers(0, 9, 60), chance.integers(0, 20, 60), chance.integers(0, 3, 60)
    pairs = np.unique(np.stack([person, kid]), axis=1)
    old, new = chance.integers(0, 4, 20), chance.integers(0, 21, 20)
    units = chance.integers(0, 1 << 40, 9)
    engine = DuckDB(tmp_path)
    engine.register("series_pool", pa.table({"person": pairs[0], "kid": pairs[1], "run": run[: pairs.shape[1]]}))
    there = EngineSeriesPools(engine, 2, 9, 20, NONE)
    here = ArraySeriesPools(pairs[0], pairs[1], run[: pairs.shape[1]] == 2, 9, 20)
    assert (there.squares(old, new) == here.squares(old, new)).all()
    assert (there.sums(units) == here.sums(units)).all()
    engine.close()
