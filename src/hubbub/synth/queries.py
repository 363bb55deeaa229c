"""The text of a query (intent, variant), and which queries are one and the same.

Variant 0 is the canonical form. Navigational: plain spellings (0 to 5), then a word added or a typing error.
Informational: one to six words, and 1 adds, 2 drops, 3 replaces the last word; further variants add or replace. A
completion ("fear of heights") is asked as it stands, or with a word added. A vocabulary puts this into words.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hubbub.synth.hashing import Ints, Mask
from hubbub.synth.numbers import ADDED, COMPLETIONS, WORDS
from hubbub.synth.world import World


def queries(world: World, intents: Ints, variants: Ints) -> pa.Array:
    """The text of each query."""
    return world.wording.queries(world, intents, variants)


def settled(world: World, intents: Ints, variants: Ints, navigational: Mask) -> tuple[Ints, Ints]:
    """The same queries, but those of one or two words get the intent that is named after the words; no text changes."""
    intents, variants = intents.copy(), variants.copy()
    where = np.flatnonzero(~navigational & (variants > 0) & ((intents >= WORDS) | (variants == 2)))
    where = where[(intents[where] < COMPLETIONS) | (intents[where] >= WORDS)]
    length, changes = world.shape(intents[where], variants[where])
    one, two = where[length == 1], where[length == 2]
    last = np.where(changes[length == 2], variants[two] + ADDED, 1)
    first = world.words(intents[two], np.zeros_like(two))
    intents[two] = world.phrase(first, world.words(intents[two], np.ones_like(two), other=last))
    intents[one] = WORDS + world.words(intents[one], np.zeros_like(one))
    variants[one] = variants[two] = 0
    return intents, variants
