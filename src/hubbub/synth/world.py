"""Everything that is not a user: intents, their words, the public result lists, topics.

Nothing is stored. An intent is its popularity rank, a query is (intent, variant), a result is (intent, position), a
site is a rank: each is a function of the seed and of these numbers, so that a log may ask 10^13 different things.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hubbub.synth import text
from hubbub.synth.curves import Ranks, choose, cumulative
from hubbub.synth.hashing import Ints, Keys, Mask, Purpose, child, draw, normal, root, salted
from hubbub.synth.presets import Preset, preset
from hubbub.synth.vocabulary import ENDINGS, FEARS, RESIDUES, TOPICS

COMPLETIONS = 1 << 56  # intents from here on are "fear of …"; COMPLETIONS + 64 i + the residue of health
OWN_SITES = 1_000_000  # navigational intents below this have a site each; the others share small ones
SMALL_SITES = 4_000_000
TOPICAL_SITES = 8 * RESIDUES  # sites from this rank on belong to a topic
DOCUMENTS = 10_000_000
KINDS = ("informational", "navigational", "completion", "canary")


class World:
    """The world of one seed and preset."""

    def __init__(self, seed: int = 0, name: str | Preset = "aol") -> None:
        self.preset = preset(name)
        self.key = salted(root(seed), Purpose.WORLD)
        needs, queries, clicks = self.preset.needs, self.preset.queries, self.preset.clicks
        self.popularity = Ranks(needs.knots, needs.density, needs.head)
        self.words = Ranks(queries.knots, queries.density)
        self._sites = Ranks(clicks.knots, clicks.density)
        self.positions = cumulative(clicks.positions)
        self.fears = cumulative([1 / (i + 1) for i in range(len(FEARS))])

    def keys(self, intents: Ints) -> Keys:
        """The key of each intent."""
        return child(self.key, intents)

    def navigational(self, intents: Ints) -> Mask:
        """Whether the intent is to reach one site."""
        first, last = self.preset.needs.navigational
        share = first + (last - first) / 15 * np.minimum(np.log(intents), 15)
        share[intents >= COMPLETIONS] = 0
        return draw(self.keys(intents), Purpose.KIND) < share

    def kind(self, intents: Ints) -> pa.Array:
        """What sort of intent each is; canaries have negative numbers."""
        code = self.navigational(np.maximum(intents, 1)).astype(np.int8)
        code[intents >= COMPLETIONS] = 2
        code[intents < 0] = 3
        return pa.array(KINDS).take(pa.array(code))

    @staticmethod
    def topic(intents: Ints) -> pa.Array:
        """The label of each intent's topic."""
        return pa.array(TOPICS).take(pa.array(intents % RESIDUES % len(TOPICS)))

    def own_site(self, intents: Ints) -> Ints:
        """The site that a navigational intent means."""
        small = np.flatnonzero(intents >= OWN_SITES)
        sites = intents.copy()
        uniform = draw(self.keys(intents[small]), Purpose.SMALL_SITE)
        sites[small] = OWN_SITES + (uniform * uniform * SMALL_SITES).astype(np.int64)
        return sites

    def best(self, intents: Ints) -> Ints:
        """The position, from 1, at which the first click of most people lands."""
        return choose(self.positions, draw(self.keys(intents), Purpose.BEST)) + 1

    def results(self, intents: Ints, positions: Ints) -> Ints:
        """The site that the public result list of the intent shows at this position, from 1."""
        sites = self._sites(draw(child(self.keys(intents), positions), Purpose.RESULT))
        sites = np.where(sites > TOPICAL_SITES, sites - sites % RESIDUES + intents % RESIDUES, sites)
        first = np.flatnonzero(positions == 1)
        first = first[self.navigational(intents[first])]
        sites[first] = self.own_site(intents[first])
        return sites

    def ending(self, sites: Ints) -> Ints:
        """Which of ENDINGS the site's address has."""
        bits = salted(child(self.key, sites), Purpose.ENDING)
        return (bits >> np.uint64(60)).astype(np.int64) % len(ENDINGS)

    def urls(self, sites: Ints, present: Mask | None = None) -> pa.Array:
        """The addresses of sites; with `present`, a column in which the others are NULL."""
        pieces = np.empty((len(sites), 6), np.int16)
        pieces[:, 0] = text.PREFIX + 3
        pieces[:, 1:5] = text.name(sites)
        pieces[:, 5] = text.ENDING + self.ending(sites)
        return text.join(pieces, present=present)

    def queries(self, intents: Ints, variants: Ints) -> pa.Array:
        """The text of each query."""
        from hubbub.synth.queries import queries

        return queries(self, intents, variants)

    def spelled(self, sites: Ints, form: int) -> pa.Array:
        """The names of sites as they are asked for: name, name.com or www.name.com for the forms 0, 1 and 2."""
        pieces = np.zeros((len(sites), 6), np.int16)
        pieces[:, 0] = text.PREFIX if form == 2 else 0
        pieces[:, 1:5] = text.name(sites)
        pieces[:, 5] = text.ENDING + self.ending(sites) if form else 0
        return text.join(pieces)

    def serp(self, intents: Ints, depth: int = 10) -> pa.Array:
        """The addresses of the public result lists, `depth` for each intent."""
        positions = np.tile(np.arange(1, depth + 1), len(intents))
        return self.urls(self.results(np.repeat(intents, depth), positions))

    def documents(self, ranks: Ints, keys: Keys) -> Ints:
        """In how many of DOCUMENTS documents the keywords occur: they are about as frequent as in queries."""
        noise = np.exp(0.9 * normal(keys ^ self.key, Purpose.DOCUMENTS, Purpose.DOCUMENTS_TOO))
        expected = 0.35 * DOCUMENTS / (ranks + 6) ** 0.85
        return np.asarray(np.clip(expected * noise, 1, 0.9 * DOCUMENTS).astype(np.int64))
