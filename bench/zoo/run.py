"""The zoo: other people's mechanisms, each in an environment of its own, attacked by hubbub's black box.

    python bench/zoo/run.py --install [NAME …]    environments from bench/zoo/requirements, in bench/zoo/environments
    python bench/zoo/run.py [NAME …]              run the rivals of these environments; what was found is kept
    python -m tests.docs.generated                the page, docs/zoo.md, made again

What is refuted is run a second time, from another seed, and both are kept: nothing is called broken on one run.
Environments are built for the Python that runs this file (3.11 was used). qrlew needs PostgreSQL, Tumult needs Java 17.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENTS = Path(os.environ.get("ZOO_ENVIRONMENTS", HERE / "environments"))
FOUND = ROOT / "docs" / "data" / "zoo.json"
sys.path.insert(0, str(ROOT))
SEEDS = 1, 2


def install(names: list[str]) -> None:
    """An environment for each rival; one that cannot be had is said and left out."""
    for pins in sorted((HERE / "requirements").glob("*.txt")):
        home = ENVIRONMENTS / pins.stem
        if names and pins.stem not in names:
            continue
        try:
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
            subprocess.run([str(home / "bin" / "pip"), "install", "--quiet", "-r", str(pins)], check=True)
        except subprocess.CalledProcessError as error:
            print(f"{pins.stem}: {error}", file=sys.stderr)


def rivals(names: list[str]) -> Iterator[dict[str, Any]]:
    """What is declared, of these environments or of all."""
    for rival in tomllib.loads((HERE / "rivals.toml").read_text(encoding="utf-8"))["rival"]:
        if not names or (rival["environment"] or "papers") in names:
            yield rival


def versions(environment: str) -> str:
    """The pinned package of an environment, by its name: the first that its subject is about."""
    about = {"opendp": "opendp", "pydp": "python-dp", "pipelinedp": "pipeline-dp", "smartnoise": "smartnoise-sql"}
    about |= {"diffprivlib": "diffprivlib", "qrlew": "pyqrlew", "tumult": "tmlt.analytics"}
    if not environment:
        return "written again by us"
    pins = (HERE / "requirements" / f"{environment}.txt").read_text(encoding="utf-8").splitlines()
    return next(pin.replace("==", " ") for pin in pins if pin.startswith(about[environment] + "=="))


@contextlib.contextmanager
def served(environment: str) -> Iterator[None]:
    """What an environment needs beside it."""
    if environment != "qrlew":
        yield
        return
    from tests import servers

    with servers.postgresql() as address:
        os.environ["ZOO_POSTGRES"] = address
        yield


def look(rival: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The verdicts on one rival; of what is refuted, those of both runs."""
    from hubbub.audit import black_box

    environment = rival["environment"]
    python = str(ENVIRONMENTS / environment / "bin" / "python") if environment else sys.executable
    asked: dict[str, Any] = {name: rival.get(name) for name in ("epsilon", "delta", "settings")}
    asked |= {"python": python, "limit": 120.0}
    began = time.monotonic()
    first = black_box(rival["subject"], runs=rival["runs"], seconds=5000, seed=SEEDS[0], say=print, **asked)
    for one in first:
        found = [one]
        if one.refuted:
            again = asked | {"epsilon": one.epsilon, "delta": one.delta, "settings": one.settings}
            found += black_box(rival["subject"], runs=rival["runs"], seconds=5000, seed=SEEDS[1], say=print, **again)
        yield {
            "rival": rival["name"],
            "version": versions(environment),
            "claim": rival["claim"],
            "verdicts": [verdict.record() for verdict in found],
        }
    print(f"{rival['name']}: {time.monotonic() - began:.0f} s", flush=True)


def main() -> None:
    """Install, or run and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="environments; `papers` for rules that need none")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--only", default="", help="rivals with this in their name")
    given = parser.parse_args()
    if given.install:
        install(given.names)
        return
    os.chdir(HERE)
    for rival in rivals(given.names):
        if given.only not in rival["name"]:
            continue
        with served(rival["environment"]):
            rows = list(look(rival))
        kept = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else []
        kept = [row for row in kept if row["rival"] != rival["name"]] + rows
        order = [one["name"] for one in rivals([])]
        kept.sort(key=lambda row: order.index(row["rival"]))
        FOUND.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
