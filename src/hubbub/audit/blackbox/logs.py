"""Neighbouring logs of users and their keys: worst cases made by hand, random changes of them, and smaller ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

Log = dict[str, list[str]]
HER = "victim"
"""The user that one of two neighbouring logs has and the other has not."""


USUAL = 5
"""So many of the pairs made by hand come first: on them events are bet on that were thought of before any run."""


@dataclass(frozen=True)
class LogPair:
    """Two neighbouring logs, by what the others hold and what she holds."""

    others: tuple[tuple[str, tuple[str, ...]], ...]
    hers: tuple[str, ...]
    exchanged: tuple[str, ...] | None = None
    """What she holds in the other log, where a user is exchanged and not removed."""
    last: bool = True
    """Whether she is the last of the users, or the first."""

    @property
    def logs(self) -> tuple[Log, Log]:
        """The log with her, and its neighbour."""
        return self._with(self.hers), self._with(self.exchanged)

    def _with(self, keys: tuple[str, ...] | None) -> Log:
        others = [(user, list(held)) for user, held in self.others]
        her = [] if keys is None else [(HER, list(keys))]
        return dict([*others, *her] if self.last else [*her, *others])


def group(key: str, users: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """So many users who hold one key each."""
    return tuple((f"{key}-{n}", (key,)) for n in range(users))


def by_hand(crowd: int) -> Iterator[LogPair]:
    """Pairs that are bad for mechanisms of this kind; `crowd` users of a key show it about every second time."""
    one = group("known", crowd)
    yield LogPair((), ("own",))
    yield LogPair(one, ("known",))
    yield LogPair(one, ("own0", "own1", "own2"))
    yield LogPair(one, ("known",) * 3)
    yield LogPair(group("known", max(crowd - 1, 0)), ("known", "own"))
    for many in (2, 8):
        yield LogPair(one, tuple(f"own{n}" for n in range(many)))
        yield LogPair(one, ("own",) * many)
        yield LogPair(one, ("known",) * many)
        several = tuple((f"u{u}", tuple(f"known{n}" for n in range(many))) for u in range(crowd))
        yield LogPair(several, tuple(f"known{n}" for n in range(many)))
    yield LogPair(one, ("own",))
    yield LogPair(one, ())
    yield LogPair(one, ("", " ", "Known", "known "))
    yield LogPair(one, ("aaa", "zzz"), last=False)
    two = one + group("other", crowd)
    yield LogPair(two, ("known",))
    yield LogPair(two, ("other",), last=False)


def start_exchanged(pair: LogPair) -> LogPair:
    """The same pair for neighbours by exchange: she becomes somebody with another key."""
    return LogPair(pair.others, pair.hers, exchanged=("other",), last=pair.last)


def changed(pair: LogPair, dice: random.Random) -> LogPair:
    """A small random change: users come or go, she holds one key more, fewer, or another."""
    others, hers = list(pair.others), list(pair.hers)
    known = sorted({key for _, held in others for key in held} | {"own", "known"})
    what = dice.choice(("join", "leave", "more", "fewer", "again", "key", "first"))
    if what == "join":
        others.append((f"new{dice.randrange(10**6)}", (dice.choice(known),)))
    elif what == "leave" and others:
        others.pop(dice.randrange(len(others)))
    elif what == "more":
        hers.append(dice.choice([*known, f"own{dice.randrange(9)}"]))
    elif what == "again" and hers:
        hers.append(dice.choice(hers))
    elif what == "fewer" and len(hers) > 1:
        hers.pop(dice.randrange(len(hers)))
    elif what == "key" and hers:
        hers[dice.randrange(len(hers))] = dice.choice([*known, f"own{dice.randrange(9)}"])
    last = not pair.last if what == "first" else pair.last
    return LogPair(tuple(dict(others).items()), tuple(hers), pair.exchanged, last)


def smaller(pair: LogPair) -> Iterator[LogPair]:
    """The same pair with less in it: half of the others, one fewer, one of her keys fewer."""
    n = len(pair.others)
    for half in (pair.others[: n // 2], pair.others[n // 2 :]) if n > 1 else ():
        yield LogPair(half, pair.hers, pair.exchanged, pair.last)
    for gone in range(min(n, 6)):
        yield LogPair(pair.others[:gone] + pair.others[gone + 1 :], pair.hers, pair.exchanged, pair.last)
    for gone in range(len(pair.hers) if len(pair.hers) > 1 else 0):
        yield LogPair(pair.others, pair.hers[:gone] + pair.hers[gone + 1 :], pair.exchanged, pair.last)
