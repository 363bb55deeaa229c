"""Audits of lists: queries known beforehand, from a public list, an earlier release, or both, on neighbouring logs.

A listed query has levels of its own, and is drawn for whether or not anybody holds it. So the list, and nothing of the
log, says which queries have them, how high they are, and for how many noise alone is drawn; a query that somebody
holds has the noise of its rounds and no other. A user's pool takes listed queries first, and is no larger for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.audit.checks import by_hand, taint
from hubbub.audit.checks.by_hand import KeptNoise, Read, held_by, rounds_by_hand
from hubbub.audit.checks.chain import ChainRecorder
from hubbub.audit.checks.pooled import first_selection
from hubbub.audit.checks.statistical import ABSENT, SampledRuns, compare
from hubbub.audit.made_up import pages, pool
from hubbub.audit.neighbours.closed import PAGES
from hubbub.audit.protocols import AuditRow, Event, Kind, Pair, Subject, faults
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.card.owner import Owner
from hubbub.log import read_log
from hubbub.mechanisms import Mechanism, build
from hubbub.mechanisms.crowd.calibrate import closed
from hubbub.mechanisms.rounds import Selected, Selection
from hubbub.noise import NoiseSource, SecureNoise
from hubbub.noise.absent import Rounds
from hubbub.noise.source import Integers
from hubbub.privacy.ledger import Ledger
from hubbub.release.earlier import read_previous
from hubbub.release.plan import Plan
from hubbub.release.rows import named_rows
from hubbub.release.story import run_release
from hubbub.steps.keys import QUERIES

COPIES = 1500
FALSE = {"F_known": 1}


HALF = len(by_hand.LISTED) // 2 + 1
SHORT = replace(pool([*by_hand.LISTED[:2], "k9"], "list"), sha256="1" * 64)
LISTS: dict[str, dict[str, Any]] = {
    "a public list": {"public_list": pool(by_hand.LISTED, "list")},
    "an earlier release": {"previous": pool(by_hand.LISTED, "previous")},
    "several": {
        "public_list": [pool(by_hand.LISTED[:HALF], "list"), SHORT],
        "previous": pool([*by_hand.LISTED[HALF - 1 :], "nobody's either"], "previous"),
    },
}
"""What is known beforehand; where there are several, some queries stand in two of them."""


def subjects() -> list[tuple[str, Subject]]:
    """A crowd with each; thresholds at which some keys pass and some do not."""
    settings = {"epsilon": 4, "delta": "0.05", "D": 5, "rounds": 4, "language": "none", **FALSE}
    return [(name, Subject.of(build("crowd", settings, tables=["queries"], **known))) for name, known in LISTS.items()]


def _lists(subject: Subject) -> list[frozenset[str]]:
    """The queries of each list, without those of the lists before it."""
    found: list[frozenset[str]] = []
    for known in (*subject.mechanism.public_lists, subject.mechanism.previous):
        if known is not None:
            found.append(frozenset(known.rows.column("query").to_pylist()).difference(*found))
    return found


def _names(subject: Subject) -> frozenset[str]:
    return frozenset[str]().union(*_lists(subject))


def _levels(subject: Subject) -> tuple[Selection, list[Selection]]:
    """Of keys that the log shows, and of each list: by its size, with an equal part of what is expected of nobody."""
    plan, lists = first_selection(subject), _lists(subject)
    part = Fraction(subject.mechanism.settings["F_known"]) / len(lists)
    return plan, [closed(plan, len(names), part) for names in lists]


# ------------------------------------------------------------------ the rounds


class WatchedNoise(KeptNoise):
    """Noise that is kept; what is asked for keys of nobody is kept, too, and none of them passes."""

    def __init__(self) -> None:
        super().__init__()
        self.zeros = ChainRecorder()

    def absent(self, *asked: Any) -> Any:
        """Nothing for keys that nobody holds, by noise of zeros, which writes down what was asked."""
        return self.zeros.absent(*asked)


def rounds(name: str, subject: Subject) -> Iterator[AuditRow]:
    """Who is released, as by hand; what noise alone is drawn for, with her and without her."""
    (plan, levels), lists = _levels(subject), _lists(subject)
    names, asked = _names(subject), []
    known = {text: own for texts, own in zip(lists, levels, strict=True) for text in texts}
    unit = plan.variances[0] // plan.multiples[0]
    right = {
        "queries absent keys" + (f" of list {i + 1}" if i else ""): (
            len(texts),
            Rounds(own.multiples, unit, own.thresholds, own.drops),
        )
        for i, (texts, own) in enumerate(zip(lists, levels, strict=True))
    }
    crowd, wrong, shown = by_hand.others(), 0, 0
    for events in (crowd, crowd + by_hand.hers(), by_hand.hers(), (*crowd, ("victim", 1, "nobody's", None))):
        noise = WatchedNoise()
        with tiny_log(events) as log:
            pools = subject.measure(log, MODE)["queries"]
            read = Read.of(pools)
            found, seen = chosen(subject, pools, noise)
        wrong += read.wrong(held_by(events, QUERIES), plan.limit, names)
        by_id = zip(found.ids.tolist(), found.accumulators.tolist(), found.rounds.tolist(), strict=True)
        released = {read.texts[i]: (a, r) for i, a, r in by_id}
        by_rounds = rounds_by_hand(read, plan, noise, "queries", known)
        wrong += sum(released.get(key) != by_rounds.get(key) for key in released.keys() | by_rounds.keys())
        wrong += seen != released.keys()
        asked.append(noise.zeros.domains)
        shown += len(by_rounds)
    yield faults(subject, f"exact rounds, as by hand: {name}", wrong, f"{shown} keys released", Kind.EXACT)
    other = sum(one != right for one in asked)
    yield faults(subject, f"listed keys of nobody run, whoever is in the log: {name}", other)


def chosen(subject: Subject, pools: Any, noise: NoiseSource) -> tuple[Selected, set[str]]:
    """What the mechanism's own `perturb` selects on its way, and what it releases in the end."""
    crowd: Any = import_module("hubbub.mechanisms.crowd")
    seen: list[Selected] = []
    usual = crowd.select_known

    def watched(*given: Any) -> Any:
        seen.append((yield from usual(*given)))
        return seen[-1]

    crowd.select_known = watched
    try:
        tables = subject.perturb({"queries": pools}, noise)
    finally:
        crowd.select_known = usual
    rows = named_rows(pools.log, subject.mechanism, "queries", {"queries": pools}, tables)
    [found] = seen
    return found, set(rows.column("query").to_pylist())


def once(name: str, subject: Subject) -> Iterator[AuditRow]:
    """If noise alone lets every listed query pass, those of no pool show besides the others, each once."""
    events = by_hand.others() + by_hand.hers()
    shown = []
    for everyone in (False, True):
        with tiny_log(events) as log:
            pools = subject.measure(log, MODE)["queries"]
            pooled = set(Read.of(pools).texts)
            tables = subject.perturb({"queries": pools}, ChainRecorder(everyone=everyone))
            rows = named_rows(log, subject.mechanism, "queries", {"queries": pools}, tables)
            shown.append(Counter(rows.column("query").to_pylist()))
    wrong = (shown[1] - shown[0] - Counter(_names(subject) - pooled)).total()
    wrong += (shown[0] + Counter(_names(subject) - pooled) - shown[1]).total()
    yield faults(subject, f"a listed key of somebody has one draw: {name}", wrong)


# ------------------------------------------------------------------ copies of neighbouring logs


def sampled(copies: int = COPIES) -> Iterator[AuditRow]:
    """Copies of a small log, each with a list of its own: does a listed query show whether one user asked it?"""
    settings = {"epsilon": 1, "delta": "0.05", "D": 2, "rounds": 2, "F_known": copies, "language": "none"}
    for use in ("public_list", "previous"):
        known = pool((f"{q}{i:04d}" for i in range(copies) for q in ("listed", "other")), "list")
        subject = Subject.of(build("crowd", settings, tables=["queries"], **{use: known}))
        few = max(1, int(_levels(subject)[1][0].users(-1)))
        base = [(f"u{i}-{j}", 0, f"other{i:04d}", None) for i in range(copies) for j in range(few)]
        for name, queries in (
            ("a listed query of nobody else", ("listed",)),
            ("two listed queries and one of her own", ("listed", "other", "own")),
        )[use == "previous" :]:
            hers = [(f"v{i}", t, f"{q}{i:04d}", None) for i in range(copies) for t, q in enumerate(queries)]
            small, large = (_sample(subject, events, copies) for events in (base, base + hers))
            with_list = "a public list" if use == "public_list" else "an earlier release"
            yield compare(subject, Pair(f"{name}, {with_list}", (), ()), small, large)


def _sample(subject: Subject, events: Sequence[Event], copies: int) -> SampledRuns:
    with tiny_log(events) as log:
        measured = subject.measure(log, MODE)
        tables = subject.perturb(measured, SecureNoise())
        rows = named_rows(log, subject.mechanism, "queries", measured, tables)
    shown = set(rows.column("query").to_pylist())
    values: dict[tuple[str, ...], Integers] = {
        ("queries", q): np.array([0 if f"{q}{i:04d}" in shown else ABSENT for i in range(copies)], np.int64)
        for q in ("listed", "other", "own")
    }
    return SampledRuns(values, copies)


# ------------------------------------------------------------------ whole releases

PAGES_SHOWN = pages(("known", "site"), ("known", "nobody's"), ("new", "site"))


def public() -> Iterator[AuditRow]:
    """Every byte of `public/` with and without her, where queries, pages or an earlier release are known beforehand."""
    known = pool(["known", "new", "her own query", "nobody's"], "list")
    crowd: dict[str, object] = {"epsilon": 8, "delta": "1e-3", "F_known": "1e-6", "known_words": "no"}
    made: dict[str, Callable[[Path, bool], Path]] = {
        "crowd with a public list": _one(build("crowd", crowd, tables=["queries"], public_list=known)),
        "crowd with an earlier release": lambda folder, with_her: _two(folder, crowd, with_her),
        "korolova with a result list": _one(
            build("korolova", {"epsilon": 2, "delta": "1e-5", "d": 3}, serp=PAGES_SHOWN)
        ),
        "safelog with a pool of her query": _one(build("safelog", {"epsilon": 4}, pool=known, serp=PAGES)),
    }
    for name, make in made.items():
        one, other = taint.on_one_day(
            lambda folder, make=make: [taint.public_bytes(make(folder / str(w), w)) for w in (False, True)]  # type: ignore[misc]
        )
        yield taint.same_bytes(f"byte difference of public/: {name}", one, other)


def _one(mechanism: Mechanism) -> Callable[[Path, bool], Path]:
    return lambda folder, with_her: taint.release(folder, mechanism, with_her=with_her)


def _two(folder: Path, settings: dict[str, object], with_her: bool) -> Path:
    """A release, and another one of the same people that builds on it."""
    first = taint.release(folder, build("korolova", {"epsilon": 2, "delta": "1e-5", "d": 3}), with_her=with_her)
    mechanism = build("crowd", settings, tables=["queries"], previous=read_previous(first))
    plan = Plan(mechanism, folder / "second", Owner(title="audit"), users_public=taint.USERS)
    with Ledger(folder / "ledger.sqlite") as book, read_log(folder / "log.tsv", format="aol", threads=1) as log:
        run_release(log, plan, book, noise=taint.Steady())
    return folder / "second"


def of_rounds() -> Iterator[AuditRow]:
    """The exact checks: who is released with a list, and that each listed key has one draw."""
    for name, subject in subjects():
        yield from rounds(name, subject)
        yield from once(name, subject)


def tests() -> Iterator[AuditRow]:
    """Every check of lists."""
    yield from of_rounds()
    yield from sampled()
    yield from public()
