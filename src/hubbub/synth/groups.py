"""Where made-up users are, on which device, in which language: three more columns of a log, and the truth about them.

groups.parquet    name, value, query, users    exact users of each text of 5 users or more, in each group that has any

A user has a home country, of 20, by Zipf's law; on one day in fifty she is elsewhere. Half of the users live where the
first need of theirs is at home, so every need is asked more often in one country than in the others. She has a main
device and uses another on one day in five; her language is that of her home.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hubbub.synth.curves import choose, cumulative
from hubbub.synth.hashing import Ints, Keys, Purpose, child, draw, root
from hubbub.synth.people import DAY

SPOKEN = (
    "US en IN hi BR pt DE de GB en FR fr JP ja MX es IT it CA en "
    "ES es PL pl NL nl AU en SE sv CH de PT pt FI fi NZ en IS is"
)
HOMES = dict(zip(SPOKEN.split()[::2], SPOKEN.split()[1::2], strict=True))
"""Countries from the largest to the smallest, with their languages."""
COUNTRIES, LANGUAGES = tuple(HOMES), tuple(dict.fromkeys(HOMES.values()))
DEVICES = ("phone", "desktop", "tablet")
SIZES = cumulative([1 / rank for rank in range(1, len(COUNTRIES) + 1)])
USE = cumulative([0.55, 0.38, 0.07])
AT_HOME, AWAY, ANOTHER = 0.5, 0.02, 0.2
GROUP_COLUMNS = ("country", "device", "language")
GROUPED = pa.schema([("name", pa.string()), ("value", pa.string()), ("query", pa.string()), ("users", pa.int64())])


def with_groups(batch: pa.RecordBatch, seed: int) -> pa.RecordBatch:
    """The rows of a batch with where, on what and in which language; a function of each user's own rows."""
    names, user = np.unique(batch["user"].cast(pa.int64()).to_numpy(), return_inverse=True)
    first = np.zeros(len(names), np.int64)
    first[user[::-1]] = np.arange(batch.num_rows)[::-1]
    people, needs = child(root(seed), names), child(root(seed), np.abs(batch["intent"].to_numpy()[first]))
    own = draw(people, Purpose.AT_HOME) < AT_HOME
    home = np.where(own, choose(SIZES, draw(needs, Purpose.HOME)), choose(SIZES, draw(people, Purpose.HOME)))
    days = child(people[user], batch["time"].to_numpy() // DAY)
    country = _but(home[user], choose(SIZES, draw(days, Purpose.WHERE_ELSE)), days, Purpose.ELSEWHERE, AWAY)
    main = choose(USE, draw(people, Purpose.DEVICE))
    device = _but(main[user], choose(USE, draw(days, Purpose.WHICH_DEVICE)), days, Purpose.OTHER_DEVICE, ANOTHER)
    spoken = np.array([LANGUAGES.index(HOMES[name]) for name in COUNTRIES])[home[user]]
    chosen = ((COUNTRIES, country), (DEVICES, device), (LANGUAGES, spoken))
    columns = [pa.array(values, pa.string()).take(pa.array(which)) for values, which in chosen]
    schema = pa.schema([*batch.schema, *((name, pa.string()) for name in GROUP_COLUMNS)])
    return pa.RecordBatch.from_arrays([*batch.columns, *columns], schema=schema)


def _but(usual: Ints, other: Ints, days: Keys, purpose: Purpose, share: float) -> Ints:
    """What is usual, but on this share of the days something else."""
    return np.where(draw(days, purpose) < share, other, usual)


def users_by_group(batch: pa.RecordBatch) -> pa.Table:
    """How many users ask each query in each group; no user may be in two batches."""
    found = []
    for name in GROUP_COLUMNS:
        asked = pa.table({"value": batch[name], "query": batch["query"], "user": batch["user"]})
        users = asked.group_by(["value", "query", "user"], use_threads=False).aggregate([])
        counted = users.group_by(["value", "query"], use_threads=False).aggregate([([], "count_all")])
        found.append(counted.add_column(0, "name", pa.array([name] * counted.num_rows, pa.string())))
    return pa.concat_tables(found)
