"""Words that people know: a made-up town that asks for libraries, piano lessons and heron bridge bakery.

    lists         words of our own                      public_words  those of a public package
    decent        which public words are left out       first_words   which word may begin what
    needs         texts of popular needs                followers     the second word of two
    changed       what a variant changes                languages     words of other languages

A query (intent, variant) becomes a text of which the first word tells the sort: a popular need (`library`), an offer
(`vintage kettle`), a small address (`heron bridge bakery`), a fear, or a question, whose words are those of the made-up
vocabulary put into known ones, rank by rank. Hence two queries never become one text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.public.words import ENGLISH
from hubbub.synth import text
from hubbub.synth.hashing import Ints, Mask
from hubbub.synth.numbers import COMPLETIONS, OWN_SITES, SMALL
from hubbub.synth.readable.changed import Change, changed
from hubbub.synth.readable.first_words import PLACE_ENDINGS, first_words
from hubbub.synth.readable.followers import Followers
from hubbub.synth.readable.languages import other_language
from hubbub.synth.readable.lists import OwnWords, english_lists
from hubbub.synth.readable.needs import DOMAIN, MISSPELLINGS, NEEDS, WORDINGS, popular_needs
from hubbub.synth.readable.public_words import PublicWords, english
from hubbub.synth.vocabulary import FEARS, FUNCTION_WORDS, PHRASE, RESIDUES, SYLLABLES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hubbub.synth.world import World

RANKED = 300_000  # keywords further down are alike: rare
FIRST_WRONG = 2  # the first extra words are those of the plain spellings 1 and 2
PREFIXES = ("www.", "http www.", "http://www.")
ADDRESS = ".example"


def readable(language: str) -> ReadableWords:
    """The readable vocabulary of a language."""
    if language != ENGLISH:
        return ReadableWords(*other_language(language))
    own = english_lists()
    return ReadableWords(own, english(own.following))


class ReadableWords:
    """Puts a world into words that people know."""

    def __init__(self, own: OwnWords, public: PublicWords) -> None:
        words = first_words(own, public)
        needs = popular_needs(own, words, public)
        self._words, self._sizes = words.rest, (len(words.offered), len(words.places), len(own.landmarks))
        self._followers = Followers(words.rest, public.follow)
        self._added, self._needs = len(own.added), needs
        table = _Table()
        self._word = table.add(words.rest)
        self._syllable = table.add(SYLLABLES)
        spaced = table.add(f" {word}" for word in words.rest)
        table.add(f" {syllable}" for syllable in SYLLABLES)
        self._spaced = spaced - self._word
        self._ending = table.add(PLACE_ENDINGS)
        self._need, self._wrong = table.add(needs.texts), table.add(needs.misspelt)
        self._site = table.add(texts.replace(" ", "-") for texts in needs.texts[::WORDINGS])
        self._more = table.add(f" {word}" for word in own.added)
        self._extra, self._extras = table.add(f" {word}" for word in own.extra), len(own.extra)
        self._fear = table.add(f"{PHRASE} {fear}" for fear in FEARS)
        self._offer, self._place = table.add(words.offered), table.add(words.places)
        self._landmark, self._house = (table.add(f" {word}" for word in group) for group in (own.landmarks, own.houses))
        self._hyphened = table.add(f"-{word}" for word in words.rest)
        self._hyphened_landmark = table.add(f"-{word}" for word in own.landmarks)
        self._hyphened_house = table.add(f"-{word}" for word in own.houses)
        self._prefix, self._domain = table.add(PREFIXES), table.add([DOMAIN, ADDRESS])
        self._table = table.made()
        ranks = {word: rank for rank, word in enumerate(words.rest)}
        seconds = [ranks.get(wording.partition(" ")[2], -1) for wording in needs.texts]
        self._pairs = np.array(seconds).reshape(-1, WORDINGS)  # of each need, which words make two of its wordings
        self._misspelt = np.array([bool(wrong) for wrong in needs.misspelt])

    def queries(self, world: World, intents: Ints, variants: Ints) -> pa.Array:
        """The text of each query."""
        named = world.navigational(intents) | ((intents >= COMPLETIONS) & (intents < SMALL)) | (intents < NEEDS)
        first, second = np.flatnonzero(named), np.flatnonzero(~named)
        place = np.empty(len(intents), np.int64)
        place[first] = np.arange(len(first))
        place[second] = np.arange(len(first), len(intents))
        texts = [self._named(world, intents[first], variants[first])]
        texts.append(self._worded(world, intents[second], variants[second]))
        return pa.concat_arrays(texts).take(pa.array(place))

    def urls(self, world: World, sites: Ints, present: Mask | None = None) -> pa.Array:
        """The addresses of sites, all below .example; with `present`, a column in which the others are NULL."""
        del world
        pieces = np.zeros((len(sites), 5), np.int32)
        pieces[:, 0] = self._prefix + 2
        pieces[:, 1:4] = self._subject(sites, np.ones(len(sites), np.bool_))
        popular = sites < NEEDS
        pieces[popular, 1] = self._site + sites[popular]
        pieces[:, 4] = self._domain + 1
        return text.join(pieces, present=present, table=self._table)

    def keywords(self, world: World) -> pa.Table:
        """Keywords that are not rare, with a frequency rank: words, then those of the wordings of popular needs."""
        del world
        pieces = self._pieces(np.arange(RANKED))
        texts = self._needs.texts
        named = [(word, 10 * (number // WORDINGS)) for number, wording in enumerate(texts) for word in wording.split()]
        keywords = [text.join(pieces, table=self._table), pa.array([word for word, _ in named], pa.string())]
        ranks = np.concatenate([np.arange(RANKED), np.array([rank for _, rank in named])])
        return pa.table({"keyword": pa.concat_arrays(keywords), "rank": pa.array(ranks)})

    def _named(self, world: World, intents: Ints, variants: Ints) -> pa.Array:
        """Popular needs, offers, small addresses and fears: a subject, and what variants make of it."""
        change = changed(world, intents, variants)
        popular, fear = intents < NEEDS, (intents >= COMPLETIONS) & (intents < SMALL)
        typed = ~popular & (change.plain >= WORDINGS // 2)
        pieces = np.zeros((len(intents), 10), np.int32)
        pieces[typed, 0] = np.array([0, self._prefix, self._prefix + 1])[change.plain[typed] - WORDINGS // 2]
        pieces[:, 1:4] = self._subject(world.own_site(np.where(fear, 1, intents)), typed)
        pieces[typed, 4] = self._domain
        pieces[popular, 1] = self._need + WORDINGS * intents[popular] + change.plain[popular]
        pieces[fear, 1] = self._fear + (intents[fear] - COMPLETIONS) // RESIDUES
        extra = np.where(popular | typed | (change.plain == 0), -1, change.plain - 1)
        extra = np.where(change.wrong >= 0, FIRST_WRONG + change.wrong, extra)
        where = np.flatnonzero(popular & (change.wrong >= 0) & (change.wrong < MISSPELLINGS))
        wrong = MISSPELLINGS * intents[where] + change.wrong[where]
        there = self._misspelt[wrong]
        pieces[where[there], 1] = self._wrong + wrong[there]
        extra[where[there]] = -1
        turn = 7 * (intents & 0xFFFFFF)
        pieces[:, 5] = np.where(extra >= 0, self._extra + (extra + turn) % self._extras, 0)
        self._add(pieces, intents, change, turn)
        return text.join(pieces, table=self._table)

    def _add(self, pieces: text.Places, intents: Ints, change: Change, turn: Ints) -> None:
        """Add to popular needs what people add most, or any word; to others an addition, and a rare one with a word."""
        where = np.flatnonzero(change.word >= 0)
        word, popular, replaces = change.word[where], intents[where] < NEEDS, change.replaces[where]
        often = np.where(popular, change.often[where], word)
        paired = (self._pairs[np.where(popular, intents[where], 0)] == (FUNCTION_WORDS + word)[:, None]).any(axis=1)
        alone = popular & ~replaces & (often < 0)
        pieces[where, 5] = np.where(
            alone, 0, self._more + (np.where(replaces, word, often) + turn[where]) % self._added
        )
        pieces[where[alone & paired], 5] = self._extra
        rest = np.where(alone, word, 1 + word // self._added)
        both = alone | replaces | (~popular & (word >= self._added))
        pieces[where[both], 6:] = self._pieces(FUNCTION_WORDS + rest[both], spaced=np.ones(both.sum(), np.bool_))

    def _subject(self, sites: Ints, hyphened: Mask) -> text.Places:
        """The pieces of an offer or a small address; popular needs have none here."""
        offered, places, landmarks = self._sizes
        pieces = np.zeros((len(sites), 3), np.int32)
        where = np.flatnonzero((sites >= NEEDS) & (sites < OWN_SITES))
        number = sites[where] - NEEDS
        pieces[where, 0] = self._offer + number % offered
        word = FUNCTION_WORDS + number // offered
        pieces[where, 1] = np.where(hyphened[where], self._hyphened, self._word + self._spaced) + word
        where = np.flatnonzero(sites >= OWN_SITES)
        number = sites[where] - OWN_SITES
        pieces[where, 0] = self._place + number % places
        number //= places
        pieces[where, 1] = np.where(hyphened[where], self._hyphened_landmark, self._landmark) + number % landmarks
        pieces[where, 2] = np.where(hyphened[where], self._hyphened_house, self._house) + number // landmarks
        return pieces

    def _worded(self, world: World, intents: Ints, variants: Ints) -> pa.Array:
        """Questions of one to seven words."""
        words, slot, length = world.asked_words(intents, variants)
        second = np.flatnonzero(slot == 1)
        words[second] = self._followers(words[second - 1], words[second])
        return text.join(self._pieces(words, spaced=slot > 0), texts=length, table=self._table)

    def _pieces(self, ranks: Ints, spaced: Mask | None = None) -> text.Places:
        """The four pieces of the words with these ranks: known ones first, then places that nobody knows."""
        pieces = np.zeros((len(ranks), 4), np.int32)
        pieces[:, 0] = self._word + ranks
        where = np.flatnonzero(ranks >= len(self._words))
        number = ranks[where] - len(self._words)
        code, rest = (number * 40_503) & 0xFFFF, number >> 16
        pieces[where, 0] = self._syllable + (code & 255)
        pieces[where, 1] = self._syllable + (code >> 8)
        more = rest // len(PLACE_ENDINGS)
        pieces[where, 2] = np.where(more > 0, self._syllable + (more * 37 & 255), 0)
        pieces[where, 3] = self._ending + rest % len(PLACE_ENDINGS)
        if spaced is not None:
            pieces[:, 0] += np.where(spaced, self._spaced, 0).astype(np.int32)
        return pieces


class _Table:
    """Collects the strings of a table of pieces; the first is empty."""

    def __init__(self) -> None:
        self._rows = [""]

    def add(self, rows: Iterable[str]) -> int:
        """Add rows; the place of the first of them."""
        place = len(self._rows)
        self._rows += rows
        return place

    def made(self) -> pa.Array:
        """The table."""
        return pa.array(self._rows, pa.string())
