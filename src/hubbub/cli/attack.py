"""`hubbub attack`: what an attacker learns from a release, for its owner's eyes only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from hubbub.cli.listed import completing
from hubbub.cli.options import MechanismOptions, ReleasedLogOptions, ReleaseFolder
from hubbub.cli.raw_log import log_of_release, looking
from hubbub.cli.stated import with_groups
from hubbub.cli.terminal import Terminal, command

BANNER = "OWNER ONLY. Attacks with the raw log at hand: not private, do not publish."


@command
def attack(
    release: ReleaseFolder,
    log: ReleasedLogOptions,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this attack: {attacks}; repeatable.", metavar="K", autocompletion=completing("attacks")
        ),
    ] = None,
    truth: Annotated[
        str | None, typer.Option(help="Folder whose canaries are the targets: see hubbub synth --truth.", metavar="DIR")
    ] = None,
    other: Annotated[
        str | None, typer.Option(help="Another log, from which hash-inversion learns words.", metavar="LOG")
    ] = None,
    targets: Annotated[int, typer.Option(help="Users to attack, at most.", min=1, max=100_000)] = 200,
    seed: Annotated[int, typer.Option(help="Seed of who is attacked, and of releases made again.", min=0)] = 0,
    *,
    terminal: Terminal,
) -> None:
    """Attack a release by the classic attacks. Not private; recorded; kept in owner-only/attacks.json.

    Attacks with fake accounts run the mechanism again in memory, seeded: no budget is spent, nothing is published.

    Example: hubbub attack release --log log.tsv.gz --kind active --truth truth
    """
    from hubbub.release.opened import Release
    from hubbub.worth.attacks.run import choose, mechanism_of, run
    from hubbub.worth.tasks.base import Truth
    from hubbub.worth.tasks.run import owner_only

    released, chosen = Release(release), choose(kind)
    folder, known = owner_only(released), None if truth is None else Truth(truth)
    stated, log = log_of_release(folder, log)
    asked = stated.fill(MechanismOptions())
    if asked.mechanism:
        mechanism = asked.build(stated.settings_with(asked), canonical_urls=log.canonical_urls)
    else:
        mechanism = mechanism_of(released)
    memory, threads = log.limits()
    with looking("attack", with_groups(log, asked.by), stated.owner.period, terminal, BANNER) as raw:
        found = run(
            released,
            mechanism,
            raw,
            chosen,
            truth=known,
            other=other,
            targets=targets,
            seed=seed,
            say=terminal.tell,
            memory=memory,
            threads=threads,
        )
    terminal.say_all(lines(found, {one.name for one in chosen}))
    terminal.say(f"Kept in {folder / 'attacks.json'}.")
    terminal.document(found)


def lines(found: dict[str, dict[str, Any]], shown: set[str]) -> Iterator[str]:
    """What each attack achieved, for a person."""
    for name, outcome in found.items():
        if name not in shown:
            continue
        if "not_attackable" in outcome:
            yield f"\n{name}: not attackable: {outcome['not_attackable']}"
            continue
        yield f"\n{name}: {outcome['verdict']}"
        yield f"  success       {_rate(outcome['success'])}"
        yield f"  false alarms  {_rate(outcome['false_alarms'])}"
        if outcome["allowed"] is not None:
            yield f"  the guarantee allows a success of up to {outcome['allowed']:.3f}"
        yield f"  {outcome['how']}"


def _rate(rate: dict[str, Any]) -> str:
    if rate["rate"] is None:
        return "–"
    return f"{rate['rate']:.3f} ({rate['low']:.3f} to {rate['high']:.3f}; {rate['hits']} of {rate['tries']})"
