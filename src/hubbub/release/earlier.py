"""Lists that are earlier releases, known by what was released: whoever builds on one has spent its budget too.

The ledger keeps the hash of every released table, and of the set of its queries. A list that was made from a release,
or holds the very queries of one, is that release, under whatever option and name it comes: it must stand in this
ledger, for this population, and be private; then a public list is taken for what it is, `previous`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub.card.check import check, refuse_draft
from hubbub.card.schema import Card, sha256_of
from hubbub.errors import InputError, Refused
from hubbub.privacy.ledger import Entry, Ledger, Output
from hubbub.public.lists import OwnPrior, QueryPool, ReleaseOrigin, hash_of, pooled
from hubbub.release.opened import Release

if TYPE_CHECKING:
    from hubbub.mechanisms.base import Mechanism
    from hubbub.release.plan import Plan

AnyMechanism = TypeVar("AnyMechanism", bound="Mechanism")
BY_NAME = "; booked before hashes were kept, and known by its name and parameters"


def read_previous(path: str | Path) -> QueryPool:
    """The queries of an earlier release; refused unless it is private from end to end, unseeded and as it was written.

    That it stands in the ledger is checked by the release that uses it.
    """
    earlier = Release(path)
    refuse_draft(earlier.card, path)
    broken = [finding.what for finding in check(path) if not finding.holds]
    if broken:
        raise Refused(
            "The earlier release is not as it was written.", given=broken[0], next=f"hubbub card {path} --check"
        )
    if not earlier.private:
        raise Refused(
            "An earlier release may be built on only if it is private itself.",
            given=f"{path}: NOT PRIVATE",
            next="name a release that was made without --seed and --not-private",
        )
    if "queries" not in earlier.tables:
        raise InputError("The earlier release has no queries.", given=", ".join(earlier.tables), allowed="queries")
    card = Card.model_validate(earlier.card)
    name = card.release.id
    made = ReleaseOrigin.of(card, earlier.public / "queries.parquet")
    rows = pooled(earlier.queries.to_arrow().column("query"))
    if not rows.num_rows:
        raise InputError("The earlier release has no queries.", given=f"{path}: an empty table")
    return QueryPool(name, rows, made.sha256, rows.num_rows, f"earlier release {name}", "previous", made)


def outputs(public: Path, mechanism: Mechanism) -> dict[str, Output]:
    """What the ledger remembers of released tables."""
    found = {}
    for table in mechanism.tables:
        found[table] = output_of(public / f"{table}.parquet")
    return found


def output_of(path: Path) -> Output:
    """What the ledger remembers of one released table."""
    schema = pq.read_schema(path)
    has_queries = "query" in schema.names and pa.types.is_string(schema.field("query").type)
    queries = hash_of(pooled(pq.read_table(path, columns=["query"]).column("query"))) if has_queries else None
    return Output(sha256_of(path), queries)


def settled(ledger: Ledger, plan: Plan) -> Plan:
    """The plan with its lists taken for what they are; refused if one is a release whose budget is not added here."""
    mechanism = settled_lists(ledger, plan.mechanism, plan.population)
    return plan if mechanism is plan.mechanism else replace(plan, mechanism=mechanism)


def settled_lists(ledger: Ledger, mechanism: AnyMechanism, population: str) -> AnyMechanism:
    """A mechanism with its lists taken for what they are."""
    _release(ledger, population, mechanism.pool)
    _refuse_prior(ledger, mechanism.own_prior)
    lists = [(given, _release(ledger, population, given)) for given in mechanism.public_lists]
    releases = [("--public-list", _as_previous(*found)) for _, found in lists if found is not None]
    if (named := _release(ledger, population, mechanism.previous)) is not None:
        releases.append(("--previous", _as_previous(*named)))
    if len({release.name for _, release in releases}) > 1:
        raise Refused(
            "A public list is an earlier release, and another one was named besides.",
            given=", ".join(f"{release.name} as {option}" for option, release in releases),
            allowed="one earlier release",
            next="leave all but one of them out",
        )
    if not releases:
        return mechanism
    others = tuple(given for given, found in lists if found is None)
    return mechanism.taking(others, releases[-1][1])


def _refuse_prior(ledger: Ledger, given: OwnPrior | None) -> None:
    """Weights for the very queries of a release were learned from it, whoever wrote them down."""
    if given is None:
        return
    entries = {entry.id: entry for entry in ledger.entries()}
    released = [(n, output) for n, tables in ledger.outputs().items() for output in tables.values()]
    found = [entries[n] for n, output in released if given.sha256 == output.sha256 or given.queries == output.queries]
    if found:
        raise Refused(
            "This prior holds the queries of an earlier release: they are not public knowledge but a budget spent.",
            given=f"{given.name}; released as {_id(found[0])} of {found[0].population}",
            next="name the release with --previous, so that its budget is added, and leave --prior out",
        )


def _as_previous(given: QueryPool, entry: Entry, output: Output | None) -> QueryPool:
    name = _id(entry)
    source = f"earlier release {name}" + (BY_NAME if output is None else "")
    return replace(given, name=name, source=source, use="previous", sha256=output.sha256 if output else given.sha256)


def _release(ledger: Ledger, population: str, given: QueryPool | None) -> tuple[QueryPool, Entry, Output | None] | None:
    """The entry that a list is the release of, and what was kept of it; None if it is the release of none."""
    if given is None:
        return None
    entries = {entry.id: entry for entry in ledger.entries()}
    kept = ledger.outputs()
    found: list[tuple[Entry, Output | None]] = [
        (entries[n], output) for n, tables in kept.items() for output in tables.values() if _is(given, output)
    ]
    if not found and given.made is not None:
        found = [(e, None) for e in entries.values() if e.id not in kept and _made(e) == given.made.by_name()]
    ours = [(e, output) for e, output in found if e.population == population and e.private]
    if ours:
        return (given, *ours[0])
    if not found and given.made is None and given.use != "previous":
        return None
    raise _refusal(given, population, [e for e, _ in found], [*entries.values()])


def _is(given: QueryPool, output: Output) -> bool:
    """By the file that was released, if the list tells; else by the queries in it."""
    if given.made is not None:
        return output.sha256 == given.made.sha256
    return output.sha256 == given.sha256 or output.queries == given.queries


def _refusal(given: QueryPool, population: str, found: list[Entry], entries: list[Entry]) -> Refused:
    what = "The earlier release is not in this ledger, so its budget would not be added to this one's."
    stated = f"{given.name}, population {population}"
    if found:
        what = "This list is an earlier release, and its budget would not be added to this one's."
        stated += f"; released as {_id(found[0])} of {found[0].population}"
        stated += "" if found[0].private else ", NOT PRIVATE"
    ours = [_id(e) for e in entries if e.population == population and e.private]
    return Refused(
        what,
        given=stated,
        allowed=f"private releases of this population in this ledger: {', '.join(ours) or 'none'}",
        next="name such a release with --previous, and the ledger and the population that it was booked in",
    )


def _id(entry: Entry) -> str:
    return f"{entry.dataset}-r{entry.id}"


def _made(entry: Entry) -> ReleaseOrigin:
    name = _id(entry) if entry.private and entry.state == "committed" else ""
    return ReleaseOrigin(entry.mechanism, entry.variant, {k: str(v) for k, v in entry.parameters.items()}, name)
