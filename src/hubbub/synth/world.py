"""Everything that is not a user: intents, their words, the public result lists, topics.

Nothing is stored. An intent is a number, a query is (intent, variant), a result is (intent, position), a site is a
rank: each is a function of the seed and of these numbers, so that a log may ask 10^13 different things. An intent is
its popularity rank, with three exceptions: a need for a small site, for one word or for two is named after them, so
that the same text leads everybody to the same result list.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hubbub.public.words import ENGLISH
from hubbub.synth.changes import Periods, changing
from hubbub.synth.curves import Ranks, choose, cumulative
from hubbub.synth.hashing import Ints, Keys, Mask, Purpose, child, draw, normal, root, salted
from hubbub.synth.numbers import ADDED, COMPLETIONS, OWN_SITES, PHRASES, SMALL, SMALL_SITES, WORD_BITS, WORDS
from hubbub.synth.presets import Preset, preset
from hubbub.synth.vocabulary import COMMON, FEARS, FUNCTION_WORDS, RESIDUES, TOPICS
from hubbub.synth.wordings import wording

TOPICAL_WORDS = 0.7  # of the rare words of an intent belong to its topic
TOPICAL_SITES = 8 * RESIDUES  # sites from this rank on belong to a topic
SHARED_RESULTS = 0.5
DOCUMENTS = 10_000_000
KINDS = ("informational", "navigational", "completion", "canary")


class World:
    """The world of one seed and preset, in the words of one vocabulary."""

    def __init__(self, seed: int = 0, name: str | Preset = "aol", vocabulary: str = ENGLISH) -> None:
        self.preset = preset(name)
        self.wording = wording(vocabulary)
        self.key = salted(root(seed), Purpose.WORLD)
        needs, queries, clicks = self.preset.needs, self.preset.queries, self.preset.clicks
        self.popularity = Ranks(needs.knots, needs.density, needs.head)
        self.frequency = Ranks(queries.knots, queries.density)
        self._sites = Ranks(clicks.knots, clicks.density)
        self._lengths = cumulative(queries.words)
        self.positions = cumulative(clicks.positions)
        self.fears = cumulative([1 / (i + 1) for i in range(len(FEARS))])
        self.periods = Periods(self.preset)
        self.changing = changing(self, self.periods)

    def keys(self, intents: Ints) -> Keys:
        """The key of each intent."""
        return child(self.key, intents)

    def meant(self, ranks: Ints) -> Ints:
        """The intents with these popularity ranks."""
        intents, navigational = ranks.copy(), self.navigational(ranks)
        where = np.flatnonzero(navigational & (ranks >= OWN_SITES))
        uniform = draw(self.keys(ranks[where]), Purpose.SMALL_SITE)
        site = OWN_SITES + (uniform * uniform * SMALL_SITES).astype(np.int64)
        intents[where] = SMALL + site - site % RESIDUES + ranks[where] % RESIDUES
        where = np.flatnonzero(~navigational)
        length = self.length(ranks[where])
        one, two = where[length == 1], where[length == 2]
        intents[one] = WORDS + self.words(ranks[one], np.zeros_like(one))
        intents[two] = self.phrase(*(self.words(ranks[two], np.full_like(two, slot)) for slot in (0, 1)))
        return intents

    @staticmethod
    def phrase(first: Ints, second: Ints) -> Ints:
        """The intents that are two words."""
        return PHRASES + (first << WORD_BITS) + second

    def navigational(self, intents: Ints) -> Mask:
        """Whether the intent is to reach one site."""
        first, last = self.preset.needs.navigational
        share = first + (last - first) / 15 * np.minimum(np.log(intents), 15)
        share[intents >= COMPLETIONS] = 0
        return np.asarray((draw(self.keys(intents), Purpose.KIND) < share) | (intents & ~(SMALL - 1) == SMALL))

    def kind(self, intents: Ints) -> pa.Array:
        """What sort of intent each is; canaries have negative numbers."""
        code = self.navigational(np.maximum(intents, 1)).astype(np.int8)
        code[intents & ~(COMPLETIONS - 1) == COMPLETIONS] = 2
        code[intents < 0] = 3
        return pa.array(KINDS).take(pa.array(code))

    @staticmethod
    def residue(intents: Ints) -> Ints:
        """The topic class of each intent; that of a phrase is its second word's, or its first's if that is rarer."""
        low = np.where(intents < PHRASES, intents, intents & (1 << WORD_BITS) - 1)
        first = (intents >= PHRASES) & (low < len(COMMON))
        return np.where(first, intents >> WORD_BITS, low) % RESIDUES

    @classmethod
    def topic(cls, intents: Ints) -> pa.Array:
        """The label of each intent's topic."""
        return pa.array(TOPICS).take(pa.array(cls.residue(intents) % len(TOPICS)))

    def own_site(self, intents: Ints) -> Ints:
        """The site that a navigational intent means."""
        return np.where(intents < SMALL, intents, intents - SMALL)

    def length(self, intents: Ints) -> Ints:
        """How many words the canonical query of an informational intent has."""
        drawn = choose(self._lengths, draw(self.keys(intents), Purpose.LENGTH_IN_WORDS)) + 1
        return np.where(intents < WORDS, drawn, np.where(intents < PHRASES, 1, 2))

    def words(self, intents: Ints, slot: Ints, edge: Mask | bool = True, other: Ints | None = None) -> Ints:
        """The word in this slot of an informational query, or the `other`-th word of the intent in its place.

        Neither the first word of a query nor the last, at its edges, is a function word.
        """
        keys = child(self.keys(intents), slot if other is None else other)
        ranks = self.frequency(draw(keys, Purpose.WORD_RANK)) - 1
        ranks = np.where(edge & (ranks < FUNCTION_WORDS), ranks + FUNCTION_WORDS + 3 * slot, ranks)
        bent = np.flatnonzero((ranks >= len(COMMON)) & (draw(keys, Purpose.WORD_TOPIC) < TOPICAL_WORDS))
        ranks[bent] += self.residue(intents[bent]) - ranks[bent] % RESIDUES
        own = np.flatnonzero((intents >= WORDS) & ((slot if other is None else other) < 2))
        first = np.where(intents[own] < PHRASES, intents[own] - WORDS, (intents[own] - PHRASES) >> WORD_BITS)
        ranks[own] = np.where(slot[own] == 0, first, intents[own] & (1 << WORD_BITS) - 1)
        return ranks

    def best(self, intents: Ints) -> Ints:
        """The position, from 1, at which the first click of most people lands."""
        return choose(self.positions, draw(self.keys(intents), Purpose.BEST)) + 1

    def results(self, intents: Ints, positions: Ints) -> Ints:
        """The site that the public result list of the intent shows at this position, from 1.

        The list of two words shares about half of its sites with that of the first of them.
        """
        keys = child(self.keys(intents), positions)
        of = intents.copy()
        phrase = np.flatnonzero(intents >= PHRASES)
        phrase = phrase[draw(keys[phrase], Purpose.SHARED) < SHARED_RESULTS]
        of[phrase] = WORDS + ((intents[phrase] - PHRASES) >> WORD_BITS)
        keys[phrase] = child(self.keys(of[phrase]), positions[phrase])
        sites = self._sites(draw(keys, Purpose.RESULT))
        sites = np.where(sites > TOPICAL_SITES, sites - sites % RESIDUES + self.residue(of), sites)
        first = np.flatnonzero(positions == 1)
        first = first[self.navigational(intents[first])]
        sites[first] = self.own_site(intents[first])
        return sites

    def shape(self, intents: Ints, variants: Ints) -> tuple[Ints, Mask]:
        """How many words an informational query has, and whether its last is not the canonical one."""
        canonical = self.length(intents)
        drops = (variants == 2) & (canonical > 1)
        adds = (variants == 1) | ((variants >= 4) & (variants % 4 == 0)) | ((variants == 2) & ~drops)
        replaces = (variants >= 3) & ~adds
        adds |= replaces & (canonical == 1)
        return canonical + adds - drops, adds | replaces

    def asked_words(self, intents: Ints, variants: Ints) -> tuple[Ints, Ints, Ints]:
        """The words of informational queries, one after the other, with their slots; and how many each query has."""
        length, changes = self.shape(intents, variants)
        owner = np.repeat(np.arange(len(intents)), length)
        slot = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)
        last = slot == length[owner] - 1
        other = np.where(last & changes[owner], variants[owner] + ADDED, slot)
        return self.words(intents[owner], slot, (slot == 0) | last, other), slot, length

    def urls(self, sites: Ints, present: Mask | None = None) -> pa.Array:
        """The addresses of sites; with `present`, a column in which the others are NULL."""
        return self.wording.urls(self, sites, present)

    def serp(self, intents: Ints, depth: int = 10) -> pa.Array:
        """The addresses of the public result lists, `depth` for each intent."""
        positions = np.tile(np.arange(1, depth + 1), len(intents))
        return self.urls(self.results(np.repeat(intents, depth), positions))

    def documents(self, ranks: Ints, keys: Keys) -> Ints:
        """In how many of DOCUMENTS documents the keywords occur: they are about as frequent as in queries."""
        noise = np.exp(0.9 * normal(keys ^ self.key, Purpose.DOCUMENTS, Purpose.DOCUMENTS_TOO))
        expected = 0.35 * DOCUMENTS / (ranks + 6) ** 0.85
        return np.asarray(np.clip(expected * noise, 1, 0.9 * DOCUMENTS).astype(np.int64))
