"""A search for bad neighbours: small random changes of hand-made logs, kept while the exact δ(ε) grows.

Hand-made worst cases are as bad as their maker's imagination. Here users come and go, keys change hands and times
move, by a fixed seed; each pair is measured and enumerated through the installed code.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace

from hubbub.audit.checks.exact import distribution, either_way
from hubbub.audit.neighbours import threshold_pairs
from hubbub.audit.protocols import AuditRow, Kind, Neighbouring, Pair, Subject, row
from hubbub.audit.tiny import measured
from hubbub.errors import InputError

MOST_DRAWS = 2
REACH = 14
NEW = ("q0", "q1", "known", "first", "second")


def bad_neighbours(
    tries: int, pairs: Neighbouring = threshold_pairs, seed: int = 1
) -> Callable[[Subject], Iterable[AuditRow]]:
    """A tester that tries so many pairs: the hand-made ones, then changes of the worst so far or of any of them."""

    def test(subject: Subject) -> Iterable[AuditRow]:
        starts = [p for p in pairs(subject.mechanism) if p.enumerable]
        if not starts:
            return
        dice, loss = random.Random(seed), subject.mechanism.loss()  # noqa: S311  (which logs are tried, not noise)
        worst, seen, unsure, at = -1.0, 0.0, 0.0, starts[0]
        for n in range(tries):
            pair = starts[n] if n < len(starts) else _changed(at if dice.random() < 0.5 else dice.choice(starts), dice)
            found = _delta(subject, pair, loss.epsilon)
            if found is not None and found[0] > worst * (1 + 1e-9):
                (worst, seen, unsure), at = found, pair
        check = f"exact δ(ε) of the worst neighbours found in {tries} tries"
        detail = f"δ({loss.epsilon:.4g}) = {worst:.6g} for {len(at.smaller)} rows and {len(at.larger)}"
        yield row(subject, check, "proven", loss.delta, seen, unsure, detail, Kind.EXACT)

    return test


def _delta(subject: Subject, pair: Pair, epsilon: float) -> tuple[float, float, float] | None:
    """δ(ε) in the worse direction, what it is at least, and what is open; None if refused, or with too many keys."""
    try:
        logs = [measured(subject, events) for events in (pair.smaller, pair.larger)]
    except InputError:  # no times left, so no sessions
        return None
    draws = 2 if subject.mechanism.variant == "published" else 1  # counts drawn anew once a key has passed
    if max(draws * sum(c.n.size for c in log.counts.values()) for log in logs) > MOST_DRAWS:
        return None
    small, large = (distribution(subject, log, REACH) for log in logs)
    return either_way(small, large, epsilon)


def _changed(pair: Pair, dice: random.Random) -> Pair:
    """One user more or less, a key that changes, or a time that moves; hers stay hers."""
    hers = [e for e in pair.larger if e[0] == "victim"]
    others = list(pair.smaller)
    what = dice.choice(("join", "leave", "key", "time", "more", "again"))
    if what == "join" or not others:
        others.append((f"more{dice.randrange(10**6)}", dice.randrange(2000), _key(pair, dice), _url(pair)))
    elif what == "leave":
        gone = dice.choice(others)[0]
        others = [e for e in others if e[0] != gone]
    elif what == "more":
        user = dice.choice(others)[0]
        others.append((user, dice.randrange(2000), _key(pair, dice), _url(pair)))
    else:
        n = dice.randrange(len(hers))
        user, time, query, url = hers[n]
        if what == "again":
            hers.append((user, dice.randrange(2000), query, url))
        else:
            moved = dice.randrange(2000) if what == "time" else time
            hers[n] = (user, moved, _key(pair, dice) if what == "key" else query, url)
    return replace(pair, name="found", smaller=tuple(others), larger=(*others, *hers))


def _key(pair: Pair, dice: random.Random) -> str:
    return dice.choice([*{e[2] for e in pair.larger}, *NEW])


def _url(pair: Pair) -> str | None:
    return next((e[3] for e in pair.larger if e[3] is not None), None)
