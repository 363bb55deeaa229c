"""`synonyms`: precision and recall by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hubbub.testing import check_task
from hubbub.worth.tasks import Evidence, NotEvaluable, Setup, SynonymDiscovery, Truth
from hubbub.worth.tasks.synonyms import seen, true_pairs

INTENTS = pa.table(
    {
        "query": ["nyc", "new york", "www.nyc.com", "shoes", "boots", "rare words", "rare things"],
        "intent": [1, 1, 1, 2, 3, 4, 4],
        "users": [50, 40, 30, 20, 20, 9, 8],
    }
)


def evidence(clicks: list[tuple[str, str, int]], transitions: list[tuple[str, str, int]] = []) -> Evidence:  # noqa: B006
    tables = {}
    if clicks:
        tables["clicks"] = pa.table(list(map(list, zip(*clicks, strict=True))), ["query", "url", "n"])
    if transitions:
        tables["transitions"] = pa.table(list(map(list, zip(*transitions, strict=True))), ["query", "next_query", "n"])
    return Evidence.of_tables(tables)


def test_by_hand() -> None:
    ours = evidence(
        [("nyc", "a", 9), ("new york", "a", 8), ("shoes", "b", 7), ("boots", "b", 6), ("www.nyc.com", "a", 1)],
        [("rare words", "rare things", 5)],
    )
    theirs = evidence([("nyc", "a", 9), ("new york", "a", 8)])
    found = SynonymDiscovery().score(ours, theirs, Setup(Truth({"intents": INTENTS})))
    # true: three pairs of intent 1, one of intent 4. The original finds nyc/new york, rare …, and shoes/boots wrongly
    assert found["recall"]["original"] == 0.5 and found["recall"]["release"] == 0.25
    assert found["precision"]["original"] == pytest.approx(2 / 3) and found["precision"]["release"] == 1.0
    assert found["recall"]["floor"] == 0.25 and found["precision"]["floor"] == 1.0, "nyc and www.nyc.com look alike"
    assert found["pairs"] == {"original": 3, "release": 1}


def test_what_anybody_sees() -> None:
    assert set(seen(["red shoes", "shoe red", "www.red-shoes.com", "hats"])) == {
        ("red shoes", "shoe red"),
        ("red shoes", "www.red-shoes.com"),
        ("shoe red", "www.red-shoes.com"),
    }
    assert len(true_pairs(INTENTS)) == 4


def test_what_it_cannot_do_without() -> None:
    ours = evidence([("nyc", "a", 9)])
    with pytest.raises(NotEvaluable, match="--tables queries,clicks makes them"):
        SynonymDiscovery().score(ours, Evidence.of_tables({}), Setup(Truth({"intents": INTENTS})))
    with pytest.raises(NotEvaluable, match=r"intents\.parquet"):
        SynonymDiscovery().score(ours, ours, Setup())


def test_the_contract() -> None:
    check_task(SynonymDiscovery(), users=40)
