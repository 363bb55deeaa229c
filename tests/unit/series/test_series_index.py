"""The index of a real series: written with each period, again when it is gone, and by its own command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub, document
from tests.series_made_up import log_of, seeded, year

from hubbub.privacy.ledger import Ledger
from hubbub.series import add, fix

pytestmark = pytest.mark.slow


def test_each_period_writes_the_index(tmp_path: Path, hubbub: Hubbub) -> None:
    folder = tmp_path / "s"
    with Ledger(tmp_path / "book.sqlite") as book:
        fix(seeded(), folder, book, new_population=True)
        for number in (1, 2):
            with log_of(tmp_path, year()) as log:
                add(folder, log, book)
            table = pq.read_table(folder / "public" / "series.parquet")
            assert sorted(set(table["period"].to_pylist())) == ["2020-01", "2020-02"][:number]
        first = pq.read_table(folder / "2020-02" / "public" / "queries.parquet")
        assert table.filter(table["period"].to_numpy() == "2020-02").num_rows == first.num_rows
        page = (folder / "public" / "index.html").read_text(encoding="utf-8")
        assert "2 of 3 periods" in page and "over all periods together" not in page and "NOT PRIVATE" in page
        shutil.rmtree(folder / "public")
        assert add(folder, None, book, period="2020-01").repeated
    assert (folder / "public" / "index.html").read_text(encoding="utf-8") == page
    told = document(hubbub("series", "index", folder, "--address", "https://library.example/", "--json"))
    assert len(told["files"]) == 4  # type: ignore[arg-type]
    assert 'xml:base="https://library.example/public/"' in (folder / "public" / "feed.xml").read_text(encoding="utf-8")
    assert "No period" in hubbub("series", "index", tmp_path, code=2).output


def test_a_dry_run_says_what_would_come_out(hubbub: Hubbub, tmp_path: Path) -> None:
    plan = (
        "series",
        "plan",
        tmp_path / "never",
        "--epsilon",
        6,
        "--delta",
        "1e-6",
        "--first",
        "2026-01-01",
        "--dry-run",
    )
    short = ("--periods", 2, "--length", "3 days", "--new-population", "--population", "p")
    run = hubbub(*plan, *short, "--users-public", 2000, "--json")
    estimate = document(run)["estimate"]
    assert "2 lists with crowd" in run.output and "Nothing was reserved" in run.output
    assert estimate["users"] == 2000 and len(estimate["ways"]) == 3  # type: ignore[index]
    assert "--users-public N" in hubbub(*plan, *short).output
    assert not (tmp_path / "never").exists()
