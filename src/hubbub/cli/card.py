"""`hubbub card`: read a release's card, check it again, or write a registry entry from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.terminal import Terminal, command
from hubbub.errors import CheckFailed, InputError
from hubbub.plurals import counted


@command
def card(
    release: Annotated[str, typer.Argument(help="A release folder, or its card.json.", metavar="RELEASE")],
    check: Annotated[
        bool, typer.Option("--check", help="Recompute ε, δ and every hash; exit 1 if one differs.")
    ] = False,
    registry: Annotated[
        str | None, typer.Option(help="Write an entry for the DP Deployments Registry.", metavar="FILE")
    ] = None,
    *,
    terminal: Terminal,
) -> None:
    """Show what a release claims, and check it without the log.

    Example: hubbub card release --check
    """
    from pydantic import ValidationError

    from hubbub.card.check import check as check_card
    from hubbub.card.check import load
    from hubbub.card.registry import registry_entry, to_yaml
    from hubbub.card.schema import Card
    from hubbub.card.words import noise_of, rule_of
    from hubbub.files import disk_errors

    document = load(release)
    findings = check_card(release) if check else []
    broken = [f for f in findings if not f.holds]
    for finding in findings:
        terminal.say(
            f"{'ok    ' if finding.holds else 'BROKEN'} {finding.what}" + ("" if finding.holds else f": {finding.seen}")
        )
    try:
        parsed = Card.model_validate(document)
    except ValidationError as error:
        if not broken:
            first = error.errors()[0]
            raise InputError("The card is not valid.", given=f"{first['loc']}: {first['msg']}") from error
        parsed = None
    if registry is not None and parsed is not None and not broken:
        with disk_errors(Path(registry), "--registry"):
            Path(registry).write_text(to_yaml(registry_entry(parsed)), encoding="utf-8")
        terminal.say(f"Wrote {registry}.")
    if parsed is not None and not check and registry is None:
        terminal.say(parsed.claim.sentence)
        terminal.say(f"  mechanism  {parsed.mechanism.name} ({parsed.mechanism.variant})")
        claimed = parsed.mechanism.claimed
        holds = "" if claimed.holds else f", which does NOT hold: {claimed.why}"
        terminal.say(f"  claimed    ε = {_n(claimed.epsilon)}, δ = {_n(claimed.delta)} by {claimed.by}{holds}")
        terminal.say(f"  proven     ε = {_n(parsed.claim.epsilon)}, δ = {_n(parsed.claim.delta)}")
        for step in parsed.steps:
            terminal.say(f"  {step.name:10} {noise_of(step)}; {rule_of(step)}")
        for file in parsed.release.files:
            if file.rows is not None:
                terminal.say(f"  {file.path:24} {counted(file.rows, 'row')}")
    if check:
        epsilon = None if parsed is None else parsed.claim.epsilon
        terminal.document(
            {
                "holds": not broken,
                "epsilon": epsilon,
                "findings": [{"what": f.what, "holds": f.holds, "seen": f.seen} for f in findings],
            }
        )
    else:
        terminal.document(document)
    if broken:
        raise CheckFailed(f"{len(broken)} of {counted(len(findings), 'check')} did not hold for {release}.")
    if check:
        terminal.say(f"All {len(findings)} checks hold. {document['claim']['sentence']}")  # type: ignore[index]


def _n(x: float | None) -> str:
    from hubbub.privacy.guarantee import typeset

    return "none" if x is None else typeset(x)
