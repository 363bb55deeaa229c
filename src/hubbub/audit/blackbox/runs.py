"""A subject in a process of its own: it may hang, crash, talk to the network or keep a memory, and harms nobody.

The process is started anew for each setting and answers batches: a log and a number of runs go in, outcomes come out.
"""

from __future__ import annotations

import contextlib
import inspect
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from hubbub.audit.blackbox import served
from hubbub.audit.blackbox.another import AnotherPython
from hubbub.audit.blackbox.logs import Log
from hubbub.audit.blackbox.outcome import RunOutcome, outcome_from
from hubbub.errors import InputError

HANGS = "hangs"
CRASHES = "crashes"
BATCH = 128
SLOWEST_IMPORT = 60.0
MOST_WALKED = 20_000
LONGEST_WALK = 3.0
"""Values of the noise that are walked through for one log, and seconds; where there are more, runs are drawn."""


class Unfit(Exception):
    """A subject that cannot be audited: its verdict, and what was seen."""

    def __init__(self, verdict: str, seen: str) -> None:
        super().__init__(seen)
        self.verdict, self.seen = verdict, seen


def load(subject: str) -> Callable[..., Any]:
    """The function that `module:name` names."""
    try:
        found: Callable[..., Any] = served.load(subject)
    except served.BadSubject as bad:
        raise InputError(bad.message, given=bad.given, allowed=bad.allowed, next=bad.advice) from bad
    return found


def run(function: Callable[..., Any], log: Log, settings: Mapping[str, Any]) -> RunOutcome:
    """One run: an error of the subject is an output like any other."""
    return outcome_from(served.run(function, log, settings))


def law(
    function: Callable[..., Any], log: Log, settings: Mapping[str, Any]
) -> tuple[dict[RunOutcome, float], float] | None:
    """The exact law of a subject that takes its noise as an argument, and the mass that was lumped; else None."""
    if "noise" not in inspect.signature(function).parameters:
        return None
    from hubbub.audit.blackbox.walk import NarrowNoise

    noise, found, draws, began = NarrowNoise(), dict[RunOutcome, float](), 0, time.perf_counter()
    try:
        for n, _ in enumerate(noise.runs()):
            if n >= MOST_WALKED or time.perf_counter() > began + LONGEST_WALK:
                return None
            out = replace(run(function, log, {**settings, "noise": noise}), pace=0)
            if out.error.startswith(("NotImplementedError", "AttributeError")):
                return None  # it draws what cannot be walked through
            found[out] = found.get(out, 0.0) + noise.mass
            draws = max(draws, noise.at)
    except RuntimeError:  # it draws more than can be walked through
        return None
    return found, draws * noise.tail


def _serve(pipe: Connection, subject: str, settings: Mapping[str, Any]) -> None:
    """What the process does: batches in, outcomes out."""
    let_loopback_pass = served.without_network()
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            function = served.load(subject)
            taken = served.accepted(function, settings)
            if getattr(function, "loopback", False):
                let_loopback_pass()
            pipe.send(("ready", list(taken)))
            while (asked := pipe.recv()) is not None:
                logs, runs = asked  # no runs: the law itself
                pipe.send(("ran", served.runs(function, logs, runs, taken) if runs else law(function, logs[0], taken)))
    except served.NetworkUsed:
        pipe.send((served.NETWORK, "it opened a connection"))
    except served.BadSubject as error:
        pipe.send((served.UNREADABLE, str(error)))
    except EOFError:
        return


class OurPython:
    """A process of the Python that runs hubbub: subjects may take its noise, and be walked through."""

    def __init__(self, subject: str, settings: Mapping[str, Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, subject, dict(settings)), daemon=True)
        self._process.start()
        theirs.close()

    def send(self, asked: tuple[tuple[Log, ...], int]) -> None:
        """Ask for so many runs on these logs, or with 0 for the law on the first."""
        self._pipe.send(asked)

    def receive(self, limit: float) -> tuple[str, Any]:
        """The next answer: its kind, and what it says. TimeoutError where none comes, EOFError where none will."""
        if not self._pipe.poll(limit):
            raise TimeoutError
        kind, said = self._pipe.recv()
        return kind, said

    def ended(self) -> int | None:
        """What it ended with."""
        self._process.join(5)
        return self._process.exitcode

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


class SubjectProcess:
    """A subject that answers from its own process, and is ended with it."""

    def __init__(self, subject: str, settings: Mapping[str, Any], limit: float, python: str = "") -> None:
        self.subject, self.limit, self.runs = subject, limit, 0
        self._process: OurPython | AnotherPython = (
            AnotherPython(python, subject, settings) if python else OurPython(subject, settings)
        )
        try:
            takes = self._answer(max(limit, SLOWEST_IMPORT), "was imported")
        except Unfit:
            self.close()
            raise
        self.taken = {name: settings[name] for name in takes}

    def sample(self, log: Log, runs: int) -> list[RunOutcome]:
        """So many runs on one log."""
        return self.sample_both((log,), runs)[0]

    def sample_both(self, logs: tuple[Log, ...], runs: int) -> list[list[RunOutcome]]:
        """So many runs on each log, in turn: whatever drifts meanwhile is the same for all."""
        found: list[list[RunOutcome]] = []
        while len(found) < runs:
            n = min(BATCH, runs - len(found))
            answered = self._ask(logs, n, self.limit * n * len(logs))
            found += [[outcome_from(told) for told in turn] for turn in answered]
        self.runs += runs * len(logs)
        return [list(of) for of in zip(*found, strict=True)]

    def law(self, log: Log) -> tuple[dict[RunOutcome, float], float] | None:
        """Its exact law on one log, where its noise can be walked through."""
        if isinstance(self._process, AnotherPython):
            return None
        found: tuple[dict[RunOutcome, float], float] | None = self._ask((log,), 0, max(self.limit, 60.0))
        return found

    def claims(self, settings: Mapping[str, Any]) -> tuple[float, float] | None:
        """The ε and δ that a subject under another Python states for these settings."""
        assert isinstance(self._process, AnotherPython)
        self._process.claims(settings)
        found = self._answer(max(self.limit, 60.0), "said what it claims")
        return None if found is None else (float(found[0]), float(found[1]))

    def _ask(self, logs: tuple[Log, ...], runs: int, limit: float) -> Any:
        with contextlib.suppress(OSError, EOFError):  # a process that ended says so below
            self._process.send((logs, runs))
        return self._answer(limit, "ran")

    def _answer(self, limit: float, doing: str) -> Any:
        try:
            kind, said = self._process.receive(limit)
        except TimeoutError as error:
            raise Unfit(HANGS, f"nothing came back in {limit:g} seconds while it {doing}") from error
        except (EOFError, OSError) as error:
            raise Unfit(CRASHES, f"its process ended with {self._process.ended()} while it {doing}") from error
        if kind in ("ready", "ran", "claims"):
            return said
        raise Unfit(kind, said)

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._process.close()

    def __enter__(self) -> SubjectProcess:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()
