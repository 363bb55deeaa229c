"""Noise that rows of a table have in common, from the card and the published numbers (docs/proofs/crowd.md, 11).

All rows are scaled by one factor from the noisy kept total. And rows of similar weight learn their ratio of users to
weight from the same recounts: each has less noise than its recount, their sum has not. Both follow from the card's μ²
and the counts, as far as users go with weight; where that is rough it is wide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from hubbub.mechanisms.crowd import combine
from hubbub.mechanisms.crowd.stages import KEYWORDS, RECOUNTED
from hubbub.mechanisms.traits import Floats, Ints
from hubbub.steps.keys import base_of

if TYPE_CHECKING:
    import pyarrow as pa

GROUP = 20
"""Rows that have noise in common; measured: 12 to 30 do equally well, crowd's own 60 is too coarse for small tables."""


def noise_in_common(table: str, rows: pa.Table, mu2: Mapping[str, float]) -> tuple[tuple[Ints, Floats], ...]:
    """The scale by stage, the ratio by rows of similar weight: which group a row is in, and its deviation from it."""
    u, deviation = rows["users"].to_numpy().astype(float), rows["noise_sd"].to_numpy()
    stage, names = np.zeros(u.size, np.int64), [table]
    if table == "sessions":
        lengths = pc.list_value_length(rows["queries"]).to_numpy().astype(np.int64)
        found, stage = np.unique(lengths, return_inverse=True)
        names = [f"sequences {length}" for length in found]
    group, common, scaled = np.zeros(u.size, np.int64), np.zeros(u.size), np.zeros(u.size)
    for number, name in enumerate(names):
        here = np.flatnonzero(stage == number)
        keys, most = KEYWORDS if table == "keywords" else RECOUNTED[base_of(table)]
        recounted = keys / mu2[f"{name} recount"] * np.sqrt(u[here]) * np.sqrt(u[here]).sum() / u[here].sum()  # C²/μ²λ²
        kept = (most**2 / mu2[f"{name} kept total"] + 4) ** 0.5
        factor = np.hypot(kept, recounted.sum() ** 0.5) / u[here].sum()
        if kept <= combine.PRECISE * u[here].sum() and np.all(factor * u[here] <= deviation[here]):
            scaled[here] = factor * u[here]
        left = deviation[here] ** 2 - scaled[here] ** 2
        if here.size >= combine.FEWEST and table != "keywords":  # keywords are not selected: they have no weights
            for part in np.array_split(np.argsort(-u[here], kind="stable"), max(1, here.size // GROUP)):
                at = here[part]
                group[at] = group.max() + 1
                more = max(0.0, (recounted[part] - left[part]).sum())  # what the sum has and the rows have not
                ratio2 = more / max(1.0, u[at].sum() ** 2 - (u[at] ** 2).sum())
                common[at] = np.sqrt(np.minimum(ratio2 * u[at] ** 2, left[part]))
    return (stage, scaled), (group, common)
