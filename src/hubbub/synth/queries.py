"""The text of a query (intent, variant).

Variant 0 is the canonical form. Navigational: name, name.com, www.name.com and other spellings (0 to 5), then a word
added or a typing error. Informational: one to six words, and 1 adds, 2 drops, 3 replaces the last word; further
variants add or replace. A completion ("fear of heights") is asked as it stands, or with a word added.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hubbub.synth import text
from hubbub.synth.hashing import Ints, Mask, Purpose, below, child, draw
from hubbub.synth.vocabulary import FUNCTION_WORDS, LETTERS, RESIDUES
from hubbub.synth.world import COMPLETIONS, SMALL, WORDS, World

PLAIN_SPELLINGS = 6
ADDED = 16  # the word that variant v adds is the (v + ADDED)-th of the intent


def queries(world: World, intents: Ints, variants: Ints) -> pa.Array:
    """The text of each query."""
    named = world.navigational(intents) | ((intents >= COMPLETIONS) & (intents < SMALL))
    first, second = np.flatnonzero(named), np.flatnonzero(~named)
    place = np.empty(len(intents), np.int64)
    place[first] = np.arange(len(first))
    place[second] = np.arange(len(first), len(intents))
    texts = [_named(world, intents[first], variants[first]), _worded(world, intents[second], variants[second])]
    return pa.concat_arrays(texts).take(pa.array(place))


def _named(world: World, intents: Ints, variants: Ints) -> pa.Array:
    """The text of navigational queries (a site's name in some spelling) and of completions."""
    completes = (intents >= COMPLETIONS) & (intents < SMALL)
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
    pieces[extra, 7:] = text.word(FUNCTION_WORDS + world.frequency(draw(keys[extra], Purpose.WORD_RANK)))
    pieces[extra, 7] += text.SPACED

    whole = np.flatnonzero(completes)
    pieces[whole, :7] = 0
    pieces[whole, 0] = text.COMPLETION + (intents[whole] - COMPLETIONS) // RESIDUES
    return text.join(pieces)


def _worded(world: World, intents: Ints, variants: Ints) -> pa.Array:
    """The text of informational queries: one to seven words."""
    length, changes = _shape(world, intents, variants)
    owner = np.repeat(np.arange(len(intents)), length)
    slot = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)
    last = slot == length[owner] - 1
    other = np.where(last & changes[owner], variants[owner] + ADDED, slot)
    pieces = text.word(world.words(intents[owner], slot, (slot == 0) | last, other))
    pieces[:, 0] += np.where(slot > 0, text.SPACED, 0).astype(np.int16)
    return text.join(pieces, texts=length)


def _shape(world: World, intents: Ints, variants: Ints) -> tuple[Ints, Mask]:
    """How many words an informational query has, and whether its last is not the canonical one."""
    canonical = world.length(intents)
    drops = (variants == 2) & (canonical > 1)
    adds = (variants == 1) | ((variants >= 4) & (variants % 4 == 0)) | ((variants == 2) & ~drops)
    replaces = (variants >= 3) & ~adds
    adds |= replaces & (canonical == 1)
    return canonical + adds - drops, adds | replaces


def settled(world: World, intents: Ints, variants: Ints, navigational: Mask) -> tuple[Ints, Ints]:
    """The same queries, but those of one or two words get the intent that is named after the words; no text changes."""
    intents, variants = intents.copy(), variants.copy()
    where = np.flatnonzero(~navigational & (variants > 0) & ((intents >= WORDS) | (variants == 2)))
    where = where[(intents[where] < COMPLETIONS) | (intents[where] >= WORDS)]
    length, changes = _shape(world, intents[where], variants[where])
    one, two = where[length == 1], where[length == 2]
    last = np.where(changes[length == 2], variants[two] + ADDED, 1)
    first = world.words(intents[two], np.zeros_like(two))
    intents[two] = world.phrase(first, world.words(intents[two], np.ones_like(two), other=last))
    intents[one] = WORDS + world.words(intents[one], np.zeros_like(one))
    variants[one] = variants[two] = 0
    return intents, variants
