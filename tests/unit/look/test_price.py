"""`hubbub worth`: a page for the owner, from draws that spend nothing; nested samples; turning points by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub, document

from hubbub.errors import ParameterError
from hubbub.log import read_log
from hubbub.look.price.page import render
from hubbub.look.price.request import MOST_USERS, PriceRequest
from hubbub.look.price.run import Priced, Prices, sample
from hubbub.privacy.ledger import Ledger


def priced(users: int, epsilon: str, release: float, mechanism: str = "crowd") -> Priced:
    return Priced("completion", mechanism, epsilon, users, original=0.5, release=release, floor=0.1, ceiling=0.9)


def test_the_turning_point_by_hand() -> None:
    cells = [
        priced(100, "1", 0.05),
        priced(100, "2", 0.4),
        priced(100, "8", 0.1),
        priced(400, "1", 0.1),
        priced(400, "2", 0.3),
        priced(400, "2", 0.2, "gaussian"),
        priced(400, "8", 0.5),
    ]
    prices = Prices(cells, {"zealous": "it cannot"}, [100, 400], ["1", "2", "8"])
    (_, never), (_, first) = prices.turning("completion")
    assert never is None, "as good as no log at all is not better, and ε = 2 alone is not from there on"
    assert first is not None and (first.epsilon, first.mechanism) == ("2", "crowd")
    assert first.kept == pytest.approx(0.5) and cells[-1].kept == pytest.approx(1.0)
    page = render(prices, PriceRequest(truth=None, mechanisms=["crowd"]))
    assert "NOT PRIVATE. DO NOT PUBLISH." in page and "zealous: it cannot" in page
    assert (
        "no mechanism beats having no release" in page
        and "from ε = 2 on (crowd, keeping 50% of what the log adds)" in page
    )


def test_what_is_asked_for() -> None:
    asked = PriceRequest(mechanisms=["crowd"])
    assert asked.sizes(100) == [25, 100] and asked.sizes(10**6) == [MOST_USERS // 4, MOST_USERS]
    assert PriceRequest(users=(10, 10**6), mechanisms=["crowd"]).sizes(50) == [10, 50]
    assert {row.given["epsilon"] for row in asked.choices()} == {"0.5", "2", "8"}
    assert len({row.mechanism for row in PriceRequest().choices()}) > 5, "all that prove something"
    for task in ("counts", "segments"):
        with pytest.raises(ParameterError, match="no floor, or needs a release by group"):
            PriceRequest(tasks=[task])
    for wrong in (("abc",), ("1", "1/0"), ()):
        with pytest.raises(ParameterError, match="--epsilons names values of ε"):
            PriceRequest(wrong, mechanisms=["crowd"])
    with pytest.raises(ParameterError, match="A sample has users"):
        PriceRequest(users=(0,))


def test_a_larger_sample_holds_the_smaller(log_file: Path) -> None:
    with read_log(log_file) as log:
        every = log.users()
        samples = []
        for size in (2, 4, every):
            with sample(log, size, 0) as path:
                samples.append(pq.read_table(path))
        users = [set(rows["user"].to_pylist()) for rows in samples]
        assert users[0] < users[1] <= users[2] and [len(one) for one in users] == [2, 4, every]
        assert samples[2].num_rows == log.engine.fetch("SELECT count(*) AS n FROM log")["n"][0].as_py()


def test_the_command(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    ledger, out = tmp_path / "ledger.sqlite", tmp_path / "worth"
    how = ("--mechanism", "crowd", "--epsilons", "8", "--users", "3,6", "--task", "popularity", "--jobs", 1)
    found = document(hubbub("worth", log_file, *how, "--out", out, "--ledger", ledger, "--json"))
    missing = found["missing"]
    assert isinstance(missing, dict) and set(missing) == {f"popularity of crowd, {users} users" for users in (3, 6)}
    assert found["users"] == [3, 6] and not (out / "public").exists()
    page = (out / "owner-only" / "worth.html").read_text(encoding="utf-8")
    assert "NOT PRIVATE. DO NOT PUBLISH." in page and (out / "owner-only" / "NOT-PRIVATE.txt").is_file()
    assert json.loads((out / "owner-only" / "worth.json").read_text(encoding="utf-8")) == found
    with Ledger(ledger) as book:
        assert not book.export()["entries"], "nothing is spent"
    cells = sorted((out / "owner-only" / "cells").iterdir())
    times = [path.stat().st_mtime_ns for path in cells]
    assert document(hubbub("worth", log_file, *how, "--out", out, "--ledger", ledger, "--json")) == found
    assert [path.stat().st_mtime_ns for path in cells] == times and cells, "what is finished is kept"
    for wrong in ("many", "²"):
        assert "whole numbers" in hubbub("worth", log_file, "--users", wrong, code=2).stderr
