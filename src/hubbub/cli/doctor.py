"""`hubbub doctor`: what is here, what is missing, and what it would take."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path

from hubbub.cli.terminal import Terminal, command
from hubbub.errors import CheckFailed
from hubbub.extras import EXTRAS, line

ROOM = 2_000_000_000  # bytes: below that, a log of a few million rows may not fit
JAVA = 17
NEEDED = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)$")


@dataclass(frozen=True)
class Examined:
    """One thing that was looked at."""

    what: str
    found: str
    good: bool
    next: str = ""
    """What it would take, if it is not good."""


@command
def doctor(*, terminal: Terminal) -> None:
    """Say what is installed, what is missing and which line to type for it. Reads no log and changes nothing.

    Example: hubbub doctor
    """
    needed = [*python(), *core(), *places()]
    optional = [*extras(), java()]
    terminal.say("What every release needs:")
    terminal.say_all(_lines(needed, "ok", "BAD"))
    terminal.say("\nWhat some uses need:")
    terminal.say_all(_lines(optional, "there", "missing"))
    bad = [one for one in needed if not one.good]
    terminal.say("\nNothing that a release needs is missing." if not bad else "")
    terminal.document({"needed": [asdict(one) for one in needed], "optional": [asdict(one) for one in optional]})
    if bad:
        raise CheckFailed(f"{', '.join(one.what for one in bad)}: not as it should be; see above for what to do.")


def _lines(findings: list[Examined], good: str, bad: str) -> Iterator[str]:
    for one in findings:
        yield f"  {good if one.good else bad:<8} {one.what:<14} {one.found}"
        if one.next:
            yield f"           {'':<14} {one.next}"


def python() -> Iterator[Examined]:
    """The interpreter, against the versions that hubbub was tried with."""
    from hubbub import __version__

    yield Examined("hubbub", f"{__version__}, in {Path(__file__).parents[1]}", True)
    tried = sorted(
        tuple(map(int, found[1].split(".")))
        for text in (metadata("hubbub").get_all("Classifier") or ())
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", text))
    )
    here, name = sys.version_info[:2], ".".join(map(str, sys.version_info[:3]))
    span = f"{'.'.join(map(str, tried[0]))} to {'.'.join(map(str, tried[-1]))}"
    known = tried[0] <= here <= tried[-1]
    yield Examined("Python", f"{name}, in {sys.executable}", here >= tried[0], "" if known else f"tried: {span}")


def core() -> Iterator[Examined]:
    """The packages without which nothing runs, by what hubbub itself declares."""
    for text in requires("hubbub") or ():
        if (need := NEEDED.match(text)) is None:
            continue
        name, least = need[1], need[2]
        try:
            found = version(name)
        except PackageNotFoundError:
            yield Examined(name, "not installed", False, f"pip install '{name}>={least}'")
            continue
        good = _numbers(found) >= _numbers(least)
        yield Examined(name, found, good, "" if good else f"pip install --upgrade '{name}>={least}'")


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)[:3]]


def places() -> Iterator[Examined]:
    """Where copies of a log, releases and the ledger go: is there room, and may we write?"""
    from hubbub.privacy.ledger.file import default_path

    for what, folder in (("here", Path.cwd()), ("temporary", Path(tempfile.gettempdir()))):
        free = shutil.disk_usage(folder).free
        good = free >= ROOM and os.access(folder, os.W_OK)
        help = "" if good else "make room, or name another folder with --work DIR (for copies of the log) and --out DIR"
        yield Examined(what, f"{free / 1e9:.1f} GB free in {folder}", good, help)
    ledger = default_path()
    there = next(place for place in (ledger, *ledger.parents) if place.exists())
    good = os.access(there, os.W_OK)
    word = "is there" if ledger.exists() else "is made by the first release"
    yield Examined("ledger", f"{ledger} {word}", good, "" if good else "let us write there, or name another: --ledger")


def extras() -> Iterator[Examined]:
    """Each extra: there, or the line to type."""
    for name, extra in EXTRAS.items():
        missing = extra.missing()
        yield Examined(name, extra.serves, not missing, line(name) if missing else "")


def java() -> Examined:
    """Java, which Spark needs."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=home and f"{home}/bin")
    wanted = f"install Java {JAVA} or later, or set JAVA_HOME; only the engine Spark needs it"
    if program is None:
        return Examined("Java", "not found", False, wanted)
    told = subprocess.run([program, "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', told)
    good = found is not None and int(found[1]) >= JAVA
    return Examined("Java", f"{found[1] if found else 'unknown'}, in {program}", good, "" if good else wanted)
