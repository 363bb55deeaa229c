"""Tables by group: (country, query) over the closed domain of declared groups × released keys.

The groups are declared and the keys released, so every cell is known before this stage draws anything: each has noise,
whether or not anybody is in it, and no δ is needed. A user's cells share one weight, whatever groups they are in
(docs/proofs/groups.md).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.engines import Engine
from hubbub.errors import OurBug
from hubbub.mechanisms.base import Released
from hubbub.mechanisms.crowd.calibrate import Stage
from hubbub.mechanisms.crowd.cells import ExpectedCells, GroupSizes
from hubbub.mechanisms.crowd.chain import Chain, at_most, count, places, select_known, text_of
from hubbub.mechanisms.crowd.hierarchy import add_up
from hubbub.mechanisms.pairs import Draw
from hubbub.public.groups import Grouping
from hubbub.steps.counts import Integers
from hubbub.steps.holdings import checked
from hubbub.steps.keys import Keys, divided
from hubbub.steps.keys.base import EVENTS
from hubbub.steps.pools import fixed
from hubbub.steps.profile import Shape, shrunk
from hubbub.steps.sessions import SEPARATOR


def by_group(
    chain: Chain,
    stage: Stage,
    sizes: GroupSizes,
    base: Keys,
    grouping: Grouping,
    parent: Released,
    false: Fraction,
    *,
    one_group: bool = False,
) -> Generator[Draw, Any, Released]:
    """The cells that pass, with counts; no cell has more users than its key has, nor all of them if that is stated."""
    engine, keys = chain.log.engine, text_of(parent).select(base.columns)
    engine.register(f"chosen_{base.name}", keys)
    kind = _kept(chain, divided(base, grouping, chosen=True))
    noisy = yield Draw(group_sizes(engine, kind, grouping, sizes.bits), sizes.perturb)
    users = np.zeros(keys.num_rows, np.int64) if parent.values is None else parent.values
    cells = ExpectedCells(base, grouping, keys, users, noisy, stage.rounds)
    pools = fixed(chain.log, kind, stage.rounds.limit, stage.rounds.bits, chain.mode, prior=cells)
    found = yield from select_known(pools, stage, *cells.domains(false))
    text = pools.text(engine, kind, found.ids)
    of_key = places(_joined(text, base), _joined(keys, base))
    of_group = places(text.column(grouping.name), pa.chunked_array([pa.array(grouping.groups, pa.string())]))
    found = replace(found, alike=cells.classes(of_key, of_group))
    released = chain.named(pools, (yield from count(pools, stage, found)))
    fitted = at_most(released, parent, of_key)
    return add_up(fitted, parent, of_key) if one_group else fitted


def _kept(chain: Chain, kind: Keys) -> Keys:
    """The same cells, read off the log once: who holds which is asked for twice."""
    kind.ready(chain.log)
    table = f"cells_{kind.name}"
    kind.hold(chain.log.engine, table, EVENTS)
    return replace(kind, events=f"SELECT uid, {kind.list()} FROM {table}", prepare=None)


def group_sizes(engine: Engine, kind: Keys, grouping: Grouping, bits: int) -> Integers:
    """Every group's sum over users of isqrt(4^k n² // Σ n²), n being a user's cells there: each user has length 1."""
    rows = engine.fetch(shrunk(f"({kind.events}) AS cells", Shape(len(grouping.groups), 1, grouping.name), bits))
    sums, names = np.zeros(len(grouping.groups), np.int64), pa.array(grouping.groups, pa.string())
    at = pc.index_in(rows.column("bin"), value_set=names)
    if at.null_count:
        raise OurBug("cells of a group that was not declared")
    sums[at.to_numpy()] = rows.column("y").to_numpy()
    return checked(sums)


def _joined(rows: pa.Table, base: Keys) -> pa.ChunkedArray:
    """The text of each key as one."""
    if len(base.columns) == 1:
        return rows.column(base.columns[0])
    return pc.binary_join_element_wise(*(rows.column(name) for name in base.columns), SEPARATOR)
