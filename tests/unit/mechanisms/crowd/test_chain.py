"""The tables that follow from released queries: their keys, their domains, their counts, on small logs by hand."""

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from hubbub.audit.checks.counts import NoNoise
from hubbub.audit.protocols import Event
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.errors import InputError, ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.base import Released
from hubbub.mechanisms.crowd import stages
from hubbub.mechanisms.crowd.chain import at_most, by_value
from hubbub.noise import Exits, SeededNoise
from hubbub.noise.absent import Rounds
from hubbub.release.rows import named_rows
from hubbub.steps.chosen import joinable, joins
from hubbub.steps.sessions import SEPARATOR

BUDGET = {"epsilon": 4, "delta": "1e-4", "language": "none"}
ALL = ("queries", "clicks", "transitions", "sessions", "keywords")


def walkers(n: int) -> list[Event]:
    """n users who each ask a, b, c, d in one session and click after a and c; one loner with queries of her own."""
    events: list[Event] = []
    for i in range(n):
        at = 1000 * i
        events += [(f"u{i}", at + 10 * t, q, f"site {q}" if q[0] in "ac" else None) for t, q in enumerate(ASKED)]
    return [*events, ("loner", 5, "my own", "my site"), ("loner", 6, "also mine", None), ("loner", 7, ASKED[0], "mine")]


ASKED = ("a one", "b two", "c three", "d one")


def run(events: list[Event], noise: Any = None, tables: tuple[str, ...] = ALL, **settings: Any) -> dict[str, Any]:
    """One run: by table, what was released by its text."""
    mechanism = build("crowd", {**BUDGET, **settings}, tables=tables)
    with tiny_log(events) as log:
        measured = mechanism.measure(log, MODE)
        found = mechanism.draw(measured, noise or NoNoise())
        return {
            t: {tuple(r[:-2]): r[-2] for r in map(tuple, map(dict.values, rows(log, mechanism, t, measured, found)))}
            for t in mechanism.tables
        }


def rows(log: Any, mechanism: Any, table: str, measured: Any, found: Any) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = named_rows(log, mechanism, table, measured, found).to_pylist()
    return listed


def test_a_chain_without_noise_releases_what_everybody_does_and_nothing_of_the_loner() -> None:
    found = run(walkers(200))
    a, b, c, d = ASKED
    assert set(found["queries"]) == {(q,) for q in ASKED}
    assert set(found["clicks"]) == {(a, f"site {a}"), (c, f"site {c}")}
    assert set(found["transitions"]) == {(a, b), (b, c), (c, d)}
    assert set(found["sessions"]) == {(SEPARATOR.join(s),) for s in ((a, b, c), (b, c, d), (a, b, c, d))}
    words = found["keywords"]
    assert set(words) == {(w,) for q in ASKED for w in q.split()}
    assert abs(words["one",] - 201) <= 2 and abs(words["b",] - 200) <= 2, (
        "a user counts once, however often she says it"
    )
    assert found["clicks"][a, f"site {a}"] is None, "too few keys for counts"


@pytest.mark.slow
def test_counts_of_later_tables_are_consistent() -> None:
    events = walkers(60)
    for i, k in product(range(80), range(60)):
        q = [f"q{k}", f"q{(k + 1) % 60}", f"q{(k + 2) % 60}"]
        events += [(f"w{i}", 10**6 * k + 10 * t, x, f"page {x}") for t, x in enumerate(q)]
    for seed in range(2):
        found = run(events, SeededNoise(seed), epsilon=30)
        queries, clicks, steps = found["queries"], found["clicks"], found["transitions"]
        assert len(clicks) > 40 and len(steps) > 40 and len(found["sessions"]) > 20
        assert all(n <= queries[q,] for (q, _), n in clicks.items())
        assert all(n <= min(queries[a,], queries[b,]) for (a, b), n in steps.items())
        for (text,), n in found["sessions"].items():
            s = text.split(SEPARATOR)
            if len(s) == 3:
                assert n <= min(steps[s[0], s[1]], steps[s[1], s[2]])
        middle = float(np.median([n for (q, _), n in clicks.items() if q.startswith("q")]))
        assert 80 * (10 / 60) ** 0.5 - 10 < middle < 90, "60 clicks per user, scaled to the length of 10"


class Passing(NoNoise):
    """Zeros, except that the last three absent keys of every domain pass."""

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        n, levels = min(3, count), rounds.thresholds
        return Exits(np.arange(count - n, count), np.full(n, len(levels) - 1), np.full(n, levels[-1]))


def test_absent_keys_of_a_closed_domain_are_released_under_their_own_names() -> None:
    a, b, c, d = ASKED
    found = run(walkers(200), Passing())
    pairs = set(found["transitions"]) - {(a, b), (b, c), (c, d)}
    assert len(pairs) == 3 and all(x != y and {x, y} <= set(ASKED) for x, y in pairs)
    assert set(found["queries"]) == {(q,) for q in ASKED}, "the open stage has no absent keys"


class Everyone(NoNoise):
    """Zeros, except that every key of a domain passes by noise alone."""

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        return Exits(np.arange(count), np.zeros(count, np.int64), np.full(count, rounds.thresholds[0]))


def test_a_key_of_somebody_passes_by_its_own_noise_or_not_at_all_and_none_twice() -> None:
    a, _, c, d = ASKED
    mechanism = build("crowd", BUDGET, tables=ALL)
    stray: list[Event] = [("stray", 0, d, None), ("stray", 10, a, None), ("stray", 20, c, None)]
    with tiny_log([*walkers(200), *stray]) as log:
        measured = mechanism.measure(log, MODE)
        tables = mechanism.draw(measured, Everyone())
        found = {t: [tuple(r.values())[:-2] for r in rows(log, mechanism, t, measured, tables)] for t in ALL}
    pairs = {(x, y) for x in ASKED for y in ASKED if x != y} - {(d, a), (a, c)}
    assert sorted(found["transitions"]) == sorted(pairs)
    runs = [tuple(text.split(SEPARATOR)) for (text,) in found["sessions"]]
    threes = {(x, y, z) for x, y in pairs for w, z in pairs if w == y}
    assert sorted(r for r in runs if len(r) == 3) == sorted(threes), "d, a, c is no join: its steps are not released"
    assert all(len(set(keys)) == len(keys) for keys in found.values())


def test_a_step_that_is_in_no_pool_is_nobodys_whoever_made_it() -> None:
    """One user makes more steps than her pool takes: the noise of nobody lets pass whatever it did not take."""
    steps = [(x, y) for x in ASKED for y in ASKED if x != y and (x, y) not in pairwise(ASKED)]
    stray: list[Event] = [("stray", 9999 * n + t, q, None) for n, step in enumerate(steps) for t, q in enumerate(step)]
    found = run([*walkers(200), *stray], Everyone(), ("queries", "transitions"), D_t=3)["transitions"]
    assert len(found) == 12 - 3


def test_joins_are_all_overlaps_and_know_their_parents() -> None:
    heads: list[tuple[str, ...]] = [("a", "b"), ("b", "c"), ("b", "a"), ("c", "c2")]
    texts, parents = joins(heads)
    expected = {
        SEPARATOR.join((*x, y[-1])): (i, j) for i, x in enumerate(heads) for j, y in enumerate(heads) if x[1:] == y[:-1]
    }
    assert dict(zip(texts, map(tuple, parents.tolist()), strict=True)) == expected
    assert joins([])[1].shape == (0, 2)


def test_only_so_many_joins_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    heads: list[tuple[str, ...]] = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "c"), ("c", "a")]
    for most in range(12):
        monkeypatch.setattr("hubbub.steps.chosen.MOST_JOINS", most)
        n = joinable(heads)
        assert len(joins(heads[:n])[0]) <= most and (n == len(heads) or len(joins(heads[: n + 1])[0]) > most)


def test_a_child_is_cut_to_its_parent_where_both_have_counts() -> None:
    child, parent = Released(np.arange(2), np.array([9, 3]), 1.0), Released(np.arange(1), np.array([5]), 1.0)
    assert np.asarray(at_most(child, parent, np.zeros(2, np.int64)).values).tolist() == [5, 3]
    assert at_most(child, Released(np.arange(1), None, None), np.zeros(2, np.int64)) is child


@pytest.mark.parametrize(
    ("tables", "run_too", "counted"),
    [
        (("queries",), {"queries"}, {"queries"}),
        (("clicks",), {"clicks"}, {"clicks"}),
        (("transitions",), {"queries", "transitions"}, {"transitions"}),
        (("sessions",), {"queries", "transitions", "sequences 3", "sequences 4"}, {"sequences 3", "sequences 4"}),
        (("keywords",), {"queries", "keywords"}, {"keywords"}),
    ],
)
def test_the_budget_goes_to_the_tables_asked_for(tables: tuple[str, ...], run_too: set[str], counted: set[str]) -> None:
    budget = {k: v for k, v in BUDGET.items() if k != "language" or "queries" in run_too}
    mechanism: Any = build("crowd", budget, tables=tables)
    assert {s.name for s in mechanism.stages} == run_too
    assert {s.name for s in mechanism.stages if s.recount is not None} == counted
    assert 0.99e-4 < mechanism.loss().delta <= 1e-4


def test_default_shares_are_the_stated_ones() -> None:
    mechanism: Any = build("crowd", BUDGET, tables=ALL[:4])
    total = sum(s.total for s in mechanism.steps())
    shares = {s.name: float(s.total / total) for s in mechanism.steps()}
    for table, weight in (("queries", 0.45), ("clicks", 0.30), ("transitions", 0.20), ("sequences 3", 0.025)):
        assert sum(v for k, v in shares.items() if k.split(" recount")[0].split(" kept")[0] == table) == pytest.approx(
            weight
        )
    with_words: Any = build("crowd", BUDGET)
    plans = stages.plans(ALL, with_words.settings | {"recount": 140, "kept": 10})
    assert sum(p.weight for p in plans) == 100 and plans[0].weight == 43


def test_what_nothing_depends_on_is_refused() -> None:
    with pytest.raises(ParameterError, match="depends"):
        build("crowd", {**BUDGET, "D_c": 3}, tables=["queries"])


def test_without_times_there_are_no_transitions_and_nothing_is_spent() -> None:
    mechanism = build("crowd", BUDGET, tables=("queries", "transitions"))
    with tiny_log([("u", None, "x", None)]) as log, pytest.raises(InputError, match="no times"):
        mechanism.measure(log, MODE)  # the half that runs before the ledger is asked


def test_the_order_of_heads_knows_values_and_texts_only() -> None:
    texts = [("b", "a"), ("a", "b"), ("c", "a"), ("a", "a")]
    counted = Released(np.arange(4), np.array([5, 9, 5, 5]), 1.0)
    assert [texts[i] for i in by_value(counted, texts)] == [("a", "b"), ("a", "a"), ("b", "a"), ("c", "a")]
    assert [texts[i] for i in by_value(Released(np.arange(4), None, None), texts)] == sorted(texts)


def test_keywords_cannot_take_more_than_the_queries_have() -> None:
    with pytest.raises(ParameterError, match="Keywords"):
        build("crowd", {**BUDGET, "keywords_weight": 45})


def test_an_empty_chain_is_an_empty_release() -> None:
    found = run([("u", 1, "x", "y"), ("v", 2, "z", None)], Everyone())
    assert found == {t: {} for t in ALL}


def test_one_released_query_has_no_pairs() -> None:
    found = run([(f"u{i}", 10 * i, "x", "y") for i in range(200)], Everyone())
    assert {t: len(keys) for t, keys in found.items()} == {**dict.fromkeys(ALL, 1), "transitions": 0, "sessions": 0}
