"""Erase a user from a series on request: she contributes no more, and nothing of her is read again.

What is not undone: noisy sums stay, and a key that was seen stays seen for ever, with its text. Were it to count as
unseen again, or lose its text where nobody else holds it, its release would hang on one user alone: on whether she
holds it (docs/proofs/series.md). Keys that were never seen and that nobody else holds lose their text and are known by
a keyed hash; her id is known by one, too, so that she does not come back with a new budget. Of clicks and transitions
only those have an id that were seen: they stay, and what she held and had in her pools goes.
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.engines.duckdb import DuckDB
from hubbub.errors import InputError, Refused
from hubbub.mechanisms.series.tables import TABLE
from hubbub.series.arrays import write_purses
from hubbub.series.further import FurtherRecords, schemas
from hubbub.series.kept import KeptTable, prefix
from hubbub.series.plan import OWNER_ONLY, STATE, opened
from hubbub.series.records import TABLES, SeriesRecords, digest
from hubbub.series.state import IDLE, StateFolder, alone

if TYPE_CHECKING:
    from hubbub.mechanisms.series import Series
    from hubbub.privacy.ledger import Ledger


def erase(folder: str | Path, ledger: Ledger, user: str) -> None:
    """Erase one user, by her id as it stands in the logs."""
    folder = Path(folder)
    plan, entry = opened(folder, ledger)
    with alone(folder / OWNER_ONLY), tempfile.TemporaryDirectory(prefix="hubbub-raw-") as work:
        held = StateFolder(folder / OWNER_ONLY / STATE, ledger, entry, plan.id)
        if held.state.stage != IDLE:
            raise Refused("A period is under way.", next=f"finish it first: hubbub series add {folder}")
        with closing(DuckDB(Path(work))) as engine:
            _erased(held, engine, bytes.fromhex(plan.secret), user, plan.mechanism)


def _erased(held: StateFolder, engine: DuckDB, secret: bytes, user: str, series: Series) -> None:
    state = held.state
    SeriesRecords(engine, held.path, state.files, secret)
    engine.register("asked_for", pa.table({"uid": [user]}))
    hers = "SELECT u.person AS person FROM series_users AS u JOIN asked_for AS a ON u.uid = a.uid"
    persons = engine.fetch(hers).column("person").to_pylist()
    if not persons:
        raise InputError("The series knows no such user.", given=user, next="give the id as it stands in the logs")
    (person,) = persons
    seen = np.concatenate([np.zeros(0, np.int64), *KeptTable(held, state.run).seen()])
    engine.register("series_seen", pa.table({"kid": seen}))
    orphans = (
        f"SELECT DISTINCT h.kid AS kid FROM series_held AS h WHERE h.person = {person} "
        f"AND NOT EXISTS (SELECT 1 FROM series_held AS o WHERE o.kid = h.kid AND o.person <> {person}) "
        "AND NOT EXISTS (SELECT 1 FROM series_seen AS s WHERE s.kid = h.kid)"
    )
    engine.save("orphans", orphans)
    kept = {
        "users": f"SELECT * FROM series_users WHERE person <> {person}",
        "held": f"SELECT * FROM series_held WHERE person <> {person}",
        "pool": f"SELECT * FROM series_pool WHERE person <> {person}",
        "keys": "SELECT * FROM series_keys WHERE kid NOT IN (SELECT kid FROM orphans)",
        "erased": f"SELECT digest FROM series_erased UNION SELECT {digest(secret, 'user', 'uid')} FROM asked_for",
        "gone": "SELECT kid, digest FROM series_gone UNION "
        f"SELECT k.kid, {digest(secret, 'key', 'k.query')} FROM series_keys AS k JOIN orphans AS o ON k.kid = o.kid",
    }
    names = []
    for kind, sql in kept.items():
        names.append(_rewritten(held, engine, kind, TABLES[kind], sql))
    for table in series.table_constants.keys() - {TABLE}:
        FurtherRecords(engine, held.path, state.files, secret, table)
        for kind in ("held", "pool"):  # keys of these tables have all been seen: they stay, with their text
            sql = f"SELECT * FROM series_{table}_{kind} WHERE person <> {person}"
            names.append(_rewritten(held, engine, prefix(table) + kind, schemas(table)[kind], sql))
    rewritten = {name.split("-")[0] for name in names}
    gone = [name for name in state.files if name.split("-")[0] in rewritten]
    for table in series.tables:
        files = KeptTable(held, state.run - 1, table)
        purses = files.purses()
        for purse in (purses.selection, purses.to_date, purses.in_period):
            purse[person] = 0  # used up, whatever was left
        names.append(write_purses(files.path("purses", state.counter), purses))
        gone += files.named("purses")
    held.commit(replace(state), names, gone)


def _rewritten(held: StateFolder, engine: DuckDB, kind: str, schema: pa.Schema, sql: str) -> str:
    """Write one file in place of all of a kind, with these rows; its name."""
    name = f"{kind}-000-{held.state.counter}.parquet"
    engine.save("kept_rows", f"SELECT {', '.join(schema.names)} FROM ({sql}) AS kept")
    engine.write("kept_rows", held.path / name)
    return name
