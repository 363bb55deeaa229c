"""Whatever happens in whatever order, the book agrees with plain sums and never passes a cap."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.ledgers import spend

from hubbub.errors import OverBudget
from hubbub.privacy.account import Gaussian, Loss, Pure
from hubbub.privacy.compose import compose
from hubbub.privacy.ledger import Entry, Ledger

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # the book waits for the disk at every step
POPULATIONS = ("default", "others")
population = st.sampled_from(POPULATIONS)
decimal = st.sampled_from(["0.1", "0.2", "0.25", "0.3", "0.7", "1", "2.5"])
actions = st.one_of(
    st.tuples(st.just("reserve"), population, decimal, st.integers(0, 2)),
    st.tuples(st.just("cap"), population, decimal, st.just(0)),
    st.tuples(st.just("crash"), st.just(""), st.just(""), st.just(0)),
    st.tuples(st.just("not private"), population, decimal, st.just(0)),
)


def reserve(book: Ledger, population: str, loss: Loss, private: bool = True) -> Entry:
    return spend(book, loss, population=population, dataset=f"set {loss.epsilon}", private=private)


@settings(max_examples=40, deadline=None)
@given(st.lists(actions, max_size=14))
@example([("cap", "others", "0.2", 0), ("reserve", "others", "0.1", 0), ("cap", "others", "0.1", 0)])
def test_the_book_agrees_with_plain_sums(steps: list[tuple[str, str, str, int]]) -> None:
    spent: dict[str, Decimal] = defaultdict(Decimal)
    caps: dict[str, Decimal] = {}
    highest: dict[str, Decimal] = defaultdict(Decimal)
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "ledger.sqlite"
        book = Ledger(path)
        for action, who, number, reached in steps:
            match action:
                case "crash":
                    book.close()
                    book = Ledger(path)
                case "cap":
                    warned = book.cap(who, float(number), 0.0) or ""
                    caps[who] = Decimal(number)
                    highest[who] = max(highest[who], caps[who])
                    assert ("has spent" in warned) == (spent[who] > caps[who])
                    if not spent[who] or highest[who] == caps[who]:
                        assert "promised" not in warned, "only a lower cap after a release leaves an older promise"
                case "not private":
                    reserve(book, who, Loss(float(number), 0.0, (), tv=0.0), private=False)
                    spent[who] = Decimal("Infinity")
                case "reserve":
                    fits = who not in caps or spent[who] + Decimal(number) <= caps[who]
                    try:
                        entry = reserve(book, who, Loss(float(number), 0.0, (Pure(Fraction(number)),), tv=0.0))
                    except OverBudget:
                        assert not fits
                    else:
                        assert fits
                        spent[who] += Decimal(number)
                        for step in (book.drawing, book.committed)[:reached]:
                            step(entry)
            for name in POPULATIONS:
                assert book.spent(name, 0.0).epsilon == float(spent[name])
        book.close()


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 100), st.booleans()), min_size=1, max_size=12), st.sampled_from([0.5, 1.0, 2.0])
)
def test_composed_totals_stay_under_the_cap(releases: list[tuple[int, bool]], most: float) -> None:
    delta = 1e-6
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "ledger.sqlite"
        with Ledger(path) as book:
            book.cap("default", most, delta)
        granted: list[Loss] = []
        refused: list[Loss] = []
        for hundredths, drawn in releases:
            loss = Loss(1.0, 2e-7, (Gaussian(Fraction(hundredths, 1000)),), tv=1e-8)
            with Ledger(path) as book:  # each release its own run, and nothing after it is told to the book
                try:
                    entry = reserve(book, "default", loss)
                except OverBudget:
                    if granted:
                        refused.append(loss)
                    continue
                granted.append(loss)
                if drawn:
                    book.drawing(entry)
                assert compose(granted, delta) <= most
        if granted:
            with Ledger(path) as book:
                (opened,) = book.standing("default").opened
            assert all(opened.left.charge(loss) is None for loss in refused), "room only shrinks"
