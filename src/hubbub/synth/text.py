"""Strings from numbers: a text is a list of pieces, and a column of texts is one `take` from the table of pieces.

The bytes that `take` lays end to end already are the column; only the offsets inside a text have to be left out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.synth.hashing import Ints, Mask
from hubbub.synth.vocabulary import COMMON, ENDINGS, FEARS, LETTERS, PHRASE, PREFIXES, SYLLABLES

Pieces = npt.NDArray[np.int16]
Places = npt.NDArray[np.int32]

TWO_SYLLABLES = 60_000  # words with two syllables; then three, and four where three do not suffice
SITES = len(COMMON) + 70_000  # a site's name is the word 7 · rank further on

_TABLE = ["", *SYLLABLES, *COMMON]
SPACED = len(_TABLE)  # the same pieces again, after a blank
_TABLE += [f" {piece}" for piece in _TABLE]
ENDING = len(_TABLE)
_TABLE += ENDINGS
SPACED_ENDING = len(_TABLE)
_TABLE += [ending.replace(".", " ") for ending in ENDINGS]
PREFIX = len(_TABLE)
_TABLE += PREFIXES
LETTER = len(_TABLE)
_TABLE += LETTERS
COMPLETION = len(_TABLE)
_TABLE += [f"{PHRASE} {fear}" for fear in FEARS]
TABLE = pa.array(_TABLE, pa.string())


def word(ranks: Ints) -> Pieces:
    """The four pieces of the words with these frequency ranks (from 0): the common list first, then syllables."""
    rare = np.maximum(ranks - len(COMMON), 0)
    code = np.where(rare < TWO_SYLLABLES, (rare * 40_503) & 0xFFFF, (rare * 0x9E3779B1) & 0xFFFFFF)
    pieces = np.zeros((len(ranks), 4), np.int16)
    pieces[:, 0] = 1 + (code & 255)
    pieces[:, 1] = 1 + ((code >> 8) & 255)
    pieces[:, 2] = np.where(rare < TWO_SYLLABLES, 0, 1 + (code >> 16))
    fourth = rare >> 24
    pieces[:, 3] = np.where(fourth > 0, 1 + (fourth & 255), 0)
    common = np.flatnonzero(ranks < len(COMMON))
    pieces[common] = 0
    pieces[common, 0] = 1 + len(SYLLABLES) + ranks[common]
    return pieces


def name(sites: Ints) -> Pieces:
    """The four pieces of the names of these sites."""
    return word(SITES + 7 * sites)


def join(
    pieces: Pieces | Places,
    texts: Ints | None = None,
    present: Mask | None = None,
    table: pa.Array = TABLE,
) -> pa.Array:
    """A column of texts from a matrix of pieces, which are places in a table; the piece 0 is none.

    A text is one row of the matrix, or, where `texts` is given, the next texts[i] rows; it is NULL where `present`
    says so.
    """
    used = pieces != 0
    parts = table.take(pa.array(pieces[used]))
    ends = np.cumsum(used.sum(axis=1))
    if texts is not None:
        ends = np.append(0, ends)[np.cumsum(texts)]
    if present is not None:
        ends = np.append(0, ends)[np.cumsum(present)]
    _, offsets, data = parts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[np.append(0, ends)] if len(parts) else np.zeros(len(ends) + 1, np.int32)
    valid = None if present is None else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(pa.string(), len(ends), [valid, pa.py_buffer(np.ascontiguousarray(bounds)), data])
