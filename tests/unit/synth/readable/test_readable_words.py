"""Which words a readable log is made of: disjoint groups, nothing rude, nobody's name, no trade name."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hubbub.public.sensitive import person_names
from hubbub.synth.readable.decent import TRADE, decent, rude
from hubbub.synth.readable.first_words import BRAND_ENDINGS, PLACE_ENDINGS, FirstWords, first_words
from hubbub.synth.readable.followers import FIRSTS, STEP, Followers
from hubbub.synth.readable.lists import english_lists
from hubbub.synth.readable.needs import NEEDS, WORDINGS, popular_needs
from hubbub.synth.readable.public_words import english
from hubbub.synth.vocabulary import COMMON, TOPICS

PUBLIC = english(english_lists().following)
INNOCENT = frozenset({"bracken", "braided", "bramble", "canteen", "diet", "jewellers", "jewellery"})
INNOCENT |= {"saturday", "striped", "sturdy"}
HARMLESS = frozenset({"coach", "dell", "ford", "gap", "heather", "office", "windows"})
"""Ordinary words of our own lists that a rule takes for others."""


@pytest.fixture(scope="module")
def words() -> FirstWords:
    return first_words(english_lists(), PUBLIC)


def test_a_first_word_is_in_one_group(words: FirstWords) -> None:
    needs = [word for group in words.needs for family in group for word in family]
    groups = [needs, words.paired, words.loose, words.about, words.offered, words.places, words.rest]
    everything = [word for group in groups for word in group]
    assert len(everything) == len(set(everything)) > 70_000
    assert not [word for word in everything if word.endswith((*PLACE_ENDINGS, *BRAND_ENDINGS))]


def test_endings_of_made_up_names_are_told_apart() -> None:
    endings = [*PLACE_ENDINGS, *BRAND_ENDINGS]
    assert not [(one, other) for one in endings for other in endings if one != other and one.endswith(other)]


def test_there_are_words_for_every_site(words: FirstWords) -> None:
    own = english_lists()
    assert len(words.offered) * 8192 > 1_000_000
    assert len(words.places) * len(own.landmarks) * len(own.houses) > 4_000_064


def test_a_frequent_word_stands_where_its_topic_is(words: FirstWords) -> None:
    assert all(words.rest.index(word) % len(TOPICS) == TOPICS.index("music") for word in ("band", "lessons", "chords"))
    assert all(words.rest.index(word) % len(TOPICS) == TOPICS.index("health") for word in ("doctor", "clinic", "teeth"))


def test_needs_have_texts_of_their_own(words: FirstWords) -> None:
    needs = popular_needs(english_lists(), words, PUBLIC)
    texts = needs.texts[WORDINGS:]
    assert len(texts) == len(set(texts)) == WORDINGS * (NEEDS - 1)
    wrong = [text for text in needs.misspelt if text]
    assert len(wrong) == len(set(wrong)) > 1000 and not set(wrong) & ({*PUBLIC.known, *texts})
    brands = [text for text in texts[::WORDINGS] if text.endswith(BRAND_ENDINGS)]
    assert len(brands) > 100 and not set(brands) & PUBLIC.known


def test_nothing_rude_nobody_and_no_trade_name(words: FirstWords) -> None:
    own, (given, _, _) = english_lists(), person_names()
    needs = popular_needs(own, words, PUBLIC).texts
    by_hand = {word for text in vars(own).values() for word in (text if isinstance(text, tuple) else ())}
    ours = {word for group in by_hand for word in (group if isinstance(group, tuple) else group.split())}
    assert not {word for word in ours if rude(word)} - INNOCENT
    assert not (ours & (given | TRADE)) - HARMLESS
    asked = {word for text in needs for word in re.split("[ .-]", text)} | set(words.rest)
    made_up = {word for word in asked if word.endswith(BRAND_ENDINGS)}
    rest = asked - ours - made_up - set(COMMON) - {"www", "com", "http", ""}
    assert len(rest) > 60_000 and not [word for word in rest if not decent(word)]
    assert not {"porn", "facebook", "google", "hitler", "smith", "cocaine"} & (ours | asked)


@pytest.mark.parametrize(
    ("word", "good"), [("library", True), ("analysis", False), ("scunthorpe", False), ("nike", False)]
)
def test_the_rule_is_rather_strict(word: str, good: bool) -> None:
    assert decent(word) is good


def test_second_words_change_places_and_none_is_lost(words: FirstWords) -> None:
    follow = Followers(words.rest, PUBLIC.follow)
    for first in (12, 17, 40, 300, FIRSTS - 1, FIRSTS + 5):
        second = np.arange(60_000)
        moved = follow(np.full_like(second, first), second)
        assert np.array_equal(np.sort(moved[moved < 50_000]), np.arange(50_000))
        assert np.array_equal(moved % STEP, second % STEP), "a word of another topic"
    often = {words.rest[rank] for rank in follow(np.full(64, 14), np.arange(STEP, STEP + 64)).tolist()}
    assert set(PUBLIC.follow["sport"][:3]) & set(words.rest) <= often and words.rest[14] == "sport"
