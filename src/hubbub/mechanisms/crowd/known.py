"""Queries known beforehand, as domains of the first selection: lists of the owner's, words of a language."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from hubbub.mechanisms.crowd.chain import CodedDomain
from hubbub.mechanisms.parameter import Parameter, Value
from hubbub.public.words import ENGLISH, LANGUAGES
from hubbub.steps import weights

if TYPE_CHECKING:
    from hubbub.public.prior import Prior

LISTED = "public_list"
"""The engine's table of the owner's lists."""
SMALL = Fraction(1, 10**6)
LISTED_FALSE = Parameter("F_list", "number", "listed queries of nobody to expect at most", 10, low=SMALL, high=100_000)
LANGUAGE = Parameter(
    "language",
    "choice",
    "the language whose words are known; none: all queries weigh the same",
    ENGLISH,
    choices=LANGUAGES,
)
WORDS_FALSE = Parameter(
    "F_words", "number", "known words of nobody to expect at most; 0: none is known", 1, low=0, high=1000
)


def domains(
    listed: pa.Table | None, prior: Prior | None, settings: Mapping[str, Value]
) -> list[tuple[CodedDomain, Fraction]]:
    """Queries that are tested whether or not anybody holds them, each once, and how many of nobody are expected."""
    found = []
    if listed is not None:
        owners = CodedDomain(listed.num_rows, listed.take, LISTED, weights.LISTED)
        found.append((owners, Fraction(settings["F_list"])))
    if prior is not None and prior.known and prior.vocabulary is not None:
        words = prior.vocabulary.known
        if listed is not None:  # a query of both is one of the owner's list
            words = words.filter(pc.invert(pc.is_in(words.column("query"), listed.column("query"))))
        found.append((CodedDomain(words.num_rows, words.take, mark=weights.KNOWN), Fraction(settings["F_words"])))
    return found
