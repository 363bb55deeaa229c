"""A release in a process of its own: the very command, so that no crash of it ends the studio, and cancel is real.

The line that cannot be crossed back is the ledger's reservation: from there on the budget is spent. To cancel, the
process is first stopped where it stands; then the ledger says on which side of that line it is.
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
from typing import IO

from hubbub.errors import HubbubError, Refused
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


@dataclass
class Job:
    """One release that runs in a process of its own."""

    words: list[str]
    out: Path
    population: str
    ledger: Path | None
    epsilon_before: float
    phase: str = "reading"
    lines: list[str] = field(default_factory=list)
    state: str = "running"
    """running, done, failed or cancelled"""
    program: tuple[str, ...] = (sys.executable, "-m", "hubbub")
    _known: int = 0
    _process: subprocess.Popen[str] | None = None
    _readers: list[threading.Thread] = field(default_factory=list)
    _cancelled: bool = False

    def start(self) -> None:
        """Start the command; Ctrl-C on the studio's terminal does not reach it."""
        with Ledger(self.ledger) as book:
            self._known = max((e.id for e in book.entries()), default=0)
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
                for begins, phase in SAID.items():
                    if line.startswith(begins):
                        self.phase = phase

    def _wait(self) -> None:
        process = self._process
        assert process is not None
        code = process.wait()
        for reader in self._readers:
            reader.join()
        if code == 0:
            self.phase, self.state = "done", "done"
        else:
            self.state = "cancelled" if self._cancelled else "failed"

    def entry(self) -> Entry | None:
        """What this run reserved in the ledger, if it came so far."""
        with Ledger(self.ledger) as book:
            return next((e for e in book.entries(self.population) if e.id > self._known), None)

    def cancel(self) -> None:
        """End the run if nothing is spent; refuse, with the reason, if something is."""
        process = self._process
        if process is None or self.state != "running":
            raise Refused("There is nothing to cancel: this release has ended.", given=self.state)
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGSTOP)
            try:
                late = self.phase in PHASES[2:] or self.entry() is not None
            except HubbubError:  # the ledger could not be read while the run stands still: it may be writing
                late = True
            if not late:
                self._cancelled = True
                process.terminate()  # held back until it goes on: then it unwinds, and removes its copies of the log
            process.send_signal(signal.SIGCONT)
            if late:
                raise Refused(LATE, next="wait: it will soon be there")

    def finish(self) -> None:
        """The studio ends: end the run as well if that is free, else wait for it."""
        if self._process is not None and self.state == "running":
            with suppress(Refused):
                self.cancel()
            self._process.wait()

    def told(self) -> str:
        """What became of it, and of the budget: the ledger's word."""
        entry = self.entry()
        if self.state == "done":
            return "The release stands."
        if entry is None:
            return "Nothing was reserved in the ledger, so nothing is spent." if self.state != "running" else ""
        drew = "noise was drawn" if entry.state == "drawing" else "no noise was drawn yet"
        if self.state == "running":
            return f"The budget is reserved (ledger entry {entry.id})."
        return f"Its budget is spent: ledger entry {entry.id} stands as {entry.state}; {drew}, and nothing was written."
