"""optimal as published: the most distinct queries against brute force, and the noise of section 4.2 by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.unit.mechanisms.optimal.test_optimal import LN2, SILENT, allowed, edges, made_up

from hubbub.audit.checks.counts import NoNoise
from hubbub.errors import ParameterError
from hubbub.mechanisms import build
from hubbub.mechanisms.optimal import Solution
from hubbub.mechanisms.optimal.published.diverse import most_pairs, most_queries
from hubbub.mechanisms.optimal.published.end_to_end import MOST_USERS, counts_of, kept, noisy, removed, without
from hubbub.mechanisms.optimal.published.problem import Limit, Problem
from hubbub.mechanisms.optimal.published.size import largest
from hubbub.mechanisms.optimal.sample import sampled

PUBLISHED: dict[str, Any] = {"variant": "published"}
SHARED: dict[str, Any] = {"epsilon": 1, "delta": "1/2"}


def best_by_hand(problem: Problem, limit: Limit) -> int:
    """Every set of pairs, the paper's constraint in fractions, distinct queries counted."""
    assert problem.queries is not None
    sets = itertools.product((0, 1), repeat=problem.shape[1])
    return max(len(set(problem.queries[np.array(x) > 0])) for x in sets if allowed(problem, x, limit))


@pytest.mark.parametrize("seed", range(12))
def test_the_most_queries_are_found_and_proven(seed: int) -> None:
    problem = made_up(seed, users=6, pairs=8)
    queries = np.random.default_rng(seed).integers(0, 4, problem.shape[1])
    problem, limit = replace(problem, queries=queries), Limit(Fraction(3, 2), Fraction(7, 10))
    solved, best = most_queries(problem, limit, 5, SILENT), best_by_hand(problem, limit)
    assert solved.certificate.objective == best == solved.certificate.upper_bound, "found, and proven to be the most"
    assert solved.x.max() <= 1 and len(set(queries[solved.x > 0])) == solved.x.sum() == best
    assert best <= most_pairs(problem, limit, 5, SILENT).certificate.objective


def test_one_query_with_many_pairs_counts_once() -> None:
    problem = replace(edges((0, 1), (2, 3), (4, 5), (0, 2)), queries=np.array([7, 7, 7, 1]))
    assert most_pairs(problem, LN2, 5, SILENT).x.tolist() == [1, 1, 1, 0]
    found = most_queries(problem, LN2, 5, SILENT)
    assert found.certificate.objective == 2 and found.x[3] == 1 and found.x[2] == 1, "4 and 5 leave room for the other"


def test_noise_is_added_to_every_count_and_cut_at_zero() -> None:
    class Drawn(NoNoise):
        def laplace(self, step: str, scale: Fraction, size: int) -> npt.NDArray[np.int64]:
            assert (step, scale, size) == ("optimal counts", Fraction(3, 2), 3)
            return np.array([-5, 2, 1])

        def below(self, step: str, limits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            return np.zeros(limits.size, np.int64)

    assert noisy(np.array([3, 0, 1]), Fraction(3, 2), Drawn()).tolist() == [0, 2, 2]
    problem = edges((0, 1), (1, 2), (2, 0))
    solved = largest(problem, LN2, 2, SILENT)
    pairs, _, _ = sampled(Solution(problem, solved, {}, Fraction(3, 2)), Drawn())
    expected = np.maximum(0, solved.x + np.array([-5, 2, 1]))
    assert np.bincount(pairs, minlength=3).tolist() == expected.tolist()


def test_users_who_move_a_count_are_removed_as_printed() -> None:
    """One pair of n users: the optimum is 1 for three and 2 for four, so at d = ½ each of four moves it."""
    four = Problem.of(np.arange(4), np.zeros(4, np.int64), np.ones(4, np.int64))

    def optimum(problem: Problem) -> npt.NDArray[np.int64]:
        return largest(problem, LN2, 2, SILENT).x

    assert optimum(four).tolist() == [2] and counts_of(four, np.array([0]), optimum).tolist() == [1]
    assert removed(four, optimum, Fraction(1, 2)).tolist() == [0, 1, 2, 3]
    assert removed(four, optimum, Fraction(1)).tolist() == []
    assert kept(four, optimum, Fraction(1)).shape == (4, 1) and kept(four, optimum, Fraction(1, 2)).shape == (0, 0)
    two = edges((0, 1), (1, 2), (3, 4))
    assert without(two, np.array([0])).shape == (5, 2), "the pair of 0 and 1 is now 1's alone"
    many = Problem.of(np.arange(MOST_USERS + 1), np.zeros(MOST_USERS + 1, np.int64), np.ones(MOST_USERS + 1, np.int64))
    with pytest.raises(ParameterError, match="too many"):
        kept(many, optimum, Fraction(1))


def test_what_is_claimed_of_it_and_what_is_refused() -> None:
    plain, noise = (build("optimal", SHARED | more, **PUBLISHED) for more in ({}, {"noise": "1/2", "difference": 3}))
    assert plain.claimed().epsilon == 1 and noise.claimed().epsilon == 1.5, "ε′ on top, by composition"
    assert not noise.claimed().holds and "4.2" in noise.claimed().by and "does not" in noise.claimed().why
    assert not noise.proven().private and noise.settings["difference"] == 3
    for settings, context, word in (
        ({"goal": "queries"}, {}, "published variant"),
        ({"noise": 1}, {}, "no parameter of strict"),
        ({"remove": "yes"}, PUBLISHED, "belongs to noise"),
    ):
        with pytest.raises(ParameterError, match=word):
            build("optimal", SHARED | settings, **context)
    with pytest.raises(ParameterError, match="target"):
        build("optimal", {"goal": "queries", "target": 5}, **PUBLISHED)
