"""What hubbub 0.1 wrote, kept for ever: releases and a ledger that every later version must be able to check.

`python -m tests.stored` wrote tests/data/stored/0.1 once. It is run again for a new version, into a new folder, and
never over an old one; what is stored must not follow the code.
"""

from __future__ import annotations

import gzip
import sys
import zipfile
from pathlib import Path

import hubbub
from hubbub.card.owner import Owner
from hubbub.log.spans import parse_period
from hubbub.mechanisms import build
from tests.conftest import aol_lines

HERE = Path(__file__).parent / "data" / "stored"
BUDGET = {"epsilon": "2", "delta": "1e-5"}
MADE = {
    "crowd": build("crowd", BUDGET | {"language": "none"}, tables=["queries", "clicks"]),
    "korolova": build("korolova", BUDGET | {"d": "3", "d_c": "3"}, tables=["queries", "clicks"]),
    "k-query": build("k-query", {"k": "20"}),
}


def write(folder: Path, work: Path) -> None:
    """Three releases of a made-up log, and the ledger that booked them, compressed."""
    folder.mkdir(parents=True)
    log, ledger = work / "log.tsv", work / "ledger.sqlite"
    log.write_text("\n".join(aol_lines()) + "\n", encoding="utf-8")
    owner = Owner(title="A stored release", licence="CC0-1.0", period=parse_period("2006-03..2006-05"))
    with hubbub.read_log(log, format="aol", period=owner.period) as raw:
        for name, mechanism in MADE.items():
            out = work / name
            private = mechanism.proven().private
            people = {"population": "stored", "new_population": True}
            if not private:
                people = {"population": "tried", "new_population": True, "other_people": True, "not_private": True}
            hubbub.release(raw, mechanism, out, ledger=ledger, dataset="log", owner=owner, **people)
            with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as kept:
                for path in sorted((out / "public").rglob("*")):
                    kept.write(path, path.relative_to(out / "public"))
    (folder / "ledger.sqlite.gz").write_bytes(gzip.compress(ledger.read_bytes(), mtime=0))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        write(HERE / sys.argv[1], Path(place))
