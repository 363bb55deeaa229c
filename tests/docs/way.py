"""The way of one release through the rooms, traced call by call: the numbers and the picture of docs/architecture.md.

`python -m tests.docs.way` makes up a small log, releases it with seeded noise in a fresh process and prints, as JSON,
every function of the package in the order in which it was first called. Code that runs because a module is imported
does not count; nor do worker threads in the order of calls, since nothing fixes theirs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import hubbub

ROOT = Path(__file__).parents[2]
STORY = "release/story.py"
SCRIPT = "the script"
DOOR = ("__init__.py", "_callable.py")
"""The front door: files of the package itself, in which nothing happens but that a public name is found."""


@dataclass(frozen=True)
class Called:
    """A function of the package at its first call: its file, its name, and which line of the story had led there."""

    file: str
    name: str
    chapter: str

    @property
    def room(self) -> str:
        """The room, or the name of a module that stands beside the rooms."""
        return self.file.split("/")[0].removesuffix(".py")


@dataclass(frozen=True)
class Way:
    """Everything that one release called."""

    calls: tuple[Called, ...]
    threads: tuple[str, ...]
    """Files that worker threads went through."""

    def files(self, room: str | None = None) -> list[str]:
        """The files that the release goes through, in order; of one room, or all."""
        every = dict.fromkeys([call.file for call in self.calls] + sorted(self.threads))
        return [file for file in every if room is None or Called(file, "", "").room == room]

    def rooms(self) -> list[str]:
        """The rooms in the order in which they are entered."""
        return list(dict.fromkeys(call.room for call in self.calls))

    def changes(self) -> int:
        """How often two functions that are first called one after the other lie in different rooms."""
        rooms = [call.room for call in self.calls]
        return sum(one != next for one, next in pairwise(rooms))

    def chapters(self) -> dict[str, Counter[str]]:
        """For each line of the story that enters a file for the first time: how many new files it enters, by room."""
        found: dict[str, Counter[str]] = {}
        entered = set[str]()
        for call in self.calls:
            if call.file not in entered:
                entered.add(call.file)
                found.setdefault(call.chapter, Counter())[call.room] += 1
        return found

    def passed(self, chapter: str) -> set[str]:
        """The rooms in which a line of the story runs a function for the first time."""
        return {call.room for call in self.calls if call.chapter == chapter}


class Tracer:
    """Notes each function of the package when it is first called (`sys.setprofile`)."""

    def __init__(self, home: Path) -> None:
        self.home = f"{home}{os.sep}"
        self.calls: list[Called] = []
        self.threads: set[str] = set()
        self._seen: set[CodeType] = set()
        self._main, self._importing, self._chapter = threading.get_ident(), 0, SCRIPT

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            self._importing += (event == "call") - (event == "return")
        elif event == "call" and not self._importing and code.co_filename.startswith(self.home):
            self._called(frame, code)

    def _called(self, frame: FrameType, code: CodeType) -> None:
        file = code.co_filename.removeprefix(self.home)
        if file in DOOR or not file.endswith(".py"):  # templates are drawn by code that is counted
            return
        if threading.get_ident() != self._main:
            self.threads.add(file)
            return
        if code in self._seen:
            return
        self._seen.add(code)
        self.calls.append(Called(file, code.co_qualname, self._line(frame)))

    def _line(self, frame: FrameType) -> str:
        """The outermost call that the story, or the script before the story, made into another file to get here."""
        path: list[FrameType] = []
        back: FrameType | None = frame
        while back is not None:
            path.append(back)
            back = back.f_back
        title, inside = SCRIPT, False
        for each in reversed(path):
            code = each.f_code
            if not code.co_filename.startswith(self.home) or code.co_name == "<module>":
                continue
            file = code.co_filename.removeprefix(self.home)
            if file == STORY:
                title, inside = STORY, True
            elif title in (SCRIPT, STORY) and file not in DOOR:
                title = f"{Called(file, '', '').room}: {code.co_qualname.split('.<locals>')[0]}"
            if inside and title not in (SCRIPT, STORY):
                break
        return title


def trace(users: int = 300) -> Way:
    """Make up a log, release it once, and give back what was called."""
    from tests.made_up import synthesise

    tracer = Tracer(Path(hubbub.__file__).parent)
    with tempfile.TemporaryDirectory() as work:
        log = Path(work) / "log.tsv"
        synthesise(users, log, seed=7)
        threading.setprofile(tracer)
        sys.setprofile(tracer)
        try:
            mechanism = hubbub.Crowd(epsilon=4, delta="1e-6")
            with hubbub.read_log(log, format="aol", threads=1) as opened:
                hubbub.release(
                    opened, mechanism, Path(work) / "out", ledger=Path(work) / "ledger", seed=5, not_private=True
                )
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return Way(tuple(tracer.calls), tuple(sorted(tracer.threads)))


@cache
def way() -> Way:
    """The way of one release, traced in a fresh process with an empty cache and no ledger: the same everywhere."""
    with tempfile.TemporaryDirectory() as empty:
        environment = os.environ | {"XDG_CACHE_HOME": empty, "HUBBUB_LEDGER": str(Path(empty) / "ledger.sqlite")}
        command = [sys.executable, "-m", "tests.docs.way"]
        done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    return Way(tuple(Called(*each) for each in found["calls"]), tuple(found["threads"]))


def mapped() -> list[str]:
    """The rooms and the modules beside them as the docstring of the package maps them, in its order."""
    return re.findall(r"^    (\w+) {2,}\S", hubbub.__doc__ or "", re.MULTILINE)


if __name__ == "__main__":
    traced = trace()
    calls = [[call.file, call.name, call.chapter] for call in traced.calls]
    print(json.dumps({"calls": calls, "threads": traced.threads}))
