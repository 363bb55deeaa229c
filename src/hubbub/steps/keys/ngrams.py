"""n-grams: up to n_max searches of one user right after each other, of her first l_max searches or of all."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hubbub.steps.keys.base import Keys
from hubbub.steps.sessions import SEPARATOR, require_times, searches

if TYPE_CHECKING:
    from hubbub.log import SearchLog

TABLE = "histories"


def histories(log: SearchLog, l_max: int | None) -> None:
    """Keep every user's searches with their places in her own order, the first l_max or all, as `histories`."""
    require_times(log)
    placed = (
        'SELECT uid, "time", query, row_number() OVER (PARTITION BY uid ORDER BY "time", query) AS place '
        f"FROM ({searches()}) AS searched"
    )
    log.engine.save(TABLE, placed if l_max is None else f"SELECT * FROM ({placed}) AS p WHERE place <= {l_max}")


def ngrams(n_max: int = 3, l_max: int | None = None) -> Keys:
    """The kind of key: sequences of one to n_max queries."""
    grams = []
    for n in range(1, n_max + 1):
        names = [f"h{i}" for i in range(n)]
        joins = "".join(
            f" JOIN {TABLE} AS {name} ON {name}.uid = h0.uid AND {name}.place = h0.place + {i}"
            for i, name in enumerate(names)
            if i
        )
        text = f", '{SEPARATOR}', ".join(f"{name}.query" for name in names)
        grams.append(f'SELECT h0.uid AS uid, h0."time" AS "time", concat({text}) AS queries FROM {TABLE} AS h0{joins}')
    return Keys(
        name="ngrams",
        columns=("queries",),
        events=" UNION ALL ".join(grams),
        order=('"time"', "queries"),
        sequence=True,
        timed=True,
        prepare=partial(histories, l_max=l_max),
    )


NGRAMS = ngrams()
