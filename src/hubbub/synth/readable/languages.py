"""Other languages: the words of a public package, dealt out to the lists by how frequent they are.

`wordfreq` (Apache 2.0; an extra) has words and no pairs, and does not say which are nouns: texts of such a log are
words of the language, and nothing more. Words that are frequent in English too are left out, which takes most names
and brands away, and so are rude ones by a short list of our own. Fears stay English.
"""

from __future__ import annotations

import re
from itertools import islice

from hubbub.errors import InputError
from hubbub.public.words import ENGLISH, OTHERS
from hubbub.synth.readable.decent import decent
from hubbub.synth.readable.lists import OwnWords
from hubbub.synth.readable.public_words import OFTEN, PublicWords
from hubbub.synth.vocabulary import FUNCTION_WORDS, TOPICS

BETWEEN = {"de": "von", "es": "de", "fr": "de"}
RUDE = {
    "de": "fick|fotze|arsch|schei(ß|ss)|hure|nutte|neger|schwul|titte|muschi|wichs|kacke|jud|tod|tot|mord|mörd|töt",
    "es": "put[ao]|mierda|coño|polla|jod(er|id)|cabr[oó]n|maric|negr[ao]|jud[ií]|viol|muert|culo|verga|tetas|matar",
    "fr": "put(e|ain)|merde|salop|bite|couille|n[eè]gre|encul|bais|nique|juif|juiv|viol|mort|tuer|meurtr|cul|drogue",
}
SHORTEST, WORDS = 4, 90_000
FREQUENT = 1500  # so many words of a language are hardly ever looked for: the function words among others
ENGLISH_TOO = 40_000
SIZES = {
    **{"paired": 0, "loose": 110, "about": 32, "offered": 240, "places": 200},
    **{"landmarks": 160, "houses": 200, "added": 60, "extra": 32},
}


def other_language(language: str) -> tuple[OwnWords, PublicWords]:
    """Lists and words of a language."""
    try:
        from wordfreq import iter_wordlist
    except ModuleNotFoundError:
        raise InputError(
            f"The words of the language are in the package {OTHERS}, which is not installed.",
            given=f"vocabulary = {language}",
            next=f"pip install 'hubbub[languages]', or take the vocabulary {ENGLISH}",
        ) from None
    everything = list(islice(iter_wordlist(language), 4 * WORDS))
    english = frozenset(islice(iter_wordlist(ENGLISH), ENGLISH_TOO))
    rude = re.compile(RUDE[language])
    good = [
        word
        for word in everything
        if word.isalpha() and len(word) >= SHORTEST and word not in english and decent(word) and not rude.search(word)
    ]
    words = tuple(good[FREQUENT : FREQUENT + WORDS])
    dealt = iter(words)
    topical = [tuple(tuple(islice(dealt, size)) for _ in TOPICS) for size in (12, 18)]
    lists = {name: tuple(islice(dealt, size)) for name, size in SIZES.items()}
    own = OwnWords(
        needs=topical[0],
        words=topical[1],
        **lists,
        following=frozenset(),
        between=BETWEEN[language],
        function=tuple(good[:FUNCTION_WORDS]),
        plain=tuple(islice(dealt, 5)),
    )
    return own, PublicWords(words, frozenset(everything), frozenset(everything[:OFTEN]), {})
