"""What follows a release: its report, its scores, an export. Each is the command itself, in a process of its own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from hubbub.card.check import DRAFT
from hubbub.errors import ParameterError, Refused
from hubbub.show.export import formats
from hubbub.studio.jobs import Job
from hubbub.worth.tasks import tasks

KINDS = ("report", "evaluate", "export")


def following(kind: str, name: str, path: Path, folder: Path, given: Mapping[str, object]) -> Job:
    """The job that the page asked for, about a release that it may show; it is not started yet."""
    if kind not in KINDS:
        raise ParameterError("There is no such command here.", given=kind, allowed=", ".join(KINDS))
    if (path / DRAFT).is_dir():
        raise Refused("This release is a draft: nobody has approved it yet.", given=name, next="review it first")
    if kind == "export":
        return _export(name, path, folder, given)
    log = log_of(path)
    if kind == "report":
        return Job(["report", str(path), "--log", log], name)
    asked = given.get("tasks")
    wanted = [str(task) for task in asked] if isinstance(asked, list) else []
    if not wanted:
        raise ParameterError("No task is wanted.", allowed=", ".join(tasks()), next="choose at least one task")
    if unknown := [task for task in wanted if task not in tasks()]:
        raise ParameterError("There is no such task.", given=", ".join(unknown), allowed=", ".join(tasks()))
    return Job(["evaluate", str(path), *(word for task in wanted for word in ("--task", task))], name)


def log_of(path: Path) -> str:
    """The raw log of a release, as its own run.toml names it."""
    own = path / "owner-only" / "run.toml"
    log = tomllib.loads(own.read_text(encoding="utf-8")).get("log") if own.is_file() else None
    if not isinstance(log, str):
        raise Refused(
            "It is not known from which log this release was made.",
            given=own,
            next="run the command in a terminal and name the log with --log",
        )
    return log


def _export(name: str, path: Path, folder: Path, given: Mapping[str, object]) -> Job:
    form = str(given.get("to") or "")
    if form not in formats():
        raise ParameterError("There is no such format.", given=form, allowed=", ".join(formats()))
    out = folder / one_folder(given.get("name"), folder)
    return Job(["export", str(path), "--to", form, "--out", str(out)], name, out)


def one_folder(given: object, folder: Path) -> str:
    """The name of one new folder: no path comes from the page."""
    name = str(given or "")
    if not name or name != Path(name).name or name.startswith(".") or not name.isprintable():
        raise ParameterError(
            "The name of a new folder is the name of one folder.",
            given=name,
            allowed=f"a name without slashes, inside {folder}",
        )
    return name
