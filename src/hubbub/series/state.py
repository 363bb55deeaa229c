"""The owner's state between the rounds of a series: Parquet files and one manifest that lists them by hash.

A commit writes new files, then the manifest beside its place, then its hash into the ledger, then moves it into place.
The ledger's last hash decides: a manifest that has it is the state; one that waits beside its place with that hash is
moved into place; anything else is an older state, or that of another series, and is refused. Files that no manifest
lists were never read by anything, and are removed. So a kill at any moment loses at most a round nobody has seen. A
commit is booked only if the ledger's last hash is still that of the state it goes on from: of two copies of a series
that run at once, one goes on and the other is refused.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.card.schema import sha256_of
from hubbub.errors import InputError, OutputError, Refused
from hubbub.files import disk_errors, lock
from hubbub.privacy.ledger import Output
from hubbub.privacy.ledger.seen import STATE as BOOKED

if TYPE_CHECKING:
    from hubbub.privacy.ledger import Entry, Ledger

FORMAT, VERSION = "hubbub-series-state", 1
MANIFEST, NEXT = "state.json", "next.json"
IDLE = -1
"""The stage between two runs; else it is the number of rounds of the run that are kept."""


@dataclass(frozen=True)
class SeriesState:
    """Where a series stands. Runs count from 0; `run` is the one that is under way, or the next."""

    series: str
    run: int = 0
    stage: int = IDLE
    periods: tuple[int, ...] = ()
    """Which period of the calendar each run was of, the one under way included."""
    users: int = 0
    keys: int = 0
    about: Mapping[str, Any] = field(default_factory=dict)
    """What the run under way was told: its first period, what the owner states, the fingerprint of its log."""
    files: Mapping[str, str] = field(default_factory=dict)
    counter: int = 0
    ended: bool = False

    def text(self) -> str:
        """The manifest."""
        known = {"format": FORMAT, "version": VERSION} | {
            name: getattr(self, name) for name in self.__dataclass_fields__
        }
        return json.dumps(known, indent=1, sort_keys=True, default=list) + "\n"

    @staticmethod
    def read(path: Path) -> SeriesState:
        """A manifest that this version wrote."""
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            if (known.pop("format"), known.pop("version")) != (FORMAT, VERSION):
                raise ValueError("another version of hubbub wrote it")
            return SeriesState(**known | {"periods": tuple(known["periods"])})
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise InputError(
                "The state of the series cannot be read.", given=f"{path}: {error}", next="restore the folder as it was"
            ) from None


class StateFolder:
    """The folder of the state, open for one process."""

    def __init__(self, path: Path, ledger: Ledger, entry: Entry, series: str) -> None:
        self.path, self._ledger, self._entry = path, ledger, entry
        self._last = last_booked(ledger, entry)
        self.state = self._settled(series)

    def begin(self) -> None:
        """The first commit of a series, whose folder is empty."""
        self.commit(self.state)

    def file(self, name: str) -> Path:
        """Where a file of the state is, or will be."""
        return self.path / name

    def commit(
        self,
        state: SeriesState,
        new: Sequence[str] = (),
        gone: Sequence[str] = (),
        drawn: Mapping[str, Output] | None = None,
    ) -> None:
        """Make this the state, with new files and without others; nothing reads a new file before this returns.

        What was drawn for readers is booked in the same step.
        """
        with disk_errors(self.path, "place"):
            for name in new:
                path = self.path / name
                path.chmod(0o600)
                path.parent.chmod(0o700)
                _sync(path)
            added = {name: sha256_of(self.path / name) for name in new}
            kept = {name: sha for name, sha in self.state.files.items() if name not in gone}
            state = replace(state, files=kept | added, counter=self.state.counter + 1)
            (self.path / NEXT).write_text(state.text(), encoding="utf-8")
            (self.path / NEXT).chmod(0o600)
            _sync(self.path / NEXT)
            _sync(self.path)
            sha = sha256_of(self.path / NEXT)
            booked = {**(drawn or {}), f"{BOOKED} {state.counter}": Output(sha)}
            self._ledger.released(self._entry, booked, self.refuse_fork)
            self._last = sha
            self._place(state)

    def refuse_fork(self) -> None:
        """Two copies that both went on would draw the same rounds twice, and nobody has paid for that."""
        if last_booked(self._ledger, self._entry) != self._last:
            raise Refused(
                "The series went on elsewhere meanwhile, from a copy of this folder.",
                given=f"{self.path}: its state is no longer the last that the ledger knows",
                allowed="one folder for a series",
                next="go on with the other copy and remove this one; nothing of this attempt was kept or published",
            )

    # -------------------------------------------------------------- inside

    def _place(self, state: SeriesState) -> None:
        os.replace(self.path / NEXT, self.path / MANIFEST)
        _sync(self.path)
        self.state = state
        self._sweep()

    def _settled(self, series: str) -> SeriesState:
        """The state that the ledger knows as the last one."""
        last = self._last
        if last is None:
            self._sweep(everything=True)
            return SeriesState(series)
        waiting, placed = self.path / NEXT, self.path / MANIFEST
        if waiting.is_file() and sha256_of(waiting) == last:
            self._place(SeriesState.read(waiting))
        elif not placed.is_file() or sha256_of(placed) != last:
            raise Refused(
                "The state of the series is not the one that the ledger knows as the last.",
                given=f"{placed}: {'changed, or older than the ledger' if placed.is_file() else 'missing'}",
                allowed="the state as the last run left it: from an older one noise would be drawn a second time",
                next="restore the folder as the last run left it, or end the series and plan a new one",
            )
        state = SeriesState.read(placed)
        if state.series != series:
            raise Refused("This is the state of another series.", given=state.series, allowed=series)
        self.state = state
        self._sweep()
        for name, sha in state.files.items():
            path = self.path / name
            if not path.is_file() or sha256_of(path) != sha:
                raise Refused(
                    "A file of the series' state is damaged or missing.",
                    given=path,
                    next="restore the folder as the last run left it; nothing was spent by this attempt",
                )
        return state

    def _sweep(self, *, everything: bool = False) -> None:
        """Remove what no manifest lists: it was never read."""
        listed = set() if everything else {MANIFEST, *self.state.files}
        for path in sorted(self.path.rglob("*"), reverse=True):
            if path.is_file() and str(path.relative_to(self.path)) not in listed:
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                shutil.rmtree(path)


def last_booked(ledger: Ledger, entry: Entry) -> str | None:
    """The hash of the last state that the ledger knows of a series."""
    outputs = ledger.outputs().get(entry.id, {})
    counters = [int(name.removeprefix(f"{BOOKED} ")) for name in outputs if name.startswith(f"{BOOKED} ")]
    return outputs[f"{BOOKED} {max(counters)}"].sha256 if counters else None


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """No other process works on this series meanwhile."""
    try:
        held = lock(folder)
    except BlockingIOError:
        raise OutputError("Another process is at work on this series.", given=folder, next="let it finish") from None
    try:
        yield
    finally:
        os.close(held)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
