"""Which (user, key) pairs are counted: of each user as many as she has left to give, the first ones by a keyed hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.steps import bound

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.steps.counts import Integers
    from hubbub.steps.keys import Keys

PAIRS = "series_pairs"
"""Where the pairs stand of users who have something left: no other key needs its text."""


def first_pairs(
    engine: Engine, keys: Keys, secret: bytes, pairs: str, texts: str, allowed: Integers
) -> tuple[pa.Table, pa.Table]:
    """Of these pairs (person, kid), for each user the first `allowed` by hash: users by key, and keys by user.

    Only users who have more pairs than that are put in order.
    """
    some = np.flatnonzero(allowed)
    engine.register("series_allowed", pa.table({"person": some, "most": allowed[some]}))
    joined = f"({pairs}) AS p JOIN series_allowed AS a ON p.person = a.person"
    engine.save(PAIRS, f"SELECT p.person AS person, p.kid AS kid, a.most AS most FROM {joined}")
    crowded = f"SELECT person FROM {PAIRS} GROUP BY person, most HAVING count(*) > most"
    engine.save("series_crowded", crowded)
    order = f"row_number() OVER (PARTITION BY p.person ORDER BY {bound.hashed(keys, secret)}, {keys.list()}) AS place"
    placed = (
        f"SELECT p.person AS person, p.kid AS kid, p.most AS most, {order} FROM {PAIRS} AS p "
        "JOIN series_crowded AS c ON p.person = c.person "
        f"JOIN series_users AS u ON p.person = u.person JOIN {texts} AS k ON p.kid = k.kid"
    )
    engine.save(
        "series_counted",
        f"SELECT person, kid FROM ({placed}) AS placed WHERE place <= most UNION ALL "
        f"SELECT person, kid FROM {PAIRS} AS p "
        "WHERE NOT EXISTS (SELECT 1 FROM series_crowded AS c WHERE c.person = p.person)",
    )
    each = "SELECT {0}, count(*) AS n FROM series_counted GROUP BY {0}"
    return engine.fetch(each.format("kid")), engine.fetch(each.format("person"))
