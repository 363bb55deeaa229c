"""The answers about releases: the list, one release and what can be done with it, its review, the ledger."""

from __future__ import annotations

import re
from pathlib import Path

from jinja2 import TemplateError
from pyarrow import ArrowException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from hubbub.card.check import load, parsed, public_folder
from hubbub.card.notice import read_notice
from hubbub.errors import HubbubError, InputError, ParameterError, Refused
from hubbub.privacy.guarantee import number, small
from hubbub.privacy.ledger import Ledger
from hubbub.privacy.ledger.words import standing_of
from hubbub.show.charts.page import code
from hubbub.show.export import formats
from hubbub.show.page import csp, read_tables, render
from hubbub.studio import browse
from hubbub.studio.after import following, one_folder
from hubbub.studio.jobs import Job
from hubbub.studio.pages import StudioPages
from hubbub.studio.reviewing import ReviewDesk, Wanted
from hubbub.studio.shelf import APPROVED, Shelved, shelved
from hubbub.studio.state import Studio
from hubbub.worth.tasks import tasks

PAGE_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src '{}'; style-src 'unsafe-inline'; img-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
"""A page of a release as it was made: its looks, and of scripts the one that this hubbub writes, by its hash. It has no
origin of its own, so it can ask this server nothing."""
SCRIPT = re.compile(r"script-src '(sha256-[A-Za-z0-9+/=]+)'")
Answer = dict[str, object]


class ReleasedViews:
    """Pages and answers that need no log."""

    def __init__(self, studio: Studio, base: str) -> None:
        self.studio, self.pages = studio, StudioPages(studio, base)

    def _shelved(self) -> list[Shelved]:
        self.studio.progress()
        self.studio.look_around()
        return shelved(self.studio.releases, self.studio.ledger)

    def releases(self, request: Request, _: Answer) -> Response:
        """Every release that may be shown, newest first."""
        return self.pages.page("releases.html", found=self._shelved(), small=small)

    def release(self, request: Request, _: Answer) -> Response:
        """One release: its claim, its tables, its queries, and what can be done with it."""
        name = request.path_params["name"]
        self.studio.path(name)
        one = next(found for found in self._shelved() if found.name == name)
        if one.card is None:
            raise InputError(one.problem or "There is no release here.")
        facts = {
            "one": one,
            "card": one.card,
            "files": {f.path.removesuffix(".parquet"): f.rows for f in one.card.release.files if f.rows is not None},
            "report": (one.path / "owner-only" / "report.html").is_file(),
            "tasks": {task: kind.about for task, kind in tasks().items()},
            "formats": formats(),
        }
        return self.pages.page("release.html", name, name=name, draft=bool(one.card.release.draft), **facts)

    def page(self, request: Request, _: Answer) -> Response:
        """The page that goes out with a release; its script runs if the whole page is as this hubbub makes it."""
        public = public_folder(self.studio.path(request.path_params["name"]))
        text = _text(public / "index.html")
        script = SCRIPT.search(text) if _ours(public, text) else None
        return _sandboxed(text, "none" if script is None else script[1])

    def report(self, request: Request, _: Answer) -> Response:
        """The owner's report of a release."""
        text = _text(self.studio.path(request.path_params["name"]) / "owner-only" / "report.html")
        return _sandboxed(text, csp(code()))

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

    def run(self, request: Request, body: Answer) -> Answer:
        """Start a command about a release: report, evaluate or export."""
        name = request.path_params["name"]
        job = following(str(body.get("kind")), name, self.studio.path(name), self.studio.folder, body)
        self.studio.run(job)
        return {"job": self.studio.progress()}

    # ------------------------------------------------------------------ review

    def review(self, request: Request, _: Answer) -> Response:
        """The drawn rows of a release, to look at, to strike and to approve."""
        name = request.path_params["name"]
        path = self.studio.path(name)
        card, notice = parsed(load(path, draft=True)), read_notice(public_folder(path))
        self.studio.desk(name)
        return self.pages.page("review.html", name, name=name, card=card, notice=notice)

    def reviewed(self, request: Request, _: Answer) -> Answer:
        """How the review stands."""
        name = request.path_params["name"]
        return self.studio.desk(name).record() | {"approved": self._approved(name)}

    def rows(self, request: Request, _: Answer) -> Answer:
        """Some of the drawn rows."""
        asked = request.query_params
        desk = self._desk(request)
        begin, count = (_count(asked.get(name, "0")) for name in ("from", "count"))
        return desk.shown(Wanted.read(dict(asked) | {"only": asked.get("only", "all")}), begin, count)

    def strike(self, request: Request, body: Answer) -> Answer:
        """Strike a row, a table or all that is shown, or take a strike back."""
        desk, name = self._desk(request), request.path_params["name"]
        if new := self._approved(name):
            raise Refused("This draft was approved already.", given=name, next=f"review {new} instead")
        job = self.studio.job
        if job is not None and job.state == "running" and job.kind == "review" and job.about == name:
            raise Refused("This release is being approved right now.", given=name, next="wait for it, and look again")
        shown = body.get("shown")
        if isinstance(shown, dict):
            return {"struck": desk.strike_all(Wanted.read(shown), str(body.get("reason") or ""))} | desk.record()
        table, key, second, reason, was = (str(body.get(k) or "") for k in ("table", "key", "second", "reason", "was"))
        desk.decide((table, key, second), reason, was)
        return {"struck": int(bool(reason))} | desk.record()

    def approve(self, request: Request, body: Answer) -> Answer:
        """Write the release anew, without what was struck, as somebody."""
        desk, name = self._desk(request), request.path_params["name"]
        by = " ".join(str(body.get("by") or "").split())
        if not by:
            raise ParameterError("Who approves it?", next="say your name, or your role: the card will state it")
        if body.get("seen") != desk.version():
            raise Refused(
                "Somebody else changed what is struck since you looked.",
                next="look at it again: the page shows it now; then approve it",
            )
        out = self.studio.folder / one_folder(body.get("name"), self.studio.folder)
        words = ["review", str(desk.path), "--approve", "--by", by, "--out", str(out)]
        if desk.file.is_file():
            words += ["--strike", str(desk.file)]
        if self.studio.ledger is not None:
            words += ["--ledger", str(self.studio.ledger)]
        self.studio.run(Job(words, name, out))
        return {"job": self.studio.progress()}

    def _desk(self, request: Request) -> ReviewDesk:
        desk = self.studio.desk(request.path_params["name"])
        if not desk.ready:
            raise Refused(desk.problem or "The rows are being looked at.", next="wait until they are there")
        return desk

    def _approved(self, name: str) -> str:
        """The release that was made of a draft, if there is one."""
        one = next((found for found in self._shelved() if found.name == name), None)
        return "" if one is None or one.state != APPROVED else one.successor or "the release that was made of it"

    # ------------------------------------------------------------------ beside releases

    def again(self, request: Request, _: Answer) -> Response:
        """Publish once or again: a question that no log answers."""
        return self.pages.page("again.html")

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
        return self.pages.page("ledger.html", populations=populations, looks=looks, number=number, small=small)


def _text(file: Path) -> str:
    if not file.is_file():
        raise InputError("There is no such page.", given=file)
    return file.read_text(encoding="utf-8")


def _ours(public: Path, text: str) -> bool:
    """Whether a page is what this hubbub makes of the card and the tables beside it."""
    try:
        card = parsed(load(public))
        return render(card, read_tables(public, card)).get("index.html") == text
    except (HubbubError, ArrowException, TemplateError, OSError, ValueError, LookupError, TypeError):
        return False


def _sandboxed(text: str, script: str) -> Response:
    return HTMLResponse(text, headers={"content-security-policy": PAGE_POLICY.format(script)})


def _count(text: str) -> int:
    return int(text) if text.isdecimal() else 0
