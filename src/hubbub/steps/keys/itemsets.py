"""Itemsets: two or three different items, queries or keywords, of one user, whenever she used them.

Sets are made of a user's first items by time, so that who has many does not have millions of sets; which these are is a
function of her own records. A set is written as its items in the order of their text.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from hubbub.steps.keys.base import Keys
from hubbub.steps.keys.keywords import KEYWORDS
from hubbub.steps.keys.queries import QUERIES
from hubbub.steps.sessions import SEPARATOR

if TYPE_CHECKING:
    from hubbub.log import SearchLog

ITEMS = {keys.name: keys for keys in (KEYWORDS, QUERIES)}
TABLE = "first_items"


def kept(log: SearchLog, of: str, first: int) -> None:
    """Keep every user's first items, under the name `first_items`."""
    items = ITEMS[of]
    items.ready(log)
    column = items.columns[0]
    log.engine.save(
        TABLE,
        f"SELECT uid, item, first FROM (SELECT uid, {column} AS item, first, "
        f"row_number() OVER (PARTITION BY uid ORDER BY first NULLS LAST, {column}) AS ordinal "
        f"FROM ({items.distinct()}) AS held) AS ordered WHERE ordinal <= {first}",
    )


def itemsets(of: str = "keywords", size: int = 2, first: int = 20) -> Keys:
    """The kind of key: sets of `size` of a user's first items of this kind; a set is there when its last item is."""
    names = "abc"[:size]
    joins = "".join(
        f" JOIN {TABLE} AS {two} ON {two}.uid = {one}.uid AND {one}.item < {two}.item" for one, two in pairwise(names)
    )
    text = f", '{SEPARATOR}', ".join(f"{name}.item" for name in names)
    time = f"greatest({', '.join(f'{name}.first' for name in names)})"
    return Keys(
        name="itemsets",
        columns=("items",),
        events=f'SELECT a.uid AS uid, {time} AS "time", concat({text}) AS items FROM {TABLE} AS a{joins}',
        order=('"time" NULLS LAST', "items"),
        sequence=True,
        prepare=partial(kept, of=of, first=first),
    )


ITEMSETS = itemsets()
