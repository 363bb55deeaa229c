"""Make a card from the mechanism and the facts: what the owner states, what the ledger booked, what was written.

Nothing here has seen the log: every field is a function of mechanism outputs and of facts stated by the
owner. Nothing else is on a card, so that a check can make it again from what it reads there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from hubbub.card import audited
from hubbub.card.facts import ACCOUNTANT, BASES, ELSEWHERE, LIBRARIES, LOOK, Booked, Facts
from hubbub.card.schema import NOT_STATED, STAMP, VERSION, Card, FilePart, integrity
from hubbub.card.strength import remarks, word
from hubbub.mechanisms.base import Mechanism
from hubbub.privacy.account import Domain
from hubbub.privacy.delta import means
from hubbub.privacy.existence import conditions
from hubbub.privacy.guarantee import Definition, Guarantee, Neighbours, finite, number

PAGES = ("index.html", "README.md")


def build_card(mechanism: Mechanism, facts: Facts) -> Card:
    """The card of one release: a function of the mechanism and of the facts, and of nothing else."""
    guarantee = mechanism.proven().of_run(seeded=facts.seeded)
    document: dict[str, object] = {
        "card_version": VERSION,
        "release": _release(mechanism, facts),
        "mechanism": _mechanism(mechanism, guarantee),
        "claim": _claim(mechanism, guarantee, facts),
        "unit": _unit(guarantee, facts),
        "bounding": [{"stage": b.stage, "norm": b.norm, "limit": b.limit, "how": b.how} for b in mechanism.bounds()],
        "steps": [s.record() for s in mechanism.steps()],
        "accounting": _accounting(guarantee, facts),
        "data_dependent_choices": _choices(facts.booked),
        "unprotected": _unprotected(facts),
        "post_processing": list(mechanism.post_processing()),
        "implementation": _implementation(facts),
        "checks": {
            "audit": _audit(mechanism, facts),
            "how": [
                "hubbub card RELEASE --check",
                f"hubbub audit --mechanism {mechanism.name}",
                f"hubbub audit --mechanism {mechanism.name} --mutants",
            ],
            "reviewed_by": [],
        },
        "accuracy": {
            "published_from": "the law of the noise, and measurements on made-up logs; never this log",
            "per_row": mechanism.intervals(),
            "values": mechanism.values(),
            "expect_missing": _missing(mechanism),
            "spurious_rows": mechanism.spurious_among(_rows(mechanism, facts)),
            "nobodys": dict(mechanism.nobodys()),
            "how_to_use": "README.md beside this card",
        },
        "hazards": _hazards(mechanism, facts),
        "integrity": "",
    }
    return _sealed(Card.model_validate(document).document())


def with_pages(card: Card, pages: Mapping[str, str]) -> Card:
    """The card that lists its pages too, by name and hash; they are made from the card without them."""
    listed = [FilePart(path=page, sha256=pages[page]) for page in PAGES if page in pages]
    release = card.release.model_copy(update={"files": [*card.release.files, *listed]})
    return _sealed(card.model_copy(update={"release": release}).document())


def _sealed(document: dict[str, object]) -> Card:
    return Card.model_validate(document | {"integrity": integrity(document)})


def columns(mechanism: Mechanism, table: str) -> list[str]:
    """The columns of a released table: its key, the noisy value, the deviation of the noise; or those of a log."""
    kind = mechanism.offers[table]
    return [*kind.columns] if kind.rows else [*kind.columns, *kind.beside, mechanism.value_column, "noise_sd"]


# ------------------------------------------------------------------ section by section


def _rows(mechanism: Mechanism, facts: Facts) -> dict[str, int]:
    """How many rows each table has that is made."""
    made = {table: facts.files.get(f"{table}.parquet") for table in mechanism.tables}
    return {table: file.rows for table, file in made.items() if file is not None and file.rows is not None}


def _release(mechanism: Mechanism, facts: Facts) -> dict[str, object]:
    owner, period, files = facts.owner, facts.owner.period, list[dict[str, object]]()
    for table in mechanism.tables:
        if file := facts.files.get(f"{table}.parquet"):
            known = {"path": f"{table}.parquet", "sha256": file.sha256, "rows": file.rows}
            files.append(known | {"columns": columns(mechanism, table)})
    files += [{"path": page, "sha256": facts.files[page].sha256} for page in PAGES if page in facts.files]
    asked: dict[str, object] = {
        "screening": facts.screening,
        "left_out": asdict(facts.left_out) if facts.left_out else None,
        "draft": facts.draft or None,
        "review": facts.review,
        "supersedes": facts.supersedes,
    }
    revision = "" if facts.review is None or facts.review["revision"] == 1 else f".{facts.review['revision']}"
    return {
        "id": f"{facts.booked.dataset}-r{facts.booked.entry}{revision}",
        "title": owner.title,
        "curator": list(owner.curator),
        "intended_use": owner.intended_use,
        "region": owner.region,
        "published": facts.published.isoformat(),
        "contains": [table for table in mechanism.tables if table not in (facts.review or {}).get("tables", ())],
        "files": files,
        "licence": owner.licence,
        "contact": owner.contact,
        "period_stated_by_owner": None
        if period is None
        else {"from": period.first.isoformat(), "to": period.last.isoformat(), "per": "whole-period"},
        "users_stated_by_owner": facts.users,
        "max_rejects": facts.max_rejects,
        "allow_empty": facts.allow_empty,
        "drop_outside": facts.drop_outside,
        "other_people": facts.other_people,
        "own_query": facts.own_query,
    } | {name: said for name, said in asked.items() if said is not None}


def _mechanism(mechanism: Mechanism, guarantee: Guarantee) -> dict[str, object]:
    claimed, serp = mechanism.claimed(), mechanism.serp
    lists = [] if serp is None else [{"use": "serp", "name": serp.name, "sha256": serp.sha256}]
    lists += mechanism.public_records()
    return {
        "name": mechanism.name,
        "variant": mechanism.variant,
        "tables": list(mechanism.tables),
        "parameters": {k: str(v) for k, v in mechanism.settings.items()},
        "chosen": list(mechanism.chosen()),
        "public_lists": lists,
        "private": guarantee.private,
        "stamp": None if guarantee.private else STAMP,
        "claimed": {
            "by": claimed.by,
            "epsilon": finite(claimed.epsilon),
            "delta": finite(claimed.delta),
            "holds": claimed.holds,
            "why": claimed.why,
        },
        "scope": guarantee.scope,
    }


def _claim(mechanism: Mechanism, guarantee: Guarantee, facts: Facts) -> dict[str, object]:
    period, delta, users = facts.owner.period, guarantee.delta, facts.users
    return {
        "sentence": guarantee.sentence("" if period is None else str(period)),
        "definition": guarantee.definition.value,
        "epsilon": guarantee.epsilon,
        "delta": delta,
        "delta_means": means(mechanism.steps(), guarantee.epsilon, delta),
        "also_holds_as": _also(mechanism, guarantee.private),
        "delta_vs_users": None
        if users is None or delta is None
        else {"users_public_or_noisy": users, "source": "stated by the owner", "delta_times_users": delta * users},
        "strength": None if guarantee.epsilon is None or not guarantee.private else word(guarantee.epsilon),
        "remarks": remarks(guarantee, users),
        "conditions": [*conditions(mechanism, facts), *guarantee.caveats],
    }


def _unit(guarantee: Guarantee, facts: Facts) -> dict[str, object]:
    period = "" if facts.owner.period is None else f" {facts.owner.period}"
    return {
        "name": guarantee.unit.value,
        "column": facts.user_column,
        "means": f"everything recorded under one value of {facts.user_column}{period}, white space around it removed",
        "neighbouring": guarantee.neighbours.value,
        "not_protected": [
            "one person with several accounts, beyond each account",
            "facts that many users share: the crowd is what is published",
        ],
    }


def _accounting(guarantee: Guarantee, facts: Facts) -> dict[str, object]:
    booked = facts.booked
    return {
        "method": "Laplace steps add up, Gaussian steps are converted once; what releases cost together: see "
        "ledger.stands_on",
        "library": f"{ACCOUNTANT} {facts.versions[ACCOUNTANT]}",
        "total_epsilon": guarantee.epsilon,
        "total_delta": guarantee.delta,
        "ledger": {
            "population": booked.population,
            "dataset": booked.dataset,
            "entry": booked.entry,
            "epsilon_before": finite(booked.epsilon_before),
            "epsilon_after": finite(booked.epsilon_after),
            "delta_after": booked.delta_after,
            "in_advance_epsilon": finite(booked.in_advance[0]),
            "in_advance_delta": booked.in_advance[1],
            "promised_epsilon": None if booked.promised is None else booked.promised[0],
            "promised_delta": None if booked.promised is None else booked.promised[1],
            "stands_on": BASES[booked.basis],
            "cap_epsilon": None if booked.cap is None else booked.cap[0],
            "cap_delta": None if booked.cap is None else booked.cap[1],
            "looks": list(booked.looks),
        },
        "earlier_releases": list(booked.earlier),
        "planned_releases": facts.owner.planned_releases,
    }


def _unprotected(facts: Facts) -> list[dict[str, str]]:
    known = [{"what": "column names and format of the log", "why": "public facts"}]
    if facts.owner.period:
        known.append({"what": "the stated period", "why": "stated by the owner"})
    else:
        known.append({"what": "the period of the log", "why": "not stated, not published"})
    if facts.users is not None:
        known.append({"what": "the declared number of users", "why": "stated by the owner, not counted"})
    return known


def _implementation(facts: Facts) -> dict[str, object]:
    owner, versions = facts.owner, facts.versions
    return {
        "software": f"hubbub {versions['hubbub']}",
        "python": versions["python"],
        "libraries": {name: versions[name] for name in LIBRARIES},
        "randomness": {
            "source": "a fixed seed: anybody can subtract this noise"
            if facts.seeded
            else "the operating system's generator",
            "sampler": "exact integer discrete Laplace and Gaussian (table and cells; docs/proofs/noise.md)",
            "seeded": facts.seeded,
        },
        "floating_point": "noise, exact counts and thresholds are integers; floats appear after the noise only, where "
        "post_processing says so",
        "side_channels": "one batch, not interactive; time and memory of the run are not published",
        "raw_data": {"access": owner.raw_data_access, "kept_until": owner.raw_data_kept_until},
    }


def _audit(mechanism: Mechanism, facts: Facts) -> list[dict[str, object]]:
    """What audits of the code that ran have found; of an audit that was not run it says so."""
    quoted = [f"{mechanism.name} {mechanism.variant}", audited.SHARED]
    return [{"of": of} | (facts.audit[of].record() if of in facts.audit else audited.NOT_RUN) for of in quoted]


def _also(mechanism: Mechanism, private: bool) -> list[dict[str, object]]:
    if not private:
        return []
    also: list[dict[str, object]] = [
        {
            "definition": other.definition.value,
            "epsilon": finite(other.epsilon),
            "delta": other.delta,
            "neighbouring": other.neighbours.value,
            "how": how,
        }
        for other, how in mechanism.also()
    ]
    if mechanism.neighbours is Neighbours.ADD_REMOVE:
        return also
    loss = mechanism.loss()
    return [
        {
            "definition": Definition.APPROXIMATE.value,
            "epsilon": loss.epsilon,
            "delta": loss.delta,
            "neighbouring": Neighbours.ADD_REMOVE.value,
            "how": "the same steps, one user added or removed; what the ledger composes",
        },
        *also,
    ]


def _choices(booked: Booked) -> list[dict[str, str]]:
    if not booked.looks:
        note = "the ledger records no look at this raw log, under whatever name, before this release"
        return [{"choice": "all parameters", "informed_by": "public", "note": note}]
    looks = [
        "an earlier release (its owner-only facts: exact numbers of rows, users and rejected lines)"
        + look.removeprefix(LOOK)
        if look.removesuffix(ELSEWHERE) == LOOK
        else look
        for look in dict.fromkeys(booked.looks)
    ]
    note = "these showed something of the raw log before this release: " + ", ".join(looks)
    return [{"choice": "all parameters", "informed_by": "raw", "note": note}]


def _missing(mechanism: Mechanism) -> str:
    return "; ".join(mechanism.missing()) + ". A missing row is not a zero."


def _hazards(mechanism: Mechanism, facts: Facts) -> list[dict[str, str]]:
    delta, booked, users = mechanism.loss().delta, facts.booked, facts.users
    cap = "no cap set" if booked.cap is None else f"cap ε = {number(booked.cap[0])}, δ = {number(booked.cap[1])}"
    domains = {s.domain for s in mechanism.steps()}
    answers = {
        "unit": "the account named in `unit`, never a row or a session",
        "contribution": "bounded per user before counting; see `bounding`"
        if mechanism.bounds()
        else "NOT BOUNDED: everything one user did may count",
        "repeat-release": f"the ledger adds up every release of population {booked.population}; {cap}",
        "tuning-on-data": "looks at the raw log are recorded; see `data_dependent_choices`",
        "data-dependent keys": "NOT LIMITED: some rows show because the log holds them"
        if Domain.SEEN in domains or not domains
        else "keys appear only through a threshold whose δ is counted"
        if Domain.OPEN in domains
        else "public keys only",
        "boundary": "the rule is >= and δ counts the mass at the threshold"
        if domains
        else "NOT COUNTED: no noise is drawn, and nothing is proven of a threshold",
        "floating-point": "integers",
        "rng": "SEEDED: not private" if facts.seeded else "the operating system's generator",
        "neighbours": mechanism.neighbours.value,
        "delta": "number of users " + NOT_STATED
        if users is None
        else f"δ times declared users is {number(delta * users)}",
        "post-hoc filter": "none that depends on the data"
        if facts.review is None or not (facts.review["struck"] or facts.review["tables"])
        else "a reviewer who saw drawn rows alone struck some; see release.review",
        "small groups": "what few users share is missing by design: the release over-represents the head"
        if domains or mechanism.thresholds()
        else "NOT REMOVED: what one user alone did may show",
    }
    return [{"id": k, "answer": v} for k, v in answers.items()]
