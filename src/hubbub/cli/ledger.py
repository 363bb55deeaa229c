"""`hubbub ledger`: what has been spent, the cap that must hold, and plans within it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.listed import Listed
from hubbub.cli.options import LedgerFile, NewPopulation
from hubbub.cli.plan import plan
from hubbub.cli.terminal import Terminal, command

if TYPE_CHECKING:
    from hubbub.privacy.ledger.budget import OpenEnvelope

ledger = typer.Typer(help="The budget book: show, cap, plan, export.", no_args_is_help=True, rich_markup_mode=None)


def _pair(promised: tuple[float, float] | None) -> dict[str, float] | None:
    return None if promised is None else {"epsilon": promised[0], "delta": promised[1]}


def _envelope(opened: OpenEnvelope) -> dict[str, object]:
    pair = {"epsilon": float(opened.epsilon), "delta": float(opened.delta)}
    return {"id": opened.id, "fixed_by": opened.origin} | pair | {"used": opened.used()}


@ledger.command(cls=Listed)
@command
def show(
    population: Annotated[str | None, typer.Argument(help="Only this population.")] = None,
    ledger: LedgerFile = None,
    *,
    terminal: Terminal,
) -> None:
    """Every release and the total of each population.

    Example: hubbub ledger show
    """
    from hubbub.privacy.guarantee import finite, typeset
    from hubbub.privacy.ledger import Ledger, require_known
    from hubbub.privacy.ledger.words import standing_of, totals_of

    with Ledger(Path(ledger) if ledger is not None else None) as book:
        names = book.populations()
        if population is not None:
            require_known(population, names)
            names = [population]
        entries = book.entries(population)
        totals = []
        for name in names:
            spent, cap = book.spent(name), book.cap_of(name)
            totals.append(
                {
                    "population": name,
                    "releases": spent.releases,
                    "epsilon": finite(spent.epsilon),
                    "delta": finite(spent.delta),
                    "in_advance": {"epsilon": finite(spent.advance_epsilon), "delta": spent.advance_delta},
                    "promised": _pair(book.promised(name)),
                    "envelopes": [_envelope(o) for o in book.standing(name).opened],
                    "cap_epsilon": None if cap is None else cap.epsilon,
                    "cap_delta": None if cap is None else cap.delta,
                }
            )
            limit = "no cap" if cap is None else f"cap ε = {typeset(cap.epsilon)}, δ = {typeset(cap.delta)}"
            terminal.say(f"{name}: {totals_of(spent)}, releases: {spent.releases}, {limit}")
            for line in standing_of(book.standing(name)):
                terminal.say(f"  {line}")
            for e in entries:
                if e.population == name:
                    cost = f"ε = {typeset(e.loss.epsilon)}, δ = {typeset(e.loss.delta)}" if e.private else "NOT PRIVATE"
                    terminal.say(f"  {e.id:4} {e.time}  {e.dataset}  {e.mechanism} ({e.variant})  {cost}  {e.state}")
        if not names:
            terminal.say("Nothing has been released.")
        rows = [
            {
                "entry": e.id,
                "time": e.time,
                "population": e.population,
                "dataset": e.dataset,
                "mechanism": e.mechanism,
                "variant": e.variant,
                "epsilon": finite(e.loss.epsilon) if e.private else None,
                "delta": e.loss.delta if e.private else None,
                "private": e.private,
                "state": e.state,
            }
            for e in entries
        ]
        terminal.document({"populations": totals, "entries": rows})


@ledger.command(cls=Listed)
@command
def cap(
    population: Annotated[str, typer.Argument(help="Which population.")],
    epsilon: Annotated[float, typer.Option(help="The most ε all its releases may spend together.")],
    delta: Annotated[float, typer.Option(help="At this δ.")],
    thresholds: Annotated[
        float | None,
        typer.Option(help="The share of δ that thresholds may use (0 to 1); else the first release decides."),
    ] = None,
    new_population: NewPopulation = None,
    ledger: LedgerFile = None,
    *,
    terminal: Terminal,
) -> None:
    """Set the most that all releases of a population may spend together.

    The cap holds even if later releases are chosen after seeing earlier ones. For that it is divided before the first
    output: so much for Gaussian noise, so much for thresholds. The first release does it in its own proportion.

    Example: hubbub ledger cap customers --epsilon 4 --delta 1e-5
    """
    from fractions import Fraction

    from hubbub.errors import ParameterError
    from hubbub.privacy.guarantee import typeset
    from hubbub.privacy.ledger import Ledger, refuse_new

    with Ledger(Path(ledger) if ledger is not None else None) as book:
        refuse_new(population, book.populations(), stated=bool(new_population))
        if thresholds is not None and not 0 <= thresholds < 1:
            raise ParameterError("--thresholds is a share of δ.", given=thresholds, allowed="from 0 to below 1")
        share = None if thresholds is None else Fraction(repr(thresholds))
        warning = book.cap(population, epsilon, delta, thresholds=share)
    if warning:
        terminal.warn(warning)
    terminal.say(f"{population}: cap ε = {typeset(epsilon)}, δ = {typeset(delta)}")
    terminal.document({"population": population, "cap_epsilon": epsilon, "cap_delta": delta, "warning": warning})


@ledger.command(cls=Listed)
@command
def export(ledger: LedgerFile = None, *, terminal: Terminal) -> None:
    """Everything in the ledger as one JSON document, but what tells of raw logs or of a series' state.

    Example: hubbub ledger export > ledger.json
    """
    from hubbub.privacy.ledger import Ledger

    with Ledger(Path(ledger) if ledger is not None else None) as book:
        replace(terminal, json=True).document(book.export())


ledger.command(cls=Listed)(plan)
