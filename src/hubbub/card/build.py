"""Make a card from the mechanism, the owner's statements and the hashes of what was released.

Nothing here has seen the log: every field is a function of mechanism outputs and of facts stated by the
owner. No hash, count, time or order of the input may enter.
"""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import hubbub
from hubbub.account import Domain
from hubbub.card.owner import Owner
from hubbub.card.schema import NOT_STATED, STAMP, VERSION, Card, integrity, sha256_of
from hubbub.gaussian import AnyStep, GaussianStep
from hubbub.guarantee import Definition, Guarantee, Neighbours, number
from hubbub.mechanisms.base import Mechanism


@dataclass(frozen=True)
class Booked:
    """Where a release stands in the ledger, before and after."""

    population: str
    dataset: str
    entry: int
    epsilon_before: float
    epsilon_after: float
    cap: tuple[float, float] | None
    earlier: tuple[str, ...]
    looks: tuple[str, ...]


@dataclass(frozen=True)
class TableFile:
    """One released table as written."""

    path: Path
    rows: int
    columns: tuple[str, ...]


def build_card(
    mechanism: Mechanism,
    guarantee: Guarantee,
    owner: Owner,
    booked: Booked,
    files: list[TableFile],
    pages: list[Path],
    *,
    user_column: str,
    seeded: bool,
    max_rejects: float,
    users_public: int | None,
    notes: tuple[str, ...] = (),
) -> Card:
    """The card of one release."""
    period = owner.period
    private = guarantee.private
    claimed = mechanism.claimed()
    stated = {} if users_public is None else {"users": users_public}
    document: dict[str, object] = {
        "card_version": VERSION,
        "release": {
            "id": f"{booked.dataset}-r{booked.entry}",
            "title": owner.title,
            "curator": list(owner.curator),
            "intended_use": owner.intended_use,
            "region": owner.region,
            "published": datetime.now(UTC).date().isoformat(),
            "contains": list(mechanism.tables),
            "files": [
                {"path": f.path.name, "sha256": sha256_of(f.path), "rows": f.rows, "columns": list(f.columns)}
                for f in files
            ]
            + [{"path": p.name, "sha256": sha256_of(p)} for p in pages],
            "licence": owner.licence,
            "contact": owner.contact,
            "period_stated_by_owner": None
            if period is None
            else {"from": period.first.isoformat(), "to": period.last.isoformat(), "per": "whole-period"},
        },
        "mechanism": {
            "name": mechanism.name,
            "variant": mechanism.variant,
            "tables": list(mechanism.tables),
            "parameters": {k: str(v) for k, v in mechanism.settings.items()},
            "public_lists": []
            if mechanism.serp is None
            else [{"use": "serp", "name": mechanism.serp.name, "sha256": mechanism.serp.sha256}],
            "private": private,
            "stamp": None if private else STAMP,
            "claimed": {
                "by": claimed.by,
                "epsilon": claimed.epsilon,
                "delta": claimed.delta,
                "holds": claimed.holds,
                "why": claimed.why,
            },
            "scope": guarantee.scope,
        },
        "claim": {
            "sentence": guarantee.sentence("" if period is None else str(period)),
            "definition": guarantee.definition.value,
            "epsilon": guarantee.epsilon,
            "delta": guarantee.delta,
            "also_holds_as": _also(mechanism, private),
            "delta_vs_users": None
            if not stated or guarantee.delta is None
            else {
                "users_public_or_noisy": stated["users"],
                "source": "stated by the owner",
                "delta_times_users": guarantee.delta * stated["users"],
            },
            "conditions": [
                f"The release was made only because at most {max_rejects:.3g} of the input's lines were unreadable; "
                "that check is not part of the claim.",
                *guarantee.caveats,
                *notes,
            ],
        },
        "unit": {
            "name": guarantee.unit.value,
            "column": user_column,
            "means": f"everything recorded under one value of {user_column}"
            + ("" if period is None else f" {period}")
            + ", white space around it removed",
            "neighbouring": guarantee.neighbours.value,
            "not_protected": [
                "one person with several accounts, beyond each account",
                "facts that many users share: the crowd is what is published",
            ],
        },
        "bounding": [{"stage": b.stage, "norm": b.norm, "limit": b.limit, "how": b.how} for b in mechanism.bounds()],
        "steps": [s.record() for s in mechanism.steps()],
        "accounting": {
            "method": "Laplace steps add up, Gaussian steps are converted once; across releases the smaller of "
            "the sum and the tight composition",
            "library": f"dp-accounting {version('dp-accounting')}",
            "total_epsilon": guarantee.epsilon,
            "total_delta": guarantee.delta,
            "ledger": {
                "population": booked.population,
                "dataset": booked.dataset,
                "entry": booked.entry,
                "epsilon_before": _finite(booked.epsilon_before),
                "epsilon_after": _finite(booked.epsilon_after),
                "cap_epsilon": None if booked.cap is None else booked.cap[0],
                "cap_delta": None if booked.cap is None else booked.cap[1],
            },
            "earlier_releases": list(booked.earlier),
            "planned_releases": owner.planned_releases,
        },
        "data_dependent_choices": _choices(booked),
        "unprotected": [
            {"what": "column names and format of the log", "why": "public facts"},
            {
                "what": "the stated period" if period else "the period of the log",
                "why": "stated by the owner" if period else "not stated, not published",
            },
            *(
                [{"what": "the declared number of users", "why": "stated by the owner, not counted"}]
                if users_public
                else []
            ),
        ],
        "post_processing": ["rows sorted by noisy value, then by key"],
        "implementation": {
            "software": f"hubbub {hubbub.__version__}",
            "python": platform.python_version(),
            "libraries": {name: version(name) for name in ("duckdb", "numpy", "pyarrow")},
            "randomness": {
                "source": "a fixed seed: anybody can subtract this noise"
                if seeded
                else "the operating system's generator",
                "sampler": "exact integer discrete Laplace and Gaussian (table and cells; docs/proofs/noise.md)",
                "seeded": seeded,
            },
            "floating_point": "noise, counts and thresholds are integers; no float between draw and value",
            "side_channels": "one batch, not interactive; time and memory of the run are not published",
            "raw_data": {"access": owner.raw_data_access, "kept_until": owner.raw_data_kept_until},
        },
        "checks": {
            "audit": [],
            "how": [
                "hubbub card RELEASE --check",
                f"hubbub audit --mechanism {mechanism.name}",
                f"hubbub audit --mechanism {mechanism.name} --mutants",
            ],
            "reviewed_by": [],
        },
        "accuracy": {
            "published_from": "noise distribution only",
            "per_row": {s.name: _half_width(s) for s in mechanism.steps()},
            "expect_missing": _missing(mechanism),
            "spurious_rows": mechanism.spurious(),
            "how_to_use": "README.md beside this card",
        },
        "hazards": _hazards(mechanism, booked, users_public, seeded),
    }
    document["integrity"] = ""
    complete = Card.model_validate(document).document()
    return Card.model_validate(complete | {"integrity": integrity(complete)})


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _also(mechanism: Mechanism, private: bool) -> list[dict[str, object]]:
    if not private or mechanism.neighbours is Neighbours.ADD_REMOVE:
        return []
    loss = mechanism.loss()
    return [
        {
            "definition": Definition.APPROXIMATE.value,
            "epsilon": loss.epsilon,
            "delta": loss.delta,
            "neighbouring": Neighbours.ADD_REMOVE.value,
            "how": "the same steps, one user added or removed; what the ledger composes",
        }
    ]


def _choices(booked: Booked) -> list[dict[str, str]]:
    if not booked.looks:
        note = "the ledger records no look at the raw log before this release"
        return [{"choice": "all parameters", "informed_by": "public", "note": note}]
    note = "these looked at the raw log before this release: " + ", ".join(booked.looks)
    return [{"choice": "all parameters", "informed_by": "raw", "note": note}]


def half_width(scale: float, coverage: float = 0.95) -> int:
    """The smallest h with P(|Z| <= h) >= coverage, Z discrete Laplace: P(|Z| > h) = 2 a^(h+1)/(1+a)."""
    a = math.exp(-1 / scale)
    h = max(0, math.floor(-scale * math.log((1 - coverage) * (1 + a) / 2)) - 2)
    while 2 * a ** (h + 1) / (1 + a) > 1 - coverage:
        h += 1
    return h


def _half_width(step: AnyStep) -> str:
    if isinstance(step, GaussianStep):
        return "see noise_sd of each row (95 % of the noise within 1.96 noise_sd; bounding comes on top)"
    return f"value +/- {half_width(float(step.scale))} (95 % of the noise; bounding comes on top)"


def _missing(mechanism: Mechanism) -> str:
    return "; ".join(mechanism.missing()) + ". A missing row is not a zero."


def _hazards(mechanism: Mechanism, booked: Booked, users: int | None, seeded: bool) -> list[dict[str, str]]:
    delta = mechanism.loss().delta
    cap = "no cap set" if booked.cap is None else f"cap ε = {number(booked.cap[0])}, δ = {number(booked.cap[1])}"
    open_keys = any(s.domain is Domain.OPEN for s in mechanism.steps())
    answers = {
        "unit": "the account named in `unit`, never a row or a session",
        "contribution": "bounded per user before counting; see `bounding`",
        "repeat-release": f"the ledger adds up every release of population {booked.population}; {cap}",
        "tuning-on-data": "looks at the raw log are recorded; see `data_dependent_choices`",
        "data-dependent keys": "keys appear only through a threshold whose δ is counted"
        if open_keys
        else "public keys only",
        "boundary": "the rule is >= and δ counts the mass at the threshold",
        "floating-point": "integers",
        "rng": "SEEDED: not private" if seeded else "the operating system's generator",
        "neighbours": mechanism.neighbours.value,
        "delta": "number of users " + NOT_STATED
        if users is None
        else f"δ times declared users is {number(delta * users)}",
        "post-hoc filter": "none that depends on the data",
        "small groups": "what few users share is missing by design: the release over-represents the head",
    }
    return [{"id": k, "answer": v} for k, v in answers.items()]
