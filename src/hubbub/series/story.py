"""The commands of a series, from top to bottom: the next period is checked, read, run and placed; or a series ends.

Everything that speaks against a period is said before its first noise. What an interrupted run has read is kept: the
next call goes on with it, without the log.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.card.facts import LOOK, REFUSED
from hubbub.engines.duckdb import DuckDB
from hubbub.errors import HubbubError, InputError, OurBug, Refused
from hubbub.privacy.existence import Cause
from hubbub.privacy.fingerprint import Fingerprint, fingerprint, look
from hubbub.privacy.ledger import Ledger, Output
from hubbub.release.booking import booked
from hubbub.release.earlier import outputs
from hubbub.release.refusals import refuse_damaged, refuse_same_records
from hubbub.series.placed import SeriesPeriod, place, refuse_waiting, waiting_draft
from hubbub.series.plan import OWNER_ONLY, PUBLISHED, STATE, SeriesPlan, opened, today
from hubbub.series.run import SeriesRun
from hubbub.series.screened import planned_screen, refuse_other_left_out, refuse_other_screen
from hubbub.series.state import IDLE, StateFolder, alone
from hubbub.series.struck import earlier_strikes
from hubbub.steps.mode import Say, quiet

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.privacy.ledger import Entry

FEW_KNOWN, ENOUGH = 0.02, 100
"""Ids are taken for others if fewer than this share of the smaller set of users is in both, and both have so many."""


@dataclass(frozen=True)
class SeriesStanding:
    """Where a series stands, for its owner."""

    plan: SeriesPlan
    entry: int
    state: str
    """Of its entry in the ledger."""
    runs: int
    labels: tuple[str, ...]
    interrupted: str | None
    """The period that a killed run was at."""
    next_period: str | None
    closes: str | None
    ended: bool
    spent: float
    """The most that a user can have spent of her budget for the selection."""
    draft: str | None = None
    """The last period, if nobody has approved it yet."""


def show(folder: str | Path, ledger: Ledger) -> SeriesStanding:
    """Where a series stands; nothing is read but its own state."""
    folder = Path(folder)
    plan, entry = opened(folder, ledger)
    with alone(folder / OWNER_ONLY):
        held = StateFolder(folder / OWNER_ONLY / STATE, ledger, entry, plan.id)
        state, waiting = held.state, waiting_draft(held)
    labels = tuple(plan.mechanism.calendar.label(n) for n in state.periods)
    runs = state.run
    more = not state.ended and runs < plan.mechanism.constants.longest
    upcoming = (state.periods[-1] + 1 if state.periods else 0) if more and state.stage == IDLE else None
    return SeriesStanding(
        plan,
        entry.id,
        entry.state,
        runs,
        labels[:runs],
        labels[runs] if state.stage != IDLE else None,
        None if upcoming is None else plan.mechanism.calendar.label(upcoming),
        None if upcoming is None else plan.closes(upcoming).isoformat(),
        state.ended,
        float(plan.mechanism.constants.spent(runs - 1)) if runs else 0.0,
        None if waiting is None else labels[waiting],
    )


def end(folder: str | Path, ledger: Ledger) -> None:
    """No further period: what was reserved stays spent, whether or not it was used."""
    folder = Path(folder)
    plan, entry = opened(folder, ledger)
    with alone(folder / OWNER_ONLY):
        held = StateFolder(folder / OWNER_ONLY / STATE, ledger, entry, plan.id)
        if held.state.stage != IDLE:
            raise Refused("A period is under way.", next=f"finish it first: hubbub series add {folder}")
        if not held.state.ended:
            held.commit(replace(held.state, ended=True))
        if entry.state == "reserved":
            ledger.drawing(entry)
        if entry.state != "committed":
            ledger.committed(entry)


def add(
    folder: str | Path,
    log: SearchLog | None,
    ledger: Ledger,
    *,
    period: str | None = None,
    other_ids: bool = False,
    other_people: bool = False,
    review: bool = False,
    noise: NoiseSource | None = None,
    say: Say = quiet,
) -> SeriesPeriod:
    """Run the next period, or the named one; a log of it, or one that contains it.

    With `review` it is a draft, which somebody approves; and so it is once a review has struck anything.
    """
    folder = Path(folder)
    plan, entry = opened(folder, ledger)
    noise = noise or plan.noise()
    if plan.guarantee().private and not noise.private:
        raise OurBug("a private series must draw from the operating system's generator")
    with ExitStack() as rooms:
        rooms.enter_context(alone(folder / OWNER_ONLY))
        held = StateFolder(folder / OWNER_ONLY / STATE, ledger, entry, plan.id)
        number = due(plan, held, period)

        def placed(run: int) -> SeriesPeriod:
            return place(plan.mechanism.calendar.label(held.state.periods[run]), folder, held, run)

        if number in held.state.periods[: held.state.run]:
            return placed(held.state.periods.index(number))
        refuse_waiting(held, plan.mechanism.calendar, folder)
        if log is None and held.state.stage == IDLE:
            raise InputError("The log of the period is missing.", given=plan.mechanism.calendar.label(number))
        about = dict(held.state.about)
        if held.state.stage == IDLE:
            since = held.state.periods[-1] + 1 if held.state.periods else 0  # with what skipped periods left
            about = {"since": since, "other_ids": other_ids, "other_people": other_people, "review": review}
        series = plan.mechanism.at(held.state.run, number, about["since"], other_ids=about["other_ids"])
        engine = rooms.enter_context(_engine()) if log is None else log.engine
        run = SeriesRun(series, held, engine, noise, bytes.fromhex(plan.secret))
        if log is not None and held.state.stage == IDLE:
            say("reading the period")
            _read(plan, entry, run, log, number, ledger, about)
        screen = planned_screen(plan.screening)
        say("drawing noise")
        run.rounds()
        say("writing the period")
        about = dict(held.state.about)
        data = Fingerprint.read(str(about["fingerprint"]))
        drafted = review or about.get("review") or bool(earlier_strikes(folder).by_hand)
        facts = replace(plan.facts(series, booked(ledger, entry, data), about), draft=drafted)

        def drawn(public: Path) -> dict[str, Output]:
            return {f"{series.label} {name}": output for name, output in outputs(public, series).items()}

        run.publish(facts, drawn, screen)
        return placed(held.state.run - 1)


@contextmanager
def _engine() -> Iterator[Engine]:
    """An engine for a run that has read its log already."""
    with tempfile.TemporaryDirectory(prefix="hubbub-raw-") as work, closing(DuckDB(Path(work))) as engine:
        yield engine


def due(plan: SeriesPlan, held: StateFolder, label: str | None) -> int:
    """Which period a call is about: the one under way, one that stands, or a later one that may begin."""
    state, calendar, longest = held.state, plan.mechanism.calendar, plan.mechanism.constants.longest
    last = state.periods[-1] if state.periods else -1
    wanted = (
        (last if state.stage != IDLE else last + 1)
        if label is None
        else calendar.number(label, last + 1 + 10 * longest)
    )
    if wanted in state.periods[: state.run]:
        return wanted
    if state.stage != IDLE:
        if wanted != last:
            raise Refused(
                "Another period is under way.",
                given=f"{calendar.label(wanted)}; {calendar.label(last)} was interrupted",
                next="finish that one first: call it again",
            )
        return wanted
    if state.ended or state.run >= longest:
        raise Refused(
            "The series has ended.",
            given=f"{state.run} runs, {longest} planned at most",
            next="plan a new series: its budget adds to this one's",
        )
    if wanted <= last:
        raise Refused(
            "This period was skipped, and its time is over: a later one has been run.",
            given=calendar.label(wanted),
            allowed=f"{calendar.label(last + 1)} or later",
            next="its records were read with the next period, if the log of that one held them",
        )
    if today() < plan.closes(wanted):
        raise Refused(
            "The period is not closed yet.",
            given=f"{calendar.label(wanted)} ends on {calendar.ends(wanted)}, closing lag {plan.lag} days",
            allowed=f"from {plan.closes(wanted)} on",
            next="wait: what is read now would miss late records, and a period is run once",
        )
    return wanted


def _read(
    plan: SeriesPlan,
    entry: Entry,
    run: SeriesRun,
    whole_log: SearchLog,
    number: int,
    ledger: Ledger,
    about: Mapping[str, Any],
) -> None:
    """Check the log, and keep what the run needs of it."""
    state, calendar = run.folder.state, plan.mechanism.calendar
    refuse_other_screen(plan.screening, whole_log)
    refuse_other_left_out(plan.left_out, whole_log)
    log = replace(whole_log, period=calendar.span(about["since"], number))
    try:
        refuse_damaged(log, plan.max_rejects)
        if not log.rows():
            raise InputError(
                f"No row of the log lies in {run.series.inside}.",
                given=f"{log.ingested.kept:,} rows, none {log.period}, or without a time",
                next="give the log of this period, or one that contains it, and the column of its times",
                because=Cause.INSIDE,
            )
        data = fingerprint(log, ledger.key())
        if not about["other_people"]:
            refuse_same_records(ledger, plan.population, data)
        if not about["other_ids"]:
            _refuse_other_ids(run, state.users)
    except Exception:
        with suppress(HubbubError):
            look(ledger, log, plan.population, plan.dataset, REFUSED)
        raise
    ledger.looked(plan.population, plan.dataset, LOOK, ledger.keep(data))
    run.folder.refuse_fork()
    if entry.state == "reserved":
        ledger.drawing(entry)
    read: dict[str, object] = {"user_column": log.ingested.columns["user"], "own_query": log.ingested.own_query}
    run.read(number, {**about, **read, "fingerprint": data.text()})


def _refuse_other_ids(run: SeriesRun, before: int) -> None:
    """A budget belongs to an id: ids that changed would give everybody a second one."""
    users, known = run.records().known_users()
    smaller = min(users, before)
    if smaller >= ENOUGH and known < FEW_KNOWN * smaller:
        raise Refused(
            "The users of this log are not those of earlier periods: has the way changed in which ids are made?",
            given=f"{known:,} of {users:,} users known; earlier periods had {before:,}",
            allowed=f"at least {FEW_KNOWN:.0%} of the smaller number",
            next="give the log with the ids of earlier periods; or say --other-ids if these are other people: a person "
            "whose id has changed would have two budgets",
            because=Cause.IDS,
        )


def published(folder: str | Path) -> list[str]:
    """The labels of the periods that stand in a series' folder, in order."""
    return sorted(path.parent.parent.name for path in Path(folder).glob(f"*/{PUBLISHED}/card.json"))
