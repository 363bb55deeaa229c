"""A user who is erased: what goes, what stays, and that no release hangs on one user because of it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.series_made_up import Row, asked, log_of, seeded, year

from hubbub.errors import InputError
from hubbub.noise import SeededNoise
from hubbub.privacy.ledger import Ledger
from hubbub.series import add, erase, fix
from hubbub.steps.counts import Integers

pytestmark = pytest.mark.slow


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "book.sqlite") as opened:
        yield opened


def run(folder: Path, book: Ledger, rows: list[Row], noise: SeededNoise | None = None) -> Path:
    with log_of(folder.parent, rows) as log:
        return add(folder, log, book, noise=noise, other_people=True).folder


def column(state: Path, table: str, name: str) -> list[object]:
    return [value for p in sorted(state.glob(f"{table}-*")) for value in pq.read_table(p).column(name).to_pylist()]


def test_an_erased_user_contributes_no_more_and_her_keys_stay_seen(tmp_path: Path, book: Ledger) -> None:
    fix(seeded(), tmp_path / "s", book, new_population=True)
    folder, state = tmp_path / "s", tmp_path / "s" / "owner-only" / "state"
    many = [("user 7", f"many {n}", 0) for n in range(9)]  # more than enter her pool
    run(folder, book, year() + many)
    seen = {p.name: p.read_bytes() for p in state.glob("seen-*")}
    past = {p.name: p.read_bytes() for p in [*state.glob("past-*"), *state.glob("sums-*")]}
    known = dict(zip(column(state, "keys", "kid"), column(state, "keys", "query"), strict=True))
    hers = {q for _, q, p in [*year(), *many] if p == 0 and (q.startswith("many") or q == "rare 7 0")}
    pooled = {known[kid] for kid in column(state, "seen", "kid")} & hers
    assert pooled and pooled < hers
    erase(folder, book, "user 7")
    assert {p.name: p.read_bytes() for p in state.glob("seen-*")} == seen
    assert {p.name: p.read_bytes() for p in [*state.glob("past-*"), *state.glob("sums-*")]} == past
    texts = set(column(state, "keys", "query"))
    assert texts & hers == pooled and {"weather", "rare 8 0"} < texts  # what was never seen has no text
    with pytest.raises(InputError, match="no such user"):
        erase(folder, book, "user 7")
    assert "user 7" not in column(state, "users", "uid") and len(column(state, "users", "uid")) == 59
    gone = min(hers - pooled)
    run(folder, book, [*asked(range(60), "weather", 1), ("user 8", gone, 1)])
    assert "user 7" not in column(state, "users", "uid")  # she is known by a hash, and left out
    back = dict(zip(column(state, "keys", "query"), column(state, "keys", "kid"), strict=True))
    assert known[back[gone]] == gone  # the same key as before, with all that it has gathered


class HighNoise(SeededNoise):
    """None in the first run, and more than any threshold in the rounds of the second."""

    def __init__(self) -> None:
        super().__init__(0)

    def gaussian(self, step: str, variance: Fraction | int, size: int) -> Integers:
        high = 1 << 40 if "run 1" in step or "run 2" in step else 0
        return np.full(size, high if "round" in step else 0, np.int64)


@pytest.mark.parametrize("her_own", [[], [("v", "shared", 1)]], ids=["without", "with"])
def test_a_key_of_erased_users_comes_out_by_its_noisy_sum_alone(
    tmp_path: Path, book: Ledger, her_own: list[Row]
) -> None:
    """Two users bring a key and are erased. Whether v holds it then decides nothing but what she adds to its sum."""
    fix(seeded(), tmp_path / "s", book, new_population=True)
    run(tmp_path / "s", book, asked(range(2), "shared", 0) + asked(range(2, 20), "weather", 0), HighNoise())
    for user in range(2):
        erase(tmp_path / "s", book, f"user {user}")
    others = [*asked(range(2, 20), "weather", 1), ("v", "weather", 1)]
    out = run(tmp_path / "s", book, others + her_own, HighNoise())
    released = pq.read_table(out / "public" / "queries.parquet").column("query").to_pylist()
    assert sorted(released) == ["shared", "weather"]
