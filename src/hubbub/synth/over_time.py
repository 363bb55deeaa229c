"""The truth about what changes: three more truth tables, of a log in which something does.

changes.parquet   query, kind, period, share   texts of 5 users or more whose need changes: the share of those who
                                               have the need and ask it, in each period
periods.parquet   period, query, users         exact users of each text of 5 users or more, in each period with any
stays.parquet     user, arrives, leaves        the hours, in epoch seconds, between which each user searches
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from hubbub.synth.hashing import root
from hubbub.synth.people import Inhabitants
from hubbub.synth.presets import Changes, Preset
from hubbub.synth.world import World

TEXT, WHOLE = pa.string(), pa.int64()
CHANGES = pa.schema([("query", TEXT), ("kind", TEXT), ("period", TEXT), ("share", pa.float64())])
IN_PERIODS = pa.schema([("period", TEXT), ("query", TEXT), ("users", WHOLE)])
STAYS = pa.schema([("user", TEXT), ("arrives", WHOLE), ("leaves", WHOLE)])
STAYS_AT_ONCE = 50_000


def changes(preset: Preset) -> bool:
    """Whether anything changes during a log of this shape."""
    return preset.changes != Changes(every=preset.changes.every)


def users_by_period(world: World, batch: pa.RecordBatch) -> pa.Table:
    """How many users ask each query in each period, by its number; no user may be in two batches."""
    period = pa.array(world.periods.of(batch["time"].to_numpy()))
    asked = pa.table({"period": period, "query": batch["query"], "user": batch["user"]})
    users = asked.group_by(["period", "query", "user"], use_threads=False).aggregate([])
    return users.group_by(["period", "query"], use_threads=False).aggregate([([], "count_all")])


def shares(world: World, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of `changes` for texts, given with their intents."""
    needs, periods = world.changing, world.periods
    if needs is None:
        return pa.RecordBatch.from_pylist([], schema=CHANGES)
    place = np.searchsorted(needs.intent, rows["intent"].to_numpy())
    each = pa.array(np.repeat(np.arange(rows.num_rows), len(periods)))
    columns = [
        rows["query"].take(each),
        pa.array(needs.kind, TEXT).take(pa.array(place)).take(each),
        pa.array(periods.names * rows.num_rows, TEXT),
        pa.array(needs.share[place].ravel()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=CHANGES)


def stays(world: World, users: int, seed: int) -> Iterator[pa.RecordBatch]:
    """The rows of `stays`: when each user of the log arrives and leaves."""
    crowd = Inhabitants(world, root(seed))
    for first in range(0, users, STAYS_AT_ONCE):
        people = crowd.people(first, min(first + STAYS_AT_ONCE, users))
        names = pa.array(people.names).cast(TEXT)
        hours = [pa.array(crowd.hours(part)) for part in (people.come, people.go)]
        yield pa.RecordBatch.from_arrays([names, *hours], schema=STAYS)
