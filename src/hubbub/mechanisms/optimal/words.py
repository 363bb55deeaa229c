"""What a card and a terminal say about `optimal`, in plain words."""

from __future__ import annotations

HELD_FIXED = "it is private only with the output counts held fixed, and these are computed from the log itself"
WHY_FALSE = (
    "the proof compares two logs with the same output counts, which in truth differ; and it chooses its exceptional "
    "outputs for each user apart, while the definition wants them chosen once (docs/proofs/optimal.md)"
)
NOISE_FALSE = (
    "noise on the optimal counts does not make them private: who is removed for moving them depends on everybody, "
    "every count may move at once, and only pairs of the log get noise (docs/proofs/optimal.md, section 3)"
)
PUBLISHED_CAVEATS = (
    "Private only with the output counts held fixed: how many rows come out shows who is in the log.",
    "Rows are true clicks of real users under fresh numbers: up to a share δ of all users is expected to appear.",
)
STRICT_CAVEATS = (
    "The users of the log are synthetic: which pairs one user clicked together is not in it, and no statement about "
    "one of them is supported.",
    "Pairs that few users hold are missing, and of each user only the first pairs were counted: the head is too large.",
    "Times and ranks are empty, and how often one user repeats a click is not in it.",
)


def seconds_ahead(entries: int, users: int, pairs: int, limit: float) -> str:
    """How long it will take, before it starts: measured rates on two cores."""
    reading = 5e-6 * entries
    return (
        f"{users:,} users share {pairs:,} pairs ({entries:,} entries): the relaxation takes about "
        f"{max(0.2, min(0.4 * limit, 1e-4 * entries)):.0f} s, the search ends after {limit:.0f} s at the latest; "
        f"checking every user exactly adds about {max(1.0, 2 * reading):.0f} s"
    )
