"""A query set for load tests: queries as often as they were asked, in an order that mixes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar
from urllib.parse import quote_plus

import numpy as np

from hubbub.card.schema import Card
from hubbub.show.export.base import CheckedRelease, Folder, Format, register
from hubbub.show.export.supported import SUPPORT, Supported
from hubbub.show.export.text import one_line
from hubbub.worth.tasks.graph import Ints, shuffled

LINES = 10_000
"""Enough that a query of one in ten thousand searches is there, and few enough to keep."""


class Load(Format):
    """One query on a line, plain and encoded for an address."""

    name: ClassVar[str] = "load"
    about: ClassVar[str] = "a query set for load tests that follows the released frequencies"
    needs: ClassVar[tuple[str, ...]] = ("queries",)

    def write(self, source: CheckedRelease, folder: Folder) -> None:
        """The same queries in the same order in both files."""
        used = Supported.of(source.need("queries"))
        texts = used.texts("query")
        usable = np.fromiter(map(one_line, texts), np.bool_, len(texts))
        often = apportioned(np.where(usable, used.number, 0), LINES)
        asked = [texts[at] for at in mixed(often)]
        folder.lines("queries.txt", used.said("a query on each line"), len(asked), lines(asked))
        encoded = [quote_plus(text) for text in asked]
        folder.lines("encoded.txt", used.said("the same, encoded for an address"), len(asked), lines(encoded))

    def notes(self, card: Card) -> str:
        """For the README: how often a query stands there."""
        return (
            f"Up to {LINES:,} lines in UTF-8, one query on each; `encoded.txt` has them as they stand in an address "
            "after `?q=`. Every query stands there as often as its share of the released numbers says, rounded so "
            "that the lines add up; one with a share below that may not stand there at all. The order is a fixed "
            "shuffle: read the lines from the first to the last and begin again. A blank query and one with "
            f"control characters are left out.\n\n{SUPPORT}\n\n"
            "Released queries are the frequent ones. A cache looks better under this load than under real traffic, "
            "where rare queries are a large part."
        )


def apportioned(weights: Ints, seats: int) -> Ints:
    """Whole numbers that add up to `seats`, in proportion; what is left goes to the largest remainders."""
    total = int(weights.sum())
    if not total:
        return np.zeros_like(weights)
    exact = [int(weight) * seats for weight in weights.tolist()]
    given = np.array([part // total for part in exact], np.int64)
    remainder = np.array([part % total for part in exact], np.int64)
    given[np.argsort(-remainder, kind="stable")[: seats - int(given.sum())]] += 1
    return given


def mixed(often: Ints) -> list[int]:
    """Every place as often as it is told, in a fixed shuffle."""
    places = np.repeat(np.arange(often.size), often)
    order: list[int] = places[np.argsort(shuffled(np.arange(places.size)), kind="stable")].tolist()
    return order


def lines(texts: Sequence[str]) -> list[bytes]:
    """A text on each line."""
    return [f"{text}\n".encode() for text in texts]


register(Load())
