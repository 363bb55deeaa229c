"""What only the owner can say, on the command line: the same as in the [card] table of a configuration file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from hubbub.cli.config import Configuration

OWN = ("period", "title", "licence")
"""What has an option of its own."""


@dataclass(frozen=True, kw_only=True)
class CardOptions:
    """Statements for the card; a look at the log takes the period alone."""

    period: Annotated[
        str | None,
        typer.Option(help="The days it is about: 2006-03..2006-05, both inside; a day, a month, a year.", metavar="P"),
    ] = None
    title: Annotated[str | None, typer.Option(help="What the release is called on its card.", metavar="T")] = None
    licence: Annotated[
        str | None, typer.Option(help="Under which licence it is published, e.g. CC-BY-4.0.", metavar="L")
    ] = None

    facts: Annotated[
        list[str] | None,
        typer.Option(
            "--card", help="More that the card states: contact, curator, region, …; repeatable.", metavar="NAME=TEXT"
        ),
    ] = None

    def added_to(self, stated: Configuration) -> Configuration:
        """The configuration with these in its [card] table; refuses what both state, and differently."""
        from hubbub.card.owner import card_of, read_owner
        from hubbub.cli.config import check_text, parse_settings
        from hubbub.log.spans import parse_period

        check_text(vars(self))
        own = {name: getattr(self, name) for name in OWN}
        given: dict[str, object] = {name: value for name, value in own.items() if value is not None}
        facts = parse_settings(self.facts or [], "--card")
        for name in facts.keys() & own.keys():
            raise ParameterError("It has an option of its own.", given=f"--card {name}=…", next=f"say --{name}")
        if self.period is not None:
            period = parse_period(self.period)
            given["period"] = {"from": str(period.first), "to": str(period.last)}
        given |= card_of(facts)
        card = dict(stated.card) | given
        owner = read_owner(card)
        for name in given:
            if name in stated.card and getattr(owner, name) != getattr(stated.owner, name):
                raise ParameterError(
                    f"{f'--{name}' if name in OWN else f'--card {name}'} and the [card] table say different things.",
                    given=f"{own.get(name) or facts[name]} and {stated.card[name]}",
                    next="say it once",
                )
        return replace(stated, card=card, owner=owner)
