"""A map for tables by country: outlines of the groups, and how many rows each has, for a page that needs no network.

Outlines come with the package, as a file that its build made (`charts/shapes.py`); a clone that was never built takes
them from the package `countryinfo`, and a page without either has its lists and no map.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from hubbub.public.groups import OTHER
from hubbub.show.charts.shapes import HEIGHT, WIDTH, bundle
from hubbub.show.differences import GroupShown

SHIPPED = Path(__file__).parent / "charts" / "shapes.json"
SHADES = 5
FEWEST, PART = 2, 0.75
"""Groups that are countries, at the least and as a part of all groups, for a map to say something."""


@dataclass(frozen=True)
class Country:
    """One group on the map: its outline, and how strong its colour is, from 1 to 5."""

    group: GroupShown
    path: str
    shade: int


@dataclass(frozen=True)
class WorldMap:
    """The groups of one table, and every other country in one path."""

    countries: tuple[Country, ...]
    others: str
    missing: tuple[str, ...]
    """Groups that the outlines do not have: small ones."""
    width: int = WIDTH
    height: int = HEIGHT


@lru_cache(maxsize=1)
def shapes() -> dict[str, str]:
    """The path of each country, by its two letters."""
    if SHIPPED.is_file():
        text = SHIPPED.read_text(encoding="utf-8")
    elif find_spec("countryinfo") is not None:
        text = bundle(import_module("countryinfo"))
    else:
        return {}
    found: dict[str, str] = json.loads(text)
    return found


def world_map(groups: Sequence[GroupShown]) -> WorldMap | None:
    """The map of a table by group; None where its groups are no countries, by their two letters."""
    outlines = shapes()
    declared = [group for group in groups if group.name != OTHER]
    drawn = [group for group in declared if group.name.upper() in outlines]
    if len(drawn) < FEWEST or len(drawn) < PART * len(declared):
        return None
    most = max(group.rows for group in drawn)
    countries = tuple(Country(group, outlines[group.name.upper()], shade(group.rows, most)) for group in drawn)
    names = {group.name.upper() for group in drawn}
    others = "".join(path for name, path in sorted(outlines.items()) if name not in names)
    return WorldMap(countries, others, tuple(group.name for group in declared if group not in drawn))


def shade(rows: int, most: int) -> int:
    """From 1 to 5, by the logarithm of the rows: each shade is about as many times the one before."""
    if most <= 1:
        return SHADES
    return 1 + min(SHADES - 1, math.floor(SHADES * math.log(max(1, rows)) / math.log(most)))
