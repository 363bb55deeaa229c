"""`ranking`: the click model recovers what a made-up crowd wants, and lists by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hubbub.errors import InputError
from hubbub.testing import check_task
from hubbub.worth.tasks import ClickRanking, Evidence, NotEvaluable, Setup, Truth
from hubbub.worth.tasks.ranking import ResultPages, attraction, clicked, fitted

LISTS, RESULTS = 120, 5


def world() -> tuple[dict[str, pa.Table], Evidence]:
    """Lists of five; one result of each is wanted, and clicks follow examination × attraction exactly."""
    dice = np.random.default_rng(5)
    best = dice.integers(0, RESULTS, LISTS)
    names = [f"query {n:03}" for n in range(LISTS)]
    rows = [(names[n], r + 1, f"http://{n}-{r}.example") for n in range(LISTS) for r in range(RESULTS)]
    examined, searches = 1 / np.arange(1, RESULTS + 1), 10_000
    clicks = [
        (query, url, round(searches * examined[rank - 1] * (0.6 if rank - 1 == best[at // RESULTS] else 0.2)))
        for at, (query, rank, url) in enumerate(rows)
    ]
    wanted = [(names[n], f"http://{n}-{best[n]}.example", 2) for n in range(LISTS)]
    truth = {
        "serp": pa.table(list(map(list, zip(*rows, strict=True))), ["query", "rank", "url"]),
        "relevance": pa.table(list(map(list, zip(*wanted, strict=True))), ["query", "url", "gain"]),
    }
    tables = {
        "queries": pa.table({"query": names, "n": [searches] * LISTS}),
        "clicks": pa.table(list(map(list, zip(*clicks, strict=True))), ["query", "url", "n"]),
    }
    return truth, Evidence.of_tables(tables)


def test_the_click_model_takes_the_position_out() -> None:
    truth, log = world()
    queries = log.table("queries")
    assert queries is not None
    pages = ResultPages.of(truth["serp"], truth["relevance"], queries)
    assert pages.queries == LISTS and pages.row.size == LISTS * RESULTS
    found = attraction(pages, clicked(pages, log))
    wanted = pages.gain > 0
    assert found[wanted].min() > 2 * found[~wanted].max(), "raw clicks would prefer the first position"
    weights = fitted(pages, np.stack([found, pages.rank.astype(float)], axis=1), np.ones(LISTS, bool))
    assert weights[0] > 0


def test_ranks_count_from_one() -> None:
    truth, log = world()
    serp = truth["serp"].set_column(1, "rank", pc.subtract(truth["serp"]["rank"], 1))
    with pytest.raises(InputError, match="count from 1"):
        ClickRanking().score(log, log, Setup(Truth(truth | {"serp": serp})))


def test_scores_by_hand() -> None:
    truth, log = world()
    clicks, queries = log.table("clicks"), log.table("queries")
    assert clicks is not None and queries is not None
    few = Evidence.of_tables({"queries": queries, "clicks": clicks[:1]})
    found = ClickRanking().score(log, few, Setup(Truth(truth)))
    assert found["click_model.nDCG@10"]["original"] == found["click_model.nDCG@10"]["ceiling"] == 1.0
    gains = 1 / np.log2(np.arange(RESULTS) + 2)
    best = np.random.default_rng(5).integers(0, RESULTS, LISTS)
    assert found["click_model.nDCG@10"]["floor"] == pytest.approx(gains[best].mean())
    release, floor = (found["click_model.nDCG@10"][side] for side in ("release", "floor"))
    assert release is not None and floor is not None and abs(release - floor) < 1 / LISTS, "one click moves one list"
    assert found["learned.nDCG@10"]["original"] == pytest.approx(1.0)
    assert found["head.nDCG@10"] == found["click_model.nDCG@10"]


def test_what_it_cannot_do_without() -> None:
    truth, log = world()
    with pytest.raises(
        NotEvaluable, match="the release has no clicks: hubbub release … --tables queries,clicks makes it"
    ):
        ClickRanking().score(log, Evidence.of_tables({}), Setup(Truth(truth)))
    with pytest.raises(NotEvaluable, match=r"relevance\.parquet"):
        ClickRanking().score(log, log, Setup(Truth({"serp": truth["serp"]})))


def test_the_contract() -> None:
    check_task(ClickRanking(), users=40)
