"""What the page asks for, as the command that does it: the same options, the same checks, the same refusals."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hubbub.errors import ParameterError
from hubbub.mechanisms import Mechanism, Parameter, build, mechanisms
from hubbub.public.groups import LISTS, read_groupings

TRIED = (1, 2, 5, 10, 20, 50, 100)


def offered() -> list[str]:
    """The mechanisms that (ε, δ) is enough for, the one that releases most tables first."""
    budget, known = {"epsilon", "delta"}, mechanisms()
    fit = [n for n, m in known.items() if m.in_studio and not m.takes_pool and budget <= {p.name for p in m.parameters}]
    return sorted(fit, key=lambda name: -len(known[name].default_tables))


@dataclass(frozen=True)
class Question:
    """A mechanism and everything that shapes it, as text."""

    mechanism: str
    settings: tuple[tuple[str, str], ...]
    tables: tuple[str, ...]
    users: int | None = None
    """How many users the owner declares."""
    by: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    """What the release is divided by, as --by and --values say it."""

    @staticmethod
    def read(given: Any, users: int | None = None) -> Question:
        """From what the page sent; anything else is refused."""
        if not isinstance(given, dict) or not isinstance(given.get("settings"), dict):
            raise ParameterError("This is no question of the studio's page.", next="reload the page")
        if given.get("mechanism") not in offered():
            raise ParameterError(
                "There is no such mechanism here.", given=given.get("mechanism"), allowed=", ".join(offered())
            )
        tables = given.get("tables") or []
        if not isinstance(tables, list) or not all(isinstance(t, str) for t in tables):
            raise ParameterError("The tables are not a list.", next="reload the page")
        if not tables:
            raise ParameterError("No table is wanted.", next="choose at least one table")
        settings = {str(k): str(v).strip() for k, v in given["settings"].items() if str(v).strip()}
        by, values = _groups(given.get("groups"))
        return Question(given["mechanism"], tuple(sorted(settings.items())), tuple(tables), users, by, values)

    def build(self) -> Mechanism:
        """The mechanism, calibrated; a slider that comes back finds it again."""
        return _built(self)

    def options(self) -> list[str]:
        """What was asked for, as options of `hubbub release`."""
        settings = dict(self.settings)
        words = ["--mechanism", self.mechanism]
        for name in ("epsilon", "delta"):
            if name in settings:
                words += [f"--{name}", settings.pop(name)]
        for name, value in settings.items():
            words += ["--set", f"{name}={value}"]
        for option, given in (("--by", self.by), ("--values", self.values)):
            words += [word for one in given for word in (option, one)]
        return [*words, "--tables", ",".join(self.tables)]


def _groups(given: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """--by and --values from what the page sent: pairs of texts. No path comes from the page, so no file of values."""
    rows = given if isinstance(given, list) else []
    by, values = [], []
    for row in rows:
        if not (isinstance(row, list) and len(row) == 2 and all(isinstance(text, str) for text in row)):
            raise ParameterError("The groups are no pairs of texts.", next="reload the page")
        name, declared = row[0].strip(), row[1].strip()
        if not name:
            continue
        if declared and "," not in declared and declared not in LISTS:
            raise ParameterError(
                f"The values of the group {name.partition('=')[0]} cannot be read.",
                given=declared,
                allowed=f"two or more, with commas between them, or {', '.join(LISTS)}",
                next="a file of values goes with hubbub release --values NAME=FILE",
            )
        by.append(name)
        values += [f"{name.partition('=')[0].strip()}={declared}"] if declared else []
    return tuple(by), tuple(values)


@lru_cache(maxsize=256)
def _built(asked: Question) -> Mechanism:
    settings = dict(asked.settings)
    if asked.users is not None and any(p.declared_users for p in mechanisms()[asked.mechanism].parameters):
        settings.setdefault("users", str(asked.users))
    return build(asked.mechanism, settings, tables=list(asked.tables), by=read_groupings(asked.by, asked.values))


def rivals(epsilon: str, delta: str) -> dict[str, list[Question]]:
    """Every mechanism at the same (ε, δ) for queries alone, with limits on a user to try."""
    found: dict[str, list[Question]] = {}
    for name in offered():
        budget, limiting = (("delta", delta), ("epsilon", epsilon)), mechanisms()[name].limiting
        limits = [((limiting, str(n)),) for n in TRIED] if limiting else [()]
        found[name] = [Question(name, tuple(sorted((*budget, *limit))), ("queries",)) for limit in limits]
    return found


def choices(mechanism: type[Mechanism]) -> list[Parameter]:
    """The parameters that the page offers besides ε and δ."""
    apart = ("epsilon", "delta", *mechanism.raw)
    return [p for p in mechanism.parameters if p.name not in apart and not p.declared_users]


def release_command(given: Mapping[str, Any], asked: Question, out: Path) -> list[str]:
    """`hubbub release …`, word by word. `given` are the studio's own options about the log and the ledger."""
    words = ["release", str(given["log"]), *asked.options(), "--out", str(out)]
    for name, value in given.items():
        if name not in ("log", "config") and value is not None and value is not False:  # the page has all of a config
            option = f"--{name.replace('_', '-')}"
            for one in value if isinstance(value, list) else [value]:
                words += [option] if one is True else [option, str(one)]
    return words


def spoken(words: list[str]) -> str:
    """A command as somebody types it."""
    return shlex.join(["hubbub", *words])
