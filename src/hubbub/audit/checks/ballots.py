"""Audits of one vote each: by hand, one user more moves one number by one; the look, the draws and the test as stated.

Logs lie in a real engine and votes are counted by the code that a release runs; beside it stands the same count in
plain Python. Looks are fixed in these checks, since given them nothing but a user's own keys may decide her ballot.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hubbub.audit.checks import by_hand
from hubbub.audit.checks.by_hand import Held, held_by
from hubbub.audit.checks.certificates import certificate
from hubbub.audit.checks.watch import Watch, said
from hubbub.audit.protocols import AuditRow, Event, Kind, Subject, faults
from hubbub.audit.tiny import MODE, SECRET, tiny_log
from hubbub.mechanisms import CrowdOfItems, build
from hubbub.mechanisms.crowd.items import LOOK_MOST, LOOK_UNIT, PASSES
from hubbub.steps.ballots import Ballots
from hubbub.steps.keys import QUERIES
from hubbub.steps.weights import LocalWeights, Running

HIGH = 10**9
"""Noise that lifts every key that is tested over any threshold."""
SEATS = (1, 3)
LOOKS = 3


def items(**settings: Any) -> CrowdOfItems:
    """crowd where users vote, at a δ that can be seen."""
    made = build("crowd", {"epsilon": 1, "delta": "0.02", "kind": "items", **settings}, tables=["queries"])
    assert isinstance(made, CrowdOfItems)
    return made


def look_of(key: str, number: int) -> int:
    """What a made-up look says of a key: the same whoever is in the log, with ties."""
    return int(hashlib.md5(f"{number} {key}".encode(), usedforsecurity=False).hexdigest()[:2], 16) // 16 * 1000


def votes_by_hand(held: Held, looks: Mapping[str, int], level: int, seats: int, passes: int) -> Counter[str]:
    """The votes of each key, counted without an engine."""
    place = {user: hashlib.md5(f"{SECRET.hex()}lot\x1f{user}".encode(), usedforsecurity=False) for user in held}
    lots = sorted(held, key=lambda user: (place[user].hexdigest(), user))
    turn = {key: (look < level, look if look >= level else -look, key.encode()) for key, look in looks.items()}
    ballots = {user: sorted(held[user], key=turn.__getitem__)[:passes] for user in lots}
    taken, waiting = Counter[str](), lots
    for s in range(passes):
        still = []
        before = taken.copy()
        for user in waiting:
            if s < len(ballots[user]) and taken[ballots[user][s]] < seats:
                taken[ballots[user][s]] += 1
            else:
                still.append(user)
        assert all(taken[key] >= n for key, n in before.items())
        waiting = still
    return taken + Counter(ballots[user][0] for user in waiting)


def counted(events: tuple[Event, ...], number: int, seats: int, level: int, passes: int) -> tuple[Counter[str], int]:
    """The engine's votes under a made-up look, and how many differ from those by hand."""
    with tiny_log(events) as log:
        ballots = Ballots(log, QUERIES, LOOK_UNIT, LOOK_MOST, MODE)
        rows = log.engine.fetch(f"SELECT kid, query FROM {ballots.keys} ORDER BY kid")
        texts = rows.column("query").to_pylist()
        looks = {text: look_of(text, number) for text in texts}
        running = replace(Running.all(ballots.size), gathered=np.array([looks[t] for t in texts], np.int64))
        weights = ballots.voted(running, level, seats, passes)
        assert isinstance(weights, LocalWeights)
        found = Counter({t: n for t, n in zip(texts, weights.sums.tolist(), strict=True) if n})
    right = votes_by_hand(held_by(events, QUERIES), looks, level, seats, passes)
    return found, sum(found[t] != right[t] for t in texts)


def one_vote(passes: int = 4) -> Iterator[AuditRow]:
    """Whatever the look, the seats and her keys: one user more moves one number, by one."""
    subject, crowd = Subject.of(items()), by_hand.others()
    hers = by_hand.hers()
    few: tuple[Event, ...] = (("victim", 1, by_hand.SHARED_KEYS[0], None), ("victim", 2, "own", None))
    for seats in SEATS:
        wrong, worst = 0, 0
        for number in range(LOOKS):
            runs = [counted(rows, number, seats, 7000, passes) for rows in (crowd, crowd + hers, crowd + few)]
            wrong += sum(differ for _, differ in runs)
            for votes, _ in runs[1:]:
                keys = votes.keys() | runs[0][0].keys()
                worst = max(worst, sum(abs(votes[key] - runs[0][0][key]) for key in keys))
        how = f"{seats} seats, {LOOKS} looks"
        yield faults(subject, f"votes as by hand: {how}", wrong, kind=Kind.EXACT)
        yield faults(subject, f"one user moves one vote: {how}", max(0, worst - 1), kind=Kind.EXACT)


def look_share() -> Iterator[AuditRow]:
    """What a user adds to the look is no more than the step counts with, over all keys and on each."""
    mechanism = items()
    subject, sums = Subject.of(mechanism), []
    many = tuple(("victim", t, f"k{t}", None) for t in range(LOOK_MOST * LOOK_UNIT + 5))
    for hers in (by_hand.hers(), (("victim", 1, "own", None),), many):
        for rows in (by_hand.others(), by_hand.others() + hers):
            with tiny_log(rows) as log:
                found = log.engine.fetch(f"SELECT query, w FROM {mechanism.measure(log, MODE)['queries'].keys}")
            sums.append(dict(zip(*(column.to_pylist() for column in found.itercolumns()), strict=True)))
    wrong = []
    for without, added in zip(sums[::2], sums[1::2], strict=True):
        moved = [added[key] - without.get(key, 0) for key in added]
        l0, l1, linf = sum(m != 0 for m in moved), sum(map(abs, moved)), max(map(abs, moved))
        if l0 > mechanism.look.l0 or l1 > mechanism.look.l1 or linf > mechanism.look.linf:
            wrong.append(f"{l0} keys, {l1} in all, {linf} on one")
    yield said(subject, "one user's share of the look", wrong)


def as_stated() -> Iterator[AuditRow]:
    """Every draw at the stated scale, the threshold met, and no key tested that has no vote."""
    for mechanism in (items(), items(epsilon=4, delta="1e-6")):
        subject, needed = Subject.of(mechanism), mechanism.thresholds()["queries"]
        at = [(f"{key}{i}", 1, key, None) for key, n in (("at", needed), ("under", needed - 1)) for i in range(n)]
        shown, scales = _shown(subject, tuple(at), 0)
        wrong = [f"{sorted(shown)} without noise"] * (shown != {"at"})
        stated = {step.name: step.scale for step in (mechanism.votes, mechanism.look, mechanism.kept)}
        wrong += ["other draws than stated"] * (dict(scales) != stated or len(scales) != len(stated))
        yield said(subject, "draws and threshold of the votes as stated", wrong)
        full = tuple((f"u{i}", 1, key, None) for i in range(3) for key in ("popular", "spare"))
        tested, _ = _shown(subject, full, HIGH)
        one = counted(full, 0, mechanism.seats, mechanism.level, PASSES)[0]
        yield said(subject, "keys without a vote are not tested", [f"{tested}"] * (len(tested) > len(one)))


def _shown(subject: Subject, events: tuple[Event, ...], constant: int) -> tuple[set[str], list[tuple[str, Any]]]:
    noise = Watch(constant)
    with tiny_log(events) as log:
        ballots = subject.measure(log, MODE)
        found = subject.perturb(ballots, noise)["queries"]
        texts = ballots["queries"].text(log.engine, QUERIES, found.ids).column("query").to_pylist()
    return set(texts), noise.scales


def tests() -> Iterator[AuditRow]:
    """Every check of the votes."""
    yield from certificate(Subject.of(items()))
    yield from certificate(Subject.of(items(epsilon="1/2", delta="1e-8")))
    yield from one_vote()
    yield from look_share()
    yield from as_stated()
