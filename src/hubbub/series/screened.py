"""Whom and what a series leaves out: its plan fixes rules, limits and lists; every period is read by them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.errors import Refused
from hubbub.log.left_out import LeftOut
from hubbub.public.screening import Screen, chosen_screen

if TYPE_CHECKING:
    from hubbub.log import SearchLog

OPTIONS = ("screen", "deny", "allow")


def fixed_screen(screen: str | None, deny: str | None, allow: str | None) -> dict[str, Any] | None:
    """The options as a plan keeps them, and what they name; None: nothing is screened."""
    chosen = chosen_screen(screen, deny, allow)
    if chosen is None:
        return None
    files = {name: str(Path(file).absolute()) if file else None for name, file in (("deny", deny), ("allow", allow))}
    return {"screen": screen, **files, "record": chosen.record()}


def planned_options(screening: Mapping[str, Any] | None) -> dict[str, str | None]:
    """How the log of the next period is to be screened."""
    return {name: None if screening is None else screening[name] for name in OPTIONS}


def refuse_other_screen(screening: Mapping[str, Any] | None, log: SearchLog) -> None:
    """A log that was screened by other rules, or by lists that have changed, is not of this series."""
    planned = None if screening is None else screening["record"]
    if log.ingested.screening != planned:
        raise Refused(
            "The log was not screened as the plan of the series fixed it.",
            given=_words(log.ingested.screening),
            allowed=_words(planned),
            next="put the lists back as they were; in Python, give read_log the plan's screen, deny and allow",
        )


def planned_left_out(left_out: Mapping[str, Any] | None) -> dict[str, Any]:
    """Whom and what the log of the next period is to be read without."""
    planned = LeftOut(**left_out or {})
    return {"max_searches_a_day": planned.max_searches_a_day, "drop_agents": planned.drop_agents}


def refuse_other_left_out(left_out: Mapping[str, Any] | None, log: SearchLog) -> None:
    """A log from which others were left out than from those of the other periods is not of this series."""
    planned = LeftOut(**left_out or {})
    if log.left_out != planned:
        raise Refused(
            "The log does not leave out what the plan of the series fixed.",
            given=" ".join(log.left_out.sentences()) or "nobody is left out",
            allowed=" ".join(planned.sentences()) or "nobody is left out",
            next="in Python, give read_log the plan's max_searches_a_day and drop_agents; nothing was spent",
        )


def planned_screen(screening: Mapping[str, Any] | None) -> Screen | None:
    """The plan's screen, for rows that are about to be published; lists that have changed are refused."""
    if screening is None:
        return None
    chosen = chosen_screen(*(planned_options(screening)[name] for name in OPTIONS))
    if chosen is None or chosen.record() != screening["record"]:
        raise Refused(
            "The lists that the plan of the series names have changed.",
            given=_words(None if chosen is None else chosen.record()),
            allowed=_words(screening["record"]),
            next="put the lists back as they were",
        )
    return chosen


def _words(record: Mapping[str, Any] | None) -> str:
    if record is None:
        return "no screening"
    lists = [f"{name} {record[f'{name}_sha256'][:16]}" for name in ("deny", "allow") if record[f"{name}_sha256"]]
    return ", ".join([f"version {record['version']}", *record["rules"], *record["libraries"], *lists])
