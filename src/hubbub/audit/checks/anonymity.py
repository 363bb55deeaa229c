"""Audits of the anonymity baselines: that they are what they say, and that it is worth nothing.

The k-property is checked on the output by code of its own. Then one user more: the output shows her with certainty, so
no ε holds with a δ below 1. That is all that is stated (δ = 1), and all that is observed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from hubbub.audit.neighbours import crowd_of, one_user
from hubbub.audit.protocols import AuditRow, Event, Subject, faults, row
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.mechanisms.anonymity import Anonymity
from hubbub.mechanisms.anonymity.verify import violations
from hubbub.mechanisms.base import Rows
from hubbub.noise import SeededNoise

K = 3
SITE = "http://www.site.example"


def logs() -> dict[str, tuple[Event, ...]]:
    """Crowds around k, greedy users, words that begin alike, users with little in common."""
    crowds = tuple(e for n in range(1, K + 3) for e in crowd_of(n, f"{'abcdefg'[n]} of {n}", SITE))
    greedy = one_user([("again", SITE), ("and", SITE)], K + 2)
    alike = tuple((f"u{i}", 10, word, SITE) for i, word in enumerate(("care", "cart", "carp", "car", "dog", "ca")))
    own = tuple((f"u{i}", n, f"{i} own {n}" if n else "common", SITE) for i in range(K + 1) for n in range(4))
    return {
        "crowds around k": crowds,
        "much of their own": own,
        "one user repeats herself": (*crowds, *greedy),
        "words that begin alike": alike,
        "one user more than k hold it": (*crowd_of(K + 1, "shared", SITE), *greedy),
    }


def tests(subject: Subject) -> Iterator[AuditRow]:
    """The property on every log; then what one user more changes."""
    for name, events in logs().items():
        found = violations(_anonymity(subject), run(subject, events), ((u, q, url) for u, _, q, url in events))
        yield faults(subject, f"stated of its output: {name}", len(found), "; ".join(found[:2]) or "none violated")
    crowd = crowd_of(K, "known", SITE)
    small, large = (shown(run(subject, events)) for events in (crowd, (*crowd, *one_user([("known", SITE)]))))
    differ = float(small != large)
    yield row(subject, "δ for any ε: one user more", "proven", 1, differ, 1, "nothing is promised, and nothing is kept")


def run(subject: Subject, events: tuple[Event, ...]) -> dict[str, pa.Table]:
    """One run on a tiny log: every table by the text of its keys."""
    with tiny_log(events) as log:
        counts = subject.measure(log, MODE)
        released = subject.perturb(counts, SeededNoise(1))
        found = {}
        for table, out in released.items():
            if isinstance(out, Rows):
                found[table] = out.rows
            else:
                text = counts[table].text(log.engine, subject.mechanism.offers[table], out.ids)
                found[table] = text.append_column("users", pa.array(out.values))
        return found


def shown(tables: Mapping[str, pa.Table]) -> object:
    """What anybody sees, whatever users and words are called."""
    return sorted((name, table.num_rows, str(table.to_pydict().get("users"))) for name, table in tables.items())


def _anonymity(subject: Subject) -> Anonymity:
    if not isinstance(subject.mechanism, Anonymity):
        raise TypeError(subject.mechanism.name)
    return subject.mechanism
