"""A series whose unit is a user in a period: every period is a release of its own, with its own entry of the ledger.

Plain crowd each period, as others publish daily page views. The claim of every card states what a user who is in all
planned periods has, beside what holds for one. With a cap, the envelope of all periods is fixed when it is planned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.card.owner import Owner, read_owner
from hubbub.errors import InputError, Refused
from hubbub.files import permit, whole
from hubbub.mechanisms.crowd.each import CrowdPerPeriod
from hubbub.mechanisms.series.calendar import SeriesCalendar
from hubbub.privacy.envelope import planned
from hubbub.privacy.ledger import named, refuse_new
from hubbub.release.folder import DO_NOT_PUBLISH
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from hubbub.series.placed import SeriesPeriod, standing_folder
from hubbub.series.plan import OWNER_ONLY, PLAN, owner_table, sealed, today, unsealed
from hubbub.series.screened import refuse_other_left_out, refuse_other_screen
from hubbub.show.series.index import write_index

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.privacy.guarantee import Guarantee
    from hubbub.privacy.ledger import Ledger

FORMAT = "hubbub-period-plan"
PLAIN = ("population", "dataset", "lag", "users_public", "max_rejects", "seed", "not_private", "screening", "left_out")


@dataclass(frozen=True)
class PeriodsPlan:
    """Periods that are released one by one, each at the same (ε, δ)."""

    mechanism: CrowdPerPeriod
    calendar: SeriesCalendar
    population: str = "default"
    dataset: str = "series"
    owner: Owner = field(default_factory=Owner)
    lag: int = 0
    users_public: int | None = None
    max_rejects: float = 0.05
    seed: int | None = None
    not_private: bool = False
    screening: Mapping[str, Any] | None = None
    left_out: Mapping[str, Any] | None = None

    @property
    def periods(self) -> int:
        """How many are planned."""
        return int(self.mechanism.settings["periods"])

    def guarantee(self) -> Guarantee:
        """What a period proves, with the total of all of them."""
        return self.mechanism.proven().of_run(seeded=self.seed is not None)

    def release(self, folder: Path, number: int) -> Plan:
        """The release of one period."""
        return Plan(
            self.mechanism,
            (folder / self.calendar.label(number)).absolute(),
            replace(self.owner, period=self.calendar.span(number, number)),
            population=self.population,
            dataset=self.dataset,
            users_public=self.users_public,
            max_rejects=self.max_rejects,
            seed=self.seed,
            not_private=self.not_private,
            new_population=True,  # stated when the series was planned
            drop_outside=True,
        )

    def text(self) -> str:
        """The plan as it is kept."""
        parameters = {name: str(value) for name, value in self.mechanism.settings.items()}
        known: dict[str, Any] = {
            "parameters": parameters,
            "tables": list(self.mechanism.tables),
            "first": self.calendar.first.isoformat(),
            "length": self.calendar.length,
            "owner": owner_table(self.owner),
        }
        return sealed(FORMAT, known | {name: getattr(self, name) for name in PLAIN})

    @staticmethod
    def read(path: Path) -> PeriodsPlan:
        """A plan as it was written."""
        from datetime import date

        known = unsealed(path, FORMAT)
        calendar = SeriesCalendar(date.fromisoformat(known.pop("first")), known.pop("length"))
        mechanism = CrowdPerPeriod(tables=known.pop("tables"), **known.pop("parameters"))
        return PeriodsPlan(mechanism, calendar, owner=read_owner(known.pop("owner")), **known)


def fix_periods(plan: PeriodsPlan, folder: Path, ledger: Ledger, *, new_population: bool = False) -> None:
    """Write the folder of the series; with a cap, fix the envelope of all its periods."""
    named(plan.population)
    refuse_new(plan.population, ledger.populations(), stated=new_population)
    plan.release(folder, 0).drafted()  # every refusal that needs neither ledger nor log
    with whole(folder) as made:
        inside = made / OWNER_ONLY
        inside.mkdir(0o700)
        (inside / "NOT-PRIVATE.txt").write_text(DO_NOT_PUBLISH, encoding="utf-8")
        (inside / PLAN).write_text(plan.text(), encoding="utf-8")
        permit(inside, 0o700, 0o600)
        if ledger.cap_of(plan.population) is not None:
            ledger.declare(plan.population, planned([plan.mechanism.loss()] * plan.periods))


def add_release(
    folder: Path, log: SearchLog | None, ledger: Ledger, period: str | None, noise: NoiseSource | None
) -> SeriesPeriod:
    """Release the next period, or the named one; one that stands is left as it is."""
    plan = PeriodsPlan.read(folder / OWNER_ONLY / PLAN)
    calendar = plan.calendar
    labels = [calendar.label(n) for n in range(plan.periods)]
    made = [n for n, label in enumerate(labels) if (folder / label).exists()]
    upcoming = max(made, default=-1) + 1
    number = upcoming if period is None else calendar.number(period, plan.periods)
    if number in made:
        return standing_folder(labels[number], folder / labels[number])
    if number >= plan.periods:
        raise Refused("The series has ended.", given=f"{plan.periods} periods, all of them released")
    closes = calendar.ends(number) + timedelta(days=1 + plan.lag)
    if today() < closes:
        raise Refused("The period is not closed yet.", given=labels[number], allowed=f"from {closes} on", next="wait")
    if log is None:
        raise InputError("The log of the period is missing.", given=labels[number])
    refuse_other_screen(plan.screening, log)
    refuse_other_left_out(plan.left_out, log)
    cut = replace(log, period=calendar.span(number, number))
    result = run_release(cut, plan.release(folder, number), ledger, noise=noise)
    if "queries" in result.release.tables:
        write_index(folder)
    return SeriesPeriod(labels[number], result.release.path, False)
