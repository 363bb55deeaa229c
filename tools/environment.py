"""Make the virtual environment of a clone, or finish one: `python3 tools/environment.py .venv core|dev`.

The core is what `make demo` needs; `dev` adds every test's tools to the same environment. The versions are those of
constraints.txt. Whatever can go wrong here goes wrong for a newcomer, so each failure says what to do. This file runs
under Pythons too old for hubbub, to say so: it keeps to what Python 3.6 understands.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST, NEWEST = (3, 11), (3, 14)
ROOT = Path(__file__).resolve().parent.parent
EXTRAS = {"core": "web", "dev": "dev"}
DOWNLOADS = {"core": "about 180 MB", "dev": "about 900 MB"}
NEEDED = {"core": 700_000_000, "dev": 3_000_000_000}  # bytes on the disk
UNFINISHED = ".unfinished"
NO_SPACE = re.compile(r"No space left on device|Errno 28|disk quota", re.IGNORECASE)
NO_NETWORK = re.compile(
    r"name resolution|Name or service not known|Failed to establish|Max retries|ProxyError|ConnectTimeout"
    r"|Read timed out|SSLError|from versions: none|Network is unreachable|Connection (refused|reset|aborted)",
    re.IGNORECASE,
)
AGAIN = "run the same command again: what was downloaded is kept"


class Stop(Exception):
    """What is wrong, and the way on."""

    def __init__(self, what: str, *ways: str) -> None:
        super().__init__("\n".join(["hubbub: " + what] + ["  next:    " + way for way in ways]))


def check_python(version: "tuple[int, ...]", program: str) -> None:
    """Refuse a Python that is too old; warn of one that nobody has tried."""
    name = ".".join(str(part) for part in version)
    if version[:2] < OLDEST:
        raise Stop(
            "Python {}.{} or later is needed; {} is {}.".format(*OLDEST, program, name),
            "name a newer one, as in: make demo PYTHON=python3.12",
            "install one: your system's package python3.12, python.org, or `uv python install 3.13`",
        )
    if version[:2] > NEWEST:
        print(f"Python {name} is newer than any that hubbub was tried with; if a package fails", end=" ")
        print("to install, say: make demo PYTHON=python{}.{}".format(*NEWEST))


def check_space(folder: Path, what: str, free: "int | None" = None) -> None:
    """Refuse to fill up a disk."""
    left = shutil.disk_usage(str(folder.parent)).free if free is None else free
    if left < NEEDED[what]:
        raise Stop(
            f"{left // 1_000_000:,} MB are free on the disk of {folder}; this takes {NEEDED[what] // 1_000_000:,} MB.",
            "make room there, or put the environment elsewhere: make demo VENV=/other/disk/hubbub",
        )


def make(folder: Path) -> None:
    """A virtual environment with pip that works: the one there is, or a new one in the place of half of one."""
    if folder.exists():
        known = (folder / "pyvenv.cfg").is_file() or {child.name for child in folder.iterdir()} <= {"bin", "lib"}
        if not known:
            raise Stop(f"{folder} is there and is no Python environment.", "move it away: it is left alone")
        if not (folder / UNFINISHED).exists() and works(folder):
            return
        print(f"{folder} was left half-made: it is made anew.")
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], stdout=subprocess.PIPE)
    if made.returncode:
        if NO_SPACE.search(made.stdout.decode(errors="replace")):
            raise Stop(f"The disk of {folder} is full.", "make room there; then " + AGAIN)
        raise Stop(
            f"{sys.executable} cannot make environments.",
            "on Debian and Ubuntu: apt install python3-venv; elsewhere, take a Python with venv and ensurepip",
        )


def works(folder: Path) -> bool:
    """Whether the environment has a Python that runs, is new enough, and has pip."""
    script = f"import sys, pip; sys.exit(sys.version_info < {OLDEST})"
    try:
        return not subprocess.run([str(folder / "bin" / "python"), "-c", script], stderr=subprocess.DEVNULL).returncode
    except OSError:
        return False


def install(folder: Path, what: str) -> None:
    """Run pip; if it fails, say why in words."""
    print(f"Installing {what} into {folder}: {DOWNLOADS[what]} to download, less what pip has kept.")
    sys.stdout.flush()
    mark = folder / UNFINISHED
    mark.touch()
    options = ["--quiet", "--no-compile", "--disable-pip-version-check", "--constraint"]
    target = f"{ROOT}[{EXTRAS[what]}]"
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", *options]
    command += [str(ROOT / "constraints.txt"), "--editable", target]
    said = []
    with subprocess.Popen(command, stderr=subprocess.PIPE) as pip:
        for line in pip.stderr or ():
            said.append(line.decode(errors="replace"))
            sys.stderr.write(said[-1])
    if not pip.returncode:
        mark.unlink()
        return
    reason = "".join(said)
    if NO_SPACE.search(reason):
        raise Stop("The disk is full.", f"make room in {folder} and in the place for temporary files; then", AGAIN)
    if NO_NETWORK.search(reason):
        mark.unlink()  # pip fetches all before it installs any: nothing is half there
        raise Stop(
            "No package index could be reached, or it lacks a package.",
            "with a network: " + AGAIN,
            "behind a proxy: set HTTPS_PROXY; with an index of your own: set PIP_INDEX_URL",
            "with neither: `pip download` elsewhere, then PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER make demo",
        )
    raise Stop("pip could not install hubbub; its own words are above.", AGAIN)


def main(folder: Path, what: str) -> None:
    """All of it, and then the mark that make looks for."""
    check_python(sys.version_info[:3], sys.executable)
    check_space(folder, what)
    make(folder)
    install(folder, what)
    for done in ("core", what):
        (folder / ("." + done)).touch()


if __name__ == "__main__":
    try:
        main(Path(os.path.abspath(sys.argv[1])), sys.argv[2])
    except Stop as stop:
        sys.exit(str(stop))
    except KeyboardInterrupt:
        sys.exit("hubbub: interrupted\n  next:    " + AGAIN)
