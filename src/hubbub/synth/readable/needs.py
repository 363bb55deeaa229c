"""The texts of the needs that many people have: six plain wordings each, in forms as frequent as in real logs.

The more popular a need, the shorter: the first are one known word each, then known pairs, other pairs, `types of …` and
made-up brands in shares that follow published ones (docs/synthetic-log.md). The first word of a text tells the sort of
its need, and a text is given away once, so that no two needs share one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from hubbub.synth.hashing import Purpose, child, draw, root
from hubbub.synth.readable.first_words import BRAND_ENDINGS, PLACE_ENDINGS, Family, FirstWords
from hubbub.synth.readable.lists import OwnWords
from hubbub.synth.readable.public_words import PublicWords
from hubbub.synth.vocabulary import SYLLABLES, TOPICS

NEEDS = 8192  # needs of smaller popularity ranks have texts of their own
WORDINGS, MISSPELLINGS = 6, 2
HEAD = 16  # the first needs are one word each
SORTS = ("word", "pair", "loose", "about", "brand")
SHARES = ((0.36, 0.34, 0.20, 0.07, 0.03), (0.16, 0.10, 0.50, 0.20, 0.04))
"""Of the sorts among the needs, at rank HEAD and at rank NEEDS; in between they change with the rank's logarithm."""
DOMAIN = ".com"


@dataclass(frozen=True)
class PopularNeeds:
    """WORDINGS texts and MISSPELLINGS of each need, from 0, which is nobody's; an empty misspelling is none."""

    texts: list[str]
    misspelt: list[str]


def popular_needs(own: OwnWords, words: FirstWords, public: PublicWords) -> PopularNeeds:
    """The texts of the popular needs."""
    topics = range(len(TOPICS))
    told = [[family[-1] for family in families] for families in words.needs]
    made = {
        "word": [_words(words.needs[topic], topic, public, {*own.added, *own.extra, *own.plain}) for topic in topics],
        "pair": [_pairs(words.paired, own.plain, public)] * len(TOPICS),
        "loose": [_phrases(turned(words.loose, topic), own.words[topic], " ", public) for topic in topics],
        "about": [_phrases(turned(words.about, topic), told[topic], f" {own.between} ", public) for topic in topics],
        "brand": [_brands(public)] * len(TOPICS),
    }
    texts, misspelt, wrong = [""] * WORDINGS, [""] * MISSPELLINGS, Misspelling(public)
    for need, sort in enumerate(_sorts(), 1):
        topic = need % len(TOPICS)
        found = _six(next(made[sort][topic], []) or next(made["loose"][topic]), own.plain)
        texts += found
        misspelt += wrong(found[0])
    return PopularNeeds(texts, misspelt)


def _sorts() -> list[str]:
    """The sort of each need from 1 on."""
    rank = np.arange(1, NEEDS)
    way = np.clip(np.log(rank / HEAD) / np.log(NEEDS / HEAD), 0, 1)[:, None]
    ends = np.cumsum((1 - way) * np.array(SHARES[0]) + way * np.array(SHARES[1]), axis=1)
    chosen = (draw(child(root(0), rank), Purpose.SORT)[:, None] >= ends[:, :-1]).sum(axis=1)
    return [
        SORTS[sort] if number >= HEAD else "word" for number, sort in zip(rank.tolist(), chosen.tolist(), strict=True)
    ]


def turned(words: Sequence[str], topic: int) -> Sequence[str]:
    """The words of a list, each topic beginning with another one."""
    start = 5 * topic % len(words)
    return [*words[start:], *words[:start]]


def domains(stem: str) -> list[str]:
    """How people type the address of a name."""
    return [stem + DOMAIN, "www." + stem + DOMAIN, "http www." + stem + DOMAIN]


def _words(families: Sequence[Family], topic: int, public: PublicWords, others: Collection[str]) -> Iterator[list[str]]:
    """One known word; its plural, a known pair that it begins and its address take turns in being the next wording."""
    for number, (word, *other) in enumerate(families):
        pairs = [f"{word} {second}" for second in public.follow.get(word, ()) if second not in others][:2]
        address, www, http = domains(word)
        known = [*other, *pairs]
        turns = ([*known, address], [*reversed(known), address], [*known, address], [*other[:1], address, *pairs])
        yield [word, *turns[(number + topic) % len(turns)], www, http]


def _pairs(firsts: Sequence[str], plain: Sequence[str], public: PublicWords) -> Iterator[list[str]]:
    """Two known pairs that begin with the same word, then the first of them and a word more."""
    for turn in count():
        chosen = [(first, public.follow.get(first, ())[2 * turn : 2 * turn + 2]) for first in firsts]
        if not any(seconds for _, seconds in chosen):
            return
        for first, seconds in chosen:
            if seconds:
                pairs = [f"{first} {second}" for second in seconds]
                more = f"{pairs[0]} {plain[(turn + len(first)) % len(plain)]}"
                yield [*pairs, more, *domains(f"{first}-{seconds[0]}")]


def _phrases(firsts: Sequence[str], seconds: Sequence[str], between: str, public: PublicWords) -> Iterator[list[str]]:
    """Three phrases that begin with the same word and are no known pair."""
    for turn in range(len(seconds) // 3):
        for place, first in enumerate(firsts):
            mine = [seconds[(3 * turn + part + place) % len(seconds)] for part in range(3)]
            free = [word for word in mine if between != " " or word not in public.follow.get(first, ())]
            if free:
                phrases = [f"{first}{between}{word}" for word in free]
                yield [*phrases, *domains(phrases[0].replace(" ", "-"))]


def _brands(public: PublicWords) -> Iterator[list[str]]:
    """Made-up names: two syllables and an ending; a name that anybody knows is left out."""
    for number in count():
        first, second = SYLLABLES[37 * number % 256], SYLLABLES[(53 * number + 91 * (number // 256)) % 256]
        name = first + second + BRAND_ENDINGS[number % len(BRAND_ENDINGS)]
        if name not in public.known:
            yield [name, *domains(name)]


def _six(texts: Sequence[str], plain: Sequence[str]) -> list[str]:
    """The first wordings that differ, filled up with plain ones."""
    return list(dict.fromkeys([*texts, *(f"{texts[0]} {more}" for more in plain)]))[:WORDINGS]


class Misspelling:
    """Makes misspellings of single words: two letters swapped, one left out, one doubled; none is a known word."""

    def __init__(self, public: PublicWords) -> None:
        self._known, self._given = public.known, set[str]()

    def __call__(self, word: str) -> list[str]:
        """A few of them, each given away once; none for texts of several words."""
        attempts = dict.fromkeys(self._attempts(word)) if " " not in word else {}
        found = [wrong for wrong in attempts if wrong not in self._known and wrong not in self._given][:MISSPELLINGS]
        self._given.update(found)
        return [*found, *[""] * (MISSPELLINGS - len(found))]

    @staticmethod
    def _attempts(word: str) -> Iterator[str]:
        middle = range(1, len(word) - 1)
        swapped = (word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in middle)
        dropped = (word[:i] + word[i + 1 :] for i in middle)
        doubled = (word[:i] + word[i] + word[i:] for i in middle)
        for wrong in (text for each in zip(swapped, dropped, doubled, strict=True) for text in each):
            if not wrong.endswith((*PLACE_ENDINGS, *BRAND_ENDINGS)):
                yield wrong
