"""Noise drawn inside the engine, part by part: with the same noise, the same keys and numbers as on arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import aol_lines

from hubbub.audit.tiny import MODE
from hubbub.engines.duckdb import DuckDB
from hubbub.errors import InputError, OurBug
from hubbub.ingest import ingest
from hubbub.ingest.distributed import apart, ingest_apart
from hubbub.log import SearchLog, read_log
from hubbub.mechanisms import Mechanism, build, mechanisms
from hubbub.mechanisms.base import Rows, Tables
from hubbub.noise import Exits, SecureNoise, SeededNoise, parts
from hubbub.noise.absent import Rounds
from hubbub.public.lists import QueryPool, UrlList
from hubbub.release.rows import named_rows, sort_rows
from hubbub.steps.counts import EngineCounts, LocalCounts
from hubbub.steps.mode import Where
from hubbub.steps.pairs import EnginePairs, LocalPairs
from hubbub.steps.pools import DistributedPools

APART = replace(MODE, where=Where.ENGINE)
BINS = 40
"""Of a histogram whose keys are public."""
KNOWN = QueryPool("list", pa.table({"query": ["nobody", "news", "rare query 3"]}), "0" * 64, 3, "a test", "list")
KEPT = pa.table({"query": ["bus", "bus times", "news", "nobody", "nobody else", "rare query 3", "train"]})
POOL = QueryPool("pool", KEPT, "0" * 64, KEPT.num_rows, "a test")
LISTED = [("bus", "http://0.example"), ("bus", "elsewhere"), ("rare query 3", "elsewhere"), ("nobody", "elsewhere")]
SERP = UrlList("serp", pa.table({"query": [q for q, _ in LISTED], "url": [u for _, u in LISTED]}), "0" * 64)
PAPER: dict[str, object] = {"q_f": 9, "c_f": 2, "b": 2, "b_c": 2, "b_t": 2, "b_q": 2, "K": 3, "p_g": "0.9"}
CASES: dict[str, tuple[dict[str, object], dict[str, Any]]] = {
    "korolova": ({"epsilon": 4, "delta": "1e-3", "d": 3, "d_c": 2}, {"tables": ["queries", "clicks"]}),
    "korolova published": ({"epsilon": 60, "delta": "1e-3", "d": 3}, {"variant": "published"}),
    "korolova with a list": ({"epsilon": 60, "delta": "1e-3", "d": 6, "d_c": 4}, {"serp": SERP}),
    "korolova published with a list": (
        {"epsilon": 60, "delta": "1e-3", "d": 6, "d_c": 4},
        {"serp": SERP, "variant": "published"},
    ),
    "safelog": ({"epsilon": 20, "K": 1}, {"pool": POOL, "serp": SERP}),
    "safelog published": (PAPER, {"pool": POOL, "variant": "published"}),
    "optimal": ({"epsilon": 4, "delta": "1e-3", "goal": "size"}, {}),
    "k-query": ({"k": 20}, {}),
    "k-click": ({"k": 20}, {}),
    "korolova transitions": ({"epsilon": 20, "delta": "1e-3", "d_t": 3}, {"tables": ["transitions"]}),
    "zealous itemsets": ({"epsilon": 20, "delta": "1e-3", "m": 4}, {"tables": ["itemsets"]}),
    "zealous with a list": ({"epsilon": 60, "delta": "1e-3", "m": 6}, {"serp": SERP}),
    "zealous": ({"epsilon": 2, "delta": "1e-3", "m": 3}, {"tables": ["queries", "keywords", "clicks"]}),
    "ngrams": ({"epsilon": 20, "delta": "1e-3", "l_max": 3}, {}),
    "sessions": ({"epsilon": 4, "delta": "1e-3"}, {}),
    "gaussian": ({"epsilon": 2, "delta": "1e-3"}, {}),
    "gaussian sqrt": ({"epsilon": 2, "delta": "1e-3", "weights": "sqrt"}, {}),
    "geometric": ({"epsilon": 2, "delta": "1e-3"}, {}),
    "sips": ({"epsilon": 2, "delta": "1e-3"}, {}),
    "adaptive": ({"epsilon": 2, "delta": "1e-3", "rounds": "4"}, {}),
    "crowd": ({"epsilon": 20, "delta": "1e-3", "D": 6}, {}),
    "crowd with a list": ({"epsilon": 20, "delta": "1e-3", "D": 6, "F_known": 1}, {"public_list": KNOWN}),
}


class Still(SecureNoise):
    """No noise at all: what remains is exact, whatever the order in which keys are asked for."""

    def laplace(self, step: str, scale: Fraction, size: int) -> npt.NDArray[np.int64]:
        return np.zeros(size, np.int64)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> npt.NDArray[np.int64]:
        return np.zeros(size, np.int64)

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        return Exits(*(np.zeros(0, np.int64) for _ in range(3)))

    def coins(self, step: str, chances: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        return chances > 1 << 63

    def binomial_tail(self, step: str, scale: Fraction, at_least: int, trials: int) -> int:
        return 0

    def below(self, step: str, limits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return np.zeros(limits.size, np.int64)


class Crowded(Still):
    """Every key of a closed domain passes as if nobody held it, just so."""

    def binomial_tail(self, step: str, scale: Fraction, at_least: int, trials: int) -> int:
        return trials

    def choose(self, step: str, population: int, size: int) -> npt.NDArray[np.int64]:
        return np.arange(population)


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


def both_ways(log: SearchLog, mechanism: Mechanism, noise: type[Still]) -> list[dict[str, list[dict[str, Any]]]]:
    """The tables from arrays, and from counts that stay in the engine."""
    found = []
    for mode in (MODE, APART):
        counts = mechanism.measure(log, mode)
        assert mode is MODE or not any(isinstance(c, LocalCounts) and c.n.size > BINS for c in counts.values())
        tables = mechanism.draw(counts, noise())
        found.append({table: rows(log, mechanism, table, counts, tables) for table in tables})
    return found


def rows(log: SearchLog, mechanism: Mechanism, table: str, counts: dict[str, Any], tables: Tables) -> list[Any]:
    released = tables[table]
    if isinstance(released, Rows):
        found: list[Any] = released.rows.to_pylist()
        return found
    return list(sort_rows(named_rows(log, mechanism, table, counts, tables)).to_pylist())


@pytest.mark.parametrize("name", CASES)
def test_parts_are_the_whole(log: SearchLog, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SecureNoise", Still)
    mechanism = made(name)
    arrays, engine = both_ways(log, mechanism, Still)
    assert arrays == engine
    assert all(arrays.values()), "nothing to compare"


INSIDE = {"bus": 120, "bus times": 120, "news": 120, "train": 120}
ALONE: dict[str, dict[str, int]] = {
    "safelog": INSIDE | {"nobody": 2, "nobody else": 2},  # not "rare query 3": the noise of nobody is not hers
    "safelog published": INSIDE
    | {"maps": 60, "train times": 120, "weather": 120}  # in no pool
    | {"nobody": 0, "nobody else": 0, "rare query 3": 0},  # the filter makes her nobody
}


@pytest.mark.parametrize("name", ALONE)
def test_a_held_key_has_one_draw(log: SearchLog, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if noise alone would let every key of the domain pass: once each, held ones with the draw of their own."""
    monkeypatch.setattr(parts, "SecureNoise", Crowded)
    mechanism = made(name)
    arrays, engine = both_ways(log, mechanism, Crowded)
    assert arrays == engine
    assert {row["query"]: row[mechanism.value_column] for row in arrays["queries"]} == ALONE[name]
    for table, found in arrays.items():
        keys = [tuple(row[c] for c in mechanism.offers[table].columns) for row in found]
        assert len(set(keys)) == len(keys) > 0, table


def test_domains_in_the_engine_are_those_of_arrays(log: SearchLog) -> None:
    """A domain is as large as the lists say, whoever holds what of it; pairs with a query outside are not in it."""
    n = np.array([0, 3, 0, 0])
    log.engine.register("some_keys", pa.table({"kid": np.arange(n.size), "n": n}))
    assert EngineCounts("some_keys", log.engine).held().size == LocalCounts(n).held().size == n.size
    one, two, n, keys = np.array([0, 0, 1, 2]), np.array([1, 2, 0, 1]), np.array([5, 6, 7, 8]), np.array([0, 1])
    log.engine.register("some_pairs", pa.table({"one": one, "two": two, "n": n}))
    for pairs in (LocalPairs(n, one, two, "").among(keys), EnginePairs("some_pairs", "", log.engine).among(keys)):
        assert pairs.size == 2
        assert [found.tolist() for found in pairs.at_least(1)] == [[1, 1 << 32], [5, 7]]


ONE_PLACE = {
    "k-core",
    "k-keyword",
    "k-session",
    "k-similar",
    "k-vocabulary",
    "pseudonyms",
    "secret-sharing",
    "token-hash",
}
"""Prefixes, groups of sessions and of users, neighbouring queries and whole logs need
all numbers in one place, and ask for arrays themselves."""


def test_every_mechanism_is_run_both_ways_or_asks_for_arrays() -> None:
    assert set(mechanisms()) == {name.split()[0] for name in CASES} | ONE_PLACE


@pytest.mark.parametrize("name", sorted(ONE_PLACE))
def test_what_needs_one_place_asks_for_arrays(log: SearchLog, name: str) -> None:
    counts = build(name, {}).measure(log, APART)
    assert not any(isinstance(c, EngineCounts | EnginePairs | DistributedPools) for c in counts.values())


def test_seeded_noise_is_drawn_in_one_place(log: SearchLog) -> None:
    for name in ("korolova", "korolova with a list", "zealous", "safelog", "optimal", "crowd"):
        mechanism = made(name)
        with pytest.raises(OurBug, match="in one place"):
            mechanism.draw(mechanism.measure(log, APART), SeededNoise(1))


class Far(DuckDB):
    """An engine that says its rows lie elsewhere."""

    distributed = True


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
