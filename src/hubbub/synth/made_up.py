"""Words that nobody knows: a short list of ordinary ones, then syllables. A site's name is its bare query.

Navigational queries: name, name.com, www.name.com and other spellings (0 to 5), then a word added or a typing error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.synth import text
from hubbub.synth.hashing import Ints, Mask, Purpose, below, child, draw, salted
from hubbub.synth.numbers import COMPLETIONS, SMALL
from hubbub.synth.vocabulary import ENDINGS, FUNCTION_WORDS, LETTERS, RESIDUES

if TYPE_CHECKING:
    from hubbub.synth.world import World

PLAIN_SPELLINGS = 6
RANKED_WORDS, RANKED_SITES = 300_000, 50_000  # keywords further down are alike: rare


class MadeUp:
    """The vocabulary of syllables."""

    def queries(self, world: World, intents: Ints, variants: Ints) -> pa.Array:
        """The text of each query."""
        named = world.navigational(intents) | ((intents >= COMPLETIONS) & (intents < SMALL))
        first, second = np.flatnonzero(named), np.flatnonzero(~named)
        place = np.empty(len(intents), np.int64)
        place[first] = np.arange(len(first))
        place[second] = np.arange(len(first), len(intents))
        texts = [_named(world, intents[first], variants[first]), _worded(world, intents[second], variants[second])]
        return pa.concat_arrays(texts).take(pa.array(place))

    def urls(self, world: World, sites: Ints, present: Mask | None = None) -> pa.Array:
        """The addresses of sites; with `present`, a column in which the others are NULL."""
        pieces = np.empty((len(sites), 6), np.int16)
        pieces[:, 0] = text.PREFIX + 3
        pieces[:, 1:5] = text.name(sites)
        pieces[:, 5] = text.ENDING + _ending(world, sites)
        return text.join(pieces, present=present)

    def spelled(self, world: World, sites: Ints, form: int) -> pa.Array:
        """The names of sites as they are asked for: name, name.com or www.name.com for the forms 0, 1 and 2."""
        pieces = np.zeros((len(sites), 6), np.int16)
        pieces[:, 0] = text.PREFIX if form == 2 else 0
        pieces[:, 1:5] = text.name(sites)
        pieces[:, 5] = text.ENDING + _ending(world, sites) if form else 0
        return text.join(pieces)

    def keywords(self, world: World) -> pa.Table:
        """Keywords that are not rare, with a frequency rank: words, then names and addresses of sites."""
        words, sites = np.arange(RANKED_WORDS), np.arange(1, RANKED_SITES)
        forms = [self.spelled(world, sites, form) for form in (0, 1, 2)]
        return pa.table(
            {
                "keyword": pa.concat_arrays([text.join(text.word(words)), *forms]),
                "rank": pa.array(np.concatenate([words, *(10 * sites * (form + 1) for form in (0, 1, 2))])),
            }
        )


def _ending(world: World, sites: Ints) -> Ints:
    """Which of ENDINGS the site's address has."""
    bits = salted(child(world.key, sites), Purpose.ENDING)
    return (bits >> np.uint64(60)).astype(np.int64) % len(ENDINGS)


def _named(world: World, intents: Ints, variants: Ints) -> pa.Array:
    """The text of navigational queries (a site's name in some spelling) and of completions."""
    completes = (intents >= COMPLETIONS) & (intents < SMALL)
    sites = world.own_site(np.where(completes, 1, intents))
    keys = child(world.keys(np.where(completes, intents, sites)), variants)
    ending = _ending(world, sites)
    other = variants >= PLAIN_SPELLINGS
    added = np.where(completes, variants > 0, other & ((variants % 2 == 0) | (variants > 13)))
    wrong = other & ~added & ~completes
    dotted = np.isin(variants, (1, 2, 5)) | (wrong & (variants % 4 == 1))

    pieces = np.zeros((len(intents), 11), np.int16)
    prefix = np.array([0, 0, 1, 0, 2, 3], np.int16)[np.where(other, np.where(wrong & dotted, 2, 0), variants)]
    pieces[:, 0] = np.where(prefix > 0, text.PREFIX - 1 + prefix, 0)
    pieces[:, 1:5] = text.name(sites)
    pieces[:, 5] = np.where(wrong, text.LETTER + below(keys, Purpose.LETTER, len(LETTERS)), 0)
    pieces[:, 6] = np.where(
        dotted, text.ENDING + ending, np.where((variants == 3) | (variants == 4), text.SPACED_ENDING + ending, 0)
    )
    extra = np.flatnonzero(added)
    pieces[extra, 7:] = text.word(FUNCTION_WORDS + world.frequency(draw(keys[extra], Purpose.WORD_RANK)))
    pieces[extra, 7] += text.SPACED

    whole = np.flatnonzero(completes)
    pieces[whole, :7] = 0
    pieces[whole, 0] = text.COMPLETION + (intents[whole] - COMPLETIONS) // RESIDUES
    return text.join(pieces)


def _worded(world: World, intents: Ints, variants: Ints) -> pa.Array:
    """The text of informational queries: one to seven words."""
    words, slot, length = world.asked_words(intents, variants)
    pieces = text.word(words)
    pieces[:, 0] += np.where(slot > 0, text.SPACED, 0).astype(np.int16)
    return text.join(pieces, texts=length)
