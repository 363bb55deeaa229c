"""Run one mechanism once: from a log to a folder that may be published.

    check what was asked → measure (exact, engine) → reserve the budget → perturb (noise, arrays) → write whole

Everything under `public/` is a function of mechanism outputs and of facts stated by the owner. What was seen of
the raw log goes to `owner-only/`, and is marked so.
"""

from __future__ import annotations

import json
import shutil
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import hubbub
from hubbub.card.audited import known
from hubbub.card.build import build_card
from hubbub.card.facts import ELSEWHERE, LOOK, ON_THE_WAY, REFUSED, Booked, Written
from hubbub.card.schema import STAMP, sha256_of
from hubbub.errors import HubbubError, InputError, LedgerError, OurBug, Refused
from hubbub.files import permit, whole
from hubbub.mechanisms.base import Mechanism, Tables
from hubbub.mechanisms.spread import perturb
from hubbub.noise import SecureNoise, SeededNoise
from hubbub.privacy.account import Loss
from hubbub.privacy.compose import loss_record
from hubbub.privacy.fingerprint import Fingerprint, fingerprint, look
from hubbub.privacy.guarantee import Guarantee, finite, number
from hubbub.privacy.ledger import Entry, Ledger
from hubbub.privacy.ledger.budget import promise
from hubbub.release.earlier import outputs, settled
from hubbub.release.plan import Plan
from hubbub.release.refusals import (
    refuse_by_ledger,
    refuse_damaged,
    refuse_elsewhere,
    refuse_known_data,
    refuse_other_period,
)
from hubbub.release.rows import write_tables
from hubbub.show.owner import finish
from hubbub.show.page import write_pages

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource
    from hubbub.steps.count import Counts

WHOSE = "users.parquet"
"""In `owner-only/`, where a released log holds rows of real users: whose they are."""
DO_NOT_PUBLISH = """NOT PRIVATE. DO NOT PUBLISH.

Everything in this folder was computed from the raw log without a privacy mechanism.
Only the folder public/ beside it may leave the house.
"""


@dataclass(frozen=True)
class Result:
    """What a release run did, for the owner."""

    release: Release
    guarantee: Guarantee
    entry: Entry
    rows: dict[str, int]
    owner_only: dict[str, object]
    warning: str = ""
    notes: tuple[str, ...] = ()


def release(
    log: SearchLog,
    mechanism: Mechanism,
    out: str | Path,
    *,
    ledger: str | Path | None = None,
    **plan: Any,
) -> Release:
    """Release a log with a mechanism into a new folder; the Python form of `hubbub release`.

    Further arguments are those of `Plan`: owner, population, new_population, other_people, dataset, users_public,
    max_rejects, seed, not_private, allow_empty, drop_outside.
    """
    planned = Plan(mechanism, Path(out).absolute(), **plan)
    for remark in planned.remarks():
        warnings.warn(remark, stacklevel=2)
    with Ledger(None if ledger is None else Path(ledger)) as book:
        result = run_release(log, planned, book)
    if result.warning:
        warnings.warn(result.warning, stacklevel=2)
    return result.release


def run_release(
    log: SearchLog,
    plan: Plan,
    ledger: Ledger,
    *,
    noise: NoiseSource | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Result:
    """One release, start to end. The budget is reserved before the first draw and never given back."""
    try:
        return _run(log, plan, ledger, noise, say)
    finally:
        log.repeatable, log.spread = True, False  # for whoever reads the log next


def _run(log: SearchLog, plan: Plan, ledger: Ledger, noise: NoiseSource | None, say: Callable[[str], None]) -> Result:
    started = time.monotonic()
    plan = settled(ledger, plan)
    mechanism, guarantee = plan.mechanism, plan.guarantee()
    plan.refuse_early()
    loss = mechanism.loss()
    reserved = None if log.run is None else log.run.find(ledger)
    if reserved is None:
        refuse_by_ledger(ledger, plan)
    refuse_other_period(log, plan.owner)
    if noise is None:
        noise = SecureNoise() if plan.seed is None else SeededNoise(plan.seed)
    if guarantee.private and not noise.private:
        raise OurBug("a private release must draw from the operating system's generator")

    try:
        refuse_damaged(log, plan.max_rejects)
        refuse_elsewhere(plan, log.rows(), log.ingested.kept)
        data = _data(log, plan, ledger, reserved) if ledger.exists else None  # else nothing is known, nor made for this
        say("measuring: bounding each user, counting")
        log.repeatable = not noise.private
        log.spread = mechanism.keywise and log.engine.spreads and noise.private
        counts = mechanism.measure(log, _secret(log, noise))
        plan.draft(log.ingested.columns["user"])
    except Exception:  # it says why, often in exact numbers of the log
        with suppress(HubbubError):
            look(ledger, log, plan.population, plan.dataset, REFUSED)
        raise

    owner_only: dict[str, object] = {
        "rows": log.ingested.kept,
        "outside_period": log.ingested.kept - log.rows(),
        "users": log.users(),
        "rejects": log.ingested.rejected,
        "reasons": log.ingested.reasons,
    }
    notes = mechanism.owner_notes(counts)
    with whole(plan.out) as folder:
        _write_owner_only(folder / "owner-only", log, plan)  # no noise in it: if the disk is full, nothing is spent
        data = data or _data(log, plan, ledger, reserved)
        token = None if log.run is None else log.run.token
        entry = _reserve(ledger, plan, loss, guarantee, data, token, reserved)
        booked = _booked(ledger, entry, data)
        # owner-only/ shows exact facts, whatever happens from here
        ledger.looked(plan.population, plan.dataset, LOOK, ledger.keep(data))
        if log.run is not None:
            log.run.drawing()
        ledger.drawing(entry)
        say("drawing noise")
        tables = perturb(log, mechanism, counts, noise)
        say("writing the release")
        rows = _write_public(folder / "public", log, plan, counts, tables, booked)
        if (whose := mechanism.whose(tables)) is not None:
            pq.write_table(whose, folder / "owner-only" / WHOSE)
        ledger.released(entry, outputs(folder / "public", mechanism))
        if certificate := mechanism.certificate(counts, tables):
            owner_only["certificate"] = certificate
        owner_only["epsilon"] = _three_numbers(mechanism)
        owner_only["seconds"] = round(time.monotonic() - started, 3)
        (folder / "owner-only" / "facts.json").write_text(json.dumps(owner_only, indent=2) + "\n", encoding="utf-8")
        permit(folder / "owner-only", 0o700, 0o600)
        permit(folder / "public", 0o755, 0o644)
    if log.run is not None:
        log.run.finished()
    warning = _commit(ledger, entry)
    say("looking at what was kept, for the owner")
    try:
        told = finish(plan.out, log, mechanism, counts, ledger, entry)  # fails as a warning: the release stands
    except KeyboardInterrupt:
        told = f"interrupted after the release was whole and its budget spent; see: hubbub report {plan.out}"
    return Result(
        Release(plan.out), guarantee, entry, rows, owner_only, "; ".join(filter(None, (warning, told))), notes
    )


def _data(log: SearchLog, plan: Plan, ledger: Ledger, reserved: Entry | None) -> Fingerprint:
    """What the ledger knows this data by; refused if it was released under another population."""
    data = fingerprint(log, ledger.key())
    if reserved is None:
        refuse_known_data(ledger, plan, data)
    return data


def _three_numbers(mechanism: Mechanism) -> dict[str, object]:
    """Claimed by the paper, proven here, and refuted by audits of this code (a lower bound): three different things.

    The audit ran on parameters of its own, so its number stands beside what is proven for those.
    """
    found = known().get(f"{mechanism.name} {mechanism.variant}")
    return {
        "claimed": finite(mechanism.claimed().epsilon),
        "proven": finite(mechanism.proven().epsilon),
        "audit": None if found is None else {"empirical": found.empirical_epsilon, "of_proven": found.proven_epsilon},
    }


def _commit(ledger: Ledger, entry: Entry) -> str:
    """The release stands and is spent, whether or not the ledger can still be written: a warning if not."""
    try:
        ledger.committed(entry)
    except LedgerError as error:
        return f"the release is whole and its budget spent, but its entry {entry.id} stays marked as drawing: {error}"
    return ""


def _secret(log: SearchLog, noise: NoiseSource) -> bytes:
    """The key of the hash that bounds users: fresh, or that of the tables an interrupted run kept."""
    if log.run is None:
        return noise.secret("bounding")
    secret = log.run.bounding(lambda: noise.secret("bounding"))
    log.engine = log.run.checkpoints(log.engine)
    return secret


def _reserve(
    ledger: Ledger,
    plan: Plan,
    loss: Loss,
    guarantee: Guarantee,
    data: Fingerprint,
    token: str | None,
    reserved: Entry | None,
) -> Entry:
    """Reserve, or go on with what an interrupted run reserved for this very release."""
    mechanism = plan.mechanism
    wanted: dict[str, Any] = {
        "population": plan.population,
        "dataset": plan.dataset,
        "mechanism": mechanism.name,
        "variant": mechanism.variant,
        "private": guarantee.private,
        "parameters": {k: str(v) for k, v in mechanism.settings.items()},
        "software": f"hubbub {hubbub.__version__}",
    }
    if reserved is None:
        return ledger.reserve(**wanted, loss=loss, token=token, fingerprint=ledger.keep(data))
    if any(getattr(reserved, name) != value for name, value in wanted.items()) or loss_record(
        reserved.loss
    ) != loss_record(loss):
        raise Refused(
            "The reservation of the interrupted run is not what this release costs.",
            given=f"entry {reserved.id} of the ledger: {reserved.mechanism}, ε = {number(reserved.loss.epsilon)}",
            next=f"remove the folder of that run in {plan.run.get('work', '--work')} and run again",
        )
    return reserved


def _booked(ledger: Ledger, entry: Entry, data: Fingerprint) -> Booked:
    """The entry and those before it; what other processes reserve meanwhile is theirs to tell."""
    before, after = (ledger.spent(entry.population, until=last) for last in (entry.id - 1, entry.id))
    cap, standing = ledger.cap_of(entry.population), ledger.standing(entry.population, until=entry.id)
    return Booked(
        entry.population,
        entry.dataset,
        entry.id,
        before.epsilon,
        after.epsilon,
        None if cap is None else (cap.epsilon, cap.delta),
        tuple(f"{e.dataset}-r{e.id}" for e in ledger.entries(entry.population) if e.id < entry.id),
        tuple(
            look.command + (ELSEWHERE if look.elsewhere else "")
            for look in ledger.looks(entry.population, entry.dataset, data)
        ),
        delta_after=after.delta,
        in_advance=(after.advance_epsilon, after.advance_delta),
        promised=promise(standing),
        basis=standing.opened[-1].origin if standing.opened else ON_THE_WAY,
    )


def _write_public(
    folder: Path, log: SearchLog, plan: Plan, counts: dict[str, Counts], tables: Tables, booked: Booked
) -> dict[str, int]:
    """Tables, pages and card; nothing here may depend on the log but through `tables`."""
    folder.mkdir()
    written = {
        path.name: Written(sha256_of(path), rows)
        for path, rows in write_tables(folder, log, plan.mechanism, counts, tables).items()
    }
    facts = replace(plan.facts(booked, log.ingested.columns["user"]), files=written)
    for page in write_pages(folder, build_card(plan.mechanism, facts)):
        written[page.name] = Written(sha256_of(page))
    (folder / "card.json").write_text(build_card(plan.mechanism, facts).text(), encoding="utf-8")
    return {name.removesuffix(".parquet"): file.rows for name, file in written.items() if file.rows is not None}


def _write_owner_only(folder: Path, log: SearchLog, plan: Plan) -> None:
    folder.mkdir(0o700)  # from the first moment: what is in it was computed from the raw log
    (folder / "NOT-PRIVATE.txt").write_text(DO_NOT_PUBLISH, encoding="utf-8")
    shutil.copyfile(log.ingested.rejects, folder / "rejects.parquet")
    lines = ["# Everything that made this release; `hubbub release --config run.toml` reads it again."]
    stated = {key: value for key, value in plan.run.items() if value is not None}
    lines += [f"{key} = {_toml(value)}" for key, value in stated.items() if not isinstance(value, dict)]
    for key, value in stated.items():
        if isinstance(value, dict):
            lines += ["", f"[{key}]", *(f"{k} = {_toml(v)}" for k, v in value.items())]
    (folder / "run.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False, default=str)


class Frame:
    """One released table, in the form the reader works with."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def to_arrow(self) -> pa.Table:
        """As an Arrow table."""
        return pq.read_table(self.path)

    def to_pandas(self) -> object:
        """As a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> object:
        """As a polars frame (needs polars)."""
        try:
            import polars
        except ImportError:
            raise InputError("polars is not installed.", next="pip install polars") from None
        return polars.from_arrow(self.to_arrow())

    def __len__(self) -> int:
        return int(pq.read_metadata(self.path).num_rows)


class Release:
    """A release folder, opened for reading: `.queries`, `.clicks`, … and the card."""

    def __init__(self, path: str | Path) -> None:
        from hubbub.card.check import load, parsed, public_folder

        self.path = Path(path)
        self.public = public_folder(self.path)
        self.card = load(self.path)
        card = parsed(self.card)
        self.tables = tuple(card.release.contains)
        self.private = card.mechanism.private
        self.sentence = card.claim.sentence

    def __getattr__(self, name: str) -> Frame:
        tables = self.__dict__.get("tables", ())
        if name not in tables:
            raise AttributeError(f"this release has no table {name!r}; it has {', '.join(tables)}")
        return Frame(self.public / f"{name}.parquet")

    def __repr__(self) -> str:
        stamp = "" if self.private else f" {STAMP}"
        return f"<Release {self.path}{stamp}: {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(f"<li>{escape(t)}: {len(getattr(self, t))} rows</li>" for t in self.tables)
        stamp = "" if self.private else f"<b>{STAMP}.</b> "
        return f"<p>{stamp}{escape(self.sentence)}</p><ul>{rows}</ul>"
