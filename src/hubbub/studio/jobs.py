"""Commands in processes of their own, so that no crash of one ends the studio, and cancel is real.

A release is the one that spends. The line that it cannot cross back is the ledger's reservation: from there on the
budget is spent. To cancel, the process is first stopped where it stands; then the ledger says on which side of that
line it is. What else can be run (report, evaluate, export) spends nothing, and can be cancelled at any time; an
approval writes a folder whole and the ledger with it, and is not stopped half-way.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar

from hubbub.errors import HubbubError, Refused
from hubbub.privacy.guarantee import number
from hubbub.privacy.ledger import Entry, Ledger

PHASES = ("reading", "measuring", "drawing", "writing", "done")
SAID = {
    "measuring: ": "measuring",
    "drawing noise": "drawing",
    "writing the release": "writing",
    "looking at what was kept": "writing",
}
BUG = "hubbub: this is a bug of ours, please report it"
LATE = (
    "The budget of this release is reserved, and its noise is being drawn: that cannot be taken back. Cancelling now "
    "would spend the budget and leave nothing for it, so the release goes on."
)
WHOLE = "An approval is written whole, in seconds, and is not stopped half-way."
SHOWN = 400
"""The lines that the page shows, the last ones."""


@dataclass
class Job:
    """One command that runs in a process of its own."""

    words: list[str]
    """Its words; the first one is the command."""
    about: str
    """The name of the release that it is about."""
    makes: Path | None = None
    """The folder that it makes, if it does."""
    lines: list[str] = field(default_factory=list)
    state: str = "running"
    """running, done, failed or cancelled"""
    program: tuple[str, ...] = (sys.executable, "-m", "hubbub")
    phases: ClassVar[tuple[str, ...]] = ()
    phase: str = ""
    _process: subprocess.Popen[str] | None = None
    _readers: list[threading.Thread] = field(default_factory=list)
    _cancelled: bool = False

    @property
    def kind(self) -> str:
        """The command."""
        return self.words[0] if self.words else "release"

    def start(self) -> None:
        """Start the command; Ctrl-C on the studio's terminal does not reach it."""
        self._process = subprocess.Popen(
            [*self.program, *self.words, "--verbose"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            env=os.environ | {"PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"},
        )
        pipes = [self._process.stdout, self._process.stderr]
        self._readers = [threading.Thread(target=self._read, args=(pipe,), daemon=True) for pipe in pipes]
        for reader in self._readers:
            reader.start()
        threading.Thread(target=self._wait, daemon=True).start()

    def _read(self, pipe: IO[str]) -> None:
        with pipe:
            quotes = False
            for line in pipe:
                if quotes or line.startswith(BUG):  # a traceback may quote the log: it is for a terminal
                    self.lines += [] if quotes else [f"{BUG}; run the command in a terminal to see more"]
                    quotes = True
                    continue
                self.lines.append(line.rstrip("\n"))
                self._heard(line)

    def _heard(self, line: str) -> None:
        """A line that the command said."""

    def _wait(self) -> None:
        process = self._process
        assert process is not None
        code = process.wait()
        for reader in self._readers:
            reader.join()
        if code == 0:
            self.phase = self.phases[-1] if self.phases else ""
            self.state = "done"
        else:
            self.state = "cancelled" if self._cancelled else "failed"

    def late(self) -> str:
        """Why it cannot be cancelled any more; nothing, if it can."""
        return WHOLE if self.kind == "review" else ""

    def cancel(self) -> None:
        """End the run, or refuse with the reason why not."""
        process = self._process
        if process is None or self.state != "running":
            raise Refused("There is nothing to cancel: it has ended.", given=self.state)
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGSTOP)
            why = self.late()
            if not why:
                self._cancelled = True
                process.terminate()  # held back until it goes on: then it unwinds, and removes its copies of the log
            process.send_signal(signal.SIGCONT)
            if why:
                raise Refused(why, next="wait: it will soon be there")

    def finish(self) -> None:
        """The studio ends: end the run as well if that is free, else wait for it."""
        if self._process is not None and self.state == "running":
            with suppress(Refused):
                self.cancel()
            self._process.wait()

    def told(self) -> str:
        """What became of it, and of the budget."""
        ended = {"done": "It is done. ", "cancelled": "It was stopped. ", "failed": "It failed. "}.get(self.state, "")
        return f"{ended}It spends no budget."

    def record(self) -> dict[str, object]:
        """For the page."""
        return {
            "kind": self.kind,
            "about": self.about,
            "state": self.state,
            "phase": self.phase,
            "phases": list(self.phases),
            "lines": self.lines[-SHOWN:],
            "told": self.told(),
        }


@dataclass(kw_only=True)
class ReleaseJob(Job):
    """A release: what it does to the ledger is told, and decides whether it can be cancelled."""

    population: str
    ledger: Path | None
    epsilon_before: float
    phases: ClassVar[tuple[str, ...]] = PHASES
    phase: str = PHASES[0]
    _known: int = 0

    def start(self) -> None:
        """Start it; whatever the ledger holds from now on for this population may be its own."""
        with Ledger(self.ledger) as book:
            self._known = max((e.id for e in book.entries()), default=0)
        super().start()

    def _heard(self, line: str) -> None:
        for begins, phase in SAID.items():
            if line.startswith(begins):
                self.phase = phase

    def entry(self) -> Entry | None:
        """What this run reserved in the ledger, if it came so far."""
        with Ledger(self.ledger) as book:
            return next((e for e in book.entries(self.population) if e.id > self._known), None)

    def late(self) -> str:
        """From the reservation on: the budget is spent."""
        try:
            reserved = self.phase in PHASES[2:] or self.entry() is not None
        except HubbubError:  # the ledger could not be read while the run stands still: it may be writing
            reserved = True
        return LATE if reserved else ""

    def told(self) -> str:
        """What became of it, and of the budget: the ledger's word."""
        entry = self.entry()
        if self.state == "done":
            return (
                "The release stands, as a draft."
                if entry is not None and entry.state == "draft"
                else ("The release stands.")
            )
        if entry is None:
            return "Nothing was reserved in the ledger, so nothing is spent." if self.state != "running" else ""
        drew = "noise was drawn" if entry.state == "drawing" else "no noise was drawn yet"
        if self.state == "running":
            return f"The budget is reserved (ledger entry {entry.id})."
        return f"Its budget is spent: ledger entry {entry.id} stands as {entry.state}; {drew}, and nothing was written."

    def record(self) -> dict[str, object]:
        """For the page, with the ledger before and now."""
        found = super().record()
        with Ledger(self.ledger) as book:
            after = book.spent(self.population).epsilon
        return found | {"before": number(self.epsilon_before), "now": number(after)}
