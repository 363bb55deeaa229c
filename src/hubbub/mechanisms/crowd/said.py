"""What a card says of crowd besides its numbers: how each user is bounded, and what is done after the noise."""

from __future__ import annotations

from collections.abc import Sequence

from hubbub.mechanisms.base import Bound
from hubbub.mechanisms.crowd.calibrate import Stage
from hubbub.steps.keys import base_of
from hubbub.steps.profile import SHAPES

GROUP_SIZES = 1
"""The length of a user's share of how large groups are."""


def bounds(stages: Sequence[Stage]) -> tuple[Bound, ...]:
    """One user's share of every selection and of the counts."""
    found = []
    for stage in stages:
        what = stage.name
        if stage.selection is not None:
            limit = stage.selection.limit
            found += [
                Bound(f"distinct {what} per user in the selection", "l0", limit, "sample by a secret hash"),
                Bound(f"a user's weights in each round of {what}", "l2", 1, _shared(what)),
            ]
        if stage.recount is not None:
            most = stage.recount.most
            found += [
                Bound(f"a user's released {what} in the recount", "l2", 1, "scaled down together, none dropped"),
                Bound(f"a user's released {what} in the kept total", "l1", most, "clipped"),
            ]
        if stage.histogram is not None:
            length = SHAPES[what].length if what in SHAPES else GROUP_SIZES
            how = "one bin a user" if length is None else "scaled down together, none dropped"
            found.append(Bound(f"a user's share of the histogram of {what}", "l2", length or 1, how))
    return tuple(found)


def _shared(table: str) -> str:
    """How a user's weight is shared by her keys."""
    if base_of(table) == table:
        return "1/√n on each of her n live keys"
    return "shared by her live keys, by how many users the released tables let expect of each"


def processed(stages: Sequence[Stage], tables: Sequence[str], *, one_group: bool) -> tuple[str, ...]:
    """Everything that happens to released numbers."""
    done = [
        "two estimates of each count weighed by their noise, in floating point, and rounded to whole users",
        "counts raised by the share that scaling heavy users took, as far as the kept total shows it",
    ]
    if len(stages) > 1:
        done += [
            "no key has more users than what it is made of",
            "a later table of fewer than 20 keys has no numbers",
            "sessions are looked for among at most a million joins of released sequences, the most frequent first",
        ]
    if one_group:
        fitted = "users of a key's groups add up to no more than those of the key, by weighted least squares"
        done.append(f"{fitted}; every row keeps one user at least")
    if "log" in tables:
        done.append("a synthetic log made from released tables and noisy histograms")
    return tuple(done)
