"""What every utility task states about itself, and what it is given.

A task reads two `Evidence`s, the original and the release, and gives numbers: {metric: {original, release}}. What it
cannot say about a release it does not guess: it raises `NotEvaluable` with the reason.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.errors import InputError
from hubbub.plugins import Registry
from hubbub.worth.evidence import Evidence

Scores = dict[str, dict[str, float | None]]
"""{metric: {"original": x, "release": y}}, and BESIDE of tasks that have it; numbers that count are integers."""
BESIDE = ("floor", "ceiling", "low", "high")
"""What no log at all would score, what nobody can exceed, and a 95 % interval of the release's score (sides.py)."""
TRUTH: dict[str, tuple[str, ...]] = {
    "serp": ("query", "rank", "url"),
    "topics": ("query", "topic"),
    "document_frequency": ("keyword", "documents"),
    "completions": ("phrase", "query", "share"),
    "canaries": ("query",),
    "intents": ("query", "intent", "users"),
    "typos": ("query", "meant", "users"),
    "relevance": ("query", "url", "gain"),
    "groups": ("name", "value", "query", "users"),
}
"""The tables of a truth that tasks and attacks look at, and the columns without which they are none."""


class NotEvaluable(Exception):
    """Why a task does not make sense for this release, this log or this truth."""


class Truth:
    """The folder that `hubbub synth --truth` writes, or tables like it that an owner has: read when asked for."""

    def __init__(self, tables: Mapping[str, pa.Table] | str | Path) -> None:
        self._tables: dict[str, pa.Table] = {}
        self.folder: Path | None = None
        if isinstance(tables, str | Path):
            self.folder = Path(tables)
            if not any((self.folder / f"{name}.parquet").is_file() for name in TRUTH):
                raise InputError(
                    "There is no truth in this folder.",
                    given=self.folder,
                    allowed=", ".join(f"{name}.parquet" for name in TRUTH),
                    next="give the folder that `hubbub synth --truth` wrote, or leave --truth out",
                )
        else:
            self._tables = dict(tables)

    def table(self, name: str) -> pa.Table | None:
        """One table, None where it is absent."""
        path = None if self.folder is None else self.folder / f"{name}.parquet"
        if name not in self._tables and path is not None and path.is_file():
            try:
                self._tables[name] = pq.read_table(path)
            except (pa.ArrowInvalid, OSError) as error:
                raise InputError("A table of the truth cannot be read.", given=f"{path}: {error}") from error
            names = self._tables[name].column_names
            if missing := [column for column in TRUTH.get(name, ()) if column not in names]:
                raise InputError(
                    f"A table of the truth lacks a column: {', '.join(missing)}.",
                    given=f"{path}: {', '.join(names)}",
                    allowed=", ".join(TRUTH[name]),
                )
        return self._tables.get(name)


@dataclass(frozen=True)
class Setup:
    """Everything a task is given besides the two evidences."""

    truth: Truth | None = None
    seed: int = 0
    say: Callable[[str], None] = lambda _: None
    options: Mapping[str, object] = field(default_factory=dict)
    details: dict[str, object] = field(default_factory=dict)
    """Where a task leaves what is more than a number, such as a histogram: JSON, by a name of its own."""

    def known(self, name: str) -> pa.Table | None:
        """A table of the truth, None where there is none."""
        return None if self.truth is None else self.truth.table(name)


class Task(ABC):
    """Base of all tasks."""

    name: ClassVar[str]
    """As the command line says it, e.g. "index-caching"."""
    about: ClassVar[str]
    paper: ClassVar[str]
    reads: ClassVar[tuple[str, ...]]
    """The tables it looks at."""
    truth: ClassVar[tuple[str, ...]] = ()
    """The tables of the truth it looks at."""
    learns: ClassVar[bool] = False
    """Whether the original's column learns from some users and is tested on others: a release has seen them all."""
    registry: ClassVar[Registry[type[Task]]]

    @abstractmethod
    def score(self, original: Evidence, release: Evidence, setup: Setup) -> Scores:
        """Every metric, of the original and of the release; NotEvaluable where it makes no sense."""

    def __init_subclass__(cls, register: bool = False, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if register:
            Task.registry.add(cls)


Task.registry = Registry("task", "hubbub.tasks", "hubbub.worth.tasks", Task)


def need(evidence: Evidence, name: str, whose: str) -> pa.Table:
    """A table a task cannot do without."""
    table = evidence.table(name)
    if table is None:
        made = f": hubbub release … --tables {','.join(dict.fromkeys(['queries', name]))} makes it"
        raise NotEvaluable(f"the {whose} has no {name}{made if whose == 'release' else ''}")
    return table
