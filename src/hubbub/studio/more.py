"""What would help most, for the page: the three changes of `hubbub estimate --gains`, by quick estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hubbub.look.estimate.gains import Gain, changes, said
from hubbub.look.estimate.scale import factors
from hubbub.studio import quick
from hubbub.studio.sketch import Sketch

if TYPE_CHECKING:
    from hubbub.mechanisms import Mechanism


def gains(mechanism: Mechanism, sketches: Mapping[str, Sketch]) -> tuple[Gain, ...]:
    """Rows of each table that has a quick estimate, now and after each change."""
    now, found = quick.estimate(mechanism, sketches), list[Gain]()
    for change in changes(mechanism):
        of = sketches if change.users == 1 else {name: grown(one, change.users) for name, one in sketches.items()}
        then = quick.estimate(change.mechanism, of)
        found += [Gain(change.name, t, now[t].rows, change.tables * then[t].rows) for t in now if t in then]
    return tuple(found)


def in_words(mechanism: Mechanism, sketches: Mapping[str, Sketch]) -> list[str]:
    """One sentence for each change."""
    return [line.strip() for line in said(gains(mechanism, sketches))]


def grown(sketch: Sketch, times: int) -> Sketch:
    """The sketch of a log with so many times the users, who hold as many keys each."""
    by = factors(sketch.users, times)
    degree, people = sketch.degrees
    return replace(
        sketch,
        users=np.rint(sketch.users * by).astype(np.int64),
        events=np.rint(sketch.events * by).astype(np.int64),
        grown=sketch.grown * by,
        degrees=(degree, people * times),
        whole=sketch.whole * times,
        asked=sketch.asked * times,
    )
