"""Requests of programs, passed over by a public list: line by line, where a format names its User-Agent."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hubbub.errors import ParameterError
from hubbub.ingest import Stated, ingest
from hubbub.ingest.agents import LISTS, is_program

ROBOTS = Stated(drop_agents="robots-1")
LINE = '192.0.2.{} - - [16/May/2024:12:34:56 +0000] "GET /?q=lilac HTTP/1.1" 200 5 "-" "{}"'
OBJECT = '{{"remote_addr": "192.0.2.{}", "request_uri": "/?q=lilac", "msec": 1715862896.5, {}}}'


def users(path: Path, lines: list[str], user: str, stated: Stated) -> list[str]:
    (path / "access.log").write_text("\n".join(lines) + "\n")
    told = ingest(path / "access.log", path / "out", format="weblog", columns={"user": user}, stated=stated)
    assert told.read == told.kept + told.dropped + told.rejected
    return [name.rpartition(".")[2] for name in pq.read_table(told.log)["user"].to_pylist()]


def test_programs_are_passed_over_line_by_line(tmp_path: Path) -> None:
    lines = [
        LINE.format(1, "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"),
        LINE.format(2, "Mozilla/5.0 (compatible; Googlebot/2.1)"),
        LINE.format(1, "curl/8.5"),
        LINE.format(3, "-"),
        LINE.format(4, "")[:-3].rstrip().removesuffix(' "-"'),
    ]
    assert users(tmp_path, lines, "address", ROBOTS) == ["1", "3", "4"]
    assert users(tmp_path, lines, "address", Stated()) == ["1", "2", "1", "3", "4"]


def test_of_json_lines_the_agent_is_a_field_or_a_list(tmp_path: Path) -> None:
    lines = [
        OBJECT.format(1, '"http_user_agent": "Mozilla/5.0"'),
        OBJECT.format(2, '"http_user_agent": "Bingbot/2.0"'),
        OBJECT.format(3, '"request": {"headers": {"User-Agent": ["python-requests/2.3"]}}'),
        OBJECT.format(4, '"user_agent": {"original": "HeadlessChrome"}'),
        OBJECT.format(5, '"agent": 7'),
    ]
    assert users(tmp_path, lines, "remote_addr", ROBOTS) == ["1", "5"]


def test_words_are_small_letters_because_agents_are_made_so() -> None:
    assert all(word == word.lower() for words in LISTS.values() for word in words)
    assert is_program("CURL/8.5", "robots-1") and not is_program("Mozilla/5.0", "robots-1")


@pytest.mark.parametrize("format", ["aol", "table", "solr", "ubi", "ga4", "sogou-2012"])
def test_a_format_without_agents_refuses_a_list(format: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("user\tquery\nu\tq\n")
    columns = {"user": "user", "query": "query"} if format == "table" else None
    with pytest.raises(ParameterError, match="name no User-Agent"):
        ingest(tmp_path / "log", tmp_path / "out", format=format, columns=columns, stated=ROBOTS)


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="no such list"):
        users(tmp_path, [LINE.format(1, "x")], "address", Stated(drop_agents="robots-0"))
