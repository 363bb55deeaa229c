"""The text of a query (intent, variant).

Variant 0 is the canonical form. Navigational: name, name.com, www.name.com and other spellings (0 to 5), then a word
added or a typing error. Informational: one to six words, and 1 adds, 2 drops, 3 replaces the last word; further
variants add or replace. A completion ("fear of heights") is asked as it stands, or with a word added.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hubbub.synth import text
from hubbub.synth.curves import choose, cumulative
from hubbub.synth.hashing import Ints, Purpose, below, child, draw
from hubbub.synth.vocabulary import COMMON, FUNCTION_WORDS, LETTERS, RESIDUES
from hubbub.synth.world import COMPLETIONS, World

TOPICAL = 0.7  # of the rare words of an intent belong to its topic
PLAIN_SPELLINGS = 6
ADDED = 16  # the word that variant v adds is the (v + ADDED)-th of the intent


def queries(world: World, intents: Ints, variants: Ints) -> pa.Array:
    """The text of each query."""
    named = world.navigational(intents) | (intents >= COMPLETIONS)
    first, second = np.flatnonzero(named), np.flatnonzero(~named)
    place = np.empty(len(intents), np.int64)
    place[first] = np.arange(len(first))
    place[second] = np.arange(len(first), len(intents))
    texts = [_named(world, intents[first], variants[first]), _worded(world, intents[second], variants[second])]
    return pa.concat_arrays(texts).take(pa.array(place))


def _named(world: World, intents: Ints, variants: Ints) -> pa.Array:
    """A site's name in some spelling, or a completion."""
    completes = intents >= COMPLETIONS
    sites = world.own_site(np.where(completes, 1, intents))
    keys = child(world.keys(np.where(completes, intents, sites)), variants)
    ending = world.ending(sites)
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
    pieces[extra, 7:] = text.word(FUNCTION_WORDS + world.words(draw(keys[extra], Purpose.WORD_RANK)))
    pieces[extra, 7] += text.SPACED

    whole = np.flatnonzero(completes)
    pieces[whole, :7] = 0
    pieces[whole, 0] = text.COMPLETION + (intents[whole] - COMPLETIONS) // RESIDUES
    return text.join(pieces)


def _worded(world: World, intents: Ints, variants: Ints) -> pa.Array:
    """One to seven words."""
    keys = world.keys(intents)
    canonical = choose(cumulative(world.preset.queries.words), draw(keys, Purpose.LENGTH_IN_WORDS)) + 1
    drops = (variants == 2) & (canonical > 1)
    adds = (variants == 1) | ((variants >= 4) & (variants % 4 == 0)) | ((variants == 2) & ~drops)
    replaces = (variants >= 3) & ~adds
    adds |= replaces & (canonical == 1)
    length = canonical + adds - drops

    owner = np.repeat(np.arange(len(intents)), length)
    slot = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)
    last = slot == length[owner] - 1
    changed = last & (adds | replaces)[owner]
    words = child(keys[owner], np.where(changed, variants[owner] + ADDED, slot))
    ranks = world.words(draw(words, Purpose.WORD_RANK)) - 1
    ranks = np.where(((slot == 0) | last) & (ranks < FUNCTION_WORDS), ranks + FUNCTION_WORDS + 3 * slot, ranks)
    topical = (ranks >= len(COMMON)) & (draw(words, Purpose.WORD_TOPIC) < TOPICAL)
    ranks = np.where(topical, ranks - ranks % RESIDUES + intents[owner] % RESIDUES, ranks)

    pieces = text.word(ranks)
    pieces[:, 0] += np.where(slot > 0, text.SPACED, 0).astype(np.int16)
    return text.join(pieces, texts=length)
