"""Which word may begin what: disjoint groups of first words, so that the first word of a text tells its sort."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hubbub.synth.readable.decent import decent
from hubbub.synth.readable.lists import OwnWords
from hubbub.synth.readable.public_words import PublicWords
from hubbub.synth.vocabulary import PHRASE, TOPICS

NOUNS = 4000  # so many words that have a plural come before words that have none
MORE_NEEDS, NEEDS_FROM = 1600, 600  # so many more words of a family are needs; the most frequent words are not
PLACE_ENDINGS = (
    *("wick", "bury", "ford", "field", "mere", "thorpe", "stead", "combe"),
    *("dale", "hurst", "leigh", "worth", "minster", "haven", "brook", "gate"),
)
BRAND_ENDINGS = ("ova", "exo", "ium", "ify", "ura", "aza")
"""What made-up names end with: no ending is the end of another, and no other first word ends so."""
Family = tuple[str, ...]


@dataclass(frozen=True)
class FirstWords:
    """The groups of first words."""

    needs: tuple[list[Family], ...]  # for each topic: a word, and its plural or singular where that is known
    paired: tuple[str, ...]
    loose: tuple[str, ...]
    about: tuple[str, ...]
    offered: tuple[str, ...]
    places: tuple[str, ...]
    rest: tuple[str, ...]  # of every other question, the most frequent first; the first few are function words


def first_words(own: OwnWords, public: PublicWords) -> FirstWords:
    """Deal the words out: to our own lists in their order, then to others by how frequent they are."""
    free = Free({PHRASE.partition(" ")[0], *own.function, *own.between.split()})
    needs = tuple([both for word in group if (both := free.claim(word, *family(word, public)))] for group in own.needs)
    groups = (own.paired, own.loose, own.about, own.offered, own.places)
    paired, loose, about, offered, places = (free.claim(*group) for group in groups)
    free.claim(*own.added, *own.extra, *own.plain)
    asked = [list(free.claim(*group)) for group in own.words]
    for number, group in enumerate(_more_needs(public, free)):
        needs[number % len(TOPICS)].append(group)
    others = free.claim(*public.words)
    nouns = [word for word in others if family(word, public)]
    rest = tuple(_by_topic(own.function, asked, iter(dict.fromkeys((*nouns[:NOUNS], *others)))))
    return FirstWords(needs, paired, loose, about, offered, places, rest)


class Free:
    """Words that nobody has claimed yet."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken

    def __contains__(self, word: str) -> bool:
        return word not in self._taken and not word.endswith((*PLACE_ENDINGS, *BRAND_ENDINGS))

    def claim(self, *words: str) -> tuple[str, ...]:
        """Those of the words that are free; they are not free any longer."""
        fresh = tuple(word for word in dict.fromkeys(words) if word in self)
        self._taken.update(fresh)
        return fresh


def family(word: str, public: PublicWords) -> Family:
    """The plural or the singular of an English noun, where it is frequent."""
    other = word[:-1] if word.endswith("s") else word[:-1] + "ies" if word.endswith("y") else word + "s"
    return (other,) if other in public.often and decent(other) and not word.endswith("ss") else ()


def _more_needs(public: PublicWords, free: Free) -> Iterator[Family]:
    found = 0
    for word in public.words[NEEDS_FROM:]:
        both = (word, *family(word, public))
        if not word.endswith("s") and all(part in free for part in both) and (len(both) > 1 or not public.follow):
            yield free.claim(*both)
            found += 1
        if found == MORE_NEEDS:
            return


def _by_topic(function: tuple[str, ...], asked: list[list[str]], others: Iterator[str]) -> Iterator[str]:
    """Function words, then words of the topic that their rank stands for, as long as there are any, then the others."""
    yield from function
    rank = len(function)
    while any(asked):
        group = asked[rank % len(TOPICS)]
        yield group.pop(0) if group else next(others)
        rank += 1
    yield from others
