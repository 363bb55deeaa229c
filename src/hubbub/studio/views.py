"""The answers: pages, and numbers for them."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from hubbub.errors import HubbubError, ParameterError, Refused, UserError
from hubbub.ingest.proposal import ROLES
from hubbub.look.estimate.result import TableEstimate
from hubbub.look.estimate.why import explain
from hubbub.mechanisms import Mechanism, mechanisms
from hubbub.privacy.guarantee import number
from hubbub.privacy.ledger import Ledger
from hubbub.privacy.ledger.words import standing_of
from hubbub.release.opened import Release
from hubbub.show.charts.page import as_json
from hubbub.studio import browse, quick
from hubbub.studio.asked import Question, choices, offered, rivals
from hubbub.studio.columns import NEEDED, preselected
from hubbub.studio.state import CONFIRM, Studio

PAGE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
"""A release's own page, as it was made: its looks, and none of its scripts."""
Answer = dict[str, object]


class Views:
    """Pages and numbers of one studio. `base` is the secret first part of every address."""

    def __init__(self, studio: Studio, base: str) -> None:
        self.studio, self.base = studio, base
        self.pages = Environment(
            loader=PackageLoader("hubbub.studio"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self.pages.filters["n"] = lambda x: f"{x:,}" if isinstance(x, int) else f"{x:,.3g}"

    def _page(self, template: str, **facts: Any) -> Response:
        shared = {"base": self.base, "here": template, "log": self.studio.opened, "studio": self.studio}
        return HTMLResponse(self.pages.get_template(template).render(**shared, **facts))

    # ------------------------------------------------------------------ choose

    def tune(self, request: Request, _: Answer) -> Response:
        """The log, what to ask of it, and what that would keep; of an unknown file, which column is what."""
        opened = self.studio.opened
        if opened is not None and opened.proposal is not None and opened.asks:
            picked = preselected(opened.proposal, opened.chosen)
            return self._page("columns.html", roles=ROLES, needed=NEEDED, picked=picked)
        facts = {"tolerance": quick.TOLERANCE, "tolerance_rows": quick.TOLERANCE_ROWS}
        return self._page("tune.html", form=as_json(self._form()), **facts)

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

    def opened(self, request: Request, _: Answer) -> Answer:
        """Whether the log is read, and how much of it."""
        opened = self.studio.opened
        if opened is None:
            return {"ready": False, "problem": "No log was opened."}
        return {"ready": opened.ready, "problem": opened.problem, "share": opened.share}

    def _sketches(self) -> dict[str, Any]:
        opened = self.studio.opened
        if opened is None or not opened.ready:
            raise Refused("There is no log to estimate from.", next="wait until it is read, or open one")
        return opened.sketches

    def estimate(self, request: Request, body: Answer) -> Answer:
        """Thresholds, rows, the survival curve, the error: quick estimates."""
        started, sketches = time.perf_counter(), self._sketches()
        asked = Question.read(body)
        mechanism = asked.build()
        found = quick.estimate(mechanism, sketches)
        return {
            "tables": {name: table_record(table) for name, table in found.items()},
            "thresholds": {t: -int(-e.utility["level"] // 1) for t, e in found.items() if "level" in e.utility}
            | mechanism.thresholds(),
            "later": [t for t in mechanism.tables if t not in found],
            "warnings": self._warnings(mechanism, found),
            "milliseconds": round(1000 * (time.perf_counter() - started)),
        }

    def _warnings(self, mechanism: Mechanism, found: dict[str, TableEstimate]) -> list[str]:
        opened = self.studio.opened
        assert opened is not None and opened.profile is not None
        delta = mechanism.loss().delta
        warnings = []
        if delta * opened.profile.users >= 1:
            warnings.append(f"δ = {number(delta)} is not below 1/users: it would allow publishing somebody outright.")
        for name, table in found.items():
            if table.rows < 1:
                warnings.append(
                    f"{name}: less than one row is expected; raise ε or δ, or bound each user more tightly."
                )
        return warnings

    def compare(self, request: Request, body: Answer) -> Answer:
        """Every mechanism at the same (ε, δ), for queries, each with the bound that keeps most rows."""
        sketches = self._sketches()
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
        """The claim, the ledger before and after, why thresholds are as high as they are, and the command."""
        asked, name = Question.read(body), str(body.get("name") or "")
        why = [
            {"step": w.step, "sentence": w.sentence, "lower": [f"{t:,.4g} with {c}" for c, t in w.lower[:4]]}
            for w in explain(asked.build())
        ]
        return self.studio.consequences(asked, name, _confirmed(body)) | {"why": why}

    # ------------------------------------------------------------------ release

    def start(self, request: Request, body: Answer) -> Answer:
        """Start a release; every refusal is the library's own."""
        if body.get("agreed") is not True:
            raise ParameterError("Nothing is spent without your word.", next="say that you agree to spend this budget")
        self.studio.start(Question.read(body), str(body.get("name") or ""), _confirmed(body))
        return {"job": self.studio.progress()}

    def cancel(self, request: Request, body: Answer) -> Answer:
        """Cancel the run, if nothing is spent."""
        if self.studio.job is None:
            raise Refused("No release is running.")
        self.studio.job.cancel()
        return {"job": self.studio.progress()}

    def job(self, request: Request, _: Answer) -> Answer:
        """How far the running release is."""
        return {"job": self.studio.progress()}

    # ------------------------------------------------------------------ browse

    def releases(self, request: Request, _: Answer) -> Response:
        """Every release that may be shown."""
        self.studio.progress()
        found: list[tuple[str, Release | None, str]] = []
        for name in self.studio.releases:
            try:
                found.append((name, self.studio.release(name), ""))
            except (HubbubError, OSError) as error:
                found.append((name, None, str(error)))
        return self._page("releases.html", found=found)

    def release(self, request: Request, _: Answer) -> Response:
        """One release: its claim, its tables, its queries."""
        self.studio.progress()
        name = request.path_params["name"]
        release = self.studio.release(name)
        sizes = {table: len(getattr(release, table)) for table in release.tables}
        return self._page("release.html", name=name, release=release, card=release.card, sizes=sizes)

    def page(self, request: Request, _: Answer) -> Response:
        """The page that goes out with a release."""
        release = self.studio.release(request.path_params["name"])
        text = (release.public / "index.html").read_text(encoding="utf-8")
        return HTMLResponse(text, headers={"content-security-policy": PAGE_POLICY})

    def search(self, request: Request, _: Answer) -> Answer:
        """Released queries that hold a text."""
        return browse.search(self.studio.release(request.path_params["name"]), request.query_params.get("q", ""))

    def around(self, request: Request, _: Answer) -> Answer:
        """What hangs on a released query."""
        query = request.query_params.get("q", "")
        found = browse.around(self.studio.release(request.path_params["name"]), query)
        if found is None:
            raise ParameterError("This release does not hold that query.", given=query)
        return found

    def again(self, request: Request, _: Answer) -> Response:
        """Publish once or again: a question that no log answers."""
        return self._page("again.html")

    def ledger(self, request: Request, _: Answer) -> Response:
        """Every population: what is spent, the cap, every entry; and the looks at this log."""
        with Ledger(self.studio.ledger) as book:
            entries = book.entries()
            names = sorted({e.population for e in entries} | {self.studio.population})
            populations = [
                (
                    name,
                    book.spent(name),
                    book.cap_of(name),
                    [e for e in entries if e.population == name],
                    [*standing_of(book.standing(name))],
                )
                for name in names
            ]
            looks = book.looks(self.studio.population, self.studio.dataset)
        return self._page("ledger.html", populations=populations, looks=looks, number=number)


def _confirmed(body: Answer) -> frozenset[str]:
    """Which of the boxes that ask for a confirmation are ticked; other names mean nothing."""
    ticked = body.get("confirmed")
    return frozenset(flag for flag in CONFIRM if isinstance(ticked, list) and flag in ticked)


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
