"""What a variant changes in a query, as the made-up vocabulary has it: what is one text there is one here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hubbub.synth.hashing import Ints, Mask, Purpose, below, child, draw
from hubbub.synth.made_up import PLAIN_SPELLINGS
from hubbub.synth.numbers import ADDED, COMPLETIONS, SMALL
from hubbub.synth.readable.needs import NEEDS
from hubbub.synth.vocabulary import LETTERS

if TYPE_CHECKING:
    from hubbub.synth.world import World

OFTEN = (6, 8, 10, 12, *range(14, 30))  # variants that add a word, the most frequent first
DROPPED = 2  # a question without its last word is worded as the plain spelling of this number


@dataclass(frozen=True)
class Change:
    """Which plain spelling, which typing error and which other word a query has; an error or a word may be -1: none."""

    plain: Ints
    wrong: Ints
    word: Ints
    replaces: Mask  # the word stands in the place of the last one; else it is added
    often: Ints  # which of the most frequent additions to a navigational need its word is, or -1


def changed(world: World, intents: Ints, variants: Ints) -> Change:
    """What is changed in navigational queries, in fears and in questions that are popular needs."""
    fear = (intents >= COMPLETIONS) & (intents < SMALL)
    named = fear | world.navigational(intents)
    sites = world.own_site(np.where(fear, 1, intents))
    keys = child(world.keys(np.where(fear, intents, sites)), variants)
    other = named & (variants >= PLAIN_SPELLINGS)
    adds = np.where(fear, variants > 0, other & ((variants % 2 == 0) | (variants > 13)))
    typo = other & ~adds & ~fear
    dotted = (variants % 4 == 1).astype(np.int64)
    letter = below(keys, Purpose.LETTER, len(LETTERS))
    word = np.where(adds, world.frequency(draw(keys, Purpose.WORD_RANK)) - 1, -1)
    plain = np.where(named & ~other & ~fear, variants, 0)

    where = np.flatnonzero(~named)
    length, changes = world.shape(intents[where], variants[where])
    longer = length > world.length(intents[where])
    plain[where] = np.where(~changes & (variants[where] > 0), DROPPED, 0)
    drawn = world.words(intents[where], length - 1, other=variants[where] + ADDED)
    word[where] = np.where(changes, drawn, -1)
    replaces = np.zeros(len(intents), np.bool_)
    replaces[where] = changes & ~longer
    often = _often(world, sites, np.where(named & ~fear, word, -1))
    return Change(plain, np.where(typo, 2 * letter + dotted, -1), word, replaces, often)


def _often(world: World, sites: Ints, word: Ints) -> Ints:
    """Which of the first variants of a site that add a word adds this one, from 0, or -1."""
    popular = np.flatnonzero((sites < NEEDS) & (word >= 0))
    found, which = np.unique(sites[popular], return_inverse=True)
    keys = child(world.keys(found)[:, None], np.array(OFTEN))
    same = (world.frequency(draw(keys, Purpose.WORD_RANK)) - 1)[which] == word[popular, None]
    often = np.full(len(sites), -1, np.int64)
    often[popular] = np.where(same.any(axis=1), same.argmax(axis=1), -1)
    return often
