"""What a release run writes: `public/`, which may leave the house, and `owner-only/`, which may not."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.card.audited import known
from hubbub.card.build import build_card, with_pages
from hubbub.card.facts import Booked, Written
from hubbub.card.schema import sha256_of
from hubbub.ingest import REJECTS
from hubbub.mechanisms.base import Mechanism, Tables
from hubbub.privacy.guarantee import finite
from hubbub.release.plan import Plan
from hubbub.release.rows import write_tables
from hubbub.show.page import write_pages

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.steps.counts import Counts

WHOSE = "users.parquet"
"""In `owner-only/`, where a released log holds rows of real users: whose they are."""
DO_NOT_PUBLISH = """NOT PRIVATE. DO NOT PUBLISH.

Everything in this folder was computed from the raw log without a privacy mechanism.
Only the folder public/ beside it may leave the house.
"""


def write_public(
    folder: Path, log: SearchLog, plan: Plan, counts: dict[str, Counts], tables: Tables, booked: Booked
) -> dict[str, int]:
    """Tables, pages and card; nothing here may depend on the log but through `tables`."""
    folder.mkdir()
    tables_written = {
        path.name: Written(sha256_of(path), rows)
        for path, rows in write_tables(folder, log, plan.mechanism, counts, tables).items()
    }
    read = log.ingested
    facts = replace(
        plan.facts(booked, read.columns["user"]),
        files=tables_written,
        own_query=read.own_query,
        screening=read.screening,
        left_out=log.left_out,
    )
    card = build_card(plan.mechanism, facts)
    if not plan.review:
        card = with_pages(card, {page.name: sha256_of(page) for page in write_pages(folder, card)})
    (folder / "card.json").write_text(card.text(), encoding="utf-8")
    return {name.removesuffix(".parquet"): file.rows for name, file in tables_written.items() if file.rows is not None}


def write_owner_only(folder: Path, log: SearchLog, plan: Plan) -> None:
    folder.mkdir(0o700)  # from the first moment: what is in it was computed from the raw log
    (folder / "NOT-PRIVATE.txt").write_text(DO_NOT_PUBLISH, encoding="utf-8")
    if log.ingested.rejects is None:
        pq.write_table(REJECTS.empty_table(), folder / "rejects.parquet")
    else:
        shutil.copyfile(log.ingested.rejects, folder / "rejects.parquet")
    lines = ["# Everything that made this release; `hubbub release --config run.toml` reads it again."]
    recognised = {"format": log.ingested.format, **log.ingested.stated}  # where it was not given
    found = {name: value for name, value in recognised.items() if name in plan.run}
    stated = {key: value for key, value in (plan.run | found).items() if value is not None}
    lines += [f"{key} = {_toml(value)}" for key, value in stated.items() if not isinstance(value, dict)]
    for key, value in stated.items():
        if isinstance(value, dict):
            lines += ["", f"[{key}]", *(f"{k} = {_toml(v)}" for k, v in value.items())]
    (folder / "run.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False, default=str)


def write_whose(folder: Path, whose: pa.Table | None) -> None:
    """Whose rows a released log holds, where it holds rows of real users."""
    if whose is not None:
        pq.write_table(whose, folder / WHOSE)


def write_facts(folder: Path, mechanism: Mechanism, seen: dict[str, object], *, seconds: float) -> None:
    """What was seen of the log, and the three numbers of ε, as JSON; `seen` gets them too."""
    seen["epsilon"] = _three_numbers(mechanism)
    seen["seconds"] = seconds
    (folder / "facts.json").write_text(json.dumps(seen, indent=2) + "\n", encoding="utf-8")


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
