"""Run one mechanism once: from a log to a folder that may be published.

    draft and admit (plan, refusals) → measure (exact, engine) → reserve the budget → perturb (noise) → write whole

Everything under `public/` is a function of mechanism outputs and of facts stated by the owner. What was seen of
the raw log goes to `owner-only/`, and is marked so.
"""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.card.facts import LOOK, REFUSED
from hubbub.errors import HubbubError, OurBug
from hubbub.files import PRIVATE, READABLE, permit, whole
from hubbub.mechanisms.base import Mechanism
from hubbub.noise import SecureNoise, SeededNoise
from hubbub.privacy.fingerprint import Fingerprint, fingerprint, look
from hubbub.privacy.guarantee import Guarantee
from hubbub.privacy.ledger import Entry, Ledger
from hubbub.release.booking import booked, commit, reserve
from hubbub.release.earlier import outputs
from hubbub.release.folder import write_facts, write_owner_only, write_public, write_whose
from hubbub.release.opened import Release
from hubbub.release.plan import Plan
from hubbub.release.refusals import (
    Admitted,
    admit,
    refuse_damaged,
    refuse_elsewhere,
    refuse_known_data,
    refuse_other_period,
)
from hubbub.show.owner import finish
from hubbub.steps.mode import Say, quiet, run_mode

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.noise import NoiseSource


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
    max_rejects, seed, not_private, allow_empty, drop_outside, review.
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
    say: Say = quiet,
    tell: Say = quiet,
) -> Result:
    """One release of a plan, with every refusal on the way."""
    reserved = None if log.run is None else log.run.find(ledger)
    return run_admitted(log, admit(plan.drafted(), ledger, reserved), ledger, noise=noise, say=say, tell=tell)


def run_admitted(
    log: SearchLog,
    admitted: Admitted,
    ledger: Ledger,
    *,
    noise: NoiseSource | None = None,
    say: Say = quiet,
    tell: Say = quiet,
) -> Result:
    """One release, start to end. The budget is reserved before the first draw and never given back.

    `say` hears which part of it runs, `tell` how far a long computation is.
    """
    noise = noise or _noise(admitted.plan)
    started = time.monotonic()
    plan, mechanism = admitted.plan, admitted.plan.mechanism
    refuse_other_period(log, plan.owner)
    if admitted.guarantee.private and not noise.private:
        raise OurBug("a private release must draw from the operating system's generator")
    whole_log = log

    try:
        refuse_damaged(log, plan.max_rejects)
        refuse_elsewhere(plan, log.rows(), log.ingested.kept)
        data = _data(log, admitted, ledger) if ledger.exists else None  # else nothing is known, nor made for this
        say("measuring: bounding each user, counting")
        log, secret = _secret(log, noise)
        counts = mechanism.measure(log, run_mode(log.engine, noise, secret, tell))
    except Exception:  # it says why, often in exact numbers of the log
        with suppress(HubbubError):
            look(ledger, whole_log, plan.population, plan.dataset, REFUSED)
        raise

    owner_only: dict[str, object] = {
        "rows": log.ingested.kept,
        "outside_period": log.ingested.kept - log.rows(),
        "users": log.users(),
        "dropped": log.ingested.dropped,
        "rejects": log.ingested.rejected,
        "reasons": log.ingested.reasons,
    }
    if log.ingested.screening is not None:
        owner_only["screened"] = log.ingested.screened
    if log.left_out.max_searches_a_day is not None:
        owner_only["users_left_out"], owner_only["rows_left_out"] = log.busy()
    notes = mechanism.owner_notes(counts)
    with whole(plan.out) as folder:
        write_owner_only(folder / "owner-only", log, plan)  # no noise in it: if the disk is full, nothing is spent
        data = data or _data(log, admitted, ledger)
        entry = reserve(ledger, admitted, data, None if log.run is None else log.run.token)
        standing = booked(ledger, entry, data)
        # owner-only/ shows exact facts, whatever happens from here
        ledger.looked(plan.population, plan.dataset, LOOK, ledger.keep(data))
        if log.run is not None:
            log.run.drawing()
        ledger.drawing(entry)
        say("drawing noise")
        tables = mechanism.draw(counts, noise)
        say("writing the release")
        rows = write_public(folder / plan.place, log, plan, counts, tables, standing)
        write_whose(folder / "owner-only", mechanism.whose(tables))
        ledger.released(entry, outputs(folder / plan.place, mechanism))
        if certificate := mechanism.certificate(counts, tables):
            owner_only["certificate"] = certificate
        write_facts(folder / "owner-only", mechanism, owner_only, seconds=round(time.monotonic() - started, 3))
        permit(folder / "owner-only", *PRIVATE)
        permit(folder / plan.place, *(PRIVATE if plan.review else READABLE))
    if log.run is not None:
        log.run.finished()
    warning = commit(ledger, entry, draft=plan.review)
    say("looking at what was kept, for the owner")
    try:
        told = finish(plan.out, log, mechanism, counts, ledger, entry)  # fails as a warning: the release stands
    except KeyboardInterrupt:
        told = f"interrupted after the release was whole and its budget spent; see: hubbub report {plan.out}"
    warning = "; ".join(filter(None, (warning, told)))
    return Result(Release(plan.out / plan.place), admitted.guarantee, entry, rows, owner_only, warning, notes)


def _noise(plan: Plan) -> NoiseSource:
    return SecureNoise() if plan.seed is None else SeededNoise(plan.seed)


def _data(log: SearchLog, admitted: Admitted, ledger: Ledger) -> Fingerprint:
    """What the ledger knows this data by; refused if it was released under another population."""
    data = fingerprint(log, ledger.key())
    if admitted.reserved is None:
        refuse_known_data(ledger, admitted.plan, data)
    return data


def _secret(log: SearchLog, noise: NoiseSource) -> tuple[SearchLog, bytes]:
    """The key of the hash that bounds users: fresh, or that of the tables an interrupted run kept, which are read."""
    if log.run is None:
        return log, noise.secret("bounding")
    secret = log.run.bounding(lambda: noise.secret("bounding"))
    return replace(log, engine=log.run.checkpoints(log.engine)), secret
