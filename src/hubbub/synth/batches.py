"""The log as a stream of Arrow batches, some users at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from hubbub.errors import ParameterError
from hubbub.ingest.schema import SCHEMA
from hubbub.public.words import ENGLISH
from hubbub.synth.canaries import Canary, Planted, plant
from hubbub.synth.clicks import Pages
from hubbub.synth.hashing import Ints, root
from hubbub.synth.people import DAY, Inhabitants
from hubbub.synth.presets import Preset
from hubbub.synth.queries import queries
from hubbub.synth.searches import searches
from hubbub.synth.world import World

CHUNK_USERS = 4096
TRUTH = pa.schema([*SCHEMA, pa.field("intent", pa.int64()), pa.field("variant", pa.int32())])


def generate(
    users: int,
    seed: int = 0,
    preset: str | Preset = "aol",
    *,
    vocabulary: str = ENGLISH,
    canaries: Sequence[Canary] = (),
    truth: bool = False,
    chunk_users: int = CHUNK_USERS,
) -> Iterator[pa.RecordBatch]:
    """A log in SearchLog's columns, grouped by user and ordered by time within a user.

    In every `vocabulary` only its texts differ. With `truth`, `intent` and `variant` say which query it is; a
    canary has the intent -1, -2, … The log is the same for every `chunk_users`, and without canaries a user's rows are
    the same for every number of users.
    """
    if users < 1:
        raise ParameterError("A log needs users.", given=users, allowed="1 or more")
    if chunk_users < 1:
        raise ParameterError("A chunk needs users.", given=chunk_users, allowed="1 or more")
    if not 0 <= seed < 1 << 63:
        raise ParameterError("A seed is a whole number.", given=seed, allowed="0 to 2^63 - 1")
    return _batches(World(seed, preset, vocabulary), users, seed, canaries, truth, chunk_users)


def planted(world: World, users: int, seed: int, canaries: Sequence[Canary]) -> Planted:
    """Which users get which canary, and when."""
    start = int(np.datetime64(world.preset.start, "s").astype(np.int64))
    return plant(canaries, seed, users, start, world.preset.days * DAY)


def _batches(
    world: World, users: int, seed: int, canaries: Sequence[Canary], truth: bool, chunk_users: int
) -> Iterator[pa.RecordBatch]:
    crowd, pages = Inhabitants(world, root(seed)), Pages(world)
    extra = planted(world, users, seed, canaries)
    for first in range(0, users, chunk_users):
        last = min(first + chunk_users, users)
        batch = _batch(world, crowd, pages, first, last)
        mine = extra.between(first, last)
        if len(mine.user):
            batch = _with_canaries(batch, canaries, mine)
        yield batch if truth else batch.select(SCHEMA.names)


def _batch(world: World, crowd: Inhabitants, pages: Pages, first: int, last: int) -> pa.RecordBatch:
    """The rows of users first, …, last - 1."""
    people = crowd.people(first, last)
    sessions = crowd.sessions(people)
    asked = searches(world, people, sessions)
    rows = pages.rows(people, sessions, asked)
    texts = queries(world, asked.intent, asked.variant)
    names = pa.array(people.names).cast(pa.string())
    columns = [
        names.take(pa.array(asked.user[rows.search])),
        pa.array(rows.time),
        texts.take(pa.array(rows.search)),
        pa.array(rows.rank.astype(np.int32), mask=~rows.clicked),
        world.urls(rows.site, rows.clicked),
        pa.array(asked.intent[rows.search]),
        pa.array(asked.variant[rows.search].astype(np.int32)),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=TRUTH)


def _with_canaries(batch: pa.RecordBatch, canaries: Sequence[Canary], mine: Planted) -> pa.RecordBatch:
    """The batch with the rows of canaries among the others, by time."""
    chosen = [canaries[number] for number in mine.canary.tolist()]
    added = pa.RecordBatch.from_arrays(
        [
            pa.array(100 + 37 * mine.user).cast(pa.string()),
            pa.array(mine.time),
            pa.array([canary.query for canary in chosen], pa.string()),
            pa.array([1 if canary.url else None for canary in chosen], pa.int32()),
            pa.array([canary.url for canary in chosen], pa.string()),
            pa.array(-1 - mine.canary),
            pa.array(np.zeros(len(chosen), np.int32)),
        ],
        schema=TRUTH,
    )
    both = pa.Table.from_batches([batch, added]).combine_chunks()
    order = np.lexsort((both["time"].to_numpy(), _numbers(both["user"])))
    return both.take(pa.array(order)).combine_chunks().to_batches()[0]


def _numbers(users: pa.ChunkedArray) -> Ints:
    """The numbers that serve as user ids; they grow with the user's place in the log."""
    return np.asarray(users.cast(pa.int64()).to_numpy())
