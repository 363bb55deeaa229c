"""A number and what it counts, in words: 1 row, 2,000 rows."""

from __future__ import annotations


def counted(n: int, one: str, many: str = "") -> str:
    """So many of something; the plural is the word with an s unless it is given."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
