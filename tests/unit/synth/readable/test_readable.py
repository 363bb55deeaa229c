"""The readable vocabulary: the same log as in made-up words, in texts that never coincide."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.errors import ParameterError
from hubbub.ingest.clean import clean_query
from hubbub.synth import SYLLABIC, World, generate
from hubbub.synth.numbers import COMPLETIONS, OWN_SITES, PHRASES, SMALL, SMALL_SITES, WORDS
from hubbub.synth.queries import queries, settled
from hubbub.synth.readable.needs import NEEDS, WORDINGS
from hubbub.synth.run import synthesise
from hubbub.synth.vocabulary import FEARS, RESIDUES


@pytest.fixture(scope="module")
def world() -> World:
    return World(3)


def everything() -> tuple[np.ndarray, np.ndarray]:
    """Queries of every sort: popular and rare needs, small sites, words, pairs and fears, in many variants."""
    ranks = np.unique(np.exp(np.linspace(0, 30, 4_000)).astype(np.int64))
    small = SMALL + OWN_SITES + np.arange(0, SMALL_SITES, 3_989)
    words = np.unique(np.exp(np.linspace(np.log(12), 15.5, 800)).astype(np.int64))
    pairs = [World.phrase(np.full_like(words, first), words) for first in (14, 17, 300, 5_000, 200_000)]
    fears = COMPLETIONS + RESIDUES * np.arange(len(FEARS))
    intents = np.concatenate([World(3).meant(ranks), np.arange(1, NEEDS, 5), small, WORDS + words, *pairs, fears])
    variants = np.array([0, 1, 2, 3, 4, 5, 6, 7, 11, 13, 61, 64, 69, 70, 200, 1999])
    intents, variants = np.repeat(intents, len(variants)), np.tile(variants, len(intents))
    return settled(World(3), intents, variants, World(3).navigational(intents))


def test_two_texts_never_become_one(world: World) -> None:
    intents, variants = everything()
    texts = queries(world, intents, variants).to_pylist()
    before = queries(World(3, vocabulary=SYLLABIC), intents, variants).to_pylist()
    meant: dict[str, tuple[int, int, str]] = {}
    for text, *query in zip(texts, intents.tolist(), variants.tolist(), before, strict=True):
        same = meant.setdefault(text, tuple(query))
        assert same[:2] == tuple(query[:2]) or same[2] == query[2], f"{text}: {same} and {query}"
    assert len(meant) > 0.95 * len(set(before)) > 50_000


def test_texts_are_clean_and_short(world: World) -> None:
    texts = queries(world, *everything()).to_pylist()
    assert all(text == clean_query(text) and 0 < len(text) < 100 and "_" not in text for text in texts)


@pytest.mark.parametrize("preset", ["aol", "gotz"])
def test_only_texts_differ_from_the_made_up_words(preset: str) -> None:
    known, syllables = (
        pa.Table.from_batches(list(generate(1500, 2, preset, vocabulary=words, truth=True)))
        for words in ("en", SYLLABIC)
    )
    texts = ["query", "url"]
    assert known.drop_columns(texts).equals(syllables.drop_columns(texts)) and not known.equals(syllables)
    assert known["url"].is_null().equals(syllables["url"].is_null())
    assert len(known["url"].unique()) == len(syllables["url"].unique())
    both = set(zip(known["query"].to_pylist(), syllables["query"].to_pylist(), strict=True))
    ours, theirs = (Counter(pair[side] for pair in both) for side in (0, 1))
    assert set(ours.values()) == {1}, "two texts became one"
    apart = sum(count > 1 for count in theirs.values())
    assert apart <= 0.0005 * len(theirs), "apart from texts that syllables share by chance"


def test_addresses_are_of_nobody(world: World) -> None:
    sites = np.concatenate([np.arange(1, 20_000), np.arange(NEEDS, OWN_SITES + SMALL_SITES + RESIDUES, 4_001)])
    found = world.urls(np.unique(sites)).to_pylist()
    assert len(set(found)) == len(np.unique(sites))
    assert all(url.startswith("http://www.") and url.endswith(".example") and " " not in url for url in found)
    popular = queries(world, np.arange(1, 100), np.zeros(99, np.int64)).to_pylist()
    assert found[:99] == [f"http://www.{text.replace(' ', '-')}.example" for text in popular]


def test_what_is_asked_most_is_one_word_and_its_variants_read_so(world: World) -> None:
    first = queries(world, np.full(WORDINGS, 6), np.arange(WORDINGS)).to_pylist()
    assert first[0] == "library" and "libraries" in first and "www.library.com" in first
    again = queries(world, np.full(60, 6), np.arange(WORDINGS, 66)).to_pylist()
    assert all(text.startswith("library ") or text == "lbirary" for text in again)


def test_truth_in_readable_words(tmp_path: Path) -> None:
    synthesise(300, tmp_path / "log.parquet", truth=tmp_path / "truth", seed=4)
    log = pq.read_table(tmp_path / "log.parquet").to_pandas()
    truth = {name: pq.read_table(tmp_path / "truth" / f"{name}.parquet") for name in ("serp", "intents")}
    documents = pq.read_table(tmp_path / "truth" / "document_frequency.parquet").to_pandas()
    frequent = dict(zip(documents["keyword"], documents["documents"], strict=True))
    assert set(" ".join(log["query"]).split()) <= set(frequent)
    assert frequent["the"] > 100 * np.median(list(frequent.values()))
    pages = truth["serp"].to_pandas()
    clicks = log.dropna(subset=["url"]).query("rank <= 10").merge(pages, on=["query", "rank"], suffixes=("", "_page"))
    assert len(clicks) > 100 and (clicks["url"] == clicks["url_page"]).all()
    assert set(log["query"]) == set(truth["intents"]["query"].to_pylist())


def test_a_vocabulary_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match="no such vocabulary"):
        generate(5, vocabulary="klingon")


def test_pairs_of_known_words_come_first(world: World) -> None:
    first = np.full(10, 18, np.int64)
    texts = queries(world, PHRASES + (first << 23) + np.arange(16, 26), np.zeros(10, np.int64)).to_pylist()
    assert len({text.split()[0] for text in texts}) == 1
