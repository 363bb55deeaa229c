"""Public lists made up for audits: pools of queries, result pages, and the names that stand on both."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from hubbub.public.lists import QueryPool, UrlList


def pool(queries: Iterable[str], use: str = "pool") -> QueryPool:
    """A pool or a list of these queries."""
    rows = pa.table({"query": sorted(queries)})
    return QueryPool("audit", rows, "0" * 64, rows.num_rows, "made for an audit", use)


def pages(*rows: tuple[str, str]) -> UrlList:
    """A result list of these (query, url)."""
    return UrlList("audit", pa.table({"query": [q for q, _ in rows], "url": [u for _, u in rows]}), "0" * 64)


MANY = [f"many{i:02d}" for i in range(60)]
KNOWN = ["at", "at next", "under", "under next", *MANY]
POOL = pool(KNOWN)
PAGES = pages(*((query, "site") for query in KNOWN))
"""Where watched runs ask for keys at a threshold, just under it, and for more keys than any bound."""
