"""The index of a series: what it is made from, what it says, its long table; the same bytes each time."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from tests.made_up_series import publish, some_periods

from hubbub.errors import InputError
from hubbub.show.series.index import write_index
from hubbub.show.series.published import published
from hubbub.show.series.rows import pack

FILES = ("feed.xml", "index.html", "series.csv", "series.parquet")


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = publish(tmp_path_factory.mktemp("series"), some_periods())
    write_index(folder)
    return folder


def rows_of(page: str) -> dict[str, list[object]]:
    found = re.search(r'<script type="application/json" id="rows">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])  # type: ignore[no-any-return]


def test_the_folder_holds_four_files_and_nothing_else(series: Path) -> None:
    assert tuple(sorted(path.name for path in (series / "public").iterdir())) == FILES
    assert all((series / "public" / name).stat().st_mode & 0o777 == 0o644 for name in FILES)


def test_written_again_it_is_the_same(series: Path) -> None:
    before = {name: (series / "public" / name).read_bytes() for name in FILES}
    write_index(series)
    assert {name: (series / "public" / name).read_bytes() for name in FILES} == before


def test_the_long_table_has_every_published_number_once(series: Path) -> None:
    table = pq.read_table(series / "public" / "series.parquet")
    names = ["period", "query", "came_out", "users_in_period", "noise_sd_in_period", "users", "noise_sd"]
    assert table.column_names == names
    told = {(row["period"], row["query"]): tuple(row[name] for name in names[2:]) for row in table.to_pylist()}
    there: dict[tuple[object, object], tuple[object, ...]] = {}
    for label, rows in some_periods().items():
        there |= {(label, row[0]): (row[1], *row[2:]) for row in rows}
    assert told == there and len(table) == len(there)
    text = csv.read_csv(series / "public" / "series.csv", convert_options=csv.ConvertOptions(column_types=table.schema))
    assert text.equals(table)


def test_what_the_page_says(series: Path) -> None:
    page = (series / "public" / "index.html").read_text(encoding="utf-8")
    assert "53 queries" in page and "12 periods" in page and "2 of them new in 2026-12" in page
    for label in some_periods():
        assert f'href="../{label}/public/index.html"' in page and f'href="../{label}/public/card.json"' in page
    told = rows_of(page)
    assert told["labels"] == list(some_periods()) and told["limits"] == [60.0] * 12
    queries = [str(query) for query in told["queries"]]
    assert len(queries) == 53 and {"rising star", "falling leaf"} <= set(queries[:4])
    place = queries.index("small 3")
    assert told["since"][place] == 4 and len(told["to_date"][place]) == 8  # type: ignore[arg-type]
    assert re.search(r'id="rising".*?rising star', page, re.DOTALL)
    assert re.search(r'id="falling".*?falling leaf', page, re.DOTALL)
    assert re.search(r'id="bursts".*?one big day.*?2026-08', page, re.DOTALL)
    assert "at most 10% are expected to be there by chance" in page


def test_one_period_says_little_and_nothing_wrong(tmp_path: Path) -> None:
    write_index(publish(tmp_path, some_periods(1)))
    page = (tmp_path / "public" / "index.html").read_text(encoding="utf-8")
    assert "1 period<" in page and page.count("None that could be told from noise") == 2


def test_keys_alone_have_no_lines(tmp_path: Path) -> None:
    rows = [("weather", "2026-01", None, None, None, None), ("news", "2026-01", None, None, None, None)]
    write_index(publish(tmp_path, {"2026-01": rows, "2026-02": rows}))
    page = (tmp_path / "public" / "index.html").read_text(encoding="utf-8")
    assert "no lines to draw" in page and 'id="tools"' not in page and "None that could be told" in page


def test_each_period_by_itself_is_told_as_such(tmp_path: Path) -> None:
    """Unit user-period: plain tables; nothing is called rising, because a missing row is no small number."""
    both = {"2026-01": [("weather", 900, 5.0), ("news", 80, 5.0)], "2026-02": [("weather", 950, 6.0)]}
    write_index(publish(tmp_path, both))
    page = (tmp_path / "public" / "index.html").read_text(encoding="utf-8")
    assert "in each period" in page and "adds up" in page and "Risers" not in page
    told = rows_of(page)
    assert told["limits"] == [None, None] and told["inside"] == [[[900, 5.0], [950, 6.0]], [[80, 5.0], None]]
    table = pq.read_table(tmp_path / "public" / "series.parquet").to_pydict()
    assert table["query"] == ["weather", "news", "weather"] and table["users"] == [900, 80, 950]


def test_a_folder_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    publish(tmp_path, some_periods(2))
    (tmp_path / "2026-02").rename(tmp_path / ".2026-02.partial-1-00000000")
    assert published(tmp_path).numbers.labels == ("2026-01",)


def test_without_a_period_there_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No period"):
        write_index(tmp_path)
    assert not (tmp_path / "public").exists()


def test_what_has_no_room_stays_out_of_the_page(series: Path) -> None:
    numbers = published(series).numbers
    text, inside = pack(numbers, [5, 1], room=3_000)
    told = json.loads(text)
    assert 2 < inside < 53 and told["queries"][:2] == [numbers.queries[5], numbers.queries[1]]


def test_a_stamp_is_carried_over(tmp_path: Path) -> None:
    publish(tmp_path, some_periods(2), seeded=True)
    write_index(tmp_path)
    assert 'class="stamp"' in (tmp_path / "public" / "index.html").read_text(encoding="utf-8")
