"""Safelog's recipe: chains of pairs by hand, phrases that end in a noun, and what is said without the tagger."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub

from hubbub.errors import InputError, ParameterError
from hubbub.public import nouns, pool
from hubbub.public.lists import read_pool


def test_chains_by_hand() -> None:
    """Words 0 to 3: 0 1 is asked 6 times, 1 2 three times, 1 0 once, 2 3 twice; no word comes twice."""
    pairs, times = np.array([[0, 1], [1, 2], [1, 0], [2, 3]]), np.array([6.0, 3.0, 1.0, 2.0])
    two, three, four, five = nouns.chains(pairs, times, 10)
    assert two.tolist() == [[0, 1], [1, 2], [2, 3], [1, 0]]
    # 0 1 2: 6 · 3/4 = 4.5; 1 2 3: 3 · 2/2 = 3; 0 1 0 and 1 0 1 have a word twice
    assert three.tolist() == [[0, 1, 2], [1, 2, 3]]
    assert four.tolist() == [[0, 1, 2, 3]] and five.shape == (0, 5)
    assert [len(grams) for grams in nouns.chains(pairs, times, 1)] == [1, 1, 1, 0], "the likeliest alone"


def test_phrases_that_end_in_a_noun() -> None:
    given = ["new car", "car", "buy now", "weather in new york", "a b c d e page", "run quickly", "the hotels"]
    assert nouns.ending_in_nouns(pa.chunked_array([given])).to_pylist() == [
        "new car",
        "weather in new york",
        "the hotels",
    ]
    assert nouns.ending_in_nouns(pa.chunked_array([[]], pa.string())).to_pylist() == []


def test_the_recipe_keeps_the_frequent_ones_of_each_length() -> None:
    phrases = pa.chunked_array([["big car", "the", "car park", "park quickly", "big quickly"]])
    found = nouns.recipe(phrases, np.array([9.0, 8.0, 4.0, 2.0, 1.0]), None).to_pylist()
    assert found == ["big car", "car park", "big car park"]
    assert nouns.recipe(phrases, np.array([9.0, 8.0, 4.0, 2.0, 1.0]), 4).to_pylist() == ["big car", "big car park"]


def test_a_file_of_phrases(hubbub: Hubbub, tmp_path: Path) -> None:
    (tmp_path / "phrases.txt").write_text("Cheap  New Car\nbuy now\nweather\nnews page\n")
    out = tmp_path / "pool.parquet"
    hubbub("pool", "build", "--queries", tmp_path / "phrases.txt", "--nouns", "--out", out)
    assert pq.read_table(out).column("query").to_pylist() == ["cheap new car", "news page"]
    assert "a noun, as HanTa" in read_pool(out).source


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="release is taken as it is"):
        pool.build(tmp_path / "p.parquet", release=tmp_path, nouns=True)
    monkeypatch.setitem(sys.modules, "HanTa.HanoverTagger", None)
    with pytest.raises(InputError, match="not installed") as error:
        nouns.nouns(pa.array(["car"]))
    assert "pip install 'hubbub[pool]'" in str(error.value)
