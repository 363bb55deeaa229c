"""Attack a release as its owner: every attack in turn, results to `owner-only/attacks.json`.

    {attack: {"success": …, "false_alarms": …, "allowed": …, "verdict": …, "how": …} or {"not_attackable": why}}

Everything here was computed from the raw log: none of it may be published, and nothing under `public/` is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.card.schema import Card
from hubbub.errors import InputError
from hubbub.mechanisms import Mechanism
from hubbub.mechanisms import build as build_mechanism
from hubbub.release.opened import Release
from hubbub.worth.attacks import ATTACKS, build
from hubbub.worth.attacks.base import TARGETS, Attack, AttackSetup, NotAttackable
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks.base import Truth
from hubbub.worth.tasks.run import in_turn, keep, looked_at, opened, owner_only

if TYPE_CHECKING:
    from hubbub.log import SearchLog

NOT_ATTACKABLE = "not_attackable"
FILE = "attacks.json"
Found = dict[str, dict[str, Any]]


def attack(
    release: str | Path | Release,
    log: SearchLog | str | Path,
    kinds: Sequence[str] | None = None,
    truth: str | Path | Truth | None = None,
    *,
    other: str | Path | None = None,
    targets: int = TARGETS,
    seed: int = 0,
    ledger: str | Path | None = None,
    population: str = "default",
    dataset: str = "default",
    say: Callable[[str], None] = lambda _: None,
) -> Found:
    """Attack a release (by every attack unless named) with the help of its log; the Python form of `hubbub attack`."""
    released, known = opened(release, truth)
    chosen, mechanism = choose(kinds), mechanism_of(released)
    with looked_at(log, "attack", ledger, population, dataset) as raw:
        return run(released, mechanism, raw, chosen, truth=known, other=other, targets=targets, seed=seed, say=say)


def choose(names: Sequence[str] | None) -> list[Attack]:
    """The attacks of these names, or all of them."""
    return [build(name) for name in dict.fromkeys(names or ATTACKS)]


def mechanism_of(release: Release) -> Mechanism:
    """The mechanism that made a release, from its card; public lists are not on it."""
    card = Card.model_validate(release.card)
    brought = [p for p in card.mechanism.public_lists if p.get("use") != "words"]  # words come with their language
    if brought:
        raise InputError(
            "This release was made with a public list, which is not on its card.",
            given=", ".join(str(p.get("name")) for p in brought),
            next="use the command hubbub attack, which finds the list by owner-only/run.toml",
        )
    return build_mechanism(
        card.mechanism.name,
        card.mechanism.parameters,
        variant=card.mechanism.variant,
        neighbours=card.unit.neighbouring,
        tables=card.mechanism.tables,
    )


def run(
    release: Release,
    mechanism: Mechanism,
    log: SearchLog,
    chosen: Sequence[Attack],
    *,
    say: Callable[[str], None] = lambda _: None,
    memory: str = "2GB",
    threads: int | None = None,
    **more: Any,
) -> Found:
    """Every chosen attack, written as it finishes. The caller has told the ledger."""
    folder = owner_only(release)
    asked = {one.name for one in chosen}
    found: Found = {name: {NOT_ATTACKABLE: "not asked for"} for name in ATTACKS if name not in asked}
    with Evidence.of_release(release, memory=memory, threads=threads) as released:
        setup = AttackSetup(
            mechanism, log, released, memory=memory, threads=threads, say=lambda t: say(f"  {t}"), **more
        )
        for one in in_turn(chosen, say):
            found[one.name] = tried(one, setup)
            keep(folder, one.name, found[one.name], {}, FILE)
    return dict(sorted(found.items()))


def tried(one: Attack, setup: AttackSetup) -> dict[str, Any]:
    """What one attack achieved, or why it makes no sense."""
    try:
        return one.run(setup).record()
    except NotAttackable as why:
        return {NOT_ATTACKABLE: str(why)}
