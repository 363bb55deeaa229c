"""Processes of tests that need not import everything anew: forked from one that has the imports behind it.

Loading hubbub and its libraries takes longer than most of what such a process does. All share one server, and so one
list of what it has loaded. Environment and place are what the process sets itself.
"""

from __future__ import annotations

import multiprocessing
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

LOADED = [
    *("hubbub.cli", "hubbub.release", "hubbub.mechanisms", "hubbub.look.estimate", "hubbub.show.owner"),
    *("duckdb", "pandas", "polars", "scipy.special", "scipy.stats"),
]


def begun(target: Callable[..., object], *arguments: Any) -> ForkServerProcess:
    """A function that runs in a process of its own."""
    process = _server().Process(target=target, args=arguments)
    process.start()
    return process


def forked(target: Callable[..., object], *arguments: Any) -> int | None:
    """Run a function in a process of its own, for five minutes at most, and give back its exit code."""
    return ended(begun(target, *arguments))


def ended(process: ForkServerProcess) -> int | None:
    """The exit code of a process, which has five minutes to end by itself."""
    process.join(300)
    if process.exitcode is None:
        process.kill()
        process.join()
    return process.exitcode


def spawn_by_forking() -> None:
    """From now on, this process forks what it would spawn: a pool of processes need not import everything anew."""
    multiprocessing.context._concrete_contexts["spawn"] = _server()  # type: ignore[attr-defined]


def _server() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    return context


def say_into(said: Path) -> None:
    """In the process: whatever it prints goes to a file."""
    out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.dup2(out, 2)
    sys.stdout.reconfigure(encoding="utf-8", line_buffering=True)  # type: ignore[union-attr]


def run_hubbub(arguments: list[str], said: Path) -> None:
    """In the process: the command line."""
    from hubbub.cli import main

    say_into(said)
    sys.argv[1:] = arguments
    main()


def kill_at(place: str, moment: str, arguments: Sequence[str], said: Path, **settings: float) -> None:
    """A `hubbub` that is killed, as by kill -9, before or after a call; settings are values of other places."""
    code = forked(_killed, place, moment, list(arguments), said, settings)
    assert code == -signal.SIGKILL, f"exit {code}\n{said.read_text(encoding='utf-8', errors='replace')}"


def _killed(place: str, moment: str, arguments: list[str], said: Path, settings: dict[str, float]) -> None:
    """In the process."""
    for name, value in settings.items():
        _set(name, value)
    real = pkgutil.resolve_name(place)

    def killed(*given: Any, **options: Any) -> None:
        if moment == "after":
            real(*given, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    _set(place, killed)
    run_hubbub(arguments, said)


def _set(place: str, value: Any) -> None:
    owner, _, name = place.rpartition(".")
    setattr(pkgutil.resolve_name(owner), name, value)
