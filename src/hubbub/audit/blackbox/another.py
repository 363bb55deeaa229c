"""A subject under another Python, which has packages that hubbub has not: asked and answering in lines of JSON."""

from __future__ import annotations

import json
import selectors
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hubbub.audit.blackbox.logs import Log
from hubbub.errors import InputError

SERVED = Path(__file__).with_name("served.py")
MOST_READ = 1 << 16


class AnotherPython:
    """The process; `served.py` is what runs in it."""

    def __init__(self, python: str, subject: str, settings: Mapping[str, Any]) -> None:
        try:
            self._process = subprocess.Popen([python, str(SERVED)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise InputError(
                "The other Python cannot be started.",
                given=f"{python}: {error}",
                next="name the program of an environment, such as venv/bin/python",
            ) from error
        self._read = b""
        self._selector = selectors.DefaultSelector()
        assert self._process.stdout is not None
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        self._tell({"subject": subject, "settings": dict(settings)})

    def send(self, asked: tuple[tuple[Log, ...], int]) -> None:
        """Ask for so many runs on these logs."""
        logs, runs = asked
        self._tell({"logs": logs, "runs": runs})

    def claims(self, settings: Mapping[str, Any]) -> None:
        """Ask what is claimed at these settings."""
        self._tell({"claims": dict(settings)})

    def _tell(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise EOFError from error

    def receive(self, limit: float) -> tuple[str, Any]:
        """The next answer: its kind, and what it says. TimeoutError where none comes, EOFError where none will."""
        assert self._process.stdout is not None
        until = time.monotonic() + limit
        while b"\n" not in self._read:
            if not self._selector.select(max(0.0, until - time.monotonic())):
                raise TimeoutError
            more = self._process.stdout.read1(MOST_READ)  # type: ignore[attr-defined]
            if not more:
                raise EOFError
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        ((kind, said),) = json.loads(line).items()
        return (said[0], said[1]) if kind == "unfit" else (kind, said)

    def ended(self) -> int | None:
        """What it ended with."""
        return self._process.wait(5)

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()
        self._process.communicate()
        self._selector.close()
