"""A series with a list of known queries: lower thresholds, rows of nobody, and that she decides nothing but sums."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Hubbub
from tests.series_made_up import Row, asked, log_of, seeded, series

from hubbub.card.check import check, load
from hubbub.errors import InputError, ParameterError, Refused
from hubbub.mechanisms.series.rounds import SeriesSums, levels, passing
from hubbub.noise import SeededNoise
from hubbub.privacy.ledger import Ledger
from hubbub.public import words
from hubbub.public.lists import QueryPool, ReleaseOrigin, pooled
from hubbub.public.words import Vocabulary
from hubbub.series import SeriesPlan, add, erase, fix
from hubbub.steps.counts import Integers


def known(*queries: str) -> QueryPool:
    rows = pooled(pa.chunked_array([list(queries)]))
    return QueryPool("towns.tsv", rows, "0" * 64, rows.num_rows, "made up", "list")


TOWNS = known("bern", "genève", "zürich")


@pytest.mark.parametrize("size", [1, 1000, 10**6])
def test_no_more_rows_of_nobody_are_expected_than_stated(size: int) -> None:
    """Over all tests of all runs that the series may have; and the threshold of a listed key is the lower one."""
    listed = replace(TOWNS, size=size, rows=None)
    plan = series(epsilon=2, delta="1e-6", periods=12, longest=24, public_list=listed, F_list="1/2").constants
    expected = mp.mpf(0)
    for t in range(plan.longest):
        for window in plan.windows(t):
            mass = plan.window_mass(t, window, 5)
            assert plan.listed_threshold(t, mass) < plan.threshold(t, mass)
            expected += size * mp.ncdf(
                -(plan.listed_threshold(t, mass) - mp.mpf("0.5")) / mp.sqrt(mass * plan.variance)
            )
    assert expected <= 0.5


def test_listed_keys_are_the_first_ids_and_pass_at_their_own_threshold() -> None:
    plan = series(public_list=TOWNS).constants
    low, high = plan.listed_threshold(0, 20), plan.threshold(0, 20)
    now = np.array([low - 1, low, high, low, high - 1, high])
    gathered = SeriesSums(np.zeros(6, np.int64), (), now)
    assert passing(plan, 0, gathered).tolist() == [False, True, True, False, False, True]
    assert levels(plan, 0, 5, gathered).tolist()[1:3] == [20, 20] and levels(plan, 0, 5, gathered)[3] < 20


def test_what_a_series_refuses_of_lists() -> None:
    with pytest.raises(ParameterError, match="one list"):
        series(public_list=[TOWNS, replace(known("a"), name="other.tsv", sha256="2" * 64)])
    with pytest.raises(ParameterError, match="Nothing that is released depends on"):
        series(F_list=2)


class HighNoise(SeededNoise):
    """More than any threshold in every round."""

    def __init__(self) -> None:
        super().__init__(0)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        return np.full(size, 1 << 40 if "round" in step else 0, np.int64)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "book.sqlite") as opened:
        yield opened


def run(folder: Path, book: Ledger, rows: list[Row], noise: SeededNoise | None = None) -> Path:
    with log_of(folder.parent, rows) as log:
        return add(folder, log, book, noise=noise, other_people=True).folder


def released(folder: Path) -> list[str]:
    found: list[str] = pq.read_table(folder / "public" / "queries.parquet").column("query").to_pylist()
    return sorted(found)


@pytest.mark.slow
@pytest.mark.parametrize("hers", [[], [("v", "zürich", 0)]], ids=["without", "with"])
def test_a_listed_query_comes_out_whether_or_not_she_holds_it(tmp_path: Path, book: Ledger, hers: list[Row]) -> None:
    fix(seeded(public_list=TOWNS), tmp_path / "s", book, new_population=True)
    made = run(tmp_path / "s", book, [*asked(range(9), "bern", 0), *hers], HighNoise())
    assert released(made) == ["bern", "genève", "zürich"]
    assert [f for f in check(made) if not f.holds] == []
    told = str(load(made))
    assert "at most 1 listed ones of nobody" in told and "towns.tsv" in told
    erase(tmp_path / "s", book, "user 3")
    assert released(run(tmp_path / "s", book, asked(range(9), "bern", 1))) == released(made)


@pytest.mark.slow
def test_the_list_belongs_to_the_plan(tmp_path: Path, book: Ledger) -> None:
    fix(seeded(public_list=TOWNS), tmp_path / "s", book, new_population=True)
    path = tmp_path / "s" / "owner-only" / "list.parquet"
    shutil.copy(path, tmp_path / "kept")
    pq.write_table(known("bern", "paris", "zürich").rows, path)
    with pytest.raises(Refused, match="not the one that the series was planned with"):
        run(tmp_path / "s", book, asked(range(9), "bern", 0))
    path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        run(tmp_path / "s", book, asked(range(9), "bern", 0))
    shutil.copy(tmp_path / "kept", path)
    made = run(tmp_path / "s", book, asked(range(60), "bern", 0))
    assert "bern" in released(made)
    again = QueryPool("mine.tsv", pooled(pa.chunked_array([released(made)])), "1" * 64, len(released(made)), "", "list")
    with pytest.raises(Refused, match="NOT PRIVATE"):  # a seeded series is a release, and none to build on
        fix(SeriesPlan(series(public_list=again)), tmp_path / "next", book)


def vocabulary_of(*words: str) -> Vocabulary:
    rows = pa.table({"query": list(words)})
    return Vocabulary.of("en", "made up", "1" * 64, rows, pa.table({"query": ["new york"]}))


def test_known_words_are_a_list_of_words_pairs_and_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once, with the owner's own list in one; a release is no list of words."""
    monkeypatch.setattr(words, "vocabulary", lambda language: vocabulary_of("weather", "bern"))
    listed = words.known_list("en", TOWNS)
    assert listed.name == "towns.tsv, words of en" and listed.use == "list"
    assert listed.rows.column("query").to_pylist() == sorted(
        [
            "bern",
            "bern.com",
            "genève",
            "new york",
            "weather",
            "weather.com",
            "www.bern.com",
            "www.weather.com",
            "zürich",
        ]
    )
    assert listed.size == 9 and listed.sha256 == listed.queries
    made = ReleaseOrigin("crowd", "strict", {}, "earlier-r1", "3" * 64)
    with pytest.raises(ParameterError, match="are not one list"):
        words.known_list("en", replace(TOWNS, made=made))


class NoNoise(SeededNoise):
    """Sums as they are."""

    def __init__(self) -> None:
        super().__init__(0)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        return np.zeros(size, np.int64)


@pytest.mark.slow
def test_a_known_word_comes_out_with_fewer_users(
    hubbub: Hubbub, book: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words and other queries, one for each number of users, and no noise: so none of nobody."""
    most = 40
    monkeypatch.setattr(words, "vocabulary", lambda language: vocabulary_of(*(f"word{n}" for n in range(most))))
    plan = ("--epsilon", 8, "--delta", "0.01", "--first", "2020-01-01", "--periods", 3, "--seed", 1, "--not-private")
    hubbub("series", "plan", tmp_path / "s", *plan, "--language", "en", "--ledger", tmp_path / "book.sqlite")
    kinds = ("word", "other")
    rows = [(f"{kind}{n} {u}", f"{kind}{n}", 0) for kind in kinds for n in range(most) for u in range(n)]
    made = run(tmp_path / "s", book, rows, NoNoise())
    out = released(made)
    least = {kind: min(int(text[len(kind) :]) for text in out if text.startswith(kind)) for kind in kinds}
    assert 0 < least["word"] < least["other"] < most
    told = load(made)
    assert "words of en" in str(told) and "at most 1 listed ones of nobody" in str(told)
    assert [finding for finding in check(made) if not finding.holds] == []
    said = hubbub("series", "plan", tmp_path / "t", *plan, "--language", "xx", code=2)
    assert "no such language" in said.stderr
