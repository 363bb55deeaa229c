"""The part of the engines' contract that is about files and noise; `hubbub.testing.check_engine` runs it.

Each function raises AssertionError with what does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa

from hubbub.engines.base import Engine
from hubbub.errors import OurBug
from hubbub.noise import SecureNoise

DRAWN = 2000


def check_files(engine: Engine, work: Path) -> None:
    """`write` and `scan`: every value comes back, of the same type; a table may be empty."""
    columns: dict[str, pa.Array] = {
        "n": pa.array([1, None, -(2**63), 2**63 - 1]),
        "text": pa.array(["", None, "Ｑ 'é\U0001f600", "a\tb"]),
        "real": pa.array([0.1, None, -0.0, 1e308]),
        "flag": pa.array([True, None, False, True]),
    }
    given = pa.table(columns)
    for name, rows in (("whole", given), ("none", given.slice(0, 0))):
        engine.register(name, rows)
        engine.save(f"saved_{name}", f"SELECT * FROM {name}")
        engine.write(f"saved_{name}", work / f"{name}.parquet")
        engine.drop(f"saved_{name}")
        engine.scan(f"read_{name}", work / f"{name}.parquet")
        back = engine.fetch(f"SELECT * FROM read_{name}")
        assert back.schema.types == rows.schema.types, f"written and read back, columns are {back.schema}"
        assert sorted(map(repr, back.to_pylist())) == sorted(map(repr, rows.to_pylist())), "written, read back, changed"


def check_draws(engine: Engine) -> None:
    """`map_batches`: each row once, of the rows that reading it later shows; no generator goes to other processes."""
    engine.register("drawn_for", pa.table({"id": range(DRAWN)}))
    engine.map_batches("drawn", "SELECT id FROM drawn_for", _Draw(), _Draw.schema)
    seen = [engine.fetch("SELECT id, noise FROM drawn").sort_by("id") for _ in range(2)]
    assert seen[0]["id"].to_pylist() == list(range(DRAWN)), "map_batches lost or repeated rows"
    assert seen[0].equals(seen[1]), "read twice, drawn twice: map_batches must keep what the function returned"
    engine.save("passed", "SELECT id, noise FROM drawn WHERE noise >= 0")
    same = "SELECT count(*) AS n FROM passed AS p JOIN drawn AS d ON p.id = d.id WHERE p.noise = d.noise"
    passed = int(np.count_nonzero(seen[0]["noise"].to_numpy() >= 0))
    assert engine.fetch(same)["n"][0].as_py() == passed, "a saved table has other draws than the one it was made from"
    assert len(set(seen[0]["noise"].to_pylist())) > DRAWN // 2, "parts of a table share their noise"
    if engine.distributed:
        try:
            engine.map_batches("copied", "SELECT id FROM drawn_for", _Draw(SecureNoise()), _Draw.schema)
        except OurBug:
            return
        raise AssertionError("a function that carries a generator must be refused where it would be copied")


class _Draw:
    """Noise for every id, as a mechanism draws it; a generator that is given would be copied."""

    schema = pa.schema([("id", pa.int64()), ("noise", pa.int64())])

    def __init__(self, given: SecureNoise | None = None) -> None:
        self.given = given

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        noise = self.given or SecureNoise()
        for batch in batches:
            drawn = noise.laplace("contract", Fraction(10**6), batch.num_rows)
            yield pa.record_batch([batch.column("id"), pa.array(drawn)], schema=self.schema)
