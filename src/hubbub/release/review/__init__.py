"""Review: somebody looks at the drawn rows, strikes some, and approves the rest. Nothing is drawn again.

    flags     why a row asks for a second look: screening rules, topics, names, near duplicates
    strikes   what is struck, from a review file or by rule, and which rows that takes out
    anew      the release written anew, with a new card

Only drawn rows and public lists are looked at, never the raw log: whatever is decided here is post-processing, and
costs nothing (docs/review.md).
"""

from __future__ import annotations

from hubbub.release.review.anew import Approved, approve
from hubbub.release.review.flags import FlaggedRow, Flags, flagged, looked_at
from hubbub.release.review.strikes import Drawn, Strike, Strikes, read_strikes, rule_strikes, write_review

__all__ = [
    "Approved",
    "Drawn",
    "FlaggedRow",
    "Flags",
    "Strike",
    "Strikes",
    "approve",
    "flagged",
    "looked_at",
    "read_strikes",
    "rule_strikes",
    "write_review",
]
