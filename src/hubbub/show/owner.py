"""The owner's report: what a release kept of its log and what that cost, in charts. Not private.

    finish        after a release stands: gather what needs the log, then write the report
    refresh       after anything else that added to `owner-only/`
    write_report  from the small files in `owner-only/` and from `public/`; no log is read
    charts        the same charts for a notebook

A report that fails is a warning: the release stands, and its budget is spent, with or without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from hubbub.card.check import load, parsed, public_folder
from hubbub.card.schema import Card
from hubbub.errors import InputError
from hubbub.files import write_whole
from hubbub.show import kept
from hubbub.show.book import book_of
from hubbub.show.charts import Chart, page
from hubbub.show.charts.counts import counts
from hubbub.show.charts.coverage import by_rank, by_volume
from hubbub.show.charts.epsilon import epsilons
from hubbub.show.charts.error import errors
from hubbub.show.charts.ledger import spending
from hubbub.show.charts.rejects import rejects
from hubbub.show.charts.scores import scores
from hubbub.show.charts.survival import survival
from hubbub.show.charts.tradeoff import tradeoff
from hubbub.show.exact import WHOLE, gather
from hubbub.show.group_facts import group_facts
from hubbub.show.page import jinja
from hubbub.show.still_there import still_there
from hubbub.show.tried import by_law

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.mechanisms import Mechanism
    from hubbub.privacy.ledger import Entry, Ledger

NAME = "report.html"


def finish(
    out: Path,
    log: SearchLog,
    mechanism: Mechanism,
    measured: Mapping[str, Any],
    ledger: Ledger,
    entry: Entry,
) -> str:
    """Gather and write, once a release stands; what goes wrong comes back as a sentence and stops nothing."""
    try:
        tables, laws = gather(log, mechanism, public_folder(out), measured)
        book = book_of(ledger, entry.population, entry.id)
        groups = tuple(group_facts(log, mechanism, public_folder(out))) if log.ingested.kept <= WHOLE else ()
        gathered = kept.Gathered(tuple(tables), laws, by_law(mechanism, tables), book, groups)
        kept.write(out / "owner-only", gathered)
    except Exception as error:  # whatever it is: the release stands, and noise that was drawn stays drawn
        told = f"the release is whole, but its exact facts could not be gathered ({type(error).__name__}: {error})"
        return "; ".join(filter(None, (told, refresh(out))))
    return refresh(out)


def refresh(release: Path) -> str:
    """Write the report again; what goes wrong comes back as a sentence."""
    try:
        write_report(release)
    except Exception as error:
        return f"the owner's report could not be made ({type(error).__name__}: {error}); see: hubbub report {release}"
    return ""


# ------------------------------------------------------------------ what there is


@dataclass(frozen=True)
class Material:
    """Everything a report is made from: the card, the release's tables, and the files of `owner-only/`."""

    card: Card
    facts: Mapping[str, Any]
    kept: kept.Gathered
    scores: Mapping[str, Any]
    rows: Mapping[str, int]
    """How many rows each table has."""


def read(release: str | Path) -> Material:
    """Read the material of a report from a release folder."""
    folder, card = owner_only(Path(release)), parsed(load(release, draft=True))
    public = public_folder(release)
    return Material(
        card,
        kept.read_json(folder / "facts.json"),
        kept.read(folder),
        kept.read_json(folder / "scores.json"),
        {table: pq.read_metadata(public / f"{table}.parquet").num_rows for table in card.release.contains},
    )


def owner_only(release: Path) -> Path:
    """Where the owner's files are; a public folder alone has none."""
    folder = release / "owner-only"
    if not folder.is_dir():
        raise InputError(
            "This release has no owner-only folder.",
            given=release,
            next="give the folder that `hubbub release --out` wrote; what was published alone has no owner's report",
        )
    return folder


def charts(release: str | Path) -> dict[str, Chart]:
    """The charts of the owner's report by name, for a notebook. Not private: they show exact facts of the log.

    `hubbub.charts("release")["coverage-rank"]` shows itself; `.svg()` and `.png()` make pictures.
    """
    return _charts(read(release))


def _charts(material: Material) -> dict[str, Chart]:
    found = material.kept
    tables = found.tables
    every: dict[str, Chart | None] = {
        "epsilon": epsilons(material.facts.get("epsilon") or {}),
        "coverage-rank": by_rank(tables),
        "coverage-volume": by_volume(tables),
        "survival": survival([t for t in tables if t.value != "searches"], found.laws),
        **{f"counts-{t.table}": counts(t, _threshold(material.card, t.table)) for t in tables},
        "error": errors(tables),
        "scores": scores(material.scores),
        "tradeoff": tradeoff(found.tried, _asked(material.card)),
        "ledger": spending(found.book),
        "rejects": rejects(material.facts.get("reasons") or {}, int(material.facts.get("rows") or 0)),
    }
    return {name: chart for name, chart in every.items() if chart is not None}


def _threshold(card: Card, table: str) -> float | None:
    """The threshold that the published numbers of a table passed; None where other numbers (weights) were tested."""
    steps = (s for s in card.steps if s.name == table and s.mechanism == "laplace-threshold")
    return next((float(s.threshold) for s in steps if s.threshold is not None), None)


def _asked(card: Card) -> float:
    """The ε that the owner asked for; what the card claims if none was given."""
    from fractions import Fraction

    stated = card.mechanism.parameters.get("epsilon")
    return float(Fraction(stated)) if stated is not None else float(card.claim.epsilon or 1.0)


# ------------------------------------------------------------------ the page


@dataclass(frozen=True)
class Section:
    """One part of the page: its charts, and how to get those that are not there."""

    title: str
    text: str
    charts: tuple[str, ...]
    missing: str
    command: str = ""


COUNT = "hubbub report RELEASE --log LOG"
SECTIONS = (
    Section(
        "The promise",
        "Claimed is what a paper says; proven is what docs/proofs shows for the law that ran; empirical is the largest "
        "ε that audits of the installed code would have refuted, on parameters of their own: a lower bound, never a "
        "guarantee.",
        ("epsilon",),
        "No ε is claimed, proven or refuted for this release.",
    ),
    Section(
        "What is still there",
        "Keys that many users share survive; keys of few users do not, and must not.",
        ("coverage-rank", "coverage-volume", "survival"),
        "The exact facts were not gathered. Get them with",
        COUNT,
    ),
    Section(
        "How exact the numbers are",
        "What the mechanism did to each number: users lost to the bound on each user, noise, and the choice of keys "
        "by noisy values.",
        ("counts-", "error"),
        "This release has no numbers beside its keys, or they were not compared. Compare them with",
        COUNT,
    ),
    Section(
        "What it is worth",
        "Scores of tasks, on the log and on the release. Under “The numbers” stands what each score says "
        "in words, and which way is good; docs/tasks.md says how it is computed.",
        ("scores",),
        "No task was scored yet. Score them with",
        "hubbub evaluate RELEASE --log LOG",
    ),
    Section(
        "Other budgets",
        "What the same mechanism would have kept with more or less privacy. An estimate on the log itself takes about "
        "as long as eight releases, and spends nothing: hubbub report RELEASE --log LOG.",
        ("tradeoff",),
        "This mechanism has no law by which other budgets can be told at once. An estimate takes reading the log, "
        "about as long as eight releases, and spends nothing",
        COUNT,
    ),
    Section(
        "The budget book",
        "Budgets add up over all releases about the same people. The line rises with each of them; it never falls.",
        ("ledger",),
        "Nothing of the ledger was kept with this release, or all it holds is not private. See",
        "hubbub ledger show",
    ),
    Section("Lines set aside", "Lines that could not be read do not count.", ("rejects",), "Every line was read."),
)


def write_report(release: str | Path) -> Path:
    """Write `owner-only/report.html` from what is there; the file's path comes back."""
    path = owner_only(Path(release)) / NAME
    write_whole(path, render(read(release)))
    return path


def render(material: Material) -> str:
    """The report as HTML."""
    drawn = _charts(material)
    sections = []
    for section in SECTIONS:
        names = [name for name in drawn if name.startswith(section.charts)]
        sections.append((section, [page.figure(drawn[name], name) for name in names]))
    not_counted = set(material.card.release.contains) - {t.table for t in material.kept.tables}
    return (
        jinja()
        .get_template("owner.html")
        .render(
            card=material.card,
            facts=material.facts,
            still_there=still_there(material.kept.tables, material.rows),
            sections=sections,
            sampled=next((t.sampled for t in material.kept.tables if t.sampled), None),
            by_rows=[t.table for t in material.kept.tables if t.by_rows],
            no_line=bool(material.kept.tables) and not material.kept.laws,
            not_counted=sorted(not_counted) if material.kept.tables else [],
            nobodys={t.table: t.nobodys for t in material.kept.tables if t.nobodys},
            groups=material.kept.groups,
            not_evaluable={
                task: found["not_evaluable"]
                for task, found in material.scores.items()
                if isinstance(found, Mapping) and "not_evaluable" in found
            },
            style=page.style(),
            script=page.script(),
        )
    )
