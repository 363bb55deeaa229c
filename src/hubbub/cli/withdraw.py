"""`hubbub withdraw`: say that a release no longer stands, or which one stands in its place."""

from __future__ import annotations

from typing import Annotated

import typer

from hubbub.cli.terminal import Terminal, command
from hubbub.errors import Refused


@command
def withdraw(
    release: Annotated[str, typer.Argument(help="The release that should not be used.", metavar="RELEASE")],
    reason: Annotated[str, typer.Option(help="Why, in a sentence: it is published.", metavar="TEXT")],
    superseded_by: Annotated[
        str | None, typer.Option(help="The release in its place; its card must name this one.", metavar="RELEASE")
    ] = None,
    *,
    terminal: Terminal,
) -> None:
    """Write a notice beside the card of a published release. The card stays as it is, and the budget stays spent.

    Example: hubbub withdraw release --reason "clicks of a test account"
    """
    from hubbub.card.check import load, parsed, public_folder, refuse_draft
    from hubbub.card.notice import write_notice

    document = load(release)
    refuse_draft(document, release)
    card, successor = parsed(document), None
    if superseded_by is not None:
        successor = parsed(load(superseded_by))
        named = successor.release.supersedes
        if named is None or named.card != card.integrity:
            raise Refused(
                "The other release does not say that it stands in the place of this one.",
                given=f"{superseded_by}: supersedes {'nothing' if named is None else named.id}",
                next=f"make it so: hubbub release … --supersedes {release} --because TEXT, or hubbub review {release}",
            )
    state = "withdrawn" if successor is None else "superseded"
    notice = write_notice(public_folder(release), card, state, reason, successor)  # type: ignore[arg-type]
    terminal.say(f"{card.release.id}: {notice.words()}.")
    terminal.say(
        "Whoever has a copy must hear of it: publish the notice, and the index of all releases (hubbub index)."
    )
    terminal.document(notice.model_dump(mode="json"))
