"""The map of a table by country: which groups are on it, what outlines are made of, and what is there without them."""

import json
import re
import sys
from pathlib import Path

import pytest

from hubbub.show import maps
from hubbub.show.charts.shapes import HEIGHT, WIDTH, bundle, outlines
from hubbub.show.differences import GroupShown
from hubbub.show.maps import shade, shapes, world_map


def groups(**rows: int) -> list[GroupShown]:
    return [GroupShown(name, n, ()) for name, n in rows.items()]


def test_countries_are_on_the_map_and_others_behind_them() -> None:
    drawn = world_map(groups(DE=100, fr=10, US=1, other=500))
    assert drawn is not None and [(one.group.name, one.shade) for one in drawn.countries] == [
        ("DE", 5),
        ("fr", 3),
        ("US", 1),
    ]
    assert all(one.path not in drawn.others for one in drawn.countries) and shapes()["IT"] in drawn.others


@pytest.mark.parametrize(
    "rows", [{"phone": 5, "desktop": 7}, {"DE": 3, "other": 5}, {"DE": 3, "FR": 2, "x1": 1}, {"monday": 3}]
)
def test_groups_that_are_no_countries_have_no_map(rows: dict[str, int]) -> None:
    assert world_map(groups(**rows)) is None


def test_a_country_too_small_for_an_outline_is_named() -> None:
    drawn = world_map(groups(DE=3, FR=2, IT=2, MC=1))
    assert drawn is not None and drawn.missing == ("MC",)


def test_without_outlines_there_is_no_map(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(maps, "SHIPPED", tmp_path / "none")
    monkeypatch.setitem(sys.modules, "countryinfo", None)
    monkeypatch.setattr(maps, "find_spec", lambda _: None)
    monkeypatch.setattr(maps, "shapes", shapes.__wrapped__)
    assert world_map(groups(DE=3, FR=2)) is None
    (tmp_path / "shipped.json").write_text('{"DE": "M0 0l1 0 0 1z", "FR": "M5 5l1 0 0 1z"}', encoding="utf-8")
    monkeypatch.setattr(maps, "SHIPPED", tmp_path / "shipped.json")
    drawn = world_map(groups(DE=3, FR=2))
    assert drawn is not None and drawn.others == ""


def test_outlines_are_rings_on_the_grid(tmp_path: Path) -> None:
    square = [[0, 0], [0, 10], [0.1, 10.1], [10, 10], [10, 0], [0, 0]]
    rock = [[[1, 1], [1.1, 1], [1, 1.1], [1, 1]]]
    country = {
        "ISO": {"alpha2": "XX"},
        "geoJSON": {"features": [{"geometry": {"type": "MultiPolygon", "coordinates": [[square], rock]}}]},
    }
    (tmp_path / "x.json").write_text(json.dumps(country), encoding="utf-8")
    (tmp_path / "y.json").write_text('{"ISO": {"alpha2": "YY"}}', encoding="utf-8")
    assert dict(outlines(tmp_path)) == {"XX": "M360 168l0 -20 20 0 0 20 -20 0z"}, "the rock is less than a step"


def test_all_outlines_are_small_and_within_the_drawing() -> None:
    import countryinfo

    text = bundle(countryinfo)
    assert len(text) < 60_000 and text.endswith("}\n")
    for path in json.loads(text).values():
        assert re.fullmatch(r"(M\d+ \d+l-?\d+ -?\d+( -?\d+ -?\d+)*z)+", path)
        for x, y, steps in re.findall(r"M(\d+) (\d+)l([^z]*)z", path):
            at = [int(x), int(y)]
            for dx, dy in re.findall(r"(-?\d+) (-?\d+)", steps):
                at = [at[0] + int(dx), at[1] + int(dy)]
                assert 0 <= at[0] <= WIDTH and 0 <= at[1] <= HEIGHT


def test_shades_go_up_with_rows() -> None:
    assert [shade(n, 1000) for n in (0, 1, 10, 100, 1000)] == [1, 1, 2, 4, 5] and shade(1, 1) == 5
