"""Audits of clicks on a public result list: every listed page of a released query shows, whoever clicked, and no other.

The list and the released queries say which rows there are; only the numbers are noisy. What a user adds is bounded over
all of her clicks, on the list or off it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from hubbub.audit.checks.counts import NoNoise, sensitivity
from hubbub.audit.checks.exact import divergence
from hubbub.audit.made_up import pages
from hubbub.audit.neighbours import crowd_of, one_user
from hubbub.audit.protocols import AuditRow, Event, Pair, Subject, faults
from hubbub.audit.tiny import MeasuredLog, measured
from hubbub.mechanisms import Mechanism, build
from hubbub.noise.source import Integers
from hubbub.privacy.account import Step

REACH = 8
"""Three draws are enumerated together."""


TWO = pages(("known", "site"), ("known", "nobody's"), ("rare", "site"), ("unasked", "site"))
"""Two pages of a query that shows, one of a query that does not, one of a query that nobody asks."""
MANY = pages(*((f"{q}", f"{p}.example") for q in ("known", "next", "rare", "unasked") for p in "abcde"))


def zealous() -> list[Mechanism]:
    """Both ways of keeping clicks; a filter before the noise of the queries."""
    return [
        build("zealous", {"m": 1, "lambda": 1, "tau_prime": 3}, serp=TWO),
        build("zealous", {"m": 2, "lambda": "3/2", "tau": 2, "tau_prime": 4}, serp=MANY),
        build("zealous", {"m": 3, "lambda": 1, "tau_prime": 4, "keep": "random"}, serp=MANY),
    ]


def korolova() -> list[Mechanism]:
    """Small settings of both variants, with one or more clicks per user."""
    strict = {"d": 1, "b": 1, "K": 3, "b_c": 2}
    return [
        build("korolova", strict | {"d_c": 1}, serp=TWO),
        build("korolova", strict | {"d_c": 2}, serp=TWO),
        build("korolova", strict | {"d": 2, "d_c": 3, "keep": "random"}, serp=MANY),
        build("korolova", {"d": 1, "d_c": 1, "b": 1, "K": 4, "b_q": 1, "b_c": 2}, variant="published", serp=TWO),
    ]


def pairs(mechanism: Mechanism) -> Iterator[Pair]:
    """Clicks where nobody clicks, on every page, off the list, of queries that do not show, again and again."""
    many = mechanism.thresholds()["queries"] + 6
    asked = crowd_of(many, "known")
    base = asked + crowd_of(1, "rare", "site")
    clicked = crowd_of(many, "known", "site")
    few = mechanism.serp is TWO and mechanism.variant == "strict"
    yield Pair("a page that nobody else clicks", asked, asked + one_user([("known", "nobody's")]), few)
    yield Pair("every page of a query", asked, asked + one_user([("known", "site"), ("known", "nobody's")]), few)
    yield Pair("a page off the list", base, base + one_user([("known", "elsewhere"), ("known", "site")]), False)
    yield Pair("a page of a query that does not show", base, base + one_user([("rare", "site")]), False)
    yield Pair("a page of a query that nobody asks", base, base + one_user([("unasked", "site")]), False)
    yield Pair("a page that all click", clicked, clicked + one_user([("known", "site")]), False)
    lots = [(q, f"{p}.example") for q in ("known", "next", "rare") for p in "abcde"]
    yield Pair("every page of the list, many times", base, base + one_user(lots, 4), False)


class _Asked(NoNoise):
    """Zeros; writes down what was asked."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, Fraction, int]] = Counter()

    def laplace(self, step: str, scale: Fraction, size: int) -> Integers:
        """Zeros; what was asked is counted."""
        self.asked[step, scale, size] += 1
        return np.zeros(size, np.int64)


def shown(subject: Subject, pair: Pair) -> Iterator[AuditRow]:
    """Rows are the listed pages of what shows, one draw of the stated scale each; numbers are those counted by hand."""
    listed = {(r["query"], r["url"]) for r in subject.mechanism.serp.rows.to_pylist()}  # type: ignore[union-attr]
    wrong, detail = 0, []
    for events in (pair.smaller, pair.larger):
        log, noise = measured(subject, events), _Asked()
        tables = subject.perturb(log.counts, noise)
        queries = {text for (text,) in log.text("queries", tables["queries"].ids.tolist())}
        rows = log.text("clicks", tables["clicks"].ids.tolist())
        right = {key for key in listed if key[0] in queries and (key[0],) in log.by_key("queries")}
        wrong += set(rows) != right or len(rows) != len(right)
        asked = [(scale, size) for step, scale, size in noise.asked.elements() if step == "clicks"]
        wrong += asked != [(_step(subject).scale, len(right))]
        wrong += _numbers(subject, events, log, listed)
        detail.append(f"{len(rows)} pages of {len(queries)} queries")
    yield faults(subject, f"every listed page of what shows: {pair.name}", wrong, "; ".join(detail))


def _numbers(subject: Subject, events: Iterable[Event], log: MeasuredLog, listed: set[tuple[str, str]]) -> int:
    """How many counts of clicks are not those of the users' first clicks, by hand; a random choice is only bounded."""
    step, found = _step(subject), log.by_key("clicks")
    if subject.mechanism.settings.get("keep") == "random":
        return int(sum(found.values()) > step.l1 * len({user for user, *_ in events}))
    users: dict[str, list[tuple[int, str, str]]] = {}
    for user, time, query, url in events:
        if url is not None:
            users.setdefault(user, []).append((time or 0, query, url))
    right: Counter[tuple[str, ...]] = Counter()
    for clicks in users.values():
        order = [key[1:] for key in sorted(clicks)]
        if step.linf == 1:
            order = list(dict.fromkeys(order))
        right.update(order[: step.l1])
    return sum(n != right[key] for key, n in found.items()) + len(found.keys() - listed)


def _step(subject: Subject) -> Step:
    return next(s for s in subject.mechanism.steps() if isinstance(s, Step) and s.name == "clicks")


def of_korolova() -> Iterator[AuditRow]:
    """Every check of result lists, for korolova."""
    yield from _tests(korolova())


def of_zealous() -> Iterator[AuditRow]:
    """Every check of result lists, for zealous."""
    yield from _tests(zealous())


def _tests(subjects: Iterable[Mechanism]) -> Iterator[AuditRow]:
    for mechanism in subjects:
        subject = Subject.of(mechanism)
        for pair in pairs(mechanism):
            yield from shown(subject, pair)
            yield from sensitivity(subject, pair)
            yield from divergence(subject, pair, REACH)
