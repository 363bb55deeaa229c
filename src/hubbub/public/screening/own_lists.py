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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.errors import ParameterError
from hubbub.ingest import clean

if TYPE_CHECKING:
    from hubbub.ingest.lines import Mask

GLOB, PATTERN, COMMENT = "glob:", "re:", "#"
MOST_PATTERNS = 1000
"""Every pattern is tried on every text; texts as they stand are looked up, and there may be millions of them."""


@dataclass(frozen=True)
class OwnList:
    """Texts and patterns of the owner's."""

    texts: frozenset[str]
    patterns: tuple[str, ...]
    sha256: str

    def hits(self, texts: pa.Array) -> Mask:
        """Which cleaned texts are on the list; each text is decided once."""
        each = texts.dictionary_encode()
        values = each.dictionary
        named = np.fromiter((text in self.texts for text in values.to_pylist()), np.bool_, len(values))
        for pattern in self.patterns:
            named |= pc.match_substring_regex(values, pattern).to_numpy(zero_copy_only=False)
        mask: Mask = named[each.indices.to_numpy()]
        return mask


def read_own_list(file: Path) -> OwnList:
    """A list from its file; a line that cannot be meant is refused with its number."""
    try:
        content = file.read_bytes()
        lines = content.decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        what = "The list cannot be read."
        raise ParameterError(what, given=f"{file}: {error}", allowed="a text file in UTF-8, a text a line") from None
    kept = [(n, line.strip()) for n, line in enumerate(lines, 1) if line.strip() and not line.startswith(COMMENT)]
    patterns = [(n, line) for n, line in kept if line.startswith((GLOB, PATTERN))]
    if len(patterns) > MOST_PATTERNS:
        raise ParameterError(
            "The list has too many patterns: each is tried on every text.",
            given=f"{file}: {len(patterns):,}",
            allowed=f"{MOST_PATTERNS:,} lines with {GLOB} or {PATTERN}, and any number of texts as they stand",
            next="write several patterns as one: re:one|another",
        )
    texts = clean.queries(pa.array([line for _, line in kept if not line.startswith((GLOB, PATTERN))], pa.string()))
    compiled = tuple(_compiled(file, n, line) for n, line in patterns)
    if not len(texts) and not compiled:
        raise ParameterError("The list is empty.", given=file, next="leave it out, or write a text a line into it")
    return OwnList(frozenset(texts.to_pylist()), compiled, hashlib.sha256(content).hexdigest())


def _compiled(file: Path, number: int, line: str) -> str:
    """The line as a pattern that RE2 takes."""
    if line.startswith(GLOB):
        parts = re.split(r"([*?])", clean.clean_query(line.removeprefix(GLOB)))
        inside = "".join({"*": "(?s:.*)", "?": "(?s:.)"}.get(part) or re.escape(part) for part in parts)
        pattern = f"^{inside}$"
    else:
        pattern = f"(?i){line.removeprefix(PATTERN).strip()}"
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as error:
        raise ParameterError(
            "A pattern of the list cannot be used.",
            given=f"{file}, line {number}: {line[:200]}: {str(error).splitlines()[0]}",
            allowed="regular expressions of RE2: no backreference, no look-around, no repetition above 1000",
        ) from None
    return pattern
