"""Faults planted in shared code: each replaces one function of the installed package while the audit runs.

Most of them no sampled run would ever show: they are found by comparing bytes, or by asking the rule itself.
Every fault names the detector that must find it.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.audit.checks import engine, static, taint, two_stages
from hubbub.audit.checks.counts import sensitivity
from hubbub.audit.checks.exact import divergence, threshold_law
from hubbub.audit.checks.whole import whole_runs
from hubbub.audit.mutants.adaptive import ADAPTIVE_MUTANTS
from hubbub.audit.mutants.ballots import BALLOT_MUTANTS
from hubbub.audit.mutants.certificates import CERTIFICATE_MUTANTS
from hubbub.audit.mutants.draws import CHAIN_MUTANTS
from hubbub.audit.mutants.fault import Change, Fault
from hubbub.audit.mutants.groups import GROUP_MUTANTS
from hubbub.audit.mutants.lists import LIST_MUTANTS
from hubbub.audit.mutants.parts import PARTS_MUTANTS
from hubbub.audit.mutants.prior import PRIOR_MUTANTS
from hubbub.audit.mutants.sizes import SIZE_MUTANTS
from hubbub.audit.neighbours import threshold_pairs
from hubbub.audit.protocols import AuditRow, Subject
from hubbub.mechanisms import Mechanism, build

# ------------------------------------------------------------------ detectors that need a mechanism


def _shares_of(mechanism: Mechanism) -> Iterator[AuditRow]:
    for pair in threshold_pairs(mechanism):
        yield from sensitivity(Subject.of(mechanism), pair)


def _shares_of_queries() -> Iterator[AuditRow]:
    yield from _shares_of(build("korolova", {"d": 2, "b": 1, "K": 3}))


def _shares_of_transitions() -> Iterator[AuditRow]:
    yield from _shares_of(build("zealous", {"m": 1, "lambda": 1, "tau_prime": 3}, tables=["transitions"]))


def _exact() -> Iterator[AuditRow]:
    subject = Subject.of(build("korolova", {"d": 1, "b": 1, "K": 3}))
    yield from threshold_law(subject)
    for pair in threshold_pairs(subject.mechanism):
        yield from divergence(subject, pair)


# ------------------------------------------------------------------ reading


def _multi_line(blocks: Any) -> Any:
    """A quotation mark left open goes on to the next one, over any number of lines."""

    def joined(stream: Any, size: int | None = None) -> Any:
        parts = b"".join(iter(lambda: stream.read(1 << 20), b"")).split(b'"')
        parts[1::2] = [part.replace(b"\n", b" ") for part in parts[1::2]]
        return blocks(io.BytesIO(b'"'.join(parts)), size)

    return joined


def _named_nobody(blanks: Any) -> Any:
    """Lines without a user are those of one user, whose name is empty."""
    return lambda column, sign: blanks(column, sign) & bool(sign)


def _by_id(joined: Any) -> Any:
    """Clicks go to the search with their id, whosever it is."""

    def join(rows: pa.RecordBatch) -> Any:
        user = pa.array(["anybody"] * rows.num_rows)
        return joined(pa.RecordBatch.from_arrays([user, *rows.columns[1:]], schema=rows.schema))

    return join


def _lower(users: Any) -> Any:
    """Users whose names differ in capitals alone are one."""
    return lambda column: pc.ascii_lower(users(column))


def _silent_rejects(rejected: Any) -> Any:
    """Lines that cannot be decoded vanish."""
    return lambda found: rejected(found).slice(1)


def _distinct_rows(post_init: Any) -> Any:
    """Rows that read the same are one row, whoever wrote them."""

    def made(log: Any) -> None:
        post_init(log)
        log.engine.view(
            "log",
            'SELECT max("user") AS uid, "time", query, "rank", url FROM cleaned GROUP BY "time", query, "rank", url',
        )

    return made


def _unpartitioned(sql: Any) -> Any:
    """Windows run over all users at once."""
    return lambda *given, **named: sql(*given, **named).replace("PARTITION BY uid ", "")


def _unpartitioned_keys(offers: Any) -> Any:
    """The same for kinds of keys that are made of windows."""
    return {t: replace(k, events=k.events.replace("PARTITION BY uid ", "")) for t, k in offers.items()}


# ------------------------------------------------------------------ writing


def _on_the_card(fact: Callable[[Any], object]) -> Change:
    """The card says something exact about the log."""

    def change(write: Any) -> Any:
        def leaky(folder: Path, log: Any, plan: Any, *rest: Any) -> Any:
            return write(folder, log, replace(plan, owner=replace(plan.owner, intended_use=str(fact(log)))), *rest)

        return leaky

    return change


def _hash(log: Any) -> str:
    return hashlib.sha256(log.ingested.log.read_bytes()).hexdigest()


def _times(log: Any) -> object:
    return log.engine.fetch('SELECT min("time") AS a, max("time") AS b FROM log').to_pylist()


def _parts(write: Any) -> Any:
    """A part file for every so many rows of the log."""

    def parted(folder: Path, log: Any, plan: Any, *rest: Any) -> Any:
        rows = write(folder, log, plan, *rest)
        for n in range(0, log.ingested.kept, 2):
            copyfile(folder / "queries.parquet", folder / f"queries-{n:05d}.parquet")
        return rows

    return parted


def _as_counted(named: Any) -> Any:
    """Rows come out by exact count."""

    def ordered(log: Any, mechanism: Any, table: str, counts: Any, tables: Any) -> pa.Table:
        exact = np.argsort(-counts[table].n[tables[table].ids], kind="stable")
        return named(log, mechanism, table, counts, tables).take(pa.array(exact))

    return ordered


# ------------------------------------------------------------------ booking


def _by(what: str) -> Change:
    """A budget of its own for whatever this is; the cap holds for each."""
    return lambda reserve: (
        lambda ledger, **given: reserve(ledger, **given | {"population": f"{given['population']} {given[what]}"})
    )


def _any_cap(cap_of: Any) -> Any:
    return lambda ledger, population: cap_of(ledger, population.split()[0])


def _forget(entry: Callable[[Any], bool]) -> Change:
    """Some entries do not count."""
    return lambda entries: lambda ledger, population=None: [e for e in entries(ledger, population) if not entry(e)]


def _largest(sums: Any) -> Any:
    """The largest ε and the largest δ, not their sums."""
    return lambda losses: (max([0.0, *(x.epsilon for x in losses)]), max([0.0, *(x.delta for x in losses)]))


def _no_thresholds(tight: Any) -> Any:
    """The δ of thresholds is forgotten after the first release."""
    return lambda losses, delta: tight([replace(x, tv=0.0) for x in losses], delta)


# ------------------------------------------------------------------ noise and constants


class _Buffered:
    """Random bytes are fetched ahead, and the buffer goes along with a fork."""

    buffer = b""

    def take(self, size: int) -> bytes:
        import os

        while len(_Buffered.buffer) < size:
            _Buffered.buffer += os.urandom(1 << 14)
        taken, _Buffered.buffer = _Buffered.buffer[:size], _Buffered.buffer[size:]
        return taken


def _continuous(chance: Any) -> Any:
    """The law of real-valued noise, with the integer rule >=: half of the mass at the threshold is forgotten."""
    return lambda scale, threshold, count: (
        Decimal(math.exp(-float((threshold - count) / scale)) / 2)
        if threshold > count
        else chance(scale, threshold, count)
    )


def _product_split(calibrate: Any) -> Any:
    """Both stages tightened, as if the number of new clicks were fixed before the first noise."""
    from hubbub.mechanisms.crowd.calibrate import Stage
    from hubbub.mechanisms.rounds import Selection
    from hubbub.privacy.gaussian import mu_of, threshold_for

    def split(plans: Any, epsilon: Fraction, delta: Fraction, rounds: int, proof: str) -> Any:
        mu2 = mu_of(float(epsilon), float(delta)) ** 2 / len(plans)
        variance = math.ceil(4**16 / mu2) + 4
        threshold = threshold_for(1 << 16, variance, float(delta) / len(plans))
        plan = Selection(16, (1,), (variance,), 1, (threshold,), ())
        return [Stage(p.name, plan, None) for p in plans]

    return split


def _float_clip(recount: Any) -> Any:
    """A user is scaled down by a float and rounded to the nearest: a little longer than C."""

    def clipped(held: Any, ids: Any, lam: Any, cap2: int) -> Any:
        engine = held.log.engine
        engine.save("clipped", held._holding(ids, {"lam": lam}))
        rows = engine.fetch(
            f"SELECT kid, CAST(sum(round(lam * least(1.0, sqrt({cap2} / n2)))) AS BIGINT) AS y FROM clipped "
            "JOIN (SELECT uid, CAST(sum(lam * lam) AS DOUBLE) AS n2 FROM clipped GROUP BY uid) AS u "
            "USING (uid) GROUP BY kid"
        )
        engine.save(f"holding_{held.kind.name}", "SELECT * FROM clipped")
        sums = np.zeros(held.size, np.int64)
        sums[rows.column("kid").to_numpy()] = rows.column("y").to_numpy()
        return sums[ids]

    return clipped


WRITE, RESERVE = "hubbub.release.story:write_public", "hubbub.privacy.ledger:Ledger.reserve"
ENTRIES, CAP_OF = "hubbub.privacy.ledger.accounts:Accounts.entries", "hubbub.privacy.ledger.accounts:Accounts.cap_of"
PLANTED_ELSEWHERE = (
    *CHAIN_MUTANTS,
    *PARTS_MUTANTS,
    *SIZE_MUTANTS,
    *LIST_MUTANTS,
    *PRIOR_MUTANTS,
    *GROUP_MUTANTS,
    *BALLOT_MUTANTS,
    *CERTIFICATE_MUTANTS,
    *ADAPTIVE_MUTANTS,
)
SHARED_MUTANTS = (
    Fault("a quotation mark joins lines", taint.records, {"hubbub.ingest.readers.base:blocks": _multi_line}),
    Fault("lines without a user are one user", taint.records, {"hubbub.ingest.records:blanks": _named_nobody}),
    Fault("names without capitals", taint.people, {"hubbub.ingest.clean:users": _lower}),
    Fault("clicks joined by query id alone", taint.records, {"hubbub.ingest.join:joined": _by_id}),
    Fault("rejected lines vanish", taint.records, {"hubbub.ingest.records:rejected_lines": _silent_rejects}),
    Fault(
        "equal rows of two users are one", _shares_of_queries, {"hubbub.log:SearchLog.__post_init__": _distinct_rows}
    ),
    Fault("a bound over all users at once", _shares_of_queries, {"hubbub.steps.bound:_keep": _unpartitioned}),
    Fault(
        "transitions across users",
        _shares_of_transitions,
        {"hubbub.mechanisms.zealous:Zealous.offers": _unpartitioned_keys},
    ),
    Fault("hash of the input on the card", taint.public, {WRITE: _on_the_card(_hash)}),
    Fault("exact number of users on the card", taint.public, {WRITE: _on_the_card(lambda log: log.users())}),
    Fault(
        "exact number of users where none is declared",
        taint.undeclared,
        {
            WRITE: lambda write: (
                lambda folder, log, plan, *rest: write(
                    folder, log, replace(plan, users_public=plan.users_public or log.users()), *rest
                )
            )
        },
    ),
    Fault("rejects on the card", taint.public, {WRITE: _on_the_card(lambda log: log.ingested.reasons)}),
    Fault("first and last time on the card", taint.public, {WRITE: _on_the_card(_times)}),
    Fault("part files by rows of the log", taint.public, {WRITE: _parts}),
    Fault(
        "scores in public/",
        taint.scores,
        {"hubbub.worth.tasks.run:owner_only": lambda _: lambda release: release.public},
    ),
    Fault("rows not sorted", taint.order, {"hubbub.release.rows:sort_rows": lambda _: lambda rows: rows}),
    Fault(
        "rows sorted by exact count",
        taint.order,
        {"hubbub.release.rows:sort_rows": lambda _: lambda rows: rows, "hubbub.release.rows:named_rows": _as_counted},
    ),
    Fault("a budget for every file", static.books, {RESERVE: _by("fingerprint"), CAP_OF: _any_cap}),
    Fault("a budget for every month", static.books, {RESERVE: _by("dataset"), CAP_OF: _any_cap}),
    Fault("the most expensive month counts", static.books, {"hubbub.privacy.odometer:basic_sums": _largest}),
    Fault("budget back after a crash", static.books, {ENTRIES: _forget(lambda e: e.state == "drawing")}),
    Fault(
        "releases that are not private are free",
        static.books,
        {ENTRIES: _forget(lambda e: not e.private and e.state == "committed")},
    ),
    Fault(
        "thresholds are free from the second release on",
        static.books,
        {"hubbub.privacy.compose:_tight": _no_thresholds},
    ),
    Fault(
        "any earlier release will do",
        static.previous,
        {"hubbub.release.refusals:settled": lambda _: lambda ledger, plan: plan},
    ),
    Fault(
        "an earlier release is known by its number",
        static.previous,
        {"hubbub.release.earlier:_is": lambda _: lambda given, output: given.made is not None},
    ),
    Fault(
        "a log is what it is called",
        static.same_data,
        {"hubbub.privacy.fingerprint:Fingerprint.same": lambda _: lambda one, other: False},
    ),
    Fault(
        "seeded releases pass for private",
        static.unproven,
        {"hubbub.privacy.guarantee:Guarantee.of_run": lambda _: lambda guarantee, seeded: guarantee},
    ),
    Fault("random bytes shared by a fork", static.forked, {"hubbub.noise.source:SystemBits": lambda _: _Buffered}),
    Fault(
        "the same seed in every run",
        whole_runs(2),
        {"hubbub.release.story:SecureNoise": lambda _: lambda: taint.Seeded(1)},
    ),
    Fault("no slack for lemma A", static.slack, {"hubbub.privacy.gaussian:TAU2": lambda _: 0}),
    Fault(">= with the real-valued law", _exact, {"hubbub.privacy.account:release_probability": _continuous}),
    Fault(
        "product split over two stages",
        two_stages.tests,
        {"hubbub.mechanisms.crowd.calibrate:calibrate": _product_split},
    ),
    Fault("clip by floats", engine.shares, {"hubbub.steps.holdings:Holdings.recount": _float_clip}),
    Fault(
        "kept total not clipped",
        engine.shares,
        {"hubbub.steps.holdings:Holdings.kept": lambda kept: lambda held, ids, most: kept(held, ids, 10**9)},
    ),
    *(Fault(*mutant) for mutant in PLANTED_ELSEWHERE),
)
