"""What the studio holds: a log as it was looked at, the releases it may show, and the one run that may be going on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hubbub.errors import HubbubError, ParameterError, Refused
from hubbub.files import require_free
from hubbub.look.inspected import Profile, profile
from hubbub.privacy.fingerprint import look
from hubbub.privacy.guarantee import finite, number, small
from hubbub.privacy.ledger import Ledger
from hubbub.privacy.odometer import odometer
from hubbub.public.screening import chosen_screen
from hubbub.release.opened import Release
from hubbub.release.plan import Plan
from hubbub.release.refusals import refuse_by_ledger, refuse_elsewhere
from hubbub.studio.after import one_folder
from hubbub.studio.asked import Question, release_command, spoken
from hubbub.studio.columns import chosen, period_of, screen_of, stated
from hubbub.studio.jobs import Job, ReleaseJob
from hubbub.studio.reviewing import ReviewDesk
from hubbub.studio.said import Said
from hubbub.studio.shelf import is_release, releases_in
from hubbub.studio.sketch import Sketch, sketches

if TYPE_CHECKING:
    from hubbub.card.owner import Owner
    from hubbub.cli.options import NewLogOptions, OwnerOptions
    from hubbub.ingest.proposal import Proposal
    from hubbub.log import Period, SearchLog

LOOK = "studio"
Progress = Callable[[int, int], None]


@dataclass
class OpenedLog:
    """A log: being read, looked at, or not readable."""

    source: str
    profile: Profile | None = None
    sketches: dict[str, Sketch] = field(default_factory=dict)
    problem: str = ""
    share: float = 0.0
    """How much of it is read."""
    proposal: Proposal | None = None
    """What an unknown file looks like: its owner says which column is what before it is read."""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """What she said."""

    @property
    def asks(self) -> bool:
        """Whether the columns are to be chosen: none were yet, or the log could not be read by them."""
        return self.proposal is not None and not self.ready and (not self.chosen or bool(self.problem))

    @property
    def reading(self) -> bool:
        """Whether it is being read now."""
        return not self.ready and not self.problem and not self.asks

    @property
    def ready(self) -> bool:
        """Whether the log is read, so that estimates can be made."""
        return self.profile is not None


@dataclass
class Studio:
    """Everything behind the page. Paths come from the command line, or are made here; none comes from the page."""

    folder: Path
    """Where releases are written, each into a new folder of its own."""
    owner: Owner
    log: NewLogOptions
    """The log and its names in the ledger, as the command line had them."""
    options: OwnerOptions
    """What the owner stated or agreed to there."""
    opened: OpenedLog | None = None
    releases: dict[str, Path] = field(default_factory=dict)
    job: Job | None = None
    starting: threading.Lock = field(default_factory=threading.Lock)
    settle: Callable[[NewLogOptions], NewLogOptions] | None = None
    """How a log is read, recognised where it was not stated; None where no log was named."""
    read: Callable[[NewLogOptions, Period | None, Progress], SearchLog] | None = None
    """Reads a log that is settled."""
    desks: dict[Path, ReviewDesk] = field(default_factory=dict)
    """Releases under review."""
    kept: dict[str, object] = field(default_factory=dict)
    """What is typed into the pages, as they send it, for a page that is opened again."""

    @property
    def population(self) -> str:
        """Whose budget is spent."""
        return self.log.names()[0]

    @property
    def dataset(self) -> str:
        """The owner's name for the log."""
        return self.log.names()[1]

    @property
    def ledger(self) -> Path | None:
        """Where the ledger is; None: where the user's own is."""
        return self.log.book

    # ------------------------------------------------------------------ the log

    def choose(self, given: object) -> None:
        """The owner said which column of an unknown file is what: read it."""
        with self.starting:
            opened = self.opened
            if opened is None or opened.proposal is None or not opened.asks or self.settle is None:
                raise Refused("There are no columns to choose.", next="reload the page")
            columns = chosen(opened.proposal, given)
            self.log = self.settle(stated(self.log, opened.proposal, columns))
            opened.chosen, opened.problem, opened.share = columns, "", 0.0
            self.begin()

    def begin(self) -> None:
        """Read the log in the background."""
        read, log, period = self.read, self.log, self.owner.period
        assert read is not None
        threading.Thread(target=self.look, args=(lambda progress: read(log, period, progress),), daemon=True).start()

    def look(self, read: Callable[[Progress], SearchLog]) -> None:
        """Read the log, tell the ledger, and keep numbers; the cleaned copy of the log is gone when this returns."""
        opened = self.opened
        assert opened is not None

        def progress(done: int, total: int) -> None:
            opened.share = done / total if total else 1.0

        try:
            with read(progress) as log:
                with Ledger(self.ledger) as book:
                    look(book, log, self.population, self.dataset, LOOK)
                opened.sketches = sketches(log)
                opened.profile = profile(log, self.log.share())
        except HubbubError as error:
            opened.problem = str(error)
        except Exception as error:
            opened.problem = f"The log could not be read: {type(error).__name__}."  # the text may quote the log

    def read_again(self, given: Mapping[str, object]) -> None:
        """Another period, or other rules of screening: both change what is counted, so the log is read again."""
        with self.starting:
            if self.opened is None or self.read is None:
                raise Refused("No log was opened.", next="start the studio with one: hubbub studio LOG")
            if self.opened.reading:
                raise Refused("The log is being read.", next="wait until it is read")
            self.refuse_busy()
            period, screen = period_of(given), screen_of(given)
            chosen_screen(screen, self.log.deny, self.log.allow)
            self.owner, self.log = replace(self.owner, period=period), replace(self.log, screen=screen)
            self.opened = replace(self.opened, profile=None, sketches={}, problem="", share=0.0)
            self.begin()

    # ------------------------------------------------------------------ a release

    def said(self, given: Mapping[str, object]) -> Said:
        """What is said of a release, on the command line and on the page."""
        return Said.read(given, self.owner, self.options)

    def plan(self, asked: Question, name: str, said: Said) -> Plan:
        """The release that was asked for, into a new folder of the studio's own."""
        return Plan(
            asked.build(),
            self.folder / one_folder(name, self.folder),
            said.owner,
            population=self.population,
            dataset=self.dataset,
            review=said.review,
            **said.options.stated(),
        )

    def command(self, asked: Question, name: str, said: Said) -> list[str]:
        """The release that the page asks for, as the words of the command."""
        return release_command(vars(self.log) | said.words(), asked, self.folder / (name or "release"))

    def confirmable(self) -> dict[str, str]:
        """What of the log has to be confirmed on the page before a release of it, in words, by its option."""
        found = None if self.opened is None else self.opened.profile
        if self.owner.period is None or found is None or found.outside_period == 0:
            return {}
        lost = f"Leave out {found.outside_period:,} of {found.outside_period + found.rows:,} rows"
        asked = {"drop_outside": f"{lost}: they are not {self.owner.period}, or have no time"}
        if found.rows == 0:
            asked["allow_empty"] = "Release nothing: no row is left"
        return {flag: text for flag, text in asked.items() if not getattr(self.options, flag)}

    def _refuse(self, plan: Plan) -> None:
        """What is known of the log already need not be found out by a run."""
        plan.drafted()
        found = None if self.opened is None else self.opened.profile
        if found is not None:
            refuse_elsewhere(plan, found.rows, found.rows + found.outside_period)

    def consequences(self, asked: Question, name: str, said: Said) -> dict[str, object]:
        """The claim, the ledger before and after, and the library's own refusal if there is one. Spends nothing."""
        plan = self.plan(asked, name, said)
        guarantee = plan.guarantee()
        period = "" if said.owner.period is None else str(said.owner.period)
        refusal = ""
        with Ledger(self.ledger) as book:
            before, cap = book.spent(self.population), book.cap_of(self.population)
            new = self.population not in book.populations()
            after, after_delta = _with(book, self.population, plan)
            try:
                refuse_by_ledger(book, plan, quickly=True)
                self._refuse(plan)
            except HubbubError as error:
                refusal = str(error)
        return {
            "claim": guarantee.sentence(period),
            "population": self.population,
            "new_population": new,
            "before": number(before.epsilon),
            "after": number(after),
            "before_value": finite(before.epsilon),
            "after_value": finite(after),
            "delta": small(before.delta),
            "after_delta": small(after_delta),
            "releases": before.releases,
            "cap": None if cap is None else {"epsilon": cap.epsilon, "delta": cap.delta},
            "refusal": refusal,
            "remarks": plan.remarks(),
            "confirm": self.confirmable(),
            "command": spoken(self.command(asked, name, said)),
        }

    def start(self, asked: Question, name: str, said: Said) -> Job:
        """Start it, after every refusal that needs no look at the log."""
        with self.starting:
            if self.opened is None:
                raise Refused("No log was opened.", next="start the studio with one: hubbub studio LOG")
            self.refuse_busy()
            plan = self.plan(asked, name, said)
            self._refuse(plan)
            with Ledger(self.ledger) as book:
                refuse_by_ledger(book, plan)
                before = book.spent(self.population).epsilon
            self.job = ReleaseJob(
                self.command(asked, name, said),
                plan.out.name,
                plan.out,
                population=self.population,
                ledger=self.ledger,
                epsilon_before=before,
            )
            self.job.start()
            return self.job

    def run(self, job: Job) -> None:
        """Start another command about a release."""
        with self.starting:
            self.refuse_busy()
            if job.makes is not None:
                require_free(job.makes)
            job.start()
            self.job = job

    def refuse_busy(self) -> None:
        """One thing at a time."""
        if self.job is not None and self.job.state == "running":
            running = "A release is running." if self.job.kind == "release" else f"hubbub {self.job.kind} is running."
            raise Refused(running, given=self.job.about, next="wait for it, or cancel it")

    def progress(self) -> dict[str, object] | None:
        """The run that is going on, or the last one."""
        job = self.job
        if job is None:
            return None
        found = job.record()
        made = job.makes
        if found["state"] == "done" and made is not None and is_release(made):
            self.add(made)
        names = {path: name for name, path in self.releases.items()}
        return found | {"release": None if made is None else names.get(made.resolve())}

    # ------------------------------------------------------------------ releases

    def add(self, path: Path) -> None:
        """A release that may be shown, by its folder's name."""
        path = path.resolve()
        name, n = path.name, 1
        while self.releases.get(name, path) != path:
            n += 1
            name = f"{path.name} ({n})"
        self.releases[name] = path

    def look_around(self) -> None:
        """Releases that lie in the studio's folder may be shown, whoever made them."""
        for path in releases_in(self.folder):
            self.add(path)

    def path(self, name: str) -> Path:
        """Where one of those is; the page names it, and no more than that."""
        if name not in self.releases:
            self.look_around()
        if name not in self.releases:
            raise ParameterError("There is no such release here.", given=name, allowed=", ".join(self.releases))
        return self.releases[name]

    def release(self, name: str) -> Release:
        """One of those, opened: not a draft."""
        return Release(self.path(name))

    def desk(self, name: str) -> ReviewDesk:
        """The review of one of those; it is opened in the background."""
        path = self.path(name)
        with self.starting:
            desk = self.desks.get(path)
            if desk is None or (desk.problem and not desk.ready):
                desk = self.desks[path] = ReviewDesk(path)
                threading.Thread(target=desk.open, daemon=True).start()
            return desk


def _with(book: Ledger, population: str, plan: Plan) -> tuple[float, float]:
    """(ε, δ) so far with this release, as the ledger would print them."""
    entries = book.entries(population)
    losses = [*(e.loss for e in entries if e.private), plan.mechanism.loss()]
    return odometer(losses) if all(e.private for e in entries) else (float("inf"), 1.0)
