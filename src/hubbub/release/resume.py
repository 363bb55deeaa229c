"""`--work DIR`: a release that was interrupted before its noise goes on where it ended.

    DIR/hubbub-run-KEY/   NOT-PRIVATE.txt   run.json (token, secret, out)   tables/ (see engines/resumable.py)
                          log.parquet  rejects.parquet  ingested.json (written last: the log was read whole)

KEY is a hash of all that determines the exact half of a run: the log's files by path, size, time and place, the
parameters, the lists, the ledger, the versions. What the secret chose for a pool is in the tables, so the secret is
kept with them.

Whether noise was drawn is not for this folder to say but for the ledger: `token` names the reservation there. One that
is only reserved is used again. One that is drawing is never drawn again: its run ended with noise that somebody may
have seen, so it stays spent, and going on would be a second draw on one budget.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hubbub
from hubbub.engines.resumable import Resumable
from hubbub.errors import OutputError, Refused
from hubbub.files import disk_errors, lock, sweep, write_whole
from hubbub.log import WORK

if TYPE_CHECKING:
    from hubbub.engines import Engine
    from hubbub.ingest import Ingested
    from hubbub.privacy.ledger import Entry, Ledger
    from hubbub.release.plan import Plan

PREFIX = "hubbub-run-"
TABLES = "tables"
KEPT = ("NOT-PRIVATE.txt", "run.json", "log.parquet", "rejects.parquet", "ingested.json", TABLES)
WARNING = """NOT PRIVATE. DO NOT PUBLISH.

Copies of a raw search log, kept so that an interrupted release can go on. Run the same command again to go on, or
remove this folder.
"""


def identity(source: str | Path) -> list[tuple[str, int, int, int, int]]:
    """The files of a log: path, size, times of the last change, place on the disk."""
    from hubbub.ingest.sources import on_disk, resolve

    stats = {path.absolute(): on_disk(path).stat() for path in resolve(source)}
    return [(str(path), s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for path, s in stats.items()]


def determines(plan: Plan, source: str | Path, reading: Mapping[str, object], ledger: Path) -> dict[str, object]:
    """All that the exact half of a release depends on; `reading` is how the log is read."""
    mechanism = plan.mechanism
    lists = (mechanism.serp, mechanism.pool, *mechanism.public_lists, mechanism.previous)
    return {
        "version": [hubbub.__version__, *_engines()],
        "log": identity(source),
        "reading": dict(reading),
        "period": str(plan.owner.period),
        "mechanism": [mechanism.name, mechanism.variant, mechanism.neighbours.value, *mechanism.tables],
        "settings": {name: str(value) for name, value in mechanism.settings.items()},
        "lists": [None if known is None else known.sha256 for known in lists],
        "known": mechanism.public_records(),
        "budget": [str(ledger), plan.population, plan.dataset, plan.seed, plan.not_private],
    }


def _engines() -> list[str]:
    """Versions of the engines: pools are chosen by their own hashes."""
    found = []
    for name in ("duckdb", "pyspark"):
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return found


class Run:
    """The folder of one release while it runs and, if it is interrupted before its noise, until it is run again."""

    def __init__(self, parent: Path, what: Mapping[str, object], out: Path) -> None:
        text = json.dumps(what, sort_keys=True, default=str)
        self.key = hashlib.sha256(text.encode()).hexdigest()
        self.path = parent.absolute() / f"{PREFIX}{self.key[:16]}"
        self.out = out
        self.token, self.secret, self.entry = secrets.token_hex(8), b"", None
        self._engine: Resumable | None = None
        self._drawn = self._finished = self._closed = False
        with disk_errors(parent, "--work"):
            self.path.mkdir(0o700, parents=True, exist_ok=True)
            self._refuse_foreign()
            self._lock: int | None = self._hold()
            self.resumed = (self.path / "run.json").exists()
            if self.resumed:
                self._resume()
            self._clear(KEPT if (self.path / "ingested.json").exists() else KEPT[:2])
            sweep(self.path.parent, WORK)  # copies that killed runs without a folder of their own left here
            (self.path / "NOT-PRIVATE.txt").write_text(WARNING, encoding="utf-8")

    stands: Path | None = None
    """The release of an earlier run with the same parameters, if that came to its end."""
    entry: Entry | None
    """The reservation of the run that was interrupted, if it had one."""

    def _refuse_foreign(self) -> None:
        """What is already there under this name must be ours, and closed to others: a raw log goes into it."""
        found = self.path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise OutputError(
                "The folder of this run was not made by hubbub.",
                given=self.path,
                allowed="a folder of your own that nobody else may enter",
                next="remove it, or name another --work",
            )

    def _hold(self) -> int | None:
        try:
            return lock(self.path)
        except BlockingIOError:
            raise OutputError(
                "This very release is running in another process.", given=self.path, next="let it finish"
            ) from None
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
                raise
            return None  # a file system without locks; the ledger lets only one of two runs draw

    def _resume(self) -> None:
        try:
            state = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
            self.token, self.secret = str(state["token"]), bytes.fromhex(state["secret"])
            self._before = Path(state["out"])
        except (ValueError, KeyError, TypeError):
            raise OutputError(
                "What an interrupted run left behind cannot be read.", given=self.path, next="remove this folder"
            ) from None

    @property
    def others(self) -> list[Path]:
        """Folders of other runs that were interrupted."""
        found = []
        for path in self.path.parent.glob(f"{PREFIX}*"):
            if path != self.path and (path / "ingested.json").exists():
                with suppress(OSError):  # locked: it is running
                    os.close(lock(path))
                    found.append(path)
        return found

    def find(self, ledger: Ledger) -> Entry | None:
        """The reservation to go on with; refused if its noise was drawn and lost."""
        if not self.resumed:
            return None
        entry = next((e for e in ledger.entries() if e.token == self.token), None)
        if entry is not None and entry.state != "reserved":
            if entry.state == "drawing" and not self._before.exists():
                self._drawn = True
                raise Refused(
                    "An earlier run of this release ended while it drew its noise. It is never drawn again on the "
                    "same budget: what was drawn is lost, and its cost stays spent.",
                    given=f"entry {entry.id} of the ledger, {self.path}",
                    next=f"to pay for a new release, remove {self.path} (it holds no data any more) and run again",
                )
            self._start_over()  # that release stands: this is another one
            return None
        self.entry = entry
        return entry

    def _start_over(self) -> None:
        self._clear(("NOT-PRIVATE.txt", "log.parquet", "rejects.parquet", "ingested.json"))
        self.token, self.secret, self.resumed = secrets.token_hex(8), b"", False
        self.stands = self._before

    # ------------------------------------------------------------------ checkpoints

    @property
    def ingested(self) -> Ingested | None:
        """What reading the log gave, if it was read whole."""
        from hubbub.ingest import Ingested

        path = self.path / "ingested.json"
        if not path.exists():
            return None
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Ingested(**facts | {name: self.path / facts[name] for name in ("log", "rejects")})

    def keep(self, ingested: Ingested) -> None:
        """Note that the log has been read whole, so that a later run need not read it again."""
        facts = asdict(ingested) | {"log": ingested.log.name, "rejects": Path(ingested.rejects or "").name}
        self._write("ingested.json", facts)

    def bounding(self, fresh: Callable[[], bytes]) -> bytes:
        """The secret of this run: the one its tables were made with, or a fresh one."""
        if not self.secret:
            self.secret = fresh()
            self._write("run.json", {"token": self.token, "secret": self.secret.hex(), "out": str(self.out)})
        return self.secret

    def checkpoints(self, engine: Engine) -> Engine:
        """The engine, keeping tables that took long until the first noise."""
        self._engine = Resumable(engine, self.path / TABLES, self.key + self.secret.hex())
        return self._engine

    @property
    def read(self) -> list[str]:
        """Tables that were not computed again."""
        return [] if self._engine is None else self._engine.read

    def _write(self, name: str, facts: object) -> None:
        """Write a file of the run whole or not at all."""
        with disk_errors(self.path, "--work"):
            write_whole(self.path / name, json.dumps(facts))

    # ------------------------------------------------------------------ the end

    @property
    def useful(self) -> bool:
        """Whether a later run could go on from here."""
        return not (self._drawn or self._finished) and (self.path / "ingested.json").exists()

    def drawing(self) -> None:
        """From here on nothing is kept to go on with."""
        self._drawn = True
        if self._engine is not None:
            self._engine.stop()

    def finished(self) -> None:
        """Note that the release stands: nothing is kept to go on with."""
        self._finished = True

    def remove(self) -> None:
        """Give up the folder; what cannot be of use to a later run is removed."""
        if self._closed:
            return
        self._closed = True
        if self._finished or not (self._drawn or self.useful):
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            self._clear(("run.json",) if self._drawn else KEPT)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _clear(self, but: tuple[str, ...]) -> None:
        """Remove everything else: what a killed run spilled, half-written files."""
        for path in self.path.iterdir():
            if path.name not in but:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
