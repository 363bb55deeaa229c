"""What anybody knows without a log: the words of a language, as a table of queries. The floor of several tasks."""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np
import pyarrow as pa

from hubbub.public.words import ENGLISH, FILES, NGRAMS, ngrams, vocabulary
from hubbub.worth.tasks.base import Setup

KNOWN = 100_000
"""So many words and pairs of words, the most frequent, are what anybody knows."""


def public_words(setup: Setup) -> pa.Table:
    """Words and pairs of words with how frequent they are, as a table of queries: English unless stated."""
    return _known(str(setup.options.get("language", ENGLISH)))


@cache
def _known(language: str) -> pa.Table:
    if language != ENGLISH:
        words = vocabulary(language).words[:KNOWN]
        return words.append_column("n", pa.array(np.arange(words.num_rows, 0, -1)))
    tables = []
    for name in FILES:
        with resources.as_file(resources.files(NGRAMS) / name) as file:
            tables.append(ngrams(file))
    made = pa.concat_tables(tables).rename_columns(["query", "n"]).combine_chunks()
    made = made.set_column(1, "n", made["n"].cast(pa.int64()))
    frequent = np.argsort(-made["n"].to_numpy(), kind="stable")[:KNOWN]
    return made.take(frequent).combine_chunks()
