"""What makes groups different: planted differences are found, and chance alone is not listed."""

import numpy as np
import pyarrow as pa
import pytest

from hubbub.show.dataset import rows_of
from hubbub.show.differences import LEVEL, by_table, corrected_chances, over_represented

KEYS, GROUPS = 200, ("DE", "FR", "US", "other")
SHARES = np.array([0.4, 0.3, 0.2, 0.1])


def tables(seed: int, planted: int = 0, times: float = 3.0) -> tuple[pa.Table, pa.Table]:
    """Keys of 100 to 2,000 users with noise of 8 users; the first ones are asked `times` as often in FR."""
    draw = np.random.default_rng(seed)
    exact = draw.integers(100, 2000, KEYS)
    shares = np.tile(SHARES, (KEYS, 1))
    shares[:planted, 1] *= times
    cells = exact[:, None] * shares / shares.sum(1, keepdims=True)
    noisy = np.maximum(1, np.rint(cells + draw.normal(0, 8, cells.shape)))
    names = [f"q{i}" for i in range(KEYS)]
    queries = {"query": names, "users": np.rint(exact + draw.normal(0, 8, KEYS)).astype(int), "noise_sd": [8.0] * KEYS}
    return (
        pa.table(
            {
                "country": list(GROUPS) * KEYS,
                "query": np.repeat(names, len(GROUPS)).tolist(),
                "users": noisy.ravel().astype(int),
                "noise_sd": [8.0] * (KEYS * len(GROUPS)),
            }
        ),
        pa.table(queries),
    )


@pytest.mark.parametrize("seed", range(4))
def test_planted_differences_are_found_and_no_others(seed: int) -> None:
    cells, totals = tables(seed, planted=10, times=12)
    found = over_represented(cells, totals)
    assert {one.group for one in found} == {"FR"}
    named = {int(one.key[0][1:]) for one in found}
    assert len(named) >= 7 and named <= set(range(10))
    right = 12 / (1 + 11 * 0.3)
    for one in found:
        assert 1 < one.low < one.times < one.high and one.chance <= LEVEL
        assert one.low <= right <= one.high


@pytest.mark.parametrize("seed", range(10, 16))
def test_noise_alone_is_no_difference(seed: int) -> None:
    assert over_represented(*tables(seed)) == []


def test_corrected_chances_are_those_of_benjamini_and_yekutieli() -> None:
    chances = np.array([0.04, 0.001, 0.5, 0.02])
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4
    by_hand = [min(1, p * 4 * harmonic / rank) for p, rank in ((0.04, 3), (0.001, 1), (0.5, 4), (0.02, 2))]
    assert corrected_chances(chances) == pytest.approx(
        [min(by_hand[0], by_hand[2]), by_hand[1], by_hand[2], by_hand[3]]
    )


def test_a_page_shows_every_group_whether_or_not_anything_can_be_told() -> None:
    cells, totals = tables(1, planted=10, times=12)
    named = {"queries": totals, "queries_by_country": cells}
    shown = by_table([(name, table.column_names, table.to_pylist()) for name, table in named.items()])
    groups = {group.name: group for group in shown["queries_by_country"]}
    assert set(groups) == set(GROUPS) and all(group.rows == KEYS for group in groups.values())
    assert len(groups["FR"].more) == 5 and not groups["US"].more
    none = [{"country": "DE", "query": "q", "users": None, "noise_sd": None}]
    alone = by_table([("queries_by_country", cells.column_names, none)])
    assert [group.more for group in alone["queries_by_country"]] == [()]


def test_a_table_by_group_is_counted_in_words() -> None:
    assert rows_of("queries_by_country", 1364) == "1,364 queries by country"
    assert rows_of("clicks_by_hour", 1) == "1 click by hour"
