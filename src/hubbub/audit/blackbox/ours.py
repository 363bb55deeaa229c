"""hubbub's own mechanisms and broken versions of them as subjects: `hubbub.audit.blackbox.ours:release`.

A log is measured by the code that a release runs, many copies of it at once, and drawn from as often as asked: copies
have no user and no key in common, so what comes out of them is as many runs of their own. Mechanisms whose output is a
log or needs more than users and their keys are not among them; of several tables the first is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from hubbub.audit.checks.pooled import pooled
from hubbub.audit.mutants import Mutant
from hubbub.audit.protocols import Event, Subject
from hubbub.audit.subjects import PLANS
from hubbub.audit.tiny import measured, values_of
from hubbub.errors import InputError
from hubbub.mechanisms.base import Mechanism
from hubbub.noise import NoiseSource, SecureNoise

SOUND = ""
TOGETHER = ("optimal",)
"""Mechanisms that solve one problem for all keys together: copies of a log in one would not be runs of their own."""
SHARING = ("noise shared between keys", "noise drawn anew on a second read")
"""Broken versions in which copies of a log would share noise, or be read twice."""
COPY = re.compile(r"(?<!\S)(\d+)x")


def release(
    log: dict[str, list[str]], *, mechanism: str, setting: int, mutant: str = SOUND, noise: NoiseSource | None = None
) -> dict[str, float | None]:
    """One release of the first table at a setting of the audit's own, of the mechanism or of a broken version."""
    return _released(_subject(mechanism, setting, mutant), log, noise or SecureNoise())


def _released(subject: Subject, log: dict[str, list[str]], source: NoiseSource) -> dict[str, float | None]:
    events: tuple[Event, ...] = tuple(
        (user, 60 * n, key, "https://a.example")
        for user, keys in log.items()
        for n, key in enumerate(keys)
        if key.strip()
    )
    if subject.mechanism.selections:
        pools = pooled(subject, events)
        drawn = subject.perturb({"queries": pools.pools}, source)["queries"]
        texts = [pools.keys[i] for i in drawn.ids.tolist()]
        return dict(zip(texts, values_of(drawn), strict=True))
    counted = measured(subject, events)
    table, drawn = next(iter(subject.perturb(counted.counts, source).items()))
    keys = counted.text(table, drawn.ids.tolist())
    return {" | ".join(map(str, key)): value for key, value in zip(keys, values_of(drawn), strict=True)}


def _many(
    log: dict[str, list[str]], runs: int, *, mechanism: str, setting: int, mutant: str = SOUND
) -> list[dict[str, float | None]]:
    """So many releases; of copies that share no user and no key in one, where keys are drawn independently."""
    subject = _subject(mechanism, setting, mutant)
    if mechanism in TOGETHER or mutant in SHARING:
        return [_released(subject, log, SecureNoise()) for _ in range(runs)]
    copies = {
        f"{n}x{user}": [f"{n}x{key}" if key.strip() else key for key in keys]
        for n in range(runs)
        for user, keys in log.items()
    }
    outs: list[dict[str, float | None]] = [{} for _ in range(runs)]
    for key, value in _released(subject, copies, SecureNoise()).items():  # within a copy, in their own order
        if marked := COPY.search(key):
            outs[int(marked[1])][COPY.sub("", key)] = value
    return outs


release.many = _many  # type: ignore[attr-defined]


def claims(*, mechanism: str, setting: int, mutant: str = SOUND) -> tuple[float, float]:
    """What is proven of the mechanism, for one user added or removed; a broken version claims the same."""
    loss = _mechanism(mechanism, setting).loss()
    return loss.epsilon, loss.delta


release.claims = claims  # type: ignore[attr-defined]


def settings() -> Iterator[dict[str, Any]]:
    """Every setting of every private mechanism that the black box can look at, and of each broken version of it."""
    for name, plan in PLANS.items():
        for number, mechanism in enumerate(plan.small()):
            if not _fits(mechanism):
                continue
            yield {"mechanism": name, "setting": number, "mutant": SOUND}
            for mutant in plan.mutants():
                if mutant.concerns(mechanism):
                    yield {"mechanism": name, "setting": number, "mutant": mutant.name}


def _fits(mechanism: Mechanism) -> bool:
    private = mechanism.variant != "published" and mechanism.steps() and mechanism.proven().private
    keys = all(not mechanism.offers[table].rows for table in mechanism.tables)
    alone = not mechanism.selections or mechanism.tables == ("queries",)
    return bool(private and keys and alone and mechanism.pool is None and mechanism.serp is None)


@lru_cache
def _mechanism(name: str, setting: int) -> Mechanism:
    try:
        return PLANS[name].small()[setting]
    except (LookupError, InputError) as error:
        raise InputError("The audit has no such setting.", given=f"{name}, {setting}") from error


@lru_cache
def _subject(name: str, setting: int, mutant: str) -> Subject:
    mechanism = _mechanism(name, setting)
    if mutant == SOUND:
        return Subject.of(mechanism)
    broken: Mutant | None = next((m for m in PLANS[name].mutants() if m.name == mutant), None)
    if broken is None:
        raise InputError("There is no such broken version.", given=f"{name}: {mutant}")
    return broken.make(mechanism)
