"""Typing errors in a made-up log, and what was meant.

typos.parquet     query, meant, users     each misspelt text, what it stands for, and how many users typed it so

A search is misspelt with a stated probability. Of each text some slips are more likely than others, so that many people
make the same one: two letters swapped, one left out, one doubled, or its neighbour on the keyboard hit. A slip falls on
a letter of a word of four letters or more; a text without such a word is typed as it is meant.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.synth.curves import choose, cumulative
from hubbub.synth.hashing import Purpose, child, draw, root

TYPOS = pa.schema([("query", pa.string()), ("meant", pa.string()), ("users", pa.int64())])
MEANT = "meant"
"""The column of a batch that says what was meant; NULL where nothing is misspelt."""
SLIPS = cumulative([1 / rank for rank in range(1, 9)])
"""Which of eight slips of a text somebody makes, by Zipf's law."""
SHORTEST = 4
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def with_typos(batch: pa.RecordBatch, seed: int, share: float) -> pa.RecordBatch:
    """The batch with some searches misspelt, and what was meant beside; a function of each user's own rows."""
    people = child(root(seed), batch["user"].cast(pa.int64()).to_numpy())
    searches = child(people, batch["time"].to_numpy())
    wrong = (draw(searches, Purpose.TYPO) < share) & (batch["intent"].to_numpy() >= 0)
    which = choose(SLIPS, draw(searches, Purpose.WHICH_TYPO))
    at = np.flatnonzero(wrong)
    meant = batch["query"].take(pa.array(at)).to_pylist()
    typed = [misspelt(text, slip) for text, slip in zip(meant, which[at].tolist(), strict=True)]
    wrong[at] = [text != right for text, right in zip(typed, meant, strict=True)]
    slipped = [text for text, right in zip(typed, meant, strict=True) if text != right]
    texts = pc.replace_with_mask(batch["query"], pa.array(wrong), pa.array(slipped, pa.string()))
    columns = dict(zip(batch.schema.names, batch.columns, strict=True)) | {"query": texts}
    said = pc.if_else(pa.array(wrong), batch["query"], pa.scalar(None, pa.string()))
    return pa.RecordBatch.from_pydict(columns | {MEANT: said}, pa.schema([*batch.schema, (MEANT, pa.string())]))


def misspelt(text: str, slip: int) -> str:
    """A text with its slip of this number; the text itself where it has no long word."""
    places = [at for at in range(len(text) - 1) if text[at].isalpha() and text[at + 1].isalpha() and _long(text, at)]
    if not places:
        return text
    digest = blake2b(f"{slip} {text}".encode(), digest_size=8).digest()
    at, kind, near = places[int.from_bytes(digest[:4]) % len(places)], digest[4] % 4, digest[5]
    letter, following = text[at], text[at + 1]
    if kind == 0 and letter != following:
        return text[:at] + following + letter + text[at + 2 :]
    if kind == 1:
        return text[:at] + text[at + 1 :]
    beside = next((row[max(n - 1, 0) : n] + row[n + 1 : n + 2] for row in KEYBOARD if (n := row.find(letter)) >= 0), "")
    if kind == 2 and beside:
        return text[:at] + beside[near % len(beside)] + text[at + 1 :]
    return text[: at + 1] + letter + text[at + 1 :]


def _long(text: str, at: int) -> bool:
    """Whether the word around this place is long enough to slip in."""
    start, end = text.rfind(" ", 0, at) + 1, text.find(" ", at)
    return (end if end >= 0 else len(text)) - start >= SHORTEST


def users_by_typo(batch: pa.RecordBatch) -> pa.Table:
    """How many users typed each text for what was meant; no user may be in two batches."""
    typed = pa.table({name: batch[name] for name in ("query", MEANT, "user")})
    users = typed.group_by(["query", MEANT, "user"], use_threads=False).aggregate([])
    return users.group_by(["query", MEANT], use_threads=False).aggregate([([], "count_all")])
