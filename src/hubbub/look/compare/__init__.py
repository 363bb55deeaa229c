"""Every mechanism side by side at one budget: what each keeps of a log, over several draws of noise.

    choices   which mechanisms, at which parameters; sweeps       basics    what can be said of any release
    draws     one row: measure once, draw and score many times    cells     what is finished is kept
    run       missing cells, in several processes                 summary   means, intervals, what follows from them
    words     the table on a terminal                             page      the owner's page, its charts and files

Experiments only: the noise is seeded, nothing is released and no budget is spent. But everything is computed from the
raw log, so the ledger records the look, and all that is written goes to `owner-only/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.errors import ParameterError
from hubbub.look.compare.basics import NAME
from hubbub.look.compare.choices import BUDGET, Candidate, Sweep, choose
from hubbub.look.compare.summary import Comparison

if TYPE_CHECKING:
    from hubbub.log import SearchLog

TASKS = ("counts",)
DRAWS, MOST_DRAWS = 5, 1000
PLOT = ("volume", "error")
USUAL = ("queries",)
"""What mechanisms release that have it, if neither tables nor tasks are asked for: one and the same table."""


@dataclass(frozen=True)
class CompareRequest:
    """What is to be compared, checked before a log is opened."""

    settings: Mapping[str, str]
    """The common budget and parameters by name (`epsilon`, `zealous.m`)."""
    mechanisms: Sequence[str] | None = None
    tasks: Sequence[str] | None = None
    draws: int = DRAWS
    truth: str | Path | None = None
    sweeps: Sequence[str] = ()
    pool: str | Path | None = None
    plot: tuple[str, str] = PLOT
    seed: int = 0
    tables: Sequence[str] | None = None
    """What every mechanism releases. None named: queries, or, if tasks are, what each has by itself."""
    choices: Sequence[Candidate] = field(init=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        from hubbub.worth.tasks import Truth, build

        if not 1 <= self.draws <= MOST_DRAWS:
            raise ParameterError("There must be a draw.", given=f"draws = {self.draws}", allowed=f"1 to {MOST_DRAWS}")
        if self.seed < 0:
            raise ParameterError("The seed must not be negative.", given=self.seed, allowed="0 or more")
        for name in self.tasks or TASKS:
            build(name)
        if self.truth is not None:
            Truth(self.truth)
        sweeps = [Sweep.read(text) for text in self.sweeps]
        if len({sweep.name for sweep in sweeps}) < len(sweeps):
            raise ParameterError(
                "A parameter is swept twice.", given=", ".join(self.sweeps), next="give all its values"
            )
        usual = () if self.tasks else USUAL
        rows = choose(self.mechanisms, self.settings, sweeps, self.pool, self.tables, usual)
        object.__setattr__(self, "choices", rows)

    def record(self) -> dict[str, Any]:
        """As a table and a page state it."""
        return {
            "budget": {k: v for k, v in self.settings.items() if k in BUDGET},
            "settings": {k: v for k, v in self.settings.items() if k not in BUDGET},
            "sweeps": list(self.sweeps),
            "tasks": list(dict.fromkeys(self.tasks or TASKS)),
            "draws": self.draws,
            "seed": self.seed,
            "plot": list(self.plot),
            "tables": list(self.tables or ()),
        }


def computed(
    asked: CompareRequest,
    log: SearchLog,
    folder: Path,
    *,
    jobs: int = 1,
    memory: str = "2GB",
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Comparison:
    """Compute what is not there yet, and write it all. The caller has told the ledger."""
    from hubbub.look.compare.cells import FOLDER
    from hubbub.look.compare.draws import CleanedLog
    from hubbub.look.compare.page import write
    from hubbub.look.compare.run import ComparisonPlan, run, scores_of, threads_for
    from hubbub.look.compare.summary import Row

    truth = None if asked.truth is None else Path(asked.truth).absolute()
    source = CleanedLog(log.ingested.log, log.work, log.period, truth, asked.seed, memory, threads_for(jobs))
    record = asked.record()
    plan = ComparisonPlan(source, asked.choices, [NAME, *record["tasks"]], asked.draws)
    rows = run(plan, folder / FOLDER, jobs, progress)
    cells = plan.cells()
    found = tuple(Row.of(row, scores_of(of, folder / FOLDER)) for row, of in zip(rows, cells, strict=True))
    comparison = Comparison(found, record | {"log": {"rows": log.ingested.kept, "users": log.users()}})
    if asked.plot != PLOT:  # what nobody asked for is left out where no row has it
        comparison.refuse_unknown_plot()
    write(comparison, folder)
    return comparison


def compare(
    log: SearchLog | str | Path,
    epsilon: object = None,
    delta: object = None,
    mechanisms: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    *,
    out: str | Path | None = None,
    settings: Mapping[str, object] | None = None,
    jobs: int = 1,
    ledger: str | Path | None = None,
    population: str = "default",
    dataset: str = "default",
    **more: Any,
) -> Comparison:
    """Compare mechanisms on a log; the Python form of `hubbub compare`. Not private; the ledger records the look.

    Further arguments are those of `CompareRequest`: draws, truth, sweeps (["zealous.m=1,2,5"]), pool, plot, seed,
    tables.
    """
    from hubbub.look.compare.place import place
    from hubbub.worth.tasks.run import looked_at

    given = {"epsilon": epsilon, "delta": delta} | dict(settings or {})
    asked = CompareRequest({k: str(v) for k, v in given.items() if v is not None}, mechanisms, tasks, **more)
    with place(out) as folder, looked_at(log, "compare", ledger, population, dataset) as raw:
        return computed(asked, raw, folder, jobs=jobs)
