"""How a package's outlines of countries become small drawings. `hatch_build.py` loads this file alone.

Longitude and latitude lie on a plain grid of half a degree, the far south is cut off, and whatever does not move on
that grid is left out: all countries together are some 45 kB.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

STEP = 2
"""Places on the grid for each degree."""
NORTH, SOUTH = 84, -57
WIDTH, HEIGHT = 360 * STEP, (NORTH - SOUTH) * STEP
SMALLEST = 3
"""Corners of the smallest ring that is drawn."""

Point = tuple[int, int]


def bundle(package: Any) -> str:
    """Every outline that `countryinfo` has, as JSON: the country's two letters and the path of a drawing."""
    return json.dumps(dict(outlines(Path(package.__file__).parent / "data")), sort_keys=True, indent=0) + "\n"


def outlines(data: Path) -> Iterator[tuple[str, str]]:
    """The path of every country in a folder of files, one for each."""
    for file in sorted(data.glob("*.json")):
        country = json.loads(file.read_text(encoding="utf-8"))
        letters = (country.get("ISO") or {}).get("alpha2")
        drawing = "".join(_path(ring) for ring in _rings(country.get("geoJSON")))
        if letters and drawing:
            yield letters, drawing


def _rings(found: Any) -> Iterator[list[Point]]:
    """The outer rings of all parts, on the grid, without corners that are one; islands that vanish are left out."""
    for feature in (found or {}).get("features", []):
        geometry = feature["geometry"]
        parts = [geometry["coordinates"]] if geometry["type"] == "Polygon" else geometry["coordinates"]
        for part in parts:
            corners: list[Point] = []
            for longitude, latitude, *_ in part[0]:
                height = min(NORTH, max(SOUTH, latitude))
                corner = round((longitude + 180) * STEP), round((NORTH - height) * STEP)
                if not corners or corners[-1] != corner:
                    corners.append(corner)
            if len(set(corners)) >= SMALLEST and any(y < HEIGHT for _, y in corners):
                yield corners


def _path(corners: list[Point]) -> str:
    """A closed ring: where it begins, then steps."""
    (x, y), steps = corners[0], []
    for (x0, y0), (x1, y1) in pairwise(corners):
        steps.append(f"{x1 - x0} {y1 - y0}")
    return f"M{x} {y}l{' '.join(steps)}z"
