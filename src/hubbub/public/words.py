"""Words and pairs of words that anybody knows, by language: a public package's, never the log's.

English comes with hubbub's own requirements (`wordsegment`: words and pairs that were frequent on the web in 2006); the
words of other languages are in `wordfreq`, an extra. The owner says which language; nothing is guessed from a log.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from importlib.metadata import version
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from hubbub.errors import NotInstalled, ParameterError
from hubbub.extras import imported
from hubbub.ingest import clean
from hubbub.public.lists import QueryPool, hash_of, pooled

if TYPE_CHECKING:
    from pathlib import Path

ENGLISH = "en"
NONE = "none"
WITHOUT = "state --language none: all queries then weigh the same"
NGRAMS = "wordsegment"
"""The package that ships English n-grams: a phrase, a tab, how often the web had it."""
FILES = ("unigrams.txt", "bigrams.txt")
"""Words, the most frequent first; pairs in any order."""
OTHERS = "wordfreq"
OTHER_LANGUAGES = (
    *("ar", "bg", "bn", "ca", "cs", "da", "de", "el", "es", "fa", "fi", "fil", "fr", "he", "hi", "hu", "id", "is"),
    *("it", "lt", "lv", "mk", "ms", "nb", "nl", "pl", "pt", "ro", "ru", "sh", "sk", "sl", "sv", "ta", "tr", "uk"),
    *("ur", "vi"),
)
"""Languages of `wordfreq` that put blanks between words; a form counts words."""
LANGUAGES = (ENGLISH, NONE, *OTHER_LANGUAGES)
WITH_DOMAINS = 50_000
"""So many of the most frequent words are known as domains, too."""


@dataclass(frozen=True)
class Vocabulary:
    """What a package says of a language: words, the most frequent first, and pairs of words where it has them."""

    language: str
    source: str
    sha256: str
    size: int
    """How many queries are known by it."""
    words: pa.Table
    """One column, `query`, as the pairs: every word and every pair is one, and each stands there once."""
    pairs: pa.Table

    @staticmethod
    def of(language: str, source: str, sha256: str, words: pa.Table, pairs: pa.Table) -> Vocabulary:
        """With its size: two domains for every frequent word."""
        size = words.num_rows + pairs.num_rows + 2 * min(words.num_rows, WITH_DOMAINS)
        return Vocabulary(language, source, sha256, size, words, pairs)

    @cached_property
    def known(self) -> pa.Table:
        """Everything that is known as a query: words, pairs, and `word.com` and `www.word.com` of frequent words."""
        frequent = self.words.column("query").slice(0, WITH_DOMAINS).to_pylist()
        domains = pa.table({"query": [start + word + ".com" for word in frequent for start in ("", "www.")]})
        return pa.concat_tables([self.words, self.pairs, domains]).combine_chunks()

    def record(self) -> dict[str, str]:
        """The words as a card names them."""
        words = {"name": f"words of {self.language}", "sha256": self.sha256}
        return {"use": "words", **words, "queries": str(self.size), "source": self.source}

    @staticmethod
    def read(record: dict[str, str]) -> Vocabulary:
        """A stand-in for words that a card names: they change no number of the claim."""
        language = record["name"].rpartition(" ")[2]
        return Vocabulary(language, record["source"], record["sha256"], int(record["queries"]), None, None)


def known_list(language: str, own: QueryPool | None = None) -> QueryPool:
    """Everything that is known as a query in a language as one list, with an owner's own list if she has one."""
    words = vocabulary(language)
    name, source, columns = f"words of {language}", words.source, [words.known.column("query")]
    if own is not None:
        if own.made is not None:
            raise ParameterError(
                "An earlier release and the words of a language are not one list.",
                given=f"{own.name}, --language {language}",
                next="leave one of both out: the budget of a release is added, and words cost none",
            )
        name, source = f"{own.name}, {name}", f"{own.source}; {source}"
        columns.append(own.rows.column("query"))
    rows = pooled(pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.string()))
    return QueryPool(name, rows, hash_of(rows), rows.num_rows, source, "list")


@cache
def vocabulary(language: str) -> Vocabulary:
    """The words of a language, read once; refused where the package is missing, never left out silently."""
    return _english() if language == ENGLISH else _other(language)


def ngrams(file: Path) -> pa.Table:
    """A file of phrases and how often the web had them."""
    options = pyarrow.csv.ReadOptions(column_names=["query", "times"])
    text = pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False)
    kinds = pyarrow.csv.ConvertOptions(
        column_types={"query": pa.string(), "times": pa.float64()}, strings_can_be_null=False
    )
    return pyarrow.csv.read_csv(file, options, text, kinds)


def _english() -> Vocabulary:
    try:
        folder = resources.files(NGRAMS)
    except ModuleNotFoundError:
        raise NotInstalled(
            f"The words of the language are in the package {NGRAMS}, which is not installed.",
            given=f"language = {ENGLISH}",
            next=f"pip install {NGRAMS}, or {WITHOUT}",
        ) from None
    tables, whole = [], hashlib.sha256()
    for name in FILES:
        with resources.as_file(folder / name) as file:
            whole.update(file.read_bytes())
            tables.append(_cleaned(ngrams(file).column("query")))
    source = f"words and pairs of words of the web (Google, 2006), as shipped in {NGRAMS} {version(NGRAMS)}"
    return Vocabulary.of(ENGLISH, source, whole.hexdigest(), *tables)


def _other(language: str) -> Vocabulary:
    what = f"The words of the language are in the package {OTHERS}, which"
    words = imported(OTHERS, "languages", what, given=f"language = {language}", instead=WITHOUT)
    table = _cleaned(pa.chunked_array([pa.array(list(words.iter_wordlist(language)), pa.string())]))
    table = table.filter(pc.invert(pc.match_substring_regex(table.column("query"), "[ .]")))
    source = f"words of the language {language}, as shipped in {OTHERS} {version(OTHERS)}; it has no pairs"
    return Vocabulary.of(language, source, hash_of(table), table, table.slice(0, 0))


def _cleaned(column: pa.ChunkedArray) -> pa.Table:
    """As the log's queries are cleaned, each once."""
    cleaned = clean.queries(column.combine_chunks()).unique()
    return pa.table({"query": cleaned.filter(pc.not_equal(cleaned, ""))})
