"""A spelling dictionary in the format of SymSpell: words and pairs of neighbouring words, each with a frequency."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import ClassVar

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, register
from hubbub.show.export.supported import SUPPORT, Supported
from hubbub.show.export.text import one_line


class Spelling(Format):
    """Frequencies of words and of pairs, from the released queries."""

    name: ClassVar[str] = "spelling"
    about: ClassVar[str] = "a spelling dictionary for SymSpell, words and pairs of words"
    needs: ClassVar[tuple[str, ...]] = ("queries",)

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """A line for each word and for each pair, the most frequent first."""
        used = Supported.of(source.need("queries"))
        words: Counter[str] = Counter()
        pairs: Counter[str] = Counter()
        for query, number in zip(used.texts("query"), used.number.tolist(), strict=True):
            parts = query.split()
            for word in parts:
                if is_word(word):
                    words[word] += number
            for left, right in pairwise(parts):
                if is_word(left) and is_word(right):
                    pairs[f"{left} {right}"] += number
        folder.lines("words.txt", used.said("word frequency"), len(words), frequencies(words))
        folder.lines("pairs.txt", used.said("word word frequency"), len(pairs), frequencies(pairs))

    def notes(self, card: Card) -> str:
        """For the README: how to load it, and what a frequency is."""
        return (
            "`words.txt` and `pairs.txt` are the two dictionaries of SymSpell, in UTF-8, without a header: "
            '`load_dictionary("words.txt", 0, 1, encoding="utf-8")` and '
            '`load_bigram_dictionary("pairs.txt", 0, 2, encoding="utf-8")` of symspellpy. A query is split at blanks. '
            "A part of it is a word if it holds a letter and no control character. The "
            "frequency of a word is the sum of the released numbers of the queries that hold it, once for each time "
            f"it stands there: somebody who asked two of them counts twice.\n\n{SUPPORT}\n\n"
            "A word that is not listed was not released often enough; that does not make it misspelt. Add a "
            "dictionary of the language where rare words matter. A frequent misspelling is listed as a word: SymSpell "
            "takes it for right. Frequencies let you see which of two neighbours is rarer."
        )


def is_word(part: str) -> bool:
    """Whether it holds a letter and nothing that a line cannot hold."""
    return any(map(str.isalpha, part)) and one_line(part)


def frequencies(counts: Counter[str]) -> list[bytes]:
    """Lines of text and number, the highest first, equal ones in the order of the text."""
    return [f"{text} {number}\n".encode() for text, number in sorted(counts.items(), key=lambda i: (-i[1], i[0]))]


register(Spelling())
