"""How soon the studio answers a slider: `python bench/studio.py --users 200000 --out studio.json`.

Reads a made-up log, sketches it once, then asks for many ε, each new to it: calibration, quick estimate and record, as
the page does. CPU times are the ones to compare on a busy machine; `ratio` is their median over one numpy sort of a
million numbers, which travels between machines.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hubbub.card.owner import Owner
from hubbub.cli.options import NewLogOptions, OwnerOptions
from hubbub.log import read_log
from hubbub.studio.state import OpenedLog, Studio
from hubbub.studio.views import Views
from hubbub.synth import SYLLABIC
from hubbub.synth.run import synthesise

ASKED = {
    "crowd, queries": ("crowd", ["queries"]),
    "crowd, all tables": ("crowd", ["queries", "clicks", "transitions", "sessions", "keywords"]),
    "korolova": ("korolova", ["queries"]),
    "gaussian": ("gaussian", ["queries"]),
    "adaptive": ("adaptive", ["queries"]),
}
TIMES = 15


def milliseconds(act: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """The time of one call: on the wall, or of this process."""
    started = clock()
    act()
    return 1000 * (clock() - started)


def _sort() -> None:
    np.sort(np.arange(1_000_000) * 7919 % 1_000_003)


def main() -> None:
    """Make the log, open it, move the sliders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200_000)
    parser.add_argument("--log", help="a log that is there already")
    parser.add_argument("--out", default="studio.json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        log = Path(given.log) if given.log else folder / "log.parquet"
        if not given.log:
            synthesise(given.users, log, vocabulary=SYLLABIC)
        options = NewLogOptions(ledger=str(folder / "ledger.sqlite"))
        studio = Studio(folder, Owner(), options, OwnerOptions(), opened=OpenedLog(log.name))
        loading = milliseconds(lambda: studio.look(lambda progress: read_log(log, progress=progress)))
        opened = studio.opened
        assert opened is not None and opened.profile is not None, opened
        views = Views(studio, "/bench")
        sort = statistics.median(milliseconds(_sort, time.process_time) for _ in range(5))
        found: dict[str, object] = {"users": opened.profile.users, "loading_s": round(loading / 1000, 1)}
        for name, (mechanism, tables) in ASKED.items():
            wall, cpu = [], []
            for n in range(TIMES + 1):
                settings = {"epsilon": f"{1 + n / 7:.3f}", "delta": "1e-6"}
                body: dict[str, object] = {"mechanism": mechanism, "tables": tables, "settings": settings}
                before = time.process_time()
                wall.append(milliseconds(lambda body=body: views.estimate(None, body)))  # type: ignore[misc, arg-type]
                cpu.append(1000 * (time.process_time() - before))
            middle = statistics.median(cpu[1:])  # the first one imports
            found[name] = {
                "median_ms": round(statistics.median(wall[1:])),
                "median_cpu_ms": round(middle),
                "worst_cpu_ms": round(max(cpu[1:])),
                "ratio": round(middle / sort, 2),
            }
    Path(given.out).write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
