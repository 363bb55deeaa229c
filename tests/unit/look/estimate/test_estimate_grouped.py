"""Made-up users in groups: shares as stated, whole users, and words for what cannot be read."""

from collections import Counter

import pyarrow as pa
import pytest

from hubbub.errors import ParameterError
from hubbub.look.estimate import estimate_users
from hubbub.look.estimate.grouped import stated_shares, with_columns
from hubbub.mechanisms import Crowd
from hubbub.public.groups import group_by

COUNTRY, DEVICE = group_by("country", "Land", "DE,FR"), group_by("device", "dev", "phone,desktop")


def test_users_are_in_one_group_each_by_the_shares() -> None:
    rows = pa.table({"user": [f"u{i % 5000}" for i in range(10_000)]})
    found = with_columns(rows, [COUNTRY, DEVICE], stated_shares(["country=60,30", "device=0,100"], [COUNTRY, DEVICE]))
    by_user = Counter(zip(found["user"].to_pylist(), found["by_country"].to_pylist(), strict=True))
    assert len(by_user) == 5000 and set(by_user.values()) == {2}, "one group for all her rows"
    sizes = Counter(group for _, group in by_user)
    assert 2800 < sizes["de"] < 3200 and 1350 < sizes["fr"] < 1650 and 400 < sizes[None] < 600, "a fixed seed"
    assert set(found["by_device"].to_pylist()) == {"desktop"}


UNREADABLE = "country=60|country=60,50|country=60,-1|country=0,0|country=a,b|land=60,30|country|country=6,3e1|hour=6,3"


@pytest.mark.parametrize("given", [[], ["country=60,30", "country=60,30"], *([one] for one in UNREADABLE.split("|"))])
def test_shares_that_cannot_be_read_are_refused(given: list[str]) -> None:
    with pytest.raises(ParameterError, match=r"shares|state about how many"):
        stated_shares(given, [COUNTRY])


def test_groups_by_time_need_no_shares() -> None:
    assert stated_shares([], [group_by("hour")]) == {}


@pytest.mark.slow
def test_an_estimate_by_country_from_stated_shares() -> None:
    made = Crowd(epsilon=8, delta="1e-6", tables=["queries"], by=[COUNTRY])
    found = estimate_users(made, 4000, sample=4000, runs=1, shares=["country=70,20"])
    assert not found.warnings
    cells, queries = found.tables["queries_by_country"], found.tables["queries"]
    assert 20 < cells.rows < 3 * queries.rows
    scaled = estimate_users(made, 40_000, sample=4000, runs=1, shares=["country=70,20"])
    assert any("--sample 40000" in warning for warning in scaled.warnings)
