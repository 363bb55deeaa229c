"""A subject in a process of its own: it may hang, crash, talk to the network or keep a memory, and harms nobody.

The process is started anew for each setting and answers batches: a log and a number of runs go in, outcomes come out.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from hubbub.audit.blackbox.logs import Log
from hubbub.audit.blackbox.outcome import RunOutcome, outcome_of
from hubbub.errors import InputError

NETWORK = "needs the network"
HANGS = "hangs"
CRASHES = "crashes"
UNREADABLE = "returns no keys"
BATCH = 64
MOST_WALKED = 20_000
LONGEST_WALK = 3.0
"""Values of the noise that are walked through for one log, and seconds; where there are more, runs are drawn."""


class Unfit(Exception):
    """A subject that cannot be audited: its verdict, and what was seen."""

    def __init__(self, verdict: str, seen: str) -> None:
        super().__init__(seen)
        self.verdict, self.seen = verdict, seen


class NetworkUsed(BaseException):
    """Raised inside a subject that opens a connection; no `except Exception` of its own hides it."""


def load(subject: str) -> Callable[..., Any]:
    """The function that `module:name` names."""
    module, _, name = subject.partition(":")
    if not module or not name:
        raise InputError("A subject is named by its module and its name.", given=subject, allowed="module:function")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise InputError(
            "The subject cannot be imported.", given=f"{subject}: {error}", next="run it from the folder of the module"
        ) from error
    if not callable(found):
        raise InputError("The subject is not a function.", given=f"{subject}: {type(found).__name__}")
    return found  # type: ignore[no-any-return]


def accepted(function: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that a function takes; ε and δ need not be among them."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return dict(settings)
    names = {p.name for p in parameters}
    if strange := settings.keys() - names - {"epsilon", "delta"}:
        raise InputError(
            "The subject takes no such setting.",
            given=", ".join(sorted(strange)),
            allowed=", ".join(sorted(names)) or "none",
        )
    return {name: value for name, value in settings.items() if name in names}


def run(function: Callable[..., Any], log: Log, settings: Mapping[str, Any]) -> RunOutcome:
    """One run: an error of the subject is an output like any other."""
    given = {user: list(keys) for user, keys in log.items()}
    began = time.perf_counter()
    try:
        result = function(given, **settings)
        if not isinstance(result, Mapping | str | bytes | set | frozenset) and result is not None:
            with contextlib.suppress(TypeError):
                result = list(result)
    except Exception as error:
        return RunOutcome(error=f"{type(error).__name__}: {str(error)[:200]}")
    return outcome_of(result, time.perf_counter() - began)


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
    import socket

    def refused(*_: Any, **__: Any) -> Any:
        raise NetworkUsed

    for name in ("connect", "connect_ex", "sendto"):
        setattr(socket.socket, name, refused)
    socket.getaddrinfo = refused
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            function = load(subject)
            taken = accepted(function, settings)
            pipe.send(("ready", None))
            while (asked := pipe.recv()) is not None:
                logs, runs = asked  # no runs: the law itself
                in_turn = [[run(function, log, taken) for log in logs] for _ in range(runs)]
                pipe.send(("ran", in_turn if runs else law(function, logs[0], taken)))
    except NetworkUsed:
        pipe.send((NETWORK, "it opened a connection"))
    except InputError as error:
        pipe.send((UNREADABLE, str(error)))
    except EOFError:
        return


class SubjectProcess:
    """A subject that answers from its own process, and is ended with it."""

    def __init__(self, subject: str, settings: Mapping[str, Any], limit: float) -> None:
        self.subject, self.limit, self.runs = subject, limit, 0
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, subject, dict(settings)), daemon=True)
        self._process.start()
        theirs.close()
        self._answer(max(limit, 60.0), "was imported")

    def sample(self, log: Log, runs: int) -> list[RunOutcome]:
        """So many runs on one log."""
        return self.sample_both((log,), runs)[0]

    def sample_both(self, logs: tuple[Log, ...], runs: int) -> list[list[RunOutcome]]:
        """So many runs on each log, in turn: whatever drifts meanwhile is the same for all."""
        found: list[list[RunOutcome]] = []
        while len(found) < runs:
            n = min(BATCH, runs - len(found))
            self._pipe.send((logs, n))
            found += self._answer(self.limit * n * len(logs), "ran")
        self.runs += runs * len(logs)
        return [list(of) for of in zip(*found, strict=True)]

    def law(self, log: Log) -> tuple[dict[RunOutcome, float], float] | None:
        """Its exact law on one log, where its noise can be walked through."""
        self._pipe.send(((log,), 0))
        found: tuple[dict[RunOutcome, float], float] | None = self._answer(max(self.limit, 60.0), "ran")
        return found

    def _answer(self, limit: float, doing: str) -> Any:
        try:
            if not self._pipe.poll(limit):
                raise Unfit(HANGS, f"nothing came back in {limit:g} seconds while it {doing}")
            kind, said = self._pipe.recv()
        except (EOFError, OSError) as error:
            self._process.join(5)
            raise Unfit(CRASHES, f"its process ended with {self._process.exitcode} while it {doing}") from error
        if kind in ("ready", "ran"):
            return said
        raise Unfit(kind, said)

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def __enter__(self) -> SubjectProcess:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()
