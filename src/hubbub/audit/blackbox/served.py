"""A subject behind a pipe: JSON lines in, JSON lines out. Any Python from 3.9 on runs it; it imports nothing of ours.

    in   {"subject": "module:function", "settings": {…}}          out  {"ready": names of the settings it takes}
    in   {"claims": {…}}                                          out  {"claims": [ε, δ]}, or null where none are stated
    in   {"logs": [{user: [key, …]}, …], "runs": n}               out  {"ran": n lists, one outcome for each log}
    whatever goes wrong                                           out  {"unfit": [verdict, what was seen]}

An outcome is {"rows": [[key, count], …], "form": …, "error": …, "seconds": …}. What the subject prints goes nowhere.
A function with an attribute `many` is asked for several runs at once: `many(log, runs, **settings)` returns as many
outputs. With a true attribute `loopback` it may talk to a server of its own on this machine, such as Spark's.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import os
import socket
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

NETWORK = "needs the network"
UNREADABLE = "returns no keys"


class BadSubject(Exception):
    """No subject, or none that gives back keys: what is wrong, what was given, what is allowed, what to do."""

    def __init__(self, message: str, given: str, allowed: str = "", advice: str = "") -> None:
        super().__init__(f"{message} Given: {given}.")
        self.message, self.given, self.allowed, self.advice = message, given, allowed, advice


class NetworkUsed(BaseException):
    """Raised inside a subject that opens a connection; no `except Exception` of its own hides it."""


def load(subject: str) -> Any:
    """The function that `module:name` names."""
    module, _, name = subject.partition(":")
    if not module or not name:
        raise BadSubject("A subject is named by its module and its name.", subject, "module:function")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise BadSubject(
            "The subject cannot be imported.", f"{subject}: {error}", "", "run it from the folder of the module"
        ) from error
    if not callable(found):
        raise BadSubject("The subject is not a function.", f"{subject}: {type(found).__name__}")
    return found


def accepted(function: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that a function takes; ε and δ need not be among them."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return dict(settings)
    names = {p.name for p in parameters}
    strange = settings.keys() - names - {"epsilon", "delta"}
    if strange:
        raise BadSubject(
            "The subject takes no such setting.", ", ".join(sorted(strange)), ", ".join(sorted(names)) or "none"
        )
    return {name: value for name, value in settings.items() if name in names}


def rows_of(result: Any) -> tuple[list[tuple[str, Any]], str]:
    """What a subject returned as rows, and what it looked like: a mapping, or an iterable of keys or of pairs."""
    if result is None:
        return [], "None"
    given = result.items() if isinstance(result, Mapping) else result
    if isinstance(result, (str, bytes)) or not isinstance(given, Iterable):
        raise BadSubject(
            "The subject returned nothing that can be read as released keys.",
            f"{type(result).__name__}: {str(result)[:80]}",
            "a mapping of keys to counts, or a list of keys or of (key, count) pairs",
        )
    rows: list[tuple[str, Any]] = []
    kinds = set()
    for one in sorted(given, key=str) if isinstance(result, (set, frozenset)) else given:
        pair = isinstance(one, (tuple, list)) and len(one) == 2
        key, count = (one[0], one[1]) if pair else (one, None)
        kinds.add(f"{type(key).__name__}: {type(count).__name__}")
        number = None if count is None else float(count)
        rows.append((str(key), None if number is None or math.isnan(number) else number))
    return rows, f"{type(result).__name__} of {', '.join(sorted(kinds)) or 'nothing'}"


def copied(log: Mapping[str, Any]) -> dict[str, list[str]]:
    """A log of the subject's own, which it may change."""
    return {user: list(keys) for user, keys in log.items()}


def run(function: Any, log: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """One run: an error of the subject is an output like any other."""
    given, began = copied(log), time.perf_counter()
    try:
        result = function(given, **settings)
        if isinstance(result, Iterable) and not isinstance(result, (Mapping, str, bytes, set, frozenset)):
            result = list(result)
    except Exception as error:
        return failed(error)
    seconds = time.perf_counter() - began
    rows, form = rows_of(result)
    return {"rows": rows, "form": form, "error": "", "seconds": seconds}


def failed(error: Exception) -> dict[str, Any]:
    """An error as an outcome."""
    return {"rows": [], "form": "", "error": f"{type(error).__name__}: {str(error)[:200]}", "seconds": 0.0}


def runs(function: Any, logs: Any, number: int, settings: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """So many runs on each log, in turn; at once, where the subject offers that."""
    many = getattr(function, "many", None)
    if many is None:
        return [[run(function, log, settings) for log in logs] for _ in range(number)]
    batches = []
    for log in logs:
        try:
            outputs = list(many(copied(log), number, **settings))
        except Exception as error:
            batches.append([failed(error)] * number)
            continue
        if len(outputs) != number:
            raise BadSubject("The subject returned another number of outputs.", str(len(outputs)), str(number))
        read = [rows_of(output) for output in outputs]
        batches.append([{"rows": rows, "form": form, "error": "", "seconds": 0.0} for rows, form in read])
    return [[batch[n] for batch in batches] for n in range(number)]


def without_network() -> Any:
    """Refuse every connection from now on; what it returns, once called, lets those to this machine itself pass."""
    here: list[Any] = []

    def guarded(method: Any) -> Any:
        def call(self: Any, *given: Any) -> Any:
            address = given[-1] if given else None
            if isinstance(address, tuple) and address[0] in here:
                return method(self, *given)
            raise NetworkUsed

        return call

    def resolve(host: Any, *given: Any, **named: Any) -> Any:
        if host in here:
            return resolved(host, *given, **named)
        raise NetworkUsed

    resolved = socket.getaddrinfo
    for name in ("connect", "connect_ex", "sendto"):
        setattr(socket.socket, name, guarded(getattr(socket.socket, name)))
    socket.getaddrinfo = resolve
    return lambda: here.extend(("127.0.0.1", "::1", "localhost", socket.gethostname()))


def serve() -> None:
    """Answer until the other side hangs up."""
    asking, telling = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    let_loopback_pass = without_network()
    function: Any = None
    taken: dict[str, Any] = {}
    for line in asking:
        asked = json.loads(line)
        try:
            if "subject" in asked:
                function = load(asked["subject"])
                taken = accepted(function, asked["settings"])
                if getattr(function, "loopback", False):
                    let_loopback_pass()
                answer: dict[str, Any] = {"ready": list(taken)}
            elif "claims" in asked:
                claims = getattr(function, "claims", None)
                answer = {"claims": None if claims is None else list(claims(**asked["claims"]))}
            else:
                answer = {"ran": runs(function, asked["logs"], asked["runs"], taken)}
        except NetworkUsed:
            answer = {"unfit": [NETWORK, "it opened a connection"]}
        except BadSubject as error:
            answer = {"unfit": [UNREADABLE, str(error)]}
        telling.write(json.dumps(answer) + "\n")
        telling.flush()


if __name__ == "__main__":
    if sys.path and os.path.dirname(os.path.abspath(__file__)) == os.path.abspath(sys.path[0]):
        del sys.path[0]  # this folder has modules with names of its own
    serve()
