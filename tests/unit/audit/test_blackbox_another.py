"""A subject under another Python: asked in lines of JSON, it has the verdict that it would have under ours."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Hubbub

from hubbub.audit import black_box
from hubbub.audit.blackbox.runs import SubjectProcess, Unfit
from hubbub.errors import InputError, ParameterError

THEIRS = """
import os, random, socket, time

dice = random.SystemRandom()


def first_seen(log, *, shout=0):
    print("what a subject prints", flush=True)  # would be taken for an answer if it went where answers go
    os.write(1, b"so would this\\n")
    return [key.upper() if shout else key for keys in log.values() for key in keys]


first_seen.claims = lambda shout=0: (1.0, 0.01)


def nobody_told(log):
    return {"a": 1}


def alone(log):
    try:
        import hubbub
    except ImportError:
        return ["alone"]
    return ["in company"]


def many(log, runs, shout=0):
    return [{"run": n} for n in range(runs)]


def batched(log, *, shout=0):
    raise AssertionError("asked for many at once")


batched.many = many


def too_few(log):
    return []


too_few.many = lambda log, runs: [[]]


def fails_at_once(log):
    return []


def _fails(log, runs):
    raise ValueError("all of them")


fails_at_once.many = _fails


def hangs(log):
    time.sleep(1000)


def crashes(log):
    os._exit(3)


def returns_a_number(log):
    return 3


def asks(log):
    socket.create_connection(("localhost", log["port"][0]), 5).close()
    return ["connected"]


def asks_itself(log):
    return asks(log)


asks_itself.loopback = True


def asks_afar(log):
    socket.create_connection(("192.0.2.1", 9), 5).close()


asks_afar.loopback = True
"""


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The Python of an environment that has nothing installed, in a folder that has their module."""
    (tmp_path / "theirs.py").write_text(THEIRS, encoding="utf-8")
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return str(program)


def told(python: str, name: str, log: dict[str, Any], runs: int = 1, **settings: Any) -> list[Any]:
    """What one log gives, by one process."""
    with SubjectProcess(f"theirs:{name}", settings, 60.0, python) as process:
        return process.sample(log, runs)


def test_it_answers_whatever_it_prints_and_needs_nothing_of_ours(python: str) -> None:
    assert told(python, "first_seen", {"u": ["a", "b"]}, 3, shout=1, epsilon=1)[2].rows == (("A", None), ("B", None))
    assert told(python, "alone", {})[0].rows == (("alone", None),)


def test_many_runs_at_once(python: str) -> None:
    found = told(python, "batched", {}, 200)
    assert [out.counts["run"] for out in found] == [*range(128), *range(72)]
    assert told(python, "fails_at_once", {}, 2)[1].error == "ValueError: all of them"
    with pytest.raises(Unfit, match="another number of outputs"):
        told(python, "too_few", {}, 2)


def test_it_is_refuted_as_ours_would_be(python: str, hubbub: Hubbub) -> None:
    asked = ("--subject", "theirs:first_seen", "--python", python, "--runs", "3000", "--seconds", "9000")
    result = hubbub("audit", *asked, "--limit", "600", code=1)
    assert "REFUTED: ε = 1, δ = 0.01" in result.output


@pytest.mark.parametrize(
    ("name", "limit", "verdict"),
    [
        ("hangs", 0.01, "hangs"),
        ("crashes", 60.0, "crashes"),
        ("returns_a_number", 60.0, "returns no keys"),
        ("asks", 60.0, "needs the network"),
        ("asks_afar", 60.0, "needs the network"),
        ("nobody", 60.0, "returns no keys"),
    ],
)
def test_what_cannot_be_audited_has_a_verdict_of_its_own(python: str, name: str, limit: float, verdict: str) -> None:
    with pytest.raises(Unfit) as unfit, SubjectProcess(f"theirs:{name}", {}, limit, python) as process:
        process.sample({"port": ["9"]}, 1)
    assert unfit.value.verdict == verdict


@pytest.fixture
def port() -> Iterator[int]:
    """A server on this machine that hears everybody out."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
        yield server.getsockname()[1]


def test_a_server_of_its_own_is_no_network_where_that_is_declared(python: str, port: int) -> None:
    log: dict[str, Any] = {"port": [port]}
    assert told(python, "asks_itself", log)[0].rows == (("connected", None),)


def test_what_cannot_be_asked(python: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="not said what the subject claims"):
        black_box("theirs:nobody_told", python=python)
    with pytest.raises(InputError, match="cannot be asked"):
        black_box("theirs:nobody", python=python)
    with pytest.raises(InputError, match="cannot be started"):
        black_box("theirs:first_seen", epsilon=1, delta=0.1, python=str(tmp_path / "none"))
