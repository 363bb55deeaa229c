"""All draws of some experiments: each draw in a process of its own, each result kept as soon as it is there.

A cell is what one run saw in one draw, a small JSON file named after both. A run that was interrupted goes on where it
was: cells of the same version of hubbub are read, not made again.
"""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import hubbub
from hubbub.errors import InputError, OurBug
from hubbub.files import disk_errors
from hubbub.papers.experiments.lab import Lab, Numbers

Run = Callable[[Lab], Numbers]


def compute(
    runs: Sequence[Run],
    users: int,
    seeds: Sequence[int],
    folder: Path,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    own: Path | None = None,
) -> dict[Run, list[Numbers]]:
    """What every run saw in every draw."""
    names = [name_of(run) for run in runs]
    with disk_errors(folder, "--out"):
        folder.mkdir(parents=True, exist_ok=True)
    left = [seed for seed in seeds if any(read(folder, name, users, seed) is None for name in names)]
    cores = os.cpu_count() or 1
    at_once = min(len(left), workers or cores)
    if at_once <= 1:
        for seed in left:
            draw(names, users, seed, folder, workers, own)
            progress(_done(folder, names, users, seeds), len(names) * len(seeds))
    else:
        with ProcessPoolExecutor(at_once, mp_context=get_context("spawn")) as pool:
            pending = {pool.submit(draw, names, users, seed, folder, max(1, cores // at_once), own) for seed in left}
            try:
                while pending:
                    finished, pending = wait(pending, timeout=1)
                    progress(_done(folder, names, users, seeds), len(names) * len(seeds))
                    for future in finished:
                        future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    found: dict[Run, list[Numbers]] = {}
    for run, name in zip(runs, names, strict=True):
        cells = [read(folder, name, users, seed) for seed in seeds]
        if any(cell is None for cell in cells):
            raise OurBug(f"{name} left a draw without numbers")
        found[run] = [cell for cell in cells if cell is not None]
    return found


def draw(
    names: Sequence[str], users: int, seed: int, folder: Path, threads: int | None, own: Path | None = None
) -> None:
    """Run, in one draw, every experiment whose cell is not kept yet."""
    with tempfile.TemporaryDirectory(prefix="hubbub-draw-") as work, Lab(users, seed, Path(work), threads, own) as lab:
        for name in names:
            if read(folder, name, users, seed) is None:
                module, _, function = name.rpartition(".")
                numbers: Numbers = getattr(import_module(f"{PACKAGE}.{module}"), function)(lab)
                _write(_path(folder, name, users, seed), numbers)


PACKAGE = __name__.rpartition(".")[0]


def name_of(run: Run) -> str:
    """The name of an experiment's function in the files of cells: the paper's module and the function."""
    return f"{run.__module__.rpartition('.')[2]}.{run.__name__}"


def _path(folder: Path, name: str, users: int, seed: int) -> Path:
    return folder / f"{name}-{users}-{seed}.json"


def read(folder: Path, name: str, users: int, seed: int) -> Numbers | None:
    """What a cell's file holds; None if there is none, or one of another version of hubbub."""
    path = _path(folder, name, users, seed)
    if not path.is_file():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        numbers: Numbers = document["numbers"]
        return numbers if document["hubbub"] == hubbub.__version__ else None
    except (ValueError, KeyError, TypeError):
        raise InputError("A cell cannot be read.", given=path, next="remove that file, and run again") from None


def _write(path: Path, numbers: Numbers) -> None:
    """Write a cell's file whole or not at all."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    text = json.dumps({"hubbub": hubbub.__version__, "numbers": numbers}, allow_nan=False, indent=1)
    with disk_errors(path, "--out"):
        partial.write_text(text + "\n", encoding="utf-8")
        partial.replace(path)


def _done(folder: Path, names: Sequence[str], users: int, seeds: Sequence[int]) -> int:
    return sum(_path(folder, name, users, seed).is_file() for name in names for seed in seeds)
