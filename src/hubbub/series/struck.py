"""What reviews of a series have struck: it stays out of later periods and of the index, until it is allowed again.

The list is a file of the state, so a review and what follows from it are one commit. A struck query, or word, is
struck as a text; a whole table stays struck, too. It is the owner's alone: nothing that is published holds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.errors import InputError, Refused
from hubbub.release.review.flags import ARROW, keys_of
from hubbub.release.review.strikes import Strike, Strikes
from hubbub.series.plan import OWNER_ONLY, STATE, opened
from hubbub.series.state import IDLE, MANIFEST, SeriesState, StateFolder, alone
from hubbub.show.series.index import write_index

if TYPE_CHECKING:
    from hubbub.privacy.ledger import Ledger

KIND, NOTHING = "struck", Strikes()
SCHEMA = pa.schema([(name, pa.string()) for name in ("table", "key", "second", "reason", "period")])


@dataclass(frozen=True)
class StruckKey:
    """One key, or one table without a key, and the period in whose review it was struck."""

    table: str
    key: str
    second: str
    reason: str
    period: str

    def strike(self) -> Strike:
        """The same for a later period."""
        return Strike(self.table, self.key, self.second, self.reason, f"review of {self.period}")

    def holds(self, text: str) -> bool:
        """Whether it is this text, or has it in it."""
        return text in (self.key, *self.second.split(ARROW)) or (not self.key and text == self.table)


def struck_keys(folder: Path, files: Iterable[str]) -> list[StruckKey]:
    """What the state says."""
    names = [name for name in files if name.split("-")[0] == KIND]
    return [StruckKey(**row) for name in names for row in pq.read_table(folder / name).to_pylist()]


def write_struck(held: StateFolder, keys: Sequence[StruckKey]) -> tuple[list[str], list[str]]:
    """Write the list anew: the file, and those that it replaces."""
    name = f"{KIND}-{held.state.run:03}-{held.state.counter}.parquet"
    pq.write_table(pa.Table.from_pylist([asdict(key) for key in keys], schema=SCHEMA), held.file(name))
    return [name], [old for old in held.state.files if old.split("-")[0] == KIND]


def earlier_strikes(folder: Path, own: Strikes = NOTHING) -> Strikes:
    """These strikes, and after them those of all reviews of a series, as its folder has them."""
    manifest = folder / OWNER_ONLY / STATE / MANIFEST
    if not manifest.is_file():
        return own
    known = struck_keys(manifest.parent, SeriesState.read(manifest).files)
    return replace(own, by_hand=(*own.by_hand, *(key.strike() for key in known)))


def newly_struck(strikes: Strikes, tables: dict[str, pa.Table], period: str) -> list[StruckKey]:
    """Every row that these strikes take out of a period, and every table."""
    whole = [StruckKey(s.table, "", "", s.reason, period) for s in strikes.by_hand if not s.key and s.table in tables]
    found = list(whole)
    for table, rows in tables.items():
        keys = [(key, second) for key, second, _, _ in keys_of(rows)]
        for taken, _, reason in [] if table in strikes.tables else strikes.taken(table, rows):
            found += [StruckKey(table, *keys[n], reason, period) for n in taken.nonzero()[0]]
    return found


def allow(folder: str | Path, ledger: Ledger, text: str) -> int:
    """Let a struck key or table come back from the next period on; how many strikes that takes away."""
    folder = Path(folder)
    plan, entry = opened(folder, ledger)
    with alone(folder / OWNER_ONLY):
        held = StateFolder(folder / OWNER_ONLY / STATE, ledger, entry, plan.id)
        if held.state.stage != IDLE:
            raise Refused("A period is under way.", next=f"finish it first: hubbub series add {folder}")
        known = struck_keys(held.path, held.state.files)
        left = [key for key in known if not key.holds(text)]
        if len(left) == len(known):
            raise InputError("Nothing of this name was struck.", given=text, next=f"hubbub series struck {folder}")
        held.commit(held.state, *write_struck(held, left))
    index(folder)
    return len(known) - len(left)


def index(folder: str | Path, address: str | None = None) -> Path:
    """Write DIR/public again, without what was struck."""
    folder = Path(folder)
    strikes = earlier_strikes(folder)

    def left(table: str, rows: pa.Table) -> pa.Table:
        return strikes.left({table: rows})[0].get(table, rows.slice(0, 0))

    return write_index(folder, address, left)
