"""Faults where users vote: votes that count twice, ballots that others decide, looks without a limit, kind tests."""

from __future__ import annotations

from typing import Any

from hubbub.audit.checks import ballots
from hubbub.audit.mutants.fault import Change, Planted


def _in_count(old: str, new: str) -> Change:
    """The count of the votes says something else."""

    def planted(count: Any) -> Any:
        def broken(held: Any, table: str, seats: int, passes: int) -> str:
            sql: str = count(held, table, seats, passes)
            if old not in sql:
                raise ValueError(f"no {old} in the votes")
            return sql.replace(old, new)

        return broken

    return planted


def _by_holders(made: Any) -> Any:
    """Ballots follow how many users hold a key, not the noisy look."""

    def broken(held: Any, prospects: str, level: int, passes: int) -> str:
        table: str = made(held, f"SELECT kid, 1000 * w AS z FROM {held.keys}", level, passes)
        return table

    return broken


def _seats_by_holders(count: Any) -> Any:
    """A key has fewer seats the more users there are."""

    def broken(held: Any, table: str, seats: int, passes: int) -> str:
        users = held.log.engine.fetch(f"SELECT count(DISTINCT uid) AS n FROM {held.held}").column("n")[0].as_py()
        sql: str = count(held, table, seats + users % 2, passes)
        return sql

    return broken


def _unlimited(_: Any) -> Any:
    """Each key counts in full in the look, however many a user holds."""
    return lambda unit, most, held: unit


def _kinder(test: Any) -> Any:
    """A vote fewer is enough."""

    def broken(votes: Any, weights: Any, before: Any, marks: Any, noise: Any) -> Any:
        now, passes, stays = test(votes, weights, before, marks, noise)
        return now, passes | ((weights > 0) & (now + 16 >= votes.step.threshold)), stays

    return broken


def _every_key(test: Any) -> Any:
    """Keys without a vote are tested, too."""

    def broken(votes: Any, weights: Any, before: Any, marks: Any, noise: Any) -> Any:
        now, _, stays = test(votes, weights, before, marks, noise)
        return now, now >= votes.step.threshold, stays

    return broken


def _silent(test: Any) -> Any:
    """The look has no noise."""

    def broken(look: Any, weights: Any, before: Any, marks: Any, noise: Any) -> Any:
        return weights, weights < 0, weights >= 0

    return broken


STEPS, VOTES = "hubbub.steps.ballots", "hubbub.mechanisms.crowd.items:VoteNoise.__call__"
BALLOT_MUTANTS: tuple[Planted, ...] = (
    (
        "a vote with a seat counts at home, too",
        ballots.one_vote,
        {f"{STEPS}:Ballots._count": _in_count("AND NOT EXISTS", "AND 1 = 1 OR NOT EXISTS")},
    ),
    (
        "a vote counts twice",
        ballots.one_vote,
        {f"{STEPS}:Ballots._count": _in_count("count(*) AS w", "2 * count(*) AS w")},
    ),
    ("ballots follow what others hold", ballots.one_vote, {f"{STEPS}:Ballots._ballots": _by_holders}),
    ("seats follow the number of users", ballots.one_vote, {f"{STEPS}:Ballots._count": _seats_by_holders}),
    ("a look without a limit", ballots.look_share, {f"{STEPS}:share": _unlimited}),
    ("a vote fewer is enough", ballots.as_stated, {VOTES: _kinder}),
    ("keys without a vote are tested", ballots.as_stated, {VOTES: _every_key}),
    ("a look without noise", ballots.as_stated, {"hubbub.mechanisms.crowd.items:LookNoise.__call__": _silent}),
)
