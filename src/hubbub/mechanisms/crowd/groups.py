"""Tables by group: (country, query) over the closed domain of declared groups × released keys.

The groups are declared and the keys released, so every cell is known before this stage draws anything: each has noise,
whether or not anybody is in it, and no δ is needed. A user's cells share one weight, whatever groups they are in
(docs/proofs/groups.md).
"""

from __future__ import annotations

from collections.abc import Generator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.mechanisms.base import Released
from hubbub.mechanisms.crowd.calibrate import Stage
from hubbub.mechanisms.crowd.chain import Chain, CodedDomain, at_most, count, places, text_of
from hubbub.mechanisms.crowd.hierarchy import add_up
from hubbub.mechanisms.pairs import Draw
from hubbub.public.groups import Grouping
from hubbub.steps.counts import Integers
from hubbub.steps.keys import Keys, divided
from hubbub.steps.sessions import SEPARATOR


def cells(keys: pa.Table, grouping: Grouping) -> CodedDomain:
    """Every declared group with every released key, group after group."""
    groups, size = pa.array(grouping.groups, pa.string()), keys.num_rows

    def rows(codes: Integers) -> pa.Table:
        group, key = np.divmod(codes, max(1, size))
        return keys.take(pa.array(key)).add_column(0, grouping.name, groups.take(pa.array(group)))

    return CodedDomain(len(groups) * size, rows)


def by_group(
    chain: Chain,
    stage: Stage,
    base: Keys,
    grouping: Grouping,
    parent: Released,
    false: Fraction,
    *,
    one_group: bool = False,
) -> Generator[Draw, Any, Released]:
    """The cells that pass, with counts; no cell has more users than its key has, nor all of them if that is stated."""
    keys = text_of(parent).select(base.columns)
    chain.log.engine.register(f"chosen_{base.name}", keys)
    pools = chain.pools(divided(base, grouping, chosen=True), stage)
    found = yield from cells(keys, grouping).select(pools, stage, false)
    released = chain.named(pools, (yield from count(pools, stage, found)))
    of_key = places(_joined(text_of(released), base), _joined(keys, base))
    fitted = at_most(released, parent, of_key)
    return add_up(fitted, parent, of_key) if one_group else fitted


def _joined(rows: pa.Table, base: Keys) -> pa.ChunkedArray:
    """The text of each key as one."""
    if len(base.columns) == 1:
        return rows.column(base.columns[0])
    return pc.binary_join_element_wise(*(rows.column(name) for name in base.columns), SEPARATOR)
