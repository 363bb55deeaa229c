"""Whole runs of the command: from a file through the ledger to a folder that checks, as an owner runs it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow.parquet as pq

from hubbub.audit.books import scratch
from hubbub.audit.checks.statistical import lower, upper
from hubbub.audit.checks.taint import AOL
from hubbub.audit.protocols import AuditRow, Kind, shared_faults, shared_row
from hubbub.card import check
from hubbub.mechanisms import build
from hubbub.privacy.ledger import Ledger

KEYS, QUICK, FULL = 60, 3, 40
SETTINGS = {"d": 1, "b": 5, "K": 49}
"""Wide noise: two runs of as many keys have the same values by chance once in 10^10 times."""


def whole_runs(runs: int) -> Callable[[], Iterable[AuditRow]]:
    """A tester with this many runs: keys at the threshold, so that every run shows others."""

    def test() -> Iterable[AuditRow]:
        mechanism = build("korolova", SETTINGS)
        [step] = mechanism.steps()
        holders = step.threshold or 0
        asked = [(k, u) for k in range(KEYS) for u in range(holders)]
        lines = [AOL, *(f"u{k}-{u}\tkey {k}\t2006-03-01 00:00:{u:02d}\t\t" for k, u in asked)]
        shown, wrong = [], 0
        with scratch() as folder:
            (folder / "log.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
            for n in range(runs):
                said = _release(folder, n)
                out = folder / f"out{n}"
                shown.append(sorted(pq.read_table(out / "public" / "queries.parquet").column("users").to_pylist()))
                same = said["guarantee"]["epsilon"] == mechanism.proven().epsilon  # type: ignore[index]
                wrong += not same or said["tables"] != {"queries": len(shown[-1])} or not _holds(out)
            with Ledger(folder / "ledger.sqlite") as book:
                entries = book.entries()
                wrong += abs(len(entries) - runs) + sum(e.state != "committed" or not e.private for e in entries)
                wrong += book.spent("default").basic_epsilon < mechanism.loss().epsilon * runs * (1 - 1e-12)
        yield shared_faults(
            "whole runs: each is booked, committed, and checks", wrong, f"{runs} runs", Kind.STATISTICAL
        )
        # keys are numbered in any order, so a noise that repeats itself may meet others: values are compared
        alike = sum(one == other for i, one in enumerate(shown) for other in shown[:i])
        yield shared_faults("whole runs: no two are alike", alike, kind=Kind.STATISTICAL)
        expected = step.chance(holders)
        hits, trials = sum(map(len, shown)), runs * KEYS
        low, high = lower(hits, trials), upper(hits, trials)
        detail = f"{hits} of {trials} keys at the threshold show, expected {expected:.4f}"
        off = max(0.0, low - expected, expected - high)
        yield shared_row(
            "whole runs: keys at the threshold pass as proven", 0.0, off, high - low, detail, Kind.STATISTICAL
        )

    return test


def _release(folder: Path, n: int) -> dict[str, object]:
    """`hubbub release`, in this process."""
    from typer import Typer
    from typer.testing import CliRunner

    from hubbub.cli.release import release

    app = Typer()
    app.command()(release)
    given = [f"--set={name}={value}" for name, value in SETTINGS.items()]
    place = ["--ledger", str(folder / "ledger.sqlite"), "--out", str(folder / f"out{n}")]
    what = [str(folder / "log.tsv"), "--format", "aol", "--mechanism", "korolova", "--json"]
    result = CliRunner().invoke(app, [*what, *given, *place])
    if result.exit_code:
        raise RuntimeError(f"the command ended with {result.exit_code}: {result.output}")
    said: dict[str, object] = json.loads(result.stdout)
    return said


def _holds(out: Path) -> bool:
    return all(finding.holds for finding in check(out))
