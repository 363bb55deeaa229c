"""Faults in what is known beforehand and in what the engine adds up: lists, pages, round weights, ties, replace."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from hubbub.audit.checks import by_hand, clicked, exchanged, listed, ties
from hubbub.audit.mutants.fault import Planted, replaced
from hubbub.audit.protocols import AuditRow
from hubbub.audit.subjects import PLANS
from hubbub.mechanisms.base import Released
from hubbub.mechanisms.rounds import select
from hubbub.noise.source import Integers
from hubbub.privacy.guarantee import Neighbours
from hubbub.steps.counts import LocalCounts
from hubbub.steps.mode import RunMode
from hubbub.steps.weights import LISTED

# ------------------------------------------------------------------ public lists and earlier releases


def _held_only(_: Any) -> Any:
    """Listed queries that nobody holds are left out."""

    def broken(pools: Any, stage: Any, *domains: Any) -> Any:
        known = [replace(domain.known(pools, stage, false), size=0) for domain, false in domains]
        return select(pools, stage.rounds, stage.name, *known)

    return broken


def _levels_of_the_log(known: Any) -> Any:
    """Levels of a list follow from how many of its queries somebody holds."""

    def broken(domain: Any, pools: Any, stage: Any, false: Fraction) -> Any:
        from hubbub.mechanisms.crowd.calibrate import closed

        found = known(domain, pools, stage, false)
        if not domain.table:
            return found
        return replace(found, plan=closed(stage.rounds, int(np.count_nonzero(pools.marks(domain.table))), false))

    return broken


def _beside_the_pool(made: Any) -> Any:
    """Listed queries come on top of a full pool."""

    def broken(
        pools: Any, log: Any, keys: Any, limit: int, bits: int, mode: RunMode, first: Any = None, prior: Any = None
    ) -> None:
        made(pools, log, keys, limit + 2 if first else limit, bits, mode, first, prior)

    return broken


def _known_without_noise(one_round: Any) -> Any:
    """Listed queries are counted, not drawn for."""

    def broken(test: Any, weights: Any, before: Any, marks: Any, noise: Any) -> Any:
        return one_round(test, weights, before, marks, noise if not test.of_marked else _Quiet(noise, marks == 0))

    return broken


class _Quiet:
    """Noise for some keys only."""

    def __init__(self, noise: Any, where: Any) -> None:
        self.noise, self.where = noise, where

    def gaussian(self, step: str, variance: Any, size: int) -> Integers:
        drawn: Integers = self.noise.gaussian(step, variance, size) * self.where
        return drawn


def _all_listed(one_round: Any) -> Any:
    """Every query has the levels of the list."""
    return lambda test, weights, before, marks, noise: one_round(
        test, weights, before, np.full(weights.size, LISTED), noise
    )


def _twice(table_of: Any) -> Any:
    """A query of two lists stands there twice."""

    def broken(listed: Any) -> Any:
        marks = [pa.array(np.full(known.rows.num_rows, LISTED + i)) for i, known in enumerate(listed)]
        rows = [known.rows.select(["query"]).append_column("mark", m) for known, m in zip(listed, marks, strict=True)]
        return pa.concat_tables(rows).sort_by("query")

    return broken


def _one_level(domains: Any) -> Any:
    """Every list has the whole of what may be expected of nobody."""

    def broken(listed: Any, prior: Any, false: Fraction) -> Any:
        return [(domain, false) for domain, _ in domains(listed, prior, false)]

    return broken


# ------------------------------------------------------------------ clicks on a result list


def _clicked_pages(measure: Any) -> Any:
    """Pages that nobody clicked are left out."""

    def broken(korolova: Any, log: Any, mode: RunMode) -> Any:
        counts = measure(korolova, log, mode)
        if korolova.serp is None:
            return counts
        pages = counts["clicks"]
        held = np.flatnonzero(pages.n)
        log.engine.save("clicked_pages", f"SELECT * FROM {pages.keys} WHERE n > 0")
        order = log.engine.fetch("SELECT kid FROM clicked_pages ORDER BY kid").column("kid").to_numpy()
        log.engine.register("places", pa.table({"old": order, "place": np.arange(order.size)}))
        log.engine.save(
            "renumbered",
            "SELECT p.place AS kid, c.query AS query, c.url AS url FROM clicked_pages AS c "
            "JOIN places AS p ON p.old = c.kid",
        )
        return counts | {"clicks": LocalCounts(pages.n[held], "renumbered", pages.parent[held])}

    return broken


def _more_clicks(bounded: Any) -> Any:
    """Clicks on a list are bounded query by query."""

    def broken(korolova: Any, table: str, secret: bytes) -> Any:
        if table != "clicks" or korolova.serp is None:
            return bounded(korolova, table, secret)
        loose = copy(korolova)
        vars(loose).update(settings={**korolova.settings, "d_c": 3 * int(korolova.settings["d_c"])})
        return bounded(loose, table, secret)

    return broken


def _half_at_pages(every: Any) -> Any:
    """Half of the noise where keys are known."""
    return lambda test, noise, ids, n: every(replace(test, scale=test.scale / 2), noise, ids, n)


def _pages_of_all(perturb: Any) -> Any:
    """Pages of every query that was asked show, released or not."""

    def broken(mechanism: Any, counts: Any, noise: Any) -> Any:
        tables = perturb(mechanism, counts, noise)
        if mechanism.serp is not None:
            every = np.arange(counts["clicks"].n.size)
            scale = next(step.scale for step in mechanism.steps() if step.name == "clicks")
            values = counts["clicks"].n + noise.laplace("clicks", scale, every.size)
            tables["clicks"] = Released(every, values, 1.0)
        return tables

    return broken


# ------------------------------------------------------------------ round weights


def _first_round(made: Any) -> Any:
    """The first round gives each key of a full pool the weight of one key more."""

    def broken(
        pools: Any, log: Any, keys: Any, limit: int, bits: int, mode: RunMode, first: Any = None, prior: Any = None
    ) -> None:
        made(pools, log, keys, limit, bits, mode, first, prior)
        vars(pools)["_first"] = pools._first + 1

    return broken


# ------------------------------------------------------------------ ties


def _by_id(shuffled: Any) -> Any:
    """Pairs stay in the order of their ids."""
    return lambda size, step, noise: np.arange(size) if step == "order of pairs" else shuffled(size, step, noise)


def _nearly_by_id(shuffled: Any) -> Any:
    """Pairs are shuffled among their neighbours."""

    def broken(size: int, step: str, noise: Any) -> Integers:
        if step != "order of pairs":
            drawn: Integers = shuffled(size, step, noise)
            return drawn
        return np.argsort(np.arange(size) + noise.below(step, np.full(size, 12)), kind="stable")

    return broken


def _joins_by_id(by_value: Any) -> Any:
    """Equal sequences are joined in the order of their ids."""
    return lambda released, texts: np.argsort(
        -(np.zeros(len(texts)) if released.values is None else released.values), kind="stable"
    )


def _all_of_equals(smallest: Any) -> Any:
    """Of equal hashes all are kept."""

    def broken(engine: Any, name: str, sql: str, columns: Any, by: str, limit: int) -> None:
        smallest(engine, name, sql, columns, by, limit)
        kept = ", ".join(["uid", *columns])
        ranked = f"SELECT *, rank() OVER (PARTITION BY uid ORDER BY {by}) AS place FROM ({sql}) AS rows"
        engine.save(name, f"SELECT {kept} FROM ({ranked}) AS ranked WHERE place <= {limit}")

    return broken


def _as_it_comes(first_keys: Any) -> Any:
    """Keys of one moment are kept as the log shows them."""
    return lambda keys, limit, log="log": first_keys(keys, limit, log).replace(
        f"first NULLS LAST, {keys.list()})", "first NULLS LAST)"
    )


# ------------------------------------------------------------------ replace


def _exchanged() -> Iterator[AuditRow]:
    return exchanged.tests(PLANS["korolova"])


def _as_added(proven: Any) -> Any:
    """Replace states the ε of adding a user."""

    def broken(mechanism: Any) -> Any:
        stated, loss = proven(mechanism), mechanism.loss()
        return replace(stated, epsilon=loss.epsilon) if stated.neighbours is Neighbours.REPLACE else stated

    return broken


def _calibrated_as_added(calibrate: Any) -> Any:
    """Noise for replace is that for adding a user."""

    def broken(mechanism: Any, *given: Any) -> Any:
        other = copy(mechanism)
        other.neighbours = Neighbours.ADD_REMOVE
        return calibrate(other, *given)

    return broken


SELECT, KNOWN = "hubbub.mechanisms.crowd:select_known", "hubbub.mechanisms.crowd.known"
DOMAIN, POOLS = "hubbub.mechanisms.crowd.chain:CodedDomain", "hubbub.steps.pools:EnginePools"
ONE_ROUND = "hubbub.mechanisms.rounds:Round.__call__"
OWN = "SELECT uid, count(*) AS n FROM"
LIST_MUTANTS: tuple[Planted, ...] = (
    ("listed queries of nobody are left out", listed.of_rounds, {SELECT: _held_only}),
    ("listed queries of nobody are left out, by what shows", listed.sampled, {SELECT: _held_only}),
    ("levels of a list from what the log holds of it", listed.of_rounds, {f"{DOMAIN}.known": _levels_of_the_log}),
    ("listed queries on top of a full pool", by_hand.shares, {f"{POOLS}.__init__": _beside_the_pool}),
    ("listed queries without noise", listed.of_rounds, {ONE_ROUND: _known_without_noise}),
    ("the levels of the list for every query", listed.of_rounds, {ONE_ROUND: _all_listed}),
    ("a query of two lists stands twice", listed.of_rounds, {f"{KNOWN}:table_of": _twice}),
    ("each list has all rows of nobody", listed.of_rounds, {f"{KNOWN}:domains": _one_level}),
    (
        "pages that nobody clicked are left out",
        clicked.of_korolova,
        {"hubbub.mechanisms.korolova:Korolova.measure": _clicked_pages},
    ),
    (
        "clicks bounded query by query",
        clicked.of_korolova,
        {"hubbub.mechanisms.korolova:Korolova._bounded": _more_clicks},
    ),
    ("half of the noise at listed pages", clicked.of_korolova, {"hubbub.mechanisms.noisy:Noisy.every": _half_at_pages}),
    (
        "pages of queries that do not show",
        clicked.of_korolova,
        {"hubbub.mechanisms.korolova:Korolova.perturb": _pages_of_all},
    ),
    (
        "pages of queries that do not show, zealous",
        clicked.of_zealous,
        {"hubbub.mechanisms.zealous:Zealous.perturb": _pages_of_all},
    ),
    (
        "round weights of one key too few",
        by_hand.shares,
        {f"{POOLS}._added": replaced(OWN, "SELECT uid, greatest(count(*) - 1, 1) AS n FROM")},
    ),
    ("round weights rounded up", by_hand.shares, {f"{POOLS}._added": replaced("a.a AS a", "a.a + 1 AS a")}),
    (
        "round weights on arrays rounded up",
        by_hand.shares,
        {"hubbub.steps.live_rows:LiveRows.added": lambda added: lambda rows: added(rows) + 1},
    ),
    (
        "round weights by what others hold",
        by_hand.shares,
        {f"{POOLS}._added": replaced(OWN, "SELECT uid, min(count(*)) OVER () AS n FROM")},
    ),
    (
        "round weights without a root",
        by_hand.selections,
        {"hubbub.steps.pools:amount": lambda _: lambda bits, n: (1 << bits) // n},
    ),
    ("first round rounded up", by_hand.shares, {f"{POOLS}.__init__": _first_round}),
    ("ties follow ids", ties.strict, {"hubbub.mechanisms.optimal.sample:shuffled": _by_id}),
    ("ties nearly follow ids", ties.strict, {"hubbub.mechanisms.optimal.sample:shuffled": _nearly_by_id}),
    ("all of equal hashes are kept", by_hand.tests, {"hubbub.engines.duckdb:DuckDB.smallest": _all_of_equals}),
    ("keys of one moment are kept as they come", ties.numbered, {"hubbub.steps.bound:first_keys": _as_it_comes}),
    ("joins of equal sequences follow ids", ties.numbered, {"hubbub.mechanisms.crowd.chain:by_value": _joins_by_id}),
    ("replace states the ε of adding a user", _exchanged, {"hubbub.mechanisms.base:Mechanism.proven": _as_added}),
    (
        "replace calibrated as adding a user",
        _exchanged,
        {"hubbub.mechanisms.korolova:Korolova._calibrate": _calibrated_as_added},
    ),
)
