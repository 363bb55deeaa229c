"""The papers' experiments, run again on the synthetic log: what a paper shows, what we see, the verdict and why.

    rule       how a row is decided, once for all          rows    the row, and the experiment that gives rows
    lab        one draw: its log, its split, its noise     draws   all draws, in processes, kept as they finish
    own        somebody's own log instead of synthetic ones, for the owner's eyes only
    korolova, korolova_uses; gotz, gotz_pairs, gotz_epsilon, gotz_tasks; safelog, safelog_more; sessions_2017;
    hong, hong_problem, hong_frequent, hong_diverse    the papers
    show       rows for a person                           page    the docs page made of them

A trend that does not appear is a finding, not a failure: the row says so, with the numbers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

from hubbub.errors import ParameterError
from hubbub.papers.experiments import (
    gotz,
    gotz_epsilon,
    gotz_pairs,
    gotz_tasks,
    hong,
    hong_diverse,
    hong_frequent,
    korolova,
    korolova_uses,
    safelog,
    safelog_more,
    sessions_2017,
)
from hubbub.papers.experiments.draws import compute
from hubbub.papers.experiments.own import OwnLog, about, not_run
from hubbub.papers.experiments.rows import DrawSamples, Experiment, ExperimentRow

__all__ = ["DRAWS", "EXPERIMENTS", "USERS", "Experiment", "ExperimentRow", "experiments", "ids"]

EXPERIMENTS: tuple[Experiment, ...] = tuple(
    experiment
    for module in (
        korolova,
        korolova_uses,
        gotz,
        gotz_epsilon,
        gotz_tasks,
        gotz_pairs,
        safelog,
        safelog_more,
        sessions_2017,
        hong,
        hong_frequent,
        hong_diverse,
    )
    for experiment in module.EXPERIMENTS
)
USERS, DRAWS = 20_000, 5
FEWEST, MOST = 100, 10_000_000


def ids() -> list[str]:
    """The id of every row, without running anything."""
    return [row.id for experiment in EXPERIMENTS for row in experiment.rows(DrawSamples([], 0), "")]


def experiments(
    id: str | None = None,
    *,
    users: int = USERS,
    draws: int = DRAWS,
    seed: int = 0,
    out: str | Path | None = None,
    workers: int | None = None,
    own: OwnLog | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[ExperimentRow]:
    """All rows, or those whose id is `id` or begins with `id/`. With `out`, what is there already is not run again.

    With `own`, on that log instead of synthetic ones: an experiment that needs what it has not says so in its rows.
    """
    users = users if own is None else own.users
    if not FEWEST <= users <= MOST:
        what = "--users is out of its range." if own is None else "The log has too few or too many users."
        raise ParameterError(what, given=users, allowed=f"{FEWEST} to {MOST}")
    if not 2 <= draws <= 100:
        raise ParameterError("An interval needs several draws.", given=draws, allowed="2 to 100")
    if seed < 0:
        raise ParameterError("--seed must be a whole number.", given=seed, allowed="0 or more")
    wanted = None if id is None else id.strip().strip("/")
    chosen = [e for e in EXPERIMENTS if wanted is None or _within(e.id, wanted) or wanted.startswith(e.id + "/")]
    if wanted is not None and not any(_within(found, wanted) for found in ids()):
        parts = [experiment.id for experiment in EXPERIMENTS]
        near = get_close_matches(wanted, [*ids(), *parts], 3, 0.6)
        raise ParameterError(
            "There is no such experiment.",
            given=id,
            allowed=", ".join(near or parts),
            next="see hubbub reproduce --experiments --help",
        )
    with tempfile.TemporaryDirectory(prefix="hubbub-experiments-") as elsewhere:
        folder = Path(elsewhere if out is None else out)
        runs = list(dict.fromkeys(e.run for e in chosen if own is None or not own.lacks(e.needs)))
        path = None if own is None else own.path
        seen = compute(runs, users, range(seed, seed + draws), folder / "cells", workers, progress, path)
    of = f"--users {users}" if own is None else "--log LOG"
    command = f"hubbub reproduce {{id}} --experiments {of} --draws {draws} --seed {seed}"
    statements = len(ids())
    rows: list[ExperimentRow] = []
    for e in chosen:
        found = e.rows(DrawSamples(seen.get(e.run, []), users), command, statements)
        lacking = "" if own is None else own.lacks(e.needs)
        rows += found if own is None else [not_run(row, lacking) if lacking else about(row) for row in found]
    return [row for row in rows if wanted is None or _within(row.id, wanted)]


def _within(id: str, wanted: str) -> bool:
    return id == wanted or id.startswith(wanted + "/")
