"""Training and test part of a log: whole users, by a keyed hash, so that nobody stands on both sides.

A release that is a log of the original's own users, and says so (`owner-only/users.parquet`), is split like the log
itself: its test users are left out too. Every other release is used as it is, whatever its ids look like.

A user's part is the same on every engine and can be computed again: the MD5 of the seed and the user, read as a
number, cut into equal parts. To release from the training part alone, as the papers do, write the rows of the users
for whom `part(seed, parts)` is not the test part, and release those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub.errors import OurBug

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.worth.evidence import Evidence

HEX = 8


def part(seed: int, parts: int) -> str:
    """The part of a user, 0 … parts - 1, as SQL over `uid`."""
    if not 1 <= parts <= 1000:
        raise OurBug(f"a log cannot be cut into {parts} parts")
    hashed = f"md5(concat('hubbub tasks {int(seed)}', '\x1f', uid))"
    bounds = [f"{(n << 4 * HEX) // parts:0{HEX}x}" for n in range(1, parts)]
    cases = " ".join(f"WHEN {hashed} < '{bound}' THEN {n}" for n, bound in enumerate(bounds))
    return f"CASE {cases} ELSE {parts - 1} END" if cases else "0"


def cut(log: SearchLog, seed: int, parts: int) -> str:
    """Keep the part of every user; gives the name of the table (uid, part)."""
    name = f"parts_{parts}"
    log.engine.save(name, f"SELECT uid, {part(seed, parts)} AS part FROM (SELECT DISTINCT uid FROM log) AS users")
    return name


def same_users(release: Evidence, original: Evidence) -> bool:
    """Whether a release is a log of the original's own users: because it says so, or is the original."""
    return release.log is not None and (release.same_users or release.log is original.log)


def select(log: SearchLog, name: str, parts: str, where: str) -> str:
    """Name the rows of the users whose part satisfies a condition."""
    log.engine.view(
        name,
        f'SELECT l.uid AS uid, l."time" AS "time", l.query AS query, l."rank" AS "rank", l.url AS url '
        f"FROM log AS l JOIN {parts} AS p ON l.uid = p.uid WHERE p.{where}",
    )
    return name
