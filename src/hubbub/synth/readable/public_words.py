"""The public words of a language, the most frequent first, and which of them often follow each other.

English: what the package `wordsegment`, a requirement of hubbub, says of the web of 2006, as far as its own list of
English words has it, which leaves out most names. Nothing is copied into hubbub: the words are read where they lie.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib import resources

import pyarrow as pa
import pyarrow.compute as pc

from hubbub.public.words import FILES, NGRAMS, ngrams
from hubbub.synth.readable.decent import TRADE_PAIRS, decent

DICTIONARY = "words.txt"
SHORTEST = 3
OFTEN = 30_000
_FUNCTION_WORDS = """
    the and for that this with you not are from your all have was will can about has but our one other they may what
    which their out any there see only his when here who also now get had been would how were some these its like
    than just over into them should such after then where well through each she very does under could did because
    those using between even being much both while him per before down still must said due same own let her why off
    too most many more again upon within without during against until above below became become ever never yet etc
    via else though although whose whom itself himself themselves yourself ourselves hers ours mine isn don didn
    click clicks copyright http html www page pages site sites website websites user users login username url item
    items posted reply posts thread threads view views faq edit query file files code data info email mail inc ltd
    rss xml php pdf usa non pre pro sub vol sec dev lib eds reg ext est min max avg var div ref hrs mins lbs
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that nobody looks for by themselves, and words of web pages about themselves."""


@dataclass(frozen=True)
class PublicWords:
    """What a language is made of; all words are in the order of their frequency."""

    words: tuple[str, ...]  # decent ones
    known: frozenset[str]  # all
    often: frozenset[str]  # the frequent ones among all
    follow: dict[str, tuple[str, ...]]  # what follows a word in known pairs, the most frequent first


@cache
def english(following: frozenset[str]) -> PublicWords:
    """The words of English, read once; only words of a list may follow another."""
    folder = resources.files(NGRAMS)
    tables = []
    for name in FILES:
        with resources.as_file(folder / name) as file:
            tables.append(ngrams(file))
    dictionary = frozenset((folder / DICTIONARY).read_text(encoding="utf-8").split())
    known = tables[0].column("query").to_pylist()
    ordinary = (word for word in known if word in dictionary and len(word) >= SHORTEST and word not in FUNCTION_WORDS)
    words = tuple(word for word in ordinary if decent(word))
    return PublicWords(
        words, frozenset(known), frozenset(known[:OFTEN]), _followers(tables[1], frozenset(words), following)
    )


def _followers(pairs: pa.Table, words: frozenset[str], following: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """For each word those that follow it, the most frequent first."""
    order = pc.sort_indices(pairs, sort_keys=[("times", "descending"), ("query", "ascending")])
    follow = defaultdict[str, list[str]](list)
    for pair in pairs.column("query").take(order).to_pylist():
        first, blank, second = pair.partition(" ")
        if blank and second in following and first in words and pair not in TRADE_PAIRS:
            follow[first].append(second)
    return {first: tuple(dict.fromkeys(seconds)) for first, seconds in follow.items()}
