"""The owner's report on Spark: the same exact facts as on DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.engines import Engine
from hubbub.log import read_log
from hubbub.mechanisms import build
from hubbub.privacy.ledger import Ledger
from hubbub.release.plan import Plan
from hubbub.release.story import run_release
from hubbub.show import exact, kept

Make = Callable[[Path], Engine]


@pytest.mark.parametrize("whole", [10_000, 300])
def test_exact_facts_are_those_of_duckdb(
    whole: int, log_file: Path, make_engine: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "WHOLE", whole)
    mechanism = build("zealous", {"epsilon": "4", "delta": "1e-4", "m": "4"}, tables=["queries", "clicks"])
    seen = []
    engines: list[str | Make] = ["duckdb", make_engine]
    for at, engine in enumerate(engines):
        out = tmp_path / f"out-{at}"
        with Ledger(tmp_path / "book.sqlite") as book, read_log(log_file, format="aol", engine=engine) as log:
            result = run_release(log, Plan(mechanism, out), book)
        assert not result.warning
        seen.append(kept.read(out / "owner-only").tables)
    for ours, theirs in zip(*seen, strict=True):
        assert ours.table == theirs.table and (ours.sampled is None) == (theirs.sampled is None) == (whole == 10_000)
        if ours.sampled is None or theirs.sampled is None:  # engines hash differently, so a sample holds other keys
            held, also = (dict(zip(t.held.users.tolist(), t.held.keys.tolist(), strict=True)) for t in (ours, theirs))
            assert held == also
            bounded = [{p["key"]: (p["exact"], p["bounded"]) for p in t.points.to_pylist()} for t in (ours, theirs)]
            assert bounded[0] == bounded[1] and None not in dict(bounded[0].values())
        else:
            assert ours.sampled.one_in == theirs.sampled.one_in == 4
            apart = abs(int(ours.held.keys.sum() - theirs.held.keys.sum()))
            assert apart <= 6 * theirs.sampled.keys_sd, "none where every key was counted whole"
