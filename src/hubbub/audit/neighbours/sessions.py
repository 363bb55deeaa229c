"""Neighbouring logs that are bad for sequences of queries and their clicks."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from hubbub.audit.neighbours.greedy import one_row_many_times
from hubbub.audit.protocols import Event, Pair, counting_steps
from hubbub.mechanisms.base import Mechanism


def visit(user: str, queries: Iterable[str], url: str | None, start: int = 1000, pause: int = 60) -> tuple[Event, ...]:
    """One user's searches, a pause apart, each with a click if there are any."""
    return tuple((user, start + pause * i, query, url) for i, query in enumerate(queries))


def session_pairs(mechanism: Mechanism) -> Iterable[Pair]:
    """Worst cases for sequences of queries: long sessions, many of them, one query again and again, others' pauses."""
    settings, url = mechanism.settings, "site" if "clicks" in mechanism.tables else None
    t, l_q, l_s = max(mechanism.thresholds().values()), int(settings.get("l_q", 2)), int(settings.get("l_s", 1))
    gap = int(60 * Fraction(settings.get("T_gap", 30)))
    draws = sum(s.l0 for s in counting_steps(mechanism))
    few = draws <= 2

    def crowd(n: int, name: str, queries: Iterable[str], start: int = 1000) -> tuple[Event, ...]:
        return sum((visit(f"{name}{i}", queries, url, start) for i in range(n)), ())

    asked = [f"q{i}" for i in range(l_q)]
    victim = sum((visit("victim", [f"{q}{s or ''}" for q in asked], url, 1000 + 3 * gap * s) for s in range(l_s)), ())
    if url:  # as many clicks as she may have
        _, last, query, _ = victim[-1]
        victim += tuple(("victim", last, query, f"site{i}") for i in range(int(settings["l"]) - len(victim)))
    alone: tuple[Event, ...] = (("other", 0, "alone", None),)  # a search that makes no session and no click
    yield Pair("the new user's own keys", alone, alone + victim, few)
    for name, n in (("every key from just below the threshold to it", t - 1), ("every key above the threshold", t + 1)):
        others = sum((tuple((f"{u}{i}", *rest) for u, *rest in victim) for i in range(n)), ())
        yield Pair(name, others, others + victim, few)  # type: ignore[arg-type]
    two = crowd(t + 1, "one", ["x1", "x2"], 5000) + crowd(t + 1, "two", ["y1", "y2"], 9000)
    yield Pair(
        "one of two known keys", two, two + visit("victim", ["x1", "x2"], url), few and len(mechanism.steps()) == 1
    )
    if url:
        known = crowd(t + 1, "one", ["x1", "x2"])
        yield Pair("a click without a session", known, known + visit("victim", ["x1"], url), few)
    yield from _too_much(mechanism)
    apart = sum((visit(f"far{i}", ["x1", "x2"], url, 9 * gap * i) for i in range(t)), ())
    between = tuple(("victim", 9 * gap * i + 30, "v", url) for i in range(t))
    yield Pair("searches in between the others'", apart, apart + between, False, counting=True)
    both = crowd(t + 1, "late", ["x", "y", "x"], 9000) + crowd(t + 1, "early", ["z", "w", "z"])
    yield Pair("sessions that read the same backwards", both, both + visit("victim", ["x", "y", "x"], url), False)


def _too_much(mechanism: Mechanism) -> Iterable[Pair]:
    """One user who takes more than any bound: the same again and again, long sessions, many of them, many clicks."""
    settings, url = mechanism.settings, "site" if "clicks" in mechanism.tables else None
    t, l_q, l_s = max(mechanism.thresholds().values()), int(settings.get("l_q", 2)), int(settings.get("l_s", 1))
    gap = int(60 * Fraction(settings.get("T_gap", 30)))
    base = sum((visit(f"known{i}", [f"q{i}" for i in range(l_q)], url) for i in range(t)), ())
    again = ["again"] * 50 if mechanism.variant == "published" else ["again", "more"] * 25
    yield Pair("the same again and again", base, base + visit("victim", again, url, pause=1), False)
    long = visit("victim", [f"long{i}" for i in range(10)], url)
    yield Pair("a session of ten queries", base, base + long, False, counting=True)
    many = sum((visit("victim", [f"m{s}.{i}" for i in range(l_q)], url, 3 * gap * s) for s in range(l_s + 5)), ())
    yield Pair("more sessions than the bound", base, base + many, False, counting=True)
    if url:
        clicks = tuple(("victim", 1000, "known", f"site{i}") for i in range(int(settings["l"]) + 5))
        yield Pair("more clicks than the bound", base, base + clicks, False)


def greedy_sessions(mechanism: Mechanism) -> Iterable[Pair]:
    """One user who takes more than any bound, and one whose only row stands there many times."""
    yield from _too_much(mechanism)
    yield one_row_many_times()
