"""Several public lists at once: one number of rows of nobody for all of them, and every list on the card."""

from __future__ import annotations

import json
import math
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import ndtr
from tests.conftest import Hubbub

from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.protocols import Event
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.crowd.calibrate import closed, expected_late
from hubbub.mechanisms.crowd.known import domains, expected, table_of
from hubbub.public.lists import QueryPool, hash_of
from hubbub.public.prior import Prior
from hubbub.public.words import Vocabulary
from hubbub.steps.weights import KNOWN, LISTED

pytestmark = pytest.mark.usefixtures("no_report")

BUDGET = {"epsilon": 2, "delta": "1e-5"}
WORDS = Vocabulary.of("x", "x", "0", pa.table({"query": ["a", "w"]}), pa.table({"query": ["a w"]}))


def listed(*queries: str) -> QueryPool:
    rows = pa.table({"query": sorted(queries)})
    return QueryPool("list", rows, hash_of(rows), len(queries), "a test", "list")


def test_lists_that_overlap_name_each_query_once() -> None:
    """A query that stood there twice would be tested twice; it is one of the first list that names it."""
    one, two, three = listed("a", "b"), listed("b", "c"), listed("a", "c")
    assert table_of([one, two, three]).to_pydict() == {"query": ["a", "b", "c"], "mark": [LISTED, LISTED, LISTED + 1]}
    found = domains([one, two, three], Prior(WORDS, known=True), Fraction(1))
    texts = [domain.rows(np.arange(domain.size)).column("query").to_pylist() for domain, _ in found]
    assert texts == [["a", "b"], ["c"], [], ["w", "a w", "a.com", "www.a.com", "w.com", "www.w.com"]]
    assert [domain.mark for domain, _ in found] == [LISTED, LISTED + 1, LISTED + 2, KNOWN]
    assert len({domain.called for domain, _ in found}) == 4, "each draw has its own name"


def test_all_lists_share_one_number_of_rows_of_nobody() -> None:
    one, two = listed("a", "b"), listed(*(f"q{i}" for i in range(1000)))
    found = domains([one, two], Prior(WORDS, known=True), Fraction(1))
    assert [part for _, part in found] == [Fraction(1, 3)] * 3
    assert sum(part for _, part in domains([one, two], None, Fraction(5))) == 5
    assert sum(part for _, part in domains([], Prior(WORDS, known=False), Fraction(1))) == 0


@pytest.mark.parametrize("budget", [(1, "1e-6"), (4, "1e-4"), (0.5, "1e-3"), (4, "0.05")])
@pytest.mark.parametrize("rounds", [2, 5])
def test_no_more_rows_of_nobody_are_expected_than_are_stated(budget: tuple[float, str], rounds: int) -> None:
    """By the levels that run: also where the first round, which tests known words as all others, lets more pass."""
    settings = {"epsilon": budget[0], "delta": budget[1], "rounds": rounds, "language": "none"}
    plan = build("crowd", settings, tables=["queries"]).selections["queries"]
    size = 700_000

    def passing(late: bool) -> float:
        levels = closed(plan, size, Fraction(1), late=late)
        tests = zip(levels.thresholds, levels.gathered, strict=True)
        return sum(size * float(ndtr(-threshold / math.sqrt(variance))) for threshold, variance in tests)

    assert passing(late=False) <= 1.0001
    assert passing(late=True) <= expected_late(plan, size, Fraction(1)) * 1.0001
    most = {"1e-6": 1, "1e-4": 1, "1e-3": 1.2, "0.05": 1.2}[budget[1]]
    assert 1 <= expected_late(plan, size, Fraction(1)) < most + 1e-9
    assert expected([], None, Fraction(1), plan) == 0


def few(query: str, n: int) -> list[Event]:
    return [(f"{query}{i}", 1, query, None) for i in range(n)]


def test_a_long_list_does_not_raise_the_level_of_a_short_one() -> None:
    short, long = listed("s"), listed("l", *(f"nobody {i}" for i in range(20_000)))
    mechanism: Any = build("crowd", BUDGET | {"language": "none"}, tables=["queries"], public_list=[short, long])
    levels = [closed(mechanism.selection, size, Fraction(1, 2)) for size in (1, 20_001)]
    n = math.ceil(levels[0].users(-1)) + 2
    assert n < levels[1].users(-1) - 2
    with tiny_log(few("s", n) + few("l", n)) as log:
        measured = mechanism.measure(log, MODE)
        out = mechanism.draw(measured, NoNoise())["queries"]
        texts = measured["queries"].text(log.engine, mechanism.offers["queries"], out.ids)
    assert texts.column("query").to_pylist() == ["s"]


def test_one_list_twice_is_refused() -> None:
    with pytest.raises(ParameterError, match="given twice"):
        build("crowd", BUDGET, public_list=[listed("a"), listed("a")])


def test_each_list_stands_on_the_card(hubbub: Hubbub, log_file: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.tsv").write_text(f"query\nnobody asked {name}\n")
    (tmp_path / "c.toml").write_text(f'public_list = ["{tmp_path}/one.tsv", "{tmp_path}/two.tsv"]\n')
    options = ("--mechanism", "crowd", "--epsilon", "4", "--delta", "1e-4", "--format", "aol", "--tables", "queries")
    said = ("--public-list", tmp_path / "one.tsv", "--public-list", tmp_path / "two.tsv")
    shown = []
    for out, given in (("a", said), ("b", ("--config", tmp_path / "c.toml"))):
        hubbub("release", log_file, *options, *given, "--out", tmp_path / out)
        hubbub("card", tmp_path / out, "--check")
        card = json.loads((tmp_path / out / "public" / "card.json").read_text())
        shown.append(card["mechanism"]["public_lists"])
        assert any("each of them, must not have been learned" in text for text in card["claim"]["conditions"])
        run = tomllib.loads((tmp_path / out / "owner-only" / "run.toml").read_text())
        assert run["public_list"] == [str(tmp_path / "one.tsv"), str(tmp_path / "two.tsv")]
    assert shown[0] == shown[1] and [one["name"] for one in shown[0]] == ["one.tsv", "two.tsv", "words of en"]
    assert len({one["sha256"] for one in shown[0]}) == 3


@pytest.mark.parametrize("given", ["3", '["a.tsv", 3]', '["a.tsv", " "]'])
def test_lists_that_are_no_texts_are_refused(hubbub: Hubbub, log_file: Path, tmp_path: Path, given: str) -> None:
    (tmp_path / "c.toml").write_text(f"public_list = {given}\n")
    said = hubbub("release", log_file, "--config", tmp_path / "c.toml", "--out", tmp_path / "x", code=2).stderr
    assert "public_list" in said or "--public-list" in said
