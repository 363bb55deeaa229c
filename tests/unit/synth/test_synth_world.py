"""The world: texts, intents, result lists and topics as functions of numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hubbub.ingest.clean import clean_query
from hubbub.synth import SYLLABIC, World, text
from hubbub.synth.made_up import MadeUp
from hubbub.synth.numbers import COMPLETIONS, PHRASES, SMALL, WORDS
from hubbub.synth.queries import queries, settled
from hubbub.synth.vocabulary import COMMON, FEARS, RESIDUES, SYLLABLES, TOPICS
from hubbub.synth.world import DOCUMENTS


@pytest.fixture(scope="module")
def world() -> World:
    return World(3, vocabulary=SYLLABIC)


RANKS = np.unique(np.exp(np.linspace(0, 30, 20_000)).astype(np.int64))


def test_words_are_one_to_four_syllables_and_seldom_alike() -> None:
    ranks = np.r_[np.arange(200_000), np.arange(17_000_000, 17_100_000)]
    words = text.join(text.word(ranks)).to_pylist()
    assert words[: len(COMMON)] == list(COMMON)
    assert len(set(words)) > 0.9995 * len(words)
    assert words[len(COMMON)] == SYLLABLES[0] * 2
    assert all(word.isalpha() for word in words)


def test_join_makes_nulls_and_texts_of_several_rows() -> None:
    pieces = text.word(np.array([0, 1, 2]))
    assert text.join(pieces).to_pylist() == ["of", "in", "the"]
    assert text.join(pieces, texts=np.array([2, 1])).to_pylist() == ["ofin", "the"]
    present = np.array([True, False, True, True])
    assert text.join(pieces, present=present).to_pylist() == ["of", None, "in", "the"]
    assert text.join(pieces[:0], present=np.array([False, False])).to_pylist() == [None, None]
    assert text.join(pieces[:0]).to_pylist() == []


def test_spellings_of_a_site(world: World) -> None:
    site = np.full(20, 1)
    forms = queries(world, site, np.arange(20)).to_pylist()
    name = forms[0]
    ending = forms[1].removeprefix(name)
    assert ending in (".com", ".net", ".org", ".gov")
    assert forms[2:6] == [
        f"www.{name}{ending}", f"{name} {ending[1:]}", f"www {name} {ending[1:]}", f"http www.{name}{ending}",
    ]  # fmt: skip
    assert all(form.startswith(f"{name} ") for form in forms[6:20:2])
    assert all(forms[v].startswith(f"www.{name}") and len(forms[v]) == len(forms[2]) + 1 for v in (9, 13))
    assert all(forms[v][:-1] == name for v in (7, 11))
    assert world.urls(np.array([1])).to_pylist() == [f"http://www.{name}{ending}"]
    assert [MadeUp().spelled(world, np.array([1]), form)[0].as_py() for form in (0, 1, 2)] == forms[:3]


def test_variants_add_drop_and_replace_the_last_word(world: World) -> None:
    ranks = RANKS[~world.navigational(RANKS)]
    ranks = ranks[world.length(ranks) == 4][:200]
    asked = {v: queries(world, ranks, np.full(len(ranks), v)).to_pylist() for v in (0, 1, 2, 3, 4, 5)}
    for plain, added, dropped, replaced, again, last in zip(*asked.values(), strict=True):
        words = plain.split()
        assert len(words) == 4 and dropped.split()[:2] == words[:2] and len(dropped.split()) == 3
        assert added.split()[:3] == words[:3] and len(added.split()) == len(again.split()) == 5
        assert replaced.split()[:3] == last.split()[:3] == words[:3] and len(replaced.split()) == 4


def test_texts_are_clean(world: World) -> None:
    intents = world.meant(RANKS)
    for variant in (0, 1, 2, 3, 7, 40):
        for query in queries(world, intents, np.full(len(intents), variant)).to_pylist()[::7]:
            assert query and query == clean_query(query) and query != "-"


def test_one_and_two_words_are_named_after_themselves_and_keep_their_text(world: World) -> None:
    intents = world.meant(RANKS)
    for raw, meant in ((RANKS[intents != RANKS], intents[intents != RANKS]),):
        informational = meant >= WORDS
        plain = np.zeros(informational.sum(), np.int64)
        before = queries(world, raw[informational], plain)
        assert before.equals(queries(world, meant[informational], plain))
        assert (world.navigational(meant) == (meant < WORDS)).all()
    variants = np.arange(len(intents)) % 23
    navigational = world.navigational(intents)
    named, left = settled(world, intents, variants, navigational)
    assert queries(world, intents, variants).equals(queries(world, named, left))
    assert (world.navigational(named) == navigational).all()
    length = np.array([len(query.split()) for query in queries(world, named, left).to_pylist()])
    assert (named[~navigational & (length == 1)] >= WORDS).all()
    assert (named[~navigational & (length == 2)] >= PHRASES).all()
    assert (left[~navigational & (length <= 2)] == 0).all()


def test_the_same_text_has_one_result_list(world: World) -> None:
    intents = world.meant(np.arange(1, 300_000))
    short = np.unique(intents[intents >= SMALL])
    texts = queries(world, short, np.zeros_like(short)).to_pylist()
    assert len(set(texts)) > 0.999 * len(texts)


def test_a_navigational_list_starts_with_the_own_site(world: World) -> None:
    intents = world.meant(RANKS)
    intents = intents[world.navigational(intents)]
    first = world.serp(intents).take(pa.array(np.arange(0, 10 * len(intents), 10)))
    assert first.equals(world.urls(world.own_site(intents)))
    assert (intents >= SMALL).any()


def test_results_belong_to_the_topic_of_the_intent(world: World) -> None:
    intents = world.meant(RANKS)
    sites = world.results(intents, np.full(len(intents), 3))
    same = sites % RESIDUES == world.residue(intents)
    assert same[(sites > 8 * RESIDUES) & (intents < PHRASES)].all()
    assert World.topic(np.array([0, 63, 64, COMPLETIONS + 2])).to_pylist() == ["autos", "travel", "autos", "health"]
    assert len(TOPICS) == 16


def test_phrases_share_results_with_their_first_word(world: World) -> None:
    first, second = np.full(400, 5_000), np.arange(20_000, 20_400)
    phrases, word = world.phrase(first, second), np.full(400, WORDS + 5_000)
    positions = np.arange(400) % 9 + 2
    shared = (world.results(phrases, positions) == world.results(word, positions)).mean()
    assert 0.4 < shared < 0.6


def test_kinds(world: World) -> None:
    intents = np.array([1, COMPLETIONS + 2, SMALL + 1_000_000, WORDS + 9, PHRASES + 9, -1])
    assert world.kind(intents).to_pylist() == [
        "navigational", "completion", "navigational", "informational", "informational", "canary",
    ]  # fmt: skip
    share = world.navigational(np.arange(1, 400_000)).mean()
    assert 0.35 < share < 0.5


def test_completions_are_asked_as_they_stand_or_with_a_word(world: World) -> None:
    intents = COMPLETIONS + RESIDUES * np.arange(len(FEARS)) + 2
    assert len(set(FEARS)) == len(FEARS) == 60
    assert queries(world, intents, np.zeros(60, np.int64)).to_pylist() == [f"fear of {fear}" for fear in FEARS]
    for variant in (1, 3, 6, 7, 9, 100):
        for fear, query in zip(FEARS, queries(world, intents, np.full(60, variant)).to_pylist(), strict=True):
            assert query.startswith(f"fear of {fear} ") and len(query.split()) == len(fear.split()) + 3


def test_documents_follow_frequency(world: World) -> None:
    ranks = np.arange(100_000)
    found = world.documents(ranks, world.keys(ranks))
    assert found.min() >= 1 and found.max() <= 0.9 * DOCUMENTS
    assert np.corrcoef(np.log(found), np.log(ranks + 6))[0, 1] < -0.6
    assert found[:100].mean() > 50 * found[-1000:].mean()
