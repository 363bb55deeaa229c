"""`hubbub estimate`: what a release would keep, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.card_options import CardOptions
from hubbub.cli.config import read_configuration
from hubbub.cli.listed import completing
from hubbub.cli.options import MechanismOptions, NewLogOptions, Without, spelled, whole_number
from hubbub.cli.raw_log import looking
from hubbub.cli.stated import with_groups
from hubbub.cli.terminal import Terminal, command
from hubbub.errors import ParameterError

if TYPE_CHECKING:
    from hubbub.look.estimate import Estimate
    from hubbub.mechanisms import Mechanism

BANNER = "OWNER ONLY. Computed from the raw log without a privacy mechanism: not private, do not publish."


@dataclass(frozen=True, kw_only=True)
class PublicShape:
    """Instead of a log: how many users, and the shape of their searches, known from publications."""

    users: Annotated[
        int | None, typer.Option(help="Instead of a log: this many users and a public shape.", metavar="N")
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(help="With --users: the shape, one of {presets} (aol).", autocompletion=completing("presets")),
    ] = None
    sample: Annotated[
        int | None, typer.Option(help="With --users: made-up users, scaled to N (20000).", metavar="M")
    ] = None
    shares: Annotated[
        list[str] | None,
        typer.Option(help="With --users: per cent of them in each of --values, as stated.", metavar="NAME=P,…"),
    ] = None


@command
def estimate(
    log: NewLogOptions,
    public: PublicShape,
    mechanism: MechanismOptions,
    card: Annotated[CardOptions, Without(["title", "licence", "facts"])],
    runs: Annotated[int | None, typer.Option(help="Simulated runs, where nothing is exact (4).", metavar="R")] = None,
    gains: Annotated[
        bool,
        typer.Option("--gains", help="Also what more budget, more users or another period would bring each table."),
    ] = False,
    *,
    terminal: Terminal,
) -> None:
    """Estimate what a release would keep: thresholds and why, expected rows, expected error. Spends nothing.

    With --users nothing of the log is looked at; --users alone shows rows at three ε: is a log of that size worth it?
    With LOG the numbers are exact and not private; the look is recorded.

    Example: hubbub estimate --users 500000 --epsilon 1 --delta 1e-6
    """
    from hubbub.look.estimate import RUNS, estimate_log
    from hubbub.look.estimate.words import lines

    _refuse_mixed(log, mechanism, public, card)
    stated = card.added_to(read_configuration(log.config))
    log, asked = stated.fill(log), stated.fill(mechanism)
    if log.log is None and public.users is None:
        raise ParameterError("Nothing to estimate from.", allowed="LOG or --users N", next="see hubbub estimate --help")
    settings = stated.settings_with(asked)
    if public.users is not None and asked.mechanism is None and not settings:
        _say_worth(public, terminal)
        return
    built = asked.build(settings, canonical_urls=log.canonical_urls)
    simulated = whole_number(runs, "runs", most=1000) or RUNS
    if public.users is not None:
        found = _made_up(built, public, simulated, gains)
    else:
        most = log.share()
        with looking("estimate", with_groups(log, asked.by), stated.owner.period, terminal, BANNER) as raw:
            if raw.ingested.rejected > most * raw.ingested.read:
                terminal.warn("a release of this log would stop: more lines are rejected than --max-rejects allows")
            found = estimate_log(built, raw, runs=simulated, gains=gains)
    terminal.say_all(lines(found))
    for warning in found.warnings:
        terminal.warn(warning)
    terminal.document(found.record())


def _refuse_mixed(log: NewLogOptions, mechanism: MechanismOptions, public: PublicShape, card: CardOptions) -> None:
    """A log or a number of users, and no options of the other."""
    if public.users is None:
        other = {"preset": public.preset, "sample": public.sample, "shares": public.shares}
        why = "it is for --users"
    else:
        lists = {"serp": mechanism.serp, "public_list": mechanism.public_list, "previous": mechanism.previous}
        other, why = vars(log) | lists | {"config": None, "period": card.period}, "--users reads no log"
    for name, given in other.items():
        if given is not None:
            raise ParameterError(
                f"{spelled(name)} does not go with the rest: {why}.",
                given=given,
                next="estimate from LOG, which is a look at raw data, or from --users N, which is not",
            )


def _say_worth(public: PublicShape, terminal: Terminal) -> None:
    """Users → rows at three ε, on the reference shape: nothing is computed."""
    from hubbub.look.estimate.source import MOST_USERS
    from hubbub.look.estimate.worth import PRESET, lines, record

    users = whole_number(public.users, "users", most=MOST_USERS) or 1
    if public.preset not in (None, PRESET):
        raise ParameterError(
            "Rows at three ε are known for one shape.",
            given=public.preset,
            allowed=PRESET,
            next="state --epsilon, --delta",
        )
    terminal.say_all(lines(users))
    terminal.say(f"\nMore of one of them: hubbub estimate --users {users} --epsilon 1 --delta 1e-7")
    terminal.document({"users": users, "worth": record(users)})


def _made_up(mechanism: Mechanism, public: PublicShape, runs: int, gains: bool) -> Estimate:
    """Estimate from public facts alone: no log is read, and no ledger."""
    from hubbub.look.estimate import estimate_users
    from hubbub.look.estimate.source import MOST_USERS, PRESET, SAMPLE

    if mechanism.serp is not None:
        raise ParameterError("Made-up queries are on no result list.", next="leave serp out, or estimate from LOG")
    return estimate_users(
        mechanism,
        whole_number(public.users, "users", most=MOST_USERS) or 1,
        preset=public.preset or PRESET,
        sample=whole_number(public.sample, "sample", least=100, most=1_000_000) or SAMPLE,
        runs=runs,
        gains=gains,
        shares=public.shares or (),
    )
