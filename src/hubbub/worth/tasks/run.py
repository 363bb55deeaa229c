"""Score a release against the log it was made from: every task in turn, scores to `owner-only/`.

    {task: {metric: {"original": x, "release": y}} or {"not_evaluable": why}}

`owner-only/scores.json` holds the same, task by task as they finish, and under "details" what is more than a number.
Every score was computed from the raw log: none of it may be published, and nothing under `public/` is touched.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.errors import InputError, OutputError
from hubbub.files import disk_errors, write_whole
from hubbub.privacy.fingerprint import look
from hubbub.privacy.guarantee import finite
from hubbub.privacy.ledger import Ledger, named
from hubbub.release.folder import DO_NOT_PUBLISH
from hubbub.release.opened import Release
from hubbub.show.owner import refresh
from hubbub.worth.evidence import Evidence
from hubbub.worth.tasks import build, tasks
from hubbub.worth.tasks.base import NotEvaluable, Setup, Task, Truth

if TYPE_CHECKING:
    from hubbub.log import SearchLog

DETAILS = "details"
NOT_EVALUABLE = "not_evaluable"
Scored = dict[str, dict[str, Any]]


def evaluate(
    release: str | Path | Release,
    log: SearchLog | str | Path,
    tasks: Sequence[str] | None = None,
    truth: str | Path | Truth | None = None,
    *,
    ledger: str | Path | None = None,
    population: str = "default",
    dataset: str = "default",
    seed: int = 0,
    say: Callable[[str], None] = lambda _: None,
) -> Scored:
    """Score a release on tasks (all of them unless named) against its log; the Python form of `hubbub evaluate`."""
    released, known = opened(release, truth)
    chosen = choose(tasks)
    with looked_at(log, "evaluate", ledger, population, dataset) as raw:
        return run(released, raw, chosen, known, seed=seed, say=say)


def opened(release: str | Path | Release, truth: str | Path | Truth | None) -> tuple[Release, Truth | None]:
    """A release with a place for what only its owner may see, and the truth about its log, if there is any."""
    released = release if isinstance(release, Release) else Release(release)
    owner_only(released)
    return released, truth if isinstance(truth, Truth) or truth is None else Truth(truth)


@contextmanager
def looked_at(
    log: SearchLog | str | Path, command: str, ledger: str | Path | None, population: str, dataset: str
) -> Iterator[SearchLog]:
    """The raw log, once the ledger has noted that somebody looks at it."""
    from hubbub.log import SearchLog, read_log

    with (
        Ledger(None if ledger is None else Path(ledger)) as book,
        nullcontext(log) if isinstance(log, SearchLog) else read_log(log) as raw,
    ):
        look(book, raw, named(population), named(dataset), command)
        yield raw


def choose(names: Sequence[str] | None) -> list[Task]:
    """The tasks of these names, or all of them."""
    return [build(name) for name in dict.fromkeys(names or tasks())]


def run(
    release: Release,
    log: SearchLog,
    chosen: Sequence[Task],
    truth: Truth | None = None,
    *,
    seed: int = 0,
    say: Callable[[str], None] = lambda _: None,
    memory: str = "2GB",
    threads: int | None = None,
) -> Scored:
    """Every chosen task, written as it finishes. The caller has told the ledger."""
    folder = owner_only(release)
    asked = {task.name for task in chosen}
    scored: Scored = {name: {NOT_EVALUABLE: "not asked for"} for name in tasks() if name not in asked}
    with Evidence.of_release(release, memory=memory, threads=threads) as theirs:
        ours = Evidence.of_log(log, theirs.counts)  # the original is counted as the release counts
        for task in in_turn(chosen, say):
            scored[task.name], details = score(task, ours, theirs, truth, seed, say)
            keep(folder, task.name, scored[task.name], details)
    if told := refresh(folder.parent):
        say(told)
    return dict(sorted(scored.items()))


def in_turn(chosen: Sequence[Any], say: Callable[[str], None]) -> Iterator[Any]:
    """One task or attack after the other, saying how far it is and how long each took."""
    for at, one in enumerate(chosen, 1):
        started = time.monotonic()
        say(f"{one.name} ({at} of {len(chosen)})")
        yield one
        say(f"{one.name}: {time.monotonic() - started:.1f} s")


def score(
    task: Task,
    original: Evidence,
    release: Evidence,
    truth: Truth | None = None,
    seed: int = 0,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, Any], dict[str, object]]:
    """One task's scores or why there are none, and its details; nothing infinite is left in them."""
    setup = Setup(truth, seed, lambda text: say(f"  {text}"))
    try:
        found = task.score(original, release, setup)
    except NotEvaluable as why:
        return {NOT_EVALUABLE: str(why)}, {}
    return {metric: {side: finite(x) for side, x in pair.items()} for metric, pair in found.items()}, setup.details


# ------------------------------------------------------------------ owner-only/scores.json


def owner_only(release: Release) -> Path:
    """The folder the scores go to, beside `public/`."""
    if release.public.name != "public":
        raise OutputError(
            "Scores have no place here: they are for the owner only.",
            given=release.path,
            next="give the release folder, the one that holds public/ and owner-only/",
        )
    return release.public.parent / "owner-only"


def keep(
    folder: Path, task: str, scores: dict[str, Any], details: dict[str, object], name: str = "scores.json"
) -> None:
    """Put one task's scores into the file, whole or not at all; what other tasks left there stays."""
    with disk_errors(folder, "release folder"):
        if not folder.is_dir():
            folder.mkdir(0o700)
            (folder / "NOT-PRIVATE.txt").write_text(DO_NOT_PUBLISH, encoding="utf-8")
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two evaluations at once: one merges after the other
            document = read(folder, name)
            rest = document.pop(DETAILS, {})
            document[task] = scores
            rest.pop(task, None)
            rest |= {task: details} if details else {}
            document = dict(sorted(document.items())) | {DETAILS: dict(sorted(rest.items()))}
            write_whole(folder / name, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        finally:
            os.close(lock)


def read(folder: Path, name: str = "scores.json") -> dict[str, Any]:
    """The scores that were kept so far, by task."""
    path = folder / name
    if not path.is_file():
        return {}
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        document = error
    if not isinstance(document, dict):
        raise InputError("Earlier scores cannot be read.", given=path, next="move that file away and evaluate again")
    return document
