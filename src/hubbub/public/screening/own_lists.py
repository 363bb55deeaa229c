"""The owner's deny and allow lists: a text a line; `glob:` and `re:` begin a pattern, `#` a comment.

    jane doe                   this very text, after cleaning, as a query or as a clicked address
    glob:*jane?doe*            * is any text, ? any character; of the whole text
    re:^order [0-9]+$          a regular expression of RE2, found anywhere in the text unless it is anchored

RE2 has neither backreferences nor look-around, and no pattern of it takes longer than linear time: a list cannot
hang a release. A card names a list by the hash of its file; a comment of random letters keeps others from guessing it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import ParameterError
from hubbub.ingest import clean

if TYPE_CHECKING:
    from hubbub.ingest.lines import Mask

GLOB, PATTERN, COMMENT = "glob:", "re:", "#"
MOST_PATTERNS = 1000
"""Every pattern is tried on every text; texts as they stand are looked up, and there may be millions of them."""
TOGETHER = 100
"""Patterns that RE2 looks for in one pass: one pass for all costs as much as ten for each."""
QUOTE = r"\Q"
MARK, MIX = 24, (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
"""Bits of a mark, and odd numbers that mix the bytes of a text into it."""


@dataclass(frozen=True)
class OwnList:
    """Texts and patterns of the owner's; a pattern may be several of the file's, as one."""

    listed: pa.Array = field(compare=False)
    """Texts as they stand, cleaned."""
    patterns: tuple[str, ...]
    sha256: str

    @cached_property
    def texts(self) -> frozenset[str]:
        """The same, to be looked up."""
        return frozenset(self.listed.to_numpy(zero_copy_only=False).tolist())

    @cached_property
    def _marked(self) -> Mask:
        """Which marks texts of the list have: most texts have another one, and need not be looked up."""
        table = np.zeros(1 << MARK, np.bool_)
        table[marks(self.listed)] = True
        return table

    def __getstate__(self) -> dict[str, object]:
        """What is sent to other machines: they make anew what follows from it."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def hits(self, texts: pa.Array) -> Mask:
        """Which cleaned texts are on the list."""
        named = np.zeros(len(texts), np.bool_)
        if len(self.listed) and len(texts):
            likely = np.flatnonzero(self._marked[marks(texts)])
            some = texts.take(pa.array(likely)).to_numpy(zero_copy_only=False).tolist()
            named[likely] = np.fromiter(map(self.texts.__contains__, some), np.bool_, len(some))
        for pattern in self.patterns:
            named |= pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
        return named


def marks(texts: pa.Array) -> npt.NDArray[np.uint64]:
    """A number of MARK bits for each text, from its first and last eight bytes: equal texts have equal marks."""
    array, offsets = clean.view(texts)
    windows = np.lib.stride_tricks.sliding_window_view(np.concatenate([array, np.zeros(8, np.uint8)]), 8)
    first = windows[offsets[:-1]].view("<u8").ravel()
    last = windows[np.maximum(offsets[1:] - 8, 0)].view("<u8").ravel()
    size = np.diff(offsets)
    inside = (np.uint64(1) << (8 * np.minimum(size, 7)).astype(np.uint64)) - np.uint64(1)
    first, last = np.where(size < 8, first & inside, first), np.where(size < 8, 0, last)
    mixed = first * np.uint64(MIX[0]) ^ last.astype(np.uint64) * np.uint64(MIX[1])
    return np.asarray((mixed ^ (mixed >> np.uint64(29))) * np.uint64(MIX[2]) >> np.uint64(64 - MARK))


def read_own_list(file: Path) -> OwnList:
    """A list from its file; a line that cannot be meant is refused with its number."""
    try:
        content = file.read_bytes()
        lines = pa.array(content.decode("utf-8-sig").splitlines(), pa.string())
    except (OSError, UnicodeDecodeError) as error:
        what = "The list cannot be read."
        raise ParameterError(what, given=f"{file}: {error}", allowed="a text file in UTF-8, a text a line") from None
    stripped = pc.utf8_trim_whitespace(lines)
    said = pc.and_not(pc.not_equal(stripped, ""), pc.starts_with(lines, COMMENT))
    special = pc.and_(said, pc.or_(pc.starts_with(stripped, GLOB), pc.starts_with(stripped, PATTERN)))
    places = np.flatnonzero(special.to_numpy(zero_copy_only=False)).tolist()
    if len(places) > MOST_PATTERNS:
        raise ParameterError(
            "The list has too many patterns: each is tried on every text.",
            given=f"{file}: {len(places):,}",
            allowed=f"{MOST_PATTERNS:,} lines with {GLOB} or {PATTERN}, and any number of texts as they stand",
            next="write several patterns as one: re:one|another",
        )
    texts = clean.queries(stripped.filter(pc.and_not(said, special)))
    texts = texts.filter(pc.not_equal(texts, ""))
    patterns = _together([_compiled(file, place + 1, stripped[place].as_py()) for place in places])
    if not len(texts) and not patterns:
        raise ParameterError("The list is empty.", given=file, next="leave it out, or write a text a line into it")
    return OwnList(texts, patterns, hashlib.sha256(content).hexdigest())


def _compiled(file: Path, number: int, line: str) -> str:
    """The line as a pattern that RE2 takes."""
    if line.startswith(GLOB):
        parts = re.split(r"([*?])", clean.clean_query(line.removeprefix(GLOB)))
        inside = "".join({"*": "(?s:.*)", "?": "(?s:.)"}.get(part) or re.escape(part) for part in parts)
        pattern = f"^{inside}$"
    else:
        pattern = f"(?i){line.removeprefix(PATTERN).strip()}"
    why = _refused(pattern)
    if why is not None:
        raise ParameterError(
            "A pattern of the list cannot be used.",
            given=f"{file}, line {number}: {line[:200]}: {why}",
            allowed="regular expressions of RE2: no backreference, no look-around, no repetition above 1000",
        )
    return pattern


def _together(patterns: list[str]) -> tuple[str, ...]:
    """The same patterns in fewer passes, each of which finds what any of its patterns finds.

    One that RE2 takes by itself has its brackets closed, so that it may stand in brackets beside others, unless it
    quotes to the end of the text. What cannot be one pattern (too large, a group named twice) stays apart.
    """
    alone = [pattern for pattern in patterns if QUOTE in pattern]
    others = [pattern for pattern in patterns if QUOTE not in pattern]
    for start in range(0, len(others), TOGETHER):
        some = others[start : start + TOGETHER]
        joined = "|".join(f"(?:{pattern})" for pattern in some)
        alone += [joined] if _refused(joined) is None else some
    return tuple(alone)


def _refused(pattern: str) -> str | None:
    """Why RE2 does not take a pattern, if it does not."""
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as error:
        return str(error).splitlines()[0]
    return None
