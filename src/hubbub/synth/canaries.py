"""Canaries: rows planted for random users, to see whether they come out again.

    query <tab> users <tab> times <tab> url        the last may be empty or left out; a header line is not read

Who gets a canary is decided by the seed, the canary's line and the number of users.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from hubbub.errors import InputError, ParameterError
from hubbub.ingest.clean import clean_query, clean_url
from hubbub.synth.hashing import Ints, Purpose, child, draw, root, salted

HEADER = ["query", "users", "times", "url"]


@dataclass(frozen=True)
class Canary:
    """A query given to `users` random users, in `times` searches each, every one clicking `url` if there is one."""

    query: str
    users: int
    times: int = 1
    url: str | None = None

    def __post_init__(self) -> None:
        """Refuse what could not be read back from the log as it was planted."""
        if not self.query or self.query != clean_query(self.query):
            raise ParameterError(
                "A canary's query must be clean.", given=self.query, allowed="lower case, single blanks"
            )
        if self.query == "-" or "\0" in self.query:
            raise ParameterError("A canary's query must be readable.", given=self.query, allowed="text other than -")
        if self.url is not None and (
            not self.url or self.url != clean_url(self.url) or set(self.url) & set("\t\r\n\0")
        ):
            raise ParameterError("A canary's url must be one word or none.", given=self.url)
        if self.users < 1 or not 1 <= self.times <= 10_000:
            given = f"users {self.users}, times {self.times}"
            raise ParameterError(
                "A canary needs users and times.", given=given, allowed="1 or more; times up to 10,000"
            )


MADE_UP = tuple(
    Canary(query, users, times, url)
    for query, users, times, url in [
        ("my card 5105 1051 0510 5100 zebulon quill", 1, 1, None),
        ("zebulon quill 17 nowhere lane gortrabre", 1, 3, "http://www.zebulon-quill.example"),
        ("password of zebulon quill tr0ub4dor", 1, 20, None),
        ("rash after visiting planet brelvan", 2, 1, "http://www.brelvan-clinic.example"),
        ("zebulon quill and orla fenwick affair", 2, 5, None),
        ("quill v fenwick custody hearing brelvan", 5, 1, "http://www.brelvan-court.example"),
        ("fenwick quill layoffs leaked list", 5, 4, None),
        ("brelvan harbour secret beach", 20, 1, "http://www.brelvan-harbour.example"),
        ("brelvan harbour midnight market", 20, 3, "http://www.brelvan-harbour.example"),
    ]
)
"""Fictional persons and places (the card number is a test number): for 1, 2, 5 and 20 users."""


def read_canaries(path: Path) -> tuple[Canary, ...]:
    """The canaries of a tab separated file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The canaries cannot be read: {error}.", given=path) from None
    found = []
    for number, line in enumerate(lines, 1):
        fields = line.split("\t")
        if not line or fields == HEADER[: len(fields)]:
            continue
        try:
            query, users, *rest = fields
            times, url = [*rest, "", ""][:2] if len(rest) <= 2 else [""]
            found.append(Canary(query, int(users), int(times or 1), url or None))
        except ValueError:
            raise InputError(
                f"Line {number} of the canaries cannot be read.",
                given=line,
                allowed="query, users, times, url, by tabs",
            ) from None
    if not found:
        raise InputError("The file holds no canaries.", given=path, allowed="query, users, times, url, by tabs")
    return tuple(found)


@dataclass(frozen=True)
class Planted:
    """Searches that canaries add, ordered by user."""

    user: Ints  # index over the whole log
    time: Ints
    canary: Ints

    def between(self, first: int, last: int) -> Planted:
        """The planted searches of the users first, …, last - 1."""
        low, high = np.searchsorted(self.user, [first, last])
        return Planted(self.user[low:high], self.time[low:high], self.canary[low:high])


def plant(canaries: Sequence[Canary], seed: int, users: int, start: int, seconds: int) -> Planted:
    """Choose users and times: each canary's searches of a user fall into equal parts of the period, one in each."""
    everyone = salted(root(seed), Purpose.CANARY)
    who, when, which = [], [], []
    for number, canary in enumerate(canaries):
        if canary.users > users:
            given = f"{canary.users} users for the canary {canary.query}"
            raise ParameterError("There are fewer users than a canary needs.", given=given, allowed=f"up to {users}")
        key = child(everyone, np.array([number]))
        ticket = salted(child(key, np.arange(users)), Purpose.WHO)
        chosen = np.sort(np.argpartition(ticket, canary.users - 1)[: canary.users])
        user = np.repeat(chosen, canary.times)
        part = np.tile(np.arange(canary.times), canary.users)
        fraction = (part + draw(child(child(key, user), part), Purpose.WHEN)) / canary.times
        who.append(user)
        when.append(start + (fraction * seconds).astype(np.int64))
        which.append(np.full(len(user), number))
    user, time, canary_of = (np.concatenate([*x, np.empty(0, np.int64)]).astype(np.int64) for x in (who, when, which))
    order = np.lexsort((canary_of, time, user))
    return Planted(user[order], time[order], canary_of[order])


def table(canaries: Sequence[Canary], planted: Planted) -> pa.Table:
    """The truth table of canaries: one row per canary and user."""
    pairs = np.unique(np.stack([planted.canary, planted.user], axis=1), axis=0)
    chosen = [canaries[number] for number in pairs[:, 0].tolist()]
    return pa.table(
        {
            "query": pa.array([canary.query for canary in chosen], pa.string()),
            "url": pa.array([canary.url for canary in chosen], pa.string()),
            "user": pa.array(100 + 37 * pairs[:, 1]).cast(pa.string()),
            "times": pa.array([canary.times for canary in chosen], pa.int32()),
        }
    )
