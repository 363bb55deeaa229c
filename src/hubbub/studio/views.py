"""The answers about a log: what a release of it would keep, and how one is started."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from hubbub.errors import ParameterError, Refused, UserError
from hubbub.ingest.proposal import ROLES
from hubbub.look.estimate.result import TableEstimate
from hubbub.look.estimate.why import explain
from hubbub.look.inspected import Profile
from hubbub.mechanisms import Mechanism, mechanisms
from hubbub.privacy.guarantee import small
from hubbub.public.groups import OF_TIME
from hubbub.public.screening import chosen_screen
from hubbub.public.screening.rules import RULES
from hubbub.show.charts.page import as_json
from hubbub.studio import quick
from hubbub.studio.asked import Question, choices, offered, rivals
from hubbub.studio.columns import NEEDED, preselected
from hubbub.studio.more import in_words as more_of
from hubbub.studio.pages import StudioPages
from hubbub.studio.said import FURTHER, STATED, stated
from hubbub.studio.sketch import Sketch
from hubbub.studio.state import Studio

Answer = dict[str, object]


class Views:
    """The page of a log, and its numbers. `base` is the secret first part of every address."""

    def __init__(self, studio: Studio, base: str) -> None:
        self.studio, self.pages = studio, StudioPages(studio, base)

    # ------------------------------------------------------------------ choose

    def tune(self, request: Request, _: Answer) -> Response:
        """The log, what to ask of it, and what that would keep; of an unknown file, which column is what."""
        opened = self.studio.opened
        if opened is not None and opened.proposal is not None and opened.asks:
            picked = preselected(opened.proposal, opened.chosen)
            return self.pages.page("columns.html", roles=ROLES, needed=NEEDED, picked=picked)
        facts: dict[str, Any] = {
            "tolerance": quick.TOLERANCE,
            "tolerance_rows": quick.TOLERANCE_ROWS,
            "rules": {name: rule.about for name, rule in RULES.items()},
            "ticked": self._ticked(),
            "stated": stated(self.studio.owner),
            "labels": STATED,
            "further": FURTHER,
            "groupings": self._groupings(),
        }
        return self.pages.page("tune.html", form=as_json(self._form()), **facts)

    def _groupings(self) -> list[str]:
        """What a release may be divided by, as far as it is known: times, and columns that are nothing else."""
        opened = self.studio.opened
        proposal = None if opened is None else opened.proposal
        taken = () if opened is None else opened.chosen.values()
        columns = [] if proposal is None else [c.name for c in proposal.columns if c.name not in taken]
        return [*OF_TIME, *(f"{name.lower()}={name}" for name in columns)]

    def _ticked(self) -> tuple[str, ...]:
        """The screening rules that apply now."""
        log = self.studio.log
        screen = chosen_screen(log.screen, log.deny, log.allow)
        return () if screen is None else screen.rules

    def _form(self) -> Answer:
        """What can be asked, from the facts the mechanisms declare."""
        known = mechanisms()
        opened = self.studio.opened
        users = opened.profile.users if opened is not None and opened.profile is not None else 0
        clicks = opened is None or "clicks" in opened.sketches
        return {
            "delta": f"1e-{max(3, math.ceil(math.log10(max(users, 1))) + 1)}",
            "mechanisms": {
                name: {
                    "about": known[name].about,
                    "tables": [
                        t for t in known[name].offers if (clicks or t != "clicks") and not known[name].offers[t].rows
                    ],
                    "default_tables": list(known[name].default_tables),
                    "parameters": [
                        {
                            "name": p.name,
                            "meaning": p.meaning,
                            "kind": p.kind,
                            "range": p.range,
                            "choices": list(p.choices),
                            "default": None if p.default is None else str(p.default),
                            "most": None if p.high is None else float(p.high),
                        }
                        for p in choices(known[name])
                    ],
                }
                for name in offered()
            },
        }

    def columns(self, request: Request, body: Answer) -> Answer:
        """Which column is what: then the log is read."""
        self.studio.choose(body.get("columns"))
        return {"reading": True}

    def read(self, request: Request, body: Answer) -> Answer:
        """Which days and which screening rules: then the log is read again."""
        self.studio.read_again(body)
        return {"reading": True}

    def kept(self, request: Request, body: Answer) -> Answer:
        """Keep what is typed into a page, for when it is opened again."""
        self.pages.keep(body.get("page"), body.get("form"))
        return {"kept": True}

    def opened(self, request: Request, _: Answer) -> Answer:
        """Whether the log is read, and how much of it."""
        opened = self.studio.opened
        if opened is None:
            return {"ready": False, "problem": "No log was opened."}
        return {"ready": opened.ready, "problem": opened.problem, "share": opened.share}

    def _looked(self) -> tuple[dict[str, Sketch], Profile]:
        """What is known of the log, taken once: it may be read anew meanwhile."""
        opened = self.studio.opened
        profile = None if opened is None else opened.profile
        if opened is None or profile is None:
            raise Refused("There is no log to estimate from.", next="wait until it is read, or open one")
        return opened.sketches, profile

    def estimate(self, request: Request, body: Answer) -> Answer:
        """Thresholds, rows, the survival curve, the error: quick estimates."""
        started = time.perf_counter()
        sketches, profile = self._looked()
        mechanism = Question.read(body, self.studio.said(body).options.users_public).build()
        found = quick.estimate(mechanism, sketches)
        return {
            "tables": {name: table_record(table) for name, table in found.items()},
            "thresholds": {t: -int(-e.utility["level"] // 1) for t, e in found.items() if "level" in e.utility}
            | mechanism.thresholds(),
            "later": [t for t in mechanism.tables if t not in found],
            "warnings": _warnings(mechanism, found, profile.users),
            "milliseconds": round(1000 * (time.perf_counter() - started)),
        }

    def compare(self, request: Request, body: Answer) -> Answer:
        """Every mechanism at the same (ε, δ), for queries, each with the bound that keeps most rows."""
        sketches, _ = self._looked()
        rows: list[dict[str, Any]] = []
        for name, tries in rivals(str(body.get("epsilon", "")), str(body.get("delta", ""))).items():
            best: tuple[Question, Mechanism, TableEstimate] | None = None
            problem = ""
            for asked in tries:
                try:
                    mechanism = asked.build()
                except UserError as error:
                    problem = str(error).splitlines()[0]
                    continue
                table = quick.estimate(mechanism, sketches).get("queries")
                if table is None:
                    problem = "it has no quick estimate; hubbub estimate has one"
                    break
                if best is None or table.rows > best[2].rows:
                    best = (asked, mechanism, table)
            if best is None:
                rows.append({"mechanism": name, "problem": problem})
                continue
            asked, mechanism, table = best
            rows.append(
                {
                    "mechanism": name,
                    "settings": {k: v for k, v in asked.settings if k not in ("epsilon", "delta")},
                    "threshold": mechanism.thresholds().get("queries"),
                }
                | table_record(table)
            )
        return {"rows": sorted(rows, key=lambda row: -float(row.get("rows", -1)))}

    def plan(self, request: Request, body: Answer) -> Answer:
        """The claim, the ledger before and after, why thresholds are as high as they are, what helps, the command."""
        said, name = self.studio.said(body), str(body.get("name") or "")
        asked = Question.read(body, said.options.users_public)
        why = [
            {"step": w.step, "sentence": w.sentence, "lower": [f"{t:,.4g} with {c}" for c, t in w.lower[:4]]}
            for w in explain(asked.build())
        ]
        opened = self.studio.opened
        known = opened is not None and opened.profile is not None
        more = more_of(asked.build(), opened.sketches) if opened is not None and known else []
        return self.studio.consequences(asked, name, said) | {"why": why, "gains": more}

    # ------------------------------------------------------------------ release

    def start(self, request: Request, body: Answer) -> Answer:
        """Start a release; every refusal is the library's own."""
        if body.get("agreed") is not True:
            raise ParameterError("Nothing is spent without your word.", next="say that you agree to spend this budget")
        said = self.studio.said(body)
        self.studio.start(Question.read(body, said.options.users_public), str(body.get("name") or ""), said)
        return {"job": self.studio.progress()}

    def cancel(self, request: Request, body: Answer) -> Answer:
        """Cancel what is running, if nothing is spent."""
        if self.studio.job is None:
            raise Refused("Nothing is running.")
        self.studio.job.cancel()
        return {"job": self.studio.progress()}

    def job(self, request: Request, _: Answer) -> Answer:
        """How far the running release is."""
        return {"job": self.studio.progress()}


def _warnings(mechanism: Mechanism, found: dict[str, TableEstimate], users: int) -> list[str]:
    delta = mechanism.loss().delta
    warnings = []
    if delta * users >= 1:
        warnings.append(f"δ = {small(delta)} is not below 1/users: it would allow publishing somebody outright.")
    for name, table in found.items():
        if table.rows < 1:
            warnings.append(f"{name}: less than one row is expected; raise ε or δ, or bound each user more tightly.")
    return warnings


def table_record(table: TableEstimate) -> Answer:
    """A quick estimate for the page."""
    error, volume, curve = table.error, table.volume, table.curve
    return {
        "rows": table.rows,
        "rows_sd": table.rows_sd,
        "keys": table.keys,
        "volume": asdict(volume),
        "searches": volume.searches,
        "error": None if error is None else asdict(error) | {"rms": error.rms},
        "half_width": table.half_width,
        "curve": {"users": curve.users.tolist(), "chance": [round(c, 5) for c in curve.chance.tolist()]},
        "half": curve.reaches(0.5),
        "sure": curve.reaches(0.95),
    }
