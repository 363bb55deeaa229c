"""`index-caching`: a cache packed by hand, and the greedy rule a second way."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.worth.tasks.test_tasks_base import by_hand, made_up, write

from hubbub.log import read_log
from hubbub.worth.tasks import Evidence, IndexCaching, NotEvaluable, Setup, Truth
from hubbub.worth.tasks.index_caching import keywords, pack


def words(rows: dict[str, int]) -> Evidence:
    return Evidence.of_tables({"keywords": pa.table({"keyword": list(rows), "n": list(rows.values())})})


def documents(rows: dict[str, int]) -> Setup:
    table = pa.table({"keyword": list(rows), "documents": list(rows.values())})
    return Setup(Truth({"document_frequency": table}))


def test_packing_by_hand() -> None:
    """Scores 2, 1, 4 and 0.5 a document; lists are cut at three postings: 24, 24, 24 and 16 bytes."""
    n, lists = np.array([10, 10, 80, 1]), np.array([5, 10, 20, 2])
    assert pack(n, lists, memory=24, longest=3)[0].tolist() == [False, False, True, False]
    kept, size = pack(n, lists, memory=64, longest=3)
    assert kept.tolist() == [True, False, True, False] and size == 48
    kept, size = pack(n, lists, memory=47, longest=3)  # the next list does not fit: nothing behind it is tried
    assert kept.tolist() == [False, False, True, False] and size == 24
    assert pack(n, lists, memory=10**9)[0].all() and pack(n, lists, memory=10**9)[1] == 8 * 37
    assert pack(n, np.zeros(4, np.int64), memory=10**9)[1] == 0, "a keyword in no document has no list"


@pytest.mark.parametrize("seed", range(4))
def test_packing_a_second_way(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    rows = [(draw.randint(0, 30), draw.randint(1, 40)) for _ in range(60)]
    expected, left = set(), 8 * 300
    for i in sorted(range(60), key=lambda i: (-rows[i][0] / rows[i][1], i)):
        size = 8 * min(rows[i][1], 12)
        if rows[i][0] == 0 or size > left:
            break
        expected.add(i)
        left -= size
    n, lists = (np.array(column) for column in zip(*rows, strict=True))
    kept, size = pack(n, lists, memory=8 * 300, longest=12)
    assert set(np.flatnonzero(kept).tolist()) == expected and size == 8 * 300 - left


def test_the_release_fills_the_cache_and_the_original_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.worth.tasks.index_caching.MEMORY", 27)  # of three keywords 81 bytes: ten postings
    original, release = words({"a": 50, "b": 30, "c": 20}), words({"c": 9, "a": 5, "nobody": 5})
    found = IndexCaching().score(original, release, documents({"a": 5, "b": 5, "c": 8, "nobody": 1}))
    # original: a (10 a document) and b (6) fit. Release: nobody (5), c (1.125), then a (1) does not fit.
    assert found["hit_probability"] == {"original": pytest.approx(0.8), "release": pytest.approx(0.2)}
    assert found["cached_keywords"] == {"original": 2, "release": 2}
    assert found["cached_bytes"] == {"original": 80, "release": 72}
    empty = IndexCaching().score(original, words({}), documents({"a": 5}))
    assert empty["hit_probability"] == {"original": 0.5, "release": 0.0}


@pytest.mark.parametrize("many", [80, 8_000])
def test_memory_grows_with_the_log_so_that_not_everything_fits(many: int) -> None:
    """1,000 bytes a keyword: of lists of 8,000 bytes one in eight fits, however small the log."""
    rows = {f"w{i:05}": many - i for i in range(many)}
    found = IndexCaching().score(words(rows), words(rows), documents(dict.fromkeys(rows, 1000)))
    assert found["memory_bytes"] == {"original": 1000 * many, "release": 1000 * many}
    assert found["cached_keywords"] == {"original": many // 8, "release": many // 8}
    asked = sum(sorted(rows.values())[-many // 8 :]) / sum(rows.values())
    assert found["hit_probability"]["release"] == pytest.approx(asked) and asked < 0.24


def test_words_of_queries_stand_in_for_keywords(tmp_path: Path) -> None:
    release = Evidence.of_tables({"queries": pa.table({"query": ["a b", "b b", "c"], "users": [5, 3, 1]})})
    assert keywords(release).to_pydict() == {"keyword": ["b", "a", "c"], "n": [8, 5, 1]}  # type: ignore[union-attr]
    events = made_up(2)
    with read_log(write(tmp_path / "log.parquet", events)) as log:
        found = IndexCaching().score(Evidence.of_log(log), release, documents({"a": 1, "b": 1}))
    asked = by_hand(events, "count")["keywords"]
    share = (asked["a"] + asked["b"]) / sum(asked.values())
    assert found["hit_probability"] == {"original": pytest.approx(share), "release": pytest.approx(share)}


def test_what_cannot_be_evaluated() -> None:
    with pytest.raises(NotEvaluable, match="document_frequency"):
        IndexCaching().score(words({"a": 1}), words({"a": 1}), Setup())
    with pytest.raises(NotEvaluable, match="neither keywords nor queries"):
        IndexCaching().score(words({"a": 1}), Evidence.of_tables({}), documents({"a": 1}))
    with pytest.raises(NotEvaluable, match="original has no keywords"):
        IndexCaching().score(words({}), words({"a": 1}), documents({"a": 1}))
