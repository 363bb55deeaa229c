"""`hubbub ledger plan`: the largest ε at which so many equal releases fit a cap."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.config import parse_settings
from hubbub.cli.listed import completing
from hubbub.cli.options import LedgerFile, MechanismOptions, Without
from hubbub.cli.terminal import Terminal, command
from hubbub.plurals import counted


@dataclass(frozen=True, kw_only=True)
class PlannedMechanismOptions(MechanismOptions):
    """The mechanism of each planned release."""

    mechanism: Annotated[
        str,
        typer.Option(
            help="Which mechanism will run: {private}; not private: {not_private}.",
            metavar="M",
            autocompletion=completing("mechanisms"),
        ),
    ] = "crowd"


@command
def plan(
    population: Annotated[str, typer.Argument(help="Whose cap.")],
    releases: Annotated[int, typer.Option(help="How many equal releases.", metavar="N")],
    asked: Annotated[PlannedMechanismOptions, Without(["epsilon", "public_list", "prior", "previous"])],
    declare: Annotated[
        bool, typer.Option("--declare", help="Fix the plan: what it needs is kept for it from now on.")
    ] = False,
    ledger: LedgerFile = None,
    *,
    terminal: Terminal,
) -> None:
    """The largest ε at which so many equal releases fit a population's cap. Spends nothing.

    Without --delta each release gets an equal part of the cap's δ.

    Example: hubbub ledger plan customers --releases 12 --tables queries
    """
    from hubbub.errors import ParameterError, Refused
    from hubbub.mechanisms import Mechanism, mechanisms
    from hubbub.privacy import fitting
    from hubbub.privacy.guarantee import number, typeset
    from hubbub.privacy.ledger import Ledger

    mechanism, settings = asked.mechanism, parse_settings(asked.set or [])
    if mechanism not in mechanisms():
        raise ParameterError("There is no such mechanism.", given=mechanism, allowed=Mechanism.registry.listing())
    if "epsilon" in settings:
        raise ParameterError("A plan looks for ε.", given=f"--set epsilon={settings['epsilon']}", next="leave it out")
    with Ledger(None if ledger is None else Path(ledger)) as book:
        cap = book.cap_of(population)
        if cap is None:
            raise Refused(
                "A plan needs a cap to fit.",
                given=population,
                next=f"hubbub ledger cap {population} --epsilon E --delta D",
            )
        takes = {parameter.name for parameter in mechanisms()[mechanism].parameters}
        if asked.delta is not None:
            settings["delta"] = asked.delta
        elif "delta" in takes and "delta" not in settings and cap.delta:
            settings["delta"] = fitting.part_of(Fraction(repr(cap.delta)), Fraction(1, max(1, releases)))
        one = asked.build(settings | {"epsilon": str(Decimal(repr(cap.epsilon)))}, canonical_urls=None)
        terminal.note("trying ε until no larger one fits")
        found = fitting.plan(book, population, releases, fitting.another(one))
        if declare and not found.inside:
            book.declare(population, found.envelope)
        promised = book.promised(population)
    loss = found.mechanism.loss()
    terminal.say(
        f"{counted(releases, 'release')} of {mechanism} ({', '.join(found.mechanism.tables)}) "
        f"{'fits' if releases == 1 else 'fit'} the cap of {population} "
        f"(ε = {typeset(cap.epsilon)}, δ = {typeset(cap.delta)}) "
        f"at up to --epsilon {found.epsilon:f} --delta {number(loss.delta)} each."
    )
    if found.inside:
        terminal.say("They fit what is promised already: nothing need be fixed.")
    elif declare:
        terminal.say("The plan is fixed. Order, number and kind of releases may change within it.")
    else:
        terminal.say("Nothing was fixed: say --declare to keep it, or the next release divides what the cap has left.")
    terminal.document(
        {
            "population": population,
            "releases": releases,
            "mechanism": mechanism,
            "tables": list(found.mechanism.tables),
            "epsilon": float(found.epsilon),
            "delta": loss.delta,
            "cap_epsilon": cap.epsilon,
            "cap_delta": cap.delta,
            "declared": declare and not found.inside,
            "inside": found.inside,
            "promised": None if promised is None else {"epsilon": promised[0], "delta": promised[1]},
        }
    )
