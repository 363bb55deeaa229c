"""The estimate of what comes out when, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from hubbub.look.cadence import CadenceEstimate, EachPeriodEstimate

MEASURED = (
    "Measured on made-up logs of 120,000 users at (2, 1e-6): three lists with crowd, half of the budget kept for the "
    "last, ended with 95 % of what a series of 12 had (1,734 queries of 1,827), and had more after the first third."
)


def lines(found: CadenceEstimate) -> Iterator[str]:
    """A table, and what it means for the choice."""
    yield (
        f"What would come out, for {found.users:,} users who search as in `{found.preset}` "
        f"(made up from {found.sample:,}; no log was read): queries out so far"
    )
    width = max(9, *map(len, found.labels))
    heads = [way.name for way in found.ways]
    yield f"  {'after':<{width}}  " + "  ".join(heads)
    for n, label in enumerate(found.labels):
        cells = ["" if way.out[n] is None else f"{way.out[n]:,}" for way in found.ways]
        row = "  ".join(f"{cell:>{len(head)}}" for cell, head in zip(cells, heads, strict=True))
        yield f"  {label:<{width}}  {row}".rstrip()
    for table, out in found.series.further.items():
        yield f"  {table} of the series, out so far: {', '.join(f'{n:,}' for n in out)}"
    yield from advice(found)


def advice(found: CadenceEstimate) -> Iterator[str]:
    """Whether a series is needed at all."""
    series, lists, once = (way.last for way in found.ways)
    if found.lists_do:
        yield (
            f"{found.lists.name} end with {lists:,} queries where the series has {series:,}: if a list now and then is "
            "enough, take crowd, which needs no state between releases."
        )
    else:
        yield (
            f"{found.lists.name}, half of the budget kept for the last, end with {lists:,} queries where the series "
            f"has {series:,}."
        )
    if once > series:
        yield f"One list at the end has {once:,}: publishing on the way costs {1 - series / once:.0%} of it."
    yield MEASURED


def each_period_lines(found: EachPeriodEstimate) -> Iterator[str]:
    """What single periods would have, where each is a release of its own."""
    yield (
        f"What would come out, for {found.users:,} users who search as in `{found.preset}` "
        f"(made up from {found.sample:,}; no log was read): queries of that period alone"
    )
    for label, queries in found.out.items():
        yield f"  {label}  {queries:,}"
    yield "Each period chooses anew: a query that is out in one may be missing in the next."
