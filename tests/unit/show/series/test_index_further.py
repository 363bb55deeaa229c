"""Clicks, next queries and words on the index page of a series, and as long tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from tests.made_up_series import with_further

from hubbub.show.series.index import write_index


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_index(with_further(tmp_path_factory.mktemp("series"))).parent


def test_every_table_has_a_long_one(public: Path) -> None:
    clicks = pq.read_table(public / "series-clicks.parquet")
    numbers = ["users_in_period", "noise_sd_in_period", "users", "noise_sd"]
    assert clicks.column_names == ["period", "query", "url", "came_out", *numbers]
    found = [(row["period"], row["query"], row["came_out"], row["users"]) for row in clicks.to_pylist()]
    weather = [(f"2026-0{n}", "weather", "2026-01", 140) for n in (1, 2)]
    assert sorted(found, key=str) == sorted([*weather, ("2026-02", "zürich", "2026-02", None)], key=str)
    for table in ("clicks", "transitions", "keywords"):
        long = pq.read_table(public / f"series-{table}.parquet")
        told = csv.ConvertOptions(column_types=long.schema)
        assert csv.read_csv(public / f"series-{table}.csv", convert_options=told).equals(long)


def test_the_page_shows_what_hangs_on_a_query(public: Path) -> None:
    page = (public / "index.html").read_text(encoding="utf-8")
    packed = json.loads(re.findall(r'id="rows">(.*?)</script>', page, re.DOTALL)[0])
    follows = dict(zip(packed["queries"], packed["follows"], strict=True))
    assert follows["weather"] == [["clicks", "sky.example/<b>", 140], ["transitions", "zürich", 120]]
    assert follows["zürich"] == [["clicks", "city.example", None]] and follows["falling leaf"] == []
    assert "sky.example/&lt;b&gt;" in page and "sky.example/<b></td>" not in page
    assert 'id="keywords"' in page and 'href="series-transitions.csv"' in page and 'id="follows"' in page


def test_tables_that_some_period_lacks_are_left_out(tmp_path: Path) -> None:
    folder = with_further(tmp_path)
    (folder / "2026-01" / "public" / "clicks.parquet").unlink()
    made = write_index(folder)
    assert not (made.parent / "series-clicks.parquet").exists() and 'id="transitions"' in made.read_text("utf-8")
