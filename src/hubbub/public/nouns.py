"""Safelog's recipe for a pool (Zhang et al. 2016): n-grams of two to five words that end in a noun.

The paper takes them from the Corpus of Contemporary American English, whose lists may not be passed on. Ours: pairs of
words come from the package that ships n-grams of the web; longer ones are chains of such pairs, no word twice, and how
frequent one is follows from its pairs: an estimate. Somebody who has a list of n-grams gives it as a file. Whether a
word is a noun says a tagger of English whose model comes with its package: by the word alone, one tag for each.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.extras import imported

LENGTHS = (2, 3, 4, 5)
TAGGER, MODEL = "HanTa", "morphmodel_en.pgz"
EACH = 50_000
"""n-grams of each length, unless a size is given."""
NEXT = 10
"""Continuations of a word that are tried: its most frequent ones."""
MORE = 4
"""Chains kept for every one wanted, because not all end in a noun."""
Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def ending_in_nouns(phrases: pa.ChunkedArray) -> pa.Array:
    """Of these phrases, in their order, those of two to five words whose last one is a noun."""
    words = pc.split_pattern(phrases.combine_chunks(), " ")
    length = pc.list_value_length(words)
    inside = pc.and_(pc.greater_equal(length, LENGTHS[0]), pc.less_equal(length, LENGTHS[-1]))
    phrases, words = phrases.combine_chunks().filter(inside), words.filter(inside)
    last = pc.list_element(pa.array([row[::-1] for row in words.to_pylist()], pa.list_(pa.string())), 0)
    return phrases.filter(pc.is_in(last, nouns(last)))


def nouns(words: pa.Array) -> pa.Array:
    """The distinct words among these that are tagged as nouns, names included (NN0, NN1, NN2, NP0)."""
    what = f"The tagger that knows nouns is in the package {TAGGER}, which"
    tagger = imported("HanTa.HanoverTagger", "pool", what, instead="leave --nouns out").HanoverTagger(MODEL)
    known = [word for word in words.unique().to_pylist() if str(tagger.analyze(word)[1]).startswith("N")]
    return pa.array(known, pa.string())


def tagged_by() -> str:
    """The package that has the tagger, with its version."""
    from importlib.metadata import version

    return f"{TAGGER} {version(TAGGER)}"


def recipe(pairs: pa.ChunkedArray, times: Floats, size: int | None) -> pa.Array:
    """n-grams that end in a noun, as many of each length as there are; `pairs` from the most frequent down."""
    each = EACH if size is None else -(-size // len(LENGTHS))
    split = pc.split_pattern(pairs.combine_chunks(), " ")
    two = pc.equal(pc.list_value_length(split), 2)
    words = pc.list_flatten(split.filter(two)).dictionary_encode()
    codes = words.indices.to_numpy().astype(np.int64).reshape(-1, 2)
    every = chains(codes, times[np.asarray(two)], MORE * each)
    last = words.dictionary.take(pa.array(np.unique(np.concatenate([grams[:, -1] for grams in every]))))
    noun = np.asarray(pc.is_in(words.dictionary, nouns(last)))
    found = []
    for grams in every:
        chosen = grams[noun[grams[:, -1]]][:each]
        text = words.dictionary.take(pa.array(chosen.ravel()))
        starts = pa.array(np.arange(0, chosen.size + 1, chosen.shape[1], dtype=np.int32))
        found.append(pc.binary_join(pa.ListArray.from_arrays(starts, text), " "))
    return pa.concat_arrays(found)


def chains(pairs: Codes, times: Floats, most: int) -> list[Codes]:
    """For each length, the likeliest chains of pairs without a word twice: rows of words, the likeliest first."""
    first, second = pairs.T
    by = np.lexsort((second, -times, first))
    starts = np.searchsorted(first[by], np.arange(int(pairs.max(initial=-1)) + 2))
    chance = np.log(times[by] / np.bincount(first, times)[first[by]])
    order = np.lexsort((second, first, -times))[:most]
    grams, score = pairs[order], np.log(times[order])
    found = [grams]
    for _ in LENGTHS[1:]:
        last = grams[:, -1]
        ways = np.minimum(starts[last + 1] - starts[last], NEXT)
        row = np.repeat(np.arange(last.size), ways)
        at = starts[last[row]] + np.arange(row.size) - np.repeat(np.cumsum(ways) - ways, ways)
        new = second[by][at]
        fresh = (grams[row] != new[:, None]).all(axis=1)
        row, at, new = row[fresh], at[fresh], new[fresh]
        total = score[row] + chance[at]
        order = np.lexsort((at, row, -total))[:most]
        grams, score = np.column_stack([grams[row[order]], new[order]]), total[order]
        found.append(grams)
    return found
