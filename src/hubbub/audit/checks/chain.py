"""Audits of a chain of stages: later pools, every draw, closed domains, and runs at a δ that can be seen.

The first stage is audited as any selection in rounds is. Here the engine runs the whole chain on made-up
logs: N copies of a small one, queries and users tagged by copy, are N runs in one pass.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub.audit.checks.pooled import Recorder
from hubbub.audit.checks.statistical import lower, smallest_visible, upper
from hubbub.audit.neighbours import crowd_of
from hubbub.audit.protocols import AuditRow, Event, Kind, Subject, faults, row
from hubbub.audit.tiny import MODE, tiny_log
from hubbub.mechanisms.base import Mechanism, Released
from hubbub.mechanisms.crowd import Crowd
from hubbub.mechanisms.crowd import chain as module
from hubbub.mechanisms.crowd.calibrate import Stage, closed
from hubbub.mechanisms.crowd.chain import Chain
from hubbub.noise import Exits, SecureNoise
from hubbub.noise.absent import Rounds
from hubbub.privacy.gaussian import GaussianStep
from hubbub.release.rows import named_rows
from hubbub.steps import chosen
from hubbub.steps.counts import Integers
from hubbub.steps.keys import QUERIES
from hubbub.steps.pools import EnginePools

LONG = 10**7
"""Longer than any gap inside a session."""


def is_chain(mechanism: Mechanism) -> bool:
    """Whether later stages follow from what the first releases."""
    return isinstance(mechanism, Crowd) and len(mechanism.stages) > 1


def _stages(subject: Subject) -> dict[str, Stage]:
    return {stage.name: stage for stage in subject.mechanism.stages}  # type: ignore[attr-defined]


def walkers(n: int, tag: str = "") -> list[Event]:
    """n users who ask a, b, c in one session and click after each."""
    return [(f"walker{tag}{i}", 10 * t, f"{q}{tag}", "site") for i in range(n) for t, q in enumerate("abc")]


def greedy() -> list[Event]:
    """One user who holds more clicks, steps and walks than any pool: every released query after every other."""
    events: list[Event] = []
    for i, (x, y) in enumerate((x, y) for x in "abcdefgh" for y in "abcdefgh" if x != y):
        events += [("greedy", LONG * i, x, f"url{i}"), ("greedy", LONG * i + 5, y, f"other{i}")]
    return events


class ChainRecorder(Recorder):
    """Zeros, with absent keys written down as well: by noise alone none of a domain passes, or everyone."""

    def __init__(self, *, everyone: bool = False) -> None:
        super().__init__()
        self.everyone = everyone
        self.domains: dict[str, tuple[int, Rounds]] = {}

    def absent(self, step: str, count: int, rounds: Rounds) -> Exits:
        """In the last round, if at all."""
        self.domains[step] = count, rounds
        codes, last = np.arange(count if self.everyone else 0), len(rounds.thresholds) - 1
        return Exits(codes, np.full(codes.size, last), np.full(codes.size, rounds.thresholds[last]))


# ------------------------------------------------------------------ one user's share of later stages


def _later(subject: Subject, events: Sequence[Event]) -> Iterator[tuple[Stage, EnginePools, dict[Any, int]]]:
    """Later pools when a … h are released, with first-round weights by the text of the key."""
    stages = _stages(subject)
    with tiny_log(events) as log:
        pools = subject.measure(log, MODE)["queries"]
        chain = Chain(log, MODE)
        texts = log.engine.fetch(f"SELECT query, kid FROM {pools.keys} ORDER BY query").to_pylist()
        ids = np.array([t["kid"] for t in texts if len(t["query"]) == 1], np.int64)
        chain.choose(Released(ids, None, None, text=pools.text(log.engine, QUERIES, ids)))
        if "clicks" in stages:
            yield stages["clicks"], *_weighed(chain.pools(vars(module)["CHOSEN_CLICKS"], stages["clicks"]))
        if "transitions" in stages:
            chosen.walk(log, 2)
            yield (
                stages["transitions"],
                *_weighed(chain.pools(vars(module)["CHOSEN_TRANSITIONS"], stages["transitions"])),
            )


def _weighed(pools: EnginePools) -> tuple[EnginePools, dict[Any, int]]:
    rows = pools.log.engine.fetch(f"SELECT {pools.kind.list()} FROM {pools.keys} ORDER BY kid").to_pylist()
    weights = pools.weights(np.arange(pools.size))
    return pools, {tuple(r.values()): int(w) for r, w in zip(rows, weights, strict=True)}


def later_shares(subject: Subject) -> Iterable[AuditRow]:
    """A greedy user moves later weights by at most the unit, holds at most D keys, and none of unreleased queries."""
    crowd = list(crowd_of(3, "a", "site")) + [(f"u{q}", 1, q, "site") for q in "abcdefgh"]
    crowd += [("stranger", 1, "not released", "url")]
    without, added = _later(subject, crowd), _later(subject, [*crowd, *greedy()])
    for (stage, _, small), (_, pools, large) in zip(without, added, strict=True):
        moved = sum((large.get(k, 0) - small.get(k, 0)) ** 2 for k in small.keys() | large.keys())
        shares = [moved / 4**pools.bits, len(large.keys() - small.keys()) / stage.rounds.limit]
        foreign = sum(any(len(q) > 1 for q in (k if stage.name == "transitions" else k[:1])) for k in large)
        detail = f"round 1 {shares[0]:.3f}, new keys {shares[1]:.3f}, keys of unreleased queries {foreign}"
        yield row(
            subject,
            f"one user's share of {stage.name}",
            "proven",
            1.0,
            max(*shares, 2.0 * foreign),
            0.1,
            detail,
            Kind.EXACT,
        )


# ------------------------------------------------------------------ every draw, every domain


def draws(subject: Subject) -> Iterable[AuditRow]:
    """A whole run without noise: every stated draw is asked for, none weaker, no other; absent keys are not skipped."""
    noise = ChainRecorder()
    stated = [s for s in subject.mechanism.steps() if isinstance(s, GaussianStep)]
    found, _ = _steps_shown(subject, noise)
    asked: dict[str, list[int]] = {}
    for step, variance, _ in noise.asked:
        asked.setdefault(step.partition(" round ")[0], []).append(int(variance))
    names = {s.name for s in stated}
    wrong = [f"no budget for {step}" for step in asked if step not in names]
    for part in stated:
        if len(asked.get(part.name, [])) != len(part.mu2):
            wrong.append(f"{part.name}: {len(asked.get(part.name, []))} draws, {len(part.mu2)} stated")
    for name, stage in _stages(subject).items():
        if stage.selection is not None and asked.get(name) != list(stage.selection.variances):
            wrong.append(f"{name}: other noise than stated")
        if stage.recount is not None and asked.get(f"{name} kept total") != [stage.recount.kept_variance]:
            wrong.append(f"{name}: other noise in the kept total than stated")
    yield faults(subject, "every draw of the chain is stated", len(wrong), "; ".join(wrong))
    yield from _domains(subject, noise)
    yield from _once(subject, found)


Steps = Counter[tuple[str, str]]


def _steps_shown(subject: Subject, noise: ChainRecorder) -> tuple[Steps, Steps]:
    """The transitions released, and those that stand in a pool: of users who walk a, b, c, one who alone goes from c to
    a, one who alone goes from b to a and from c to b, and a loner.
    """
    alone: list[Event] = [("stray", 0, "c", None), ("stray", 10, "a", None), ("loner", 5, "own", "my site")]
    alone += [
        ("restless", LONG * i + 10 * t, q, None) for i, pair in enumerate(("ba", "cb")) for t, q in enumerate(pair)
    ]
    with tiny_log([*walkers(_enough(subject)), *alone]) as log:
        measured = subject.measure(log, MODE)
        found = subject.perturb(measured, noise)
        if "transitions" not in found:
            return Counter(), Counter()
        shown = named_rows(log, subject.mechanism, "transitions", measured, found).to_pylist()
        pooled = log.engine.fetch("SELECT query, next_query FROM pooled_transitions").to_pylist()
    return _steps(shown), _steps(pooled)


def _steps(rows: Iterable[dict[str, str]]) -> Steps:
    return Counter((r["query"], r["next_query"]) for r in rows)


def _once(subject: Subject, before: Steps) -> Iterable[AuditRow]:
    """If noise alone lets every pair pass, those of no pool are there, and of the others what was there without it."""
    if "transitions" not in subject.mechanism.tables:
        return
    shown, pooled = _steps_shown(subject, ChainRecorder(everyone=True))
    right = before + (Counter((a, b) for a in "abc" for b in "abc" if a != b) - pooled)
    wrong = (shown - right) + (right - shown)
    detail = ", ".join(f"{a} to {b}: {shown[a, b]} for {right[a, b]}" for a, b in wrong)
    yield faults(subject, "a key of somebody has one draw", wrong.total(), detail)


def _domains(subject: Subject, noise: ChainRecorder) -> Iterable[AuditRow]:
    """Three released queries in a row: six pairs; two of them released, one join."""
    wrong = []
    false = Fraction(subject.mechanism.settings["F"]) if "F" in subject.mechanism.settings else Fraction(1)
    for name, size in {"transitions": 6, "sequences 3": 1}.items():
        stage = _stages(subject).get(name)
        if stage is None:
            continue
        plan = closed(stage.rounds, size, false)
        unit = plan.variances[0] // plan.multiples[0]
        right = size, Rounds(plan.multiples, unit, plan.thresholds, plan.drops)
        if noise.domains.get(f"{name} absent keys") != right:
            wrong.append(f"{name}: {noise.domains.get(f'{name} absent keys')} instead of {right}")
    yield faults(subject, "keys of nobody run too", len(wrong), "; ".join(wrong))


def _enough(subject: Subject) -> int:
    """So many users that every open stage releases what they all do, without noise."""
    rounds = [s.selection for s in _stages(subject).values() if s.selection is not None and s.selection.thresholds]
    return 3 * int(max(r.users(-1) for r in rounds) + 2)


# ------------------------------------------------------------------ whole runs


def seen_pairs(copies: int) -> Any:
    """A tester of the closed stage: does it show whether one user went from a to b, where nobody else did?"""

    def test(subject: Subject) -> Iterable[AuditRow]:
        if "transitions" not in subject.mechanism.tables or Fraction(subject.mechanism.settings["F"]) < 1000:
            return  # where hardly any key of nobody passes, nothing would be seen
        mechanism = subject.mechanism
        factor, delta = math.exp(mechanism.loss().epsilon), mechanism.loss().delta
        many = _enough(subject)
        base: list[Event] = []
        for i in range(copies):
            base += [(f"u{q}{i}-{j}", 0, f"{q}{i:04d}", None) for q in "ab" for j in range(many)]
        hers = [(f"v{i}", 10 * t, f"{q}{i:04d}", None) for i in range(copies) for t, q in enumerate("ab")]
        alone, with_her = (_shown(subject, log, copies) for log in (base, base + hers))
        yield _places(subject, alone)
        nobody, somebody = int(alone.sum()), int(with_her.sum())
        excess = 0.0
        for one, two in ((nobody, somebody), (somebody, nobody)):
            excess = max(excess, lower(two, copies) - factor * upper(one, copies))
        power = smallest_visible(delta, factor, copies)
        detail = f"a→b shown in {nobody} and {somebody} of {copies} runs"
        yield row(subject, "a step that nobody else made", "proven", delta, excess, power, detail, Kind.STATISTICAL)

    return test


def _places(subject: Subject, shown: Integers) -> AuditRow:
    """Which of the keys of nobody pass is a matter of chance: the first half of the domain no more than the second."""
    half = shown.size // 2
    first, second = int(shown[:half].sum()), int(shown[half:].sum())
    apart = max(lower(first, half) - upper(second, half), lower(second, half) - upper(first, half))
    power = smallest_visible(0.0, 1.0, half)
    detail = f"{first} of the first {half} and {second} of the others"
    return row(subject, "where keys of nobody pass", "proven", 0.0, max(0.0, apart), power, detail, Kind.STATISTICAL)


def _shown(subject: Subject, events: Sequence[Event], copies: int) -> Integers:
    with tiny_log(events) as log:
        measured = subject.measure(log, MODE)
        found = subject.perturb(measured, SecureNoise())
        rows = named_rows(log, subject.mechanism, "transitions", measured, found).to_pylist()
    shown = {r["query"] for r in rows if r["query"][0] == "a" and r["next_query"] == "b" + r["query"][1:]}
    return np.array([f"a{i:04d}" in shown for i in range(copies)], np.int64)
