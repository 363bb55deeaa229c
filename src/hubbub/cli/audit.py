"""`hubbub audit`: test the installed mechanisms, and the tests by broken mechanisms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.listed import completing
from hubbub.cli.terminal import Terminal, command
from hubbub.errors import CheckFailed
from hubbub.plurals import counted

if TYPE_CHECKING:
    from hubbub.audit import AuditRow


@command
def audit(
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="Only this: {mechanisms}, `series`, or `shared` for what all of them use.",
            metavar="M",
            autocompletion=completing("mechanisms"),
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sampled runs.")] = False,
    mutants: Annotated[bool, typer.Option("--mutants", help="Audit broken versions: each must be caught.")] = False,
    subject: Annotated[
        str | None,
        typer.Option(
            help="A mechanism of anybody's instead: module:function, from users' keys to released keys.", metavar="S"
        ),
    ] = None,
    epsilon: Annotated[str, typer.Option(help="What the subject claims; several with commas.", metavar="E")] = "",
    delta: Annotated[str, typer.Option(help="What the subject claims; several with commas.", metavar="D")] = "",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the subject; several values with commas.", metavar="NAME=VALUE"),
    ] = None,
    neighbours: Annotated[str, typer.Option(help="add-remove or replace.", metavar="N")] = "add-remove",
    seconds: Annotated[float, typer.Option(help="How long each setting of a subject is looked at.")] = 60.0,
    runs: Annotated[int | None, typer.Option(help="How often a subject is run at most, for each setting.")] = None,
    limit: Annotated[float, typer.Option(help="Seconds after which one run of a subject hangs.")] = 10.0,
    workers: Annotated[int, typer.Option(help="How many settings are looked at side by side.")] = 1,
    timing: Annotated[bool, typer.Option("--timing", help="How long a run takes is part of its output.")] = False,
    python: Annotated[
        str,
        typer.Option(help="Run the subject under this Python, such as env/bin/python, without hubbub.", metavar="P"),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Keep the verdicts on a subject here, line by line, and go on from them.")
    ] = None,
    *,
    terminal: Terminal,
) -> None:
    """Try to refute the guarantees of the installed code, on logs made for it; or those of any function.

    What is found is kept in the user's data directory, and the card of a release quotes it.

    Example: hubbub audit --mechanism korolova --mutants
    """
    if subject is not None:
        from hubbub.cli.subject import audit_subject

        asked = (subject, epsilon, delta, set_ or [], neighbours, seconds, runs, limit, workers, timing, python, out)
        audit_subject(*asked, terminal=terminal)
        return
    from hubbub.audit import audit as run_audit
    from hubbub.audit.checks.generic import NOT_RUN
    from hubbub.audit.suite import mutants as run_mutants

    if mutants:
        found = run_mutants(mechanism, say=terminal.note)
        terminal.say_all(strangers({row["of"] for row in found}))
        for row in found:
            terminal.say(
                f"{row['verdict']:7} {row['of']}: {row['mutant']}" + (f", by {row['by']}" if row["by"] else "")
            )
        terminal.document({"rows": found})
        missed = [row for row in found if row["verdict"] != "caught"]
        if missed:
            errors = sum(row["verdict"] == "error" for row in missed)
            ended = f"; {errors} of them ended with an error of their own" if errors else ""
            raise CheckFailed(f"{len(missed)} of {counted(len(found), 'mutant')} not caught{ended}.")
        return
    rows = run_audit(mechanism, quick=quick, say=terminal.note)
    for r in rows:
        if r.verdict == NOT_RUN:
            terminal.say(f"{r.verdict:12} {r.mechanism} {r.variant}: {r.check} ({r.detail})")
            continue
        terminal.say(
            f"{r.verdict:12} {r.mechanism} {r.variant}: {r.check} (against {r.against}: "
            f"bound {r.bound:.4g}, observed {r.observed:.4g}, would have seen {r.power:.2g} more)"
        )
    terminal.document({"rows": [r.record() for r in rows]})
    terminal.say_all(summary(rows))
    _keep(rows, quick, terminal)
    broken = [r for r in rows if r.refuted and r.against == "proven"]
    terminal.say(
        f"{counted(len(rows), 'check')}, {counted(len(broken), 'proven guarantee')} refuted. "
        "Not refuted is not proven: see docs/proofs."
    )
    if broken:
        raise CheckFailed(f"{counted(len(broken), 'proven guarantee')} refuted.")


def summary(rows: Sequence[AuditRow]) -> Iterator[str]:
    """Which claims of papers were refuted, how near the proven ε is met, and how often a sound version alarms."""
    from hubbub.audit.checks.statistical import LEVEL
    from hubbub.audit.protocols import Kind
    from hubbub.card.audited import summary as found
    from hubbub.mechanisms import mechanisms

    refuted: dict[str, list[AuditRow]] = {}
    for r in rows:
        if r.refuted and r.against == "claimed":
            refuted.setdefault(r.mechanism, []).append(r)
    yield ""
    yield from strangers({r.mechanism for r in rows})
    for name, theirs in refuted.items():
        worst = max(theirs, key=lambda r: r.observed / max(r.bound, 1e-300))
        yield (
            f"Refuted claim of a paper, {mechanisms()[name].paper} ({name} as published): "
            f"{counted(len(theirs), 'check')}, for example {worst.check}: "
            f"claimed {worst.bound:.4g}, observed {worst.observed:.4g}."
        )
    for of, one in found(rows, quick=True).items():
        if one.proven_epsilon and one.empirical_epsilon:
            low, high = f"{one.empirical_epsilon:.4g}", f"{one.proven_epsilon:.4g}"
            yield f"{of}, at parameters of the audit's own: ε = {high} is proven, up to {low} is refuted at the same δ."
    sampled = sum(r.tests for r in rows if r.kind is Kind.STATISTICAL)
    yield (
        f"{counted(sampled, 'sampled check')}: all of them together refute a sound version by chance with probability "
        f"at most {2 * LEVEL * sampled:.1g}; the others leave nothing to chance."
    )


def strangers(names: set[str]) -> Iterator[str]:
    """Plug-ins: mechanisms that the audit was not written for."""
    from hubbub.audit.checks.generic import NO_SUBJECTS
    from hubbub.audit.protocols import SHARED
    from hubbub.audit.subjects import PLANS

    for name in sorted(names - PLANS.keys() - {SHARED}):
        yield f"{name}: {NO_SUBJECTS}."


def _keep(rows: Sequence[AuditRow], quick: bool, terminal: Terminal) -> None:
    from hubbub.card import audited

    try:
        terminal.note(f"Kept in {audited.keep(audited.summary(rows, quick))}.")
    except OSError as error:
        terminal.say(f"What was found could not be kept, so cards will not quote it: {error}")
