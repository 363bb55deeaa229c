"""Was she in the log? A likelihood ratio over her whole history, by an attacker who knows everybody else's.

For each key of hers with c other users, the published value v is more likely with her, by f(v − c − 1)/f(v − c), f the
law of the noise; a key that is missing, by the chances to be missing. The attacker adds up the logarithms and says yes
above 0. Where users are limited before counting, c is what the mechanism counts without any target.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.mechanisms.base import Released
from hubbub.mechanisms.survival import LaplaceTest
from hubbub.mechanisms.traits import Wording
from hubbub.privacy.account import Step
from hubbub.privacy.coins import CoinStep
from hubbub.release.rows import named_rows
from hubbub.steps.bound import hashed
from hubbub.steps.counts import LocalCounts
from hubbub.steps.keys import LOG, Keys
from hubbub.steps.mode import RunMode
from hubbub.worth.attacks.base import Attack, AttackSetup, NotAttackable, Outcome, Rate
from hubbub.worth.attacks.world import attacked, coins, release_in_memory, world

if TYPE_CHECKING:
    from hubbub.log import SearchLog
    from hubbub.mechanisms import Mechanism

Key = tuple[str, ...]
MOST = 20.0
"""The largest logarithm that one key may add: exact counts would add infinity."""
TINY = 1e-9


class Membership(Attack):
    """A likelihood ratio over a history."""

    name = "membership"
    about = "was the target in the log? a likelihood ratio over her whole history"
    paper = "Homer et al. 2008; the adversary of differential privacy"

    def run(self, setup: AttackSetup) -> Outcome:
        """Two worlds; every target is in one of them."""
        mechanism = setup.mechanism
        table, kind = attacked(mechanism)
        if mechanism.wording is not Wording.AS_ASKED:
            raise NotAttackable("its rows are no keys of anybody's history; see active, linkage and hash-inversion")
        histories = self.histories(setup, kind)
        users = pa.array(list(histories))
        known: dict[Key, float] | None = None
        if mechanism.bounds():
            with world(setup, users) as others:
                known = expected(mechanism, others, table, kind)
        first = coins(setup, len(users))
        said, present = [], []
        for number, inside in enumerate((first, ~first)):
            setup.say(f"world {number + 1}: {int(inside.sum())} of {len(users)} targets in it")
            with world(setup, users.filter(pa.array(~inside))) as log:
                shown = values(mechanism, release_in_memory(mechanism, log, 2 * setup.seed + number)[table], kind)
                exact = known if known is not None else expected(mechanism, log, table, kind)
            chances = Chances(mechanism, table)
            for she, history in zip(inside, histories.values(), strict=True):
                own = float(she and known is None)  # what the attacker knows of the others is without her
                ratio = sum(chances.ratio(max(exact.get(key, 0.0) - own, 0.0), shown.get(key)) for key in history)
                said.append(ratio > 0)
                present.append(bool(she))
        yes, truly = np.array(said), np.array(present)
        return Outcome(
            Rate(int(yes[truly].sum()), int(truly.sum())),
            Rate(int(yes[~truly].sum()), int((~truly).sum())),
            f"{len(users)} targets whose {kind.name} the attacker knows, and everybody else's; a likelihood ratio over "
            f"{table} says whether she was in the log",
            mechanism.loss(),
        )

    def histories(self, setup: AttackSetup, kind: Keys) -> dict[str, list[Key]]:
        """All keys of every target: canary users where there are any, else any users."""
        log = setup.log
        kind.ready(log)
        some = f"SELECT uid FROM ({kind.distinct()}) AS held GROUP BY uid"
        if setup.canaries is not None:
            log.engine.register("canaries", setup.canaries.select(["user"]).rename_columns(["uid"]))
            some = "SELECT DISTINCT c.uid AS uid FROM canaries AS c JOIN log AS l ON c.uid = l.uid"
        order = hashed(Keys("users", ("uid",), "", ()), setup.secret)
        some = f"SELECT uid FROM ({some}) AS users ORDER BY {order} LIMIT {setup.targets}"
        rows = log.engine.fetch(
            f"SELECT h.uid AS uid, {kind.list('h')} FROM ({kind.distinct()}) AS h JOIN ({some}) AS t ON h.uid = t.uid "
            f"ORDER BY h.uid, {kind.list('h')}"
        )
        found: dict[str, list[Key]] = {}
        for row in rows.to_pylist():
            found.setdefault(row["uid"], []).append(tuple(row[c] for c in kind.columns))
        if not found:
            raise NotAttackable(f"no target has any {kind.name}")
        return found


class Chances:
    """What a published value, or none, says about one user more."""

    def __init__(self, mechanism: Mechanism, table: str) -> None:
        step = next((s for s in mechanism.steps() if s.name == table), None)
        counted = LaplaceTest.of(step).at if isinstance(step, Step) else None
        self.chance = step.chance if isinstance(step, CoinStep) else counted
        self.threshold = mechanism.thresholds().get(table, 1) if not mechanism.steps() else None
        self.known: dict[int, float] = {}

    def shows(self, count: float) -> float:
        """The chance that a key of so many users shows."""
        if self.threshold is not None:
            return float(count >= self.threshold)
        n = round(count)
        if n not in self.known:
            self.known[n] = 0.5 if self.chance is None else float(self.chance(n))
        return self.known[n]

    def ratio(self, others: float, seen: tuple[float, float] | None) -> float:
        """ln P(seen | she too) − ln P(seen | the others)."""
        if seen is None:
            with_her, without = 1 - self.shows(others + 1), 1 - self.shows(others)
            return _clip(math.log(max(with_her, TINY)) - math.log(max(without, TINY)))
        value, sd = seen
        if math.isnan(value):
            return _clip(math.log(max(self.shows(others + 1), TINY)) - math.log(max(self.shows(others), TINY)))
        closer = abs(value - others) - abs(value - others - 1)
        return _clip(closer * math.sqrt(2) / sd if sd > 0 else closer * MOST)


def _clip(x: float) -> float:
    return max(-MOST, min(MOST, x))


def expected(mechanism: Mechanism, log: SearchLog, table: str, kind: Keys) -> dict[Key, float]:
    """What would be counted, exactly: by the mechanism itself where it counts, else users."""
    if mechanism.offers[table] is not LOG:
        counts = mechanism.measure(log, RunMode(bytes(16)))
        if isinstance(counts.get(table), LocalCounts):
            n = counts[table].n
            every = {table: Released(np.arange(n.size), n, 1.0)}
            rows = named_rows(log, mechanism, table, counts, every)
            return {key: value for key, (value, _) in values(mechanism, rows, kind).items()}
    kind.ready(log)
    rows = log.engine.fetch(f"SELECT {kind.list()}, count(*) AS n FROM ({kind.distinct()}) AS h GROUP BY {kind.list()}")
    return {tuple(row[c] for c in kind.columns): float(row["n"]) for row in rows.to_pylist()}


def values(mechanism: Mechanism, rows: pa.Table, kind: Keys) -> dict[Key, tuple[float, float]]:
    """The published value of each key and the deviation of its noise; a value that is no number where there is none."""
    if mechanism.value_column not in rows.column_names:  # a log: distinct users of each query, exactly
        users = rows.group_by(list(kind.columns)).aggregate([("user", "count_distinct")]).to_pylist()
        return {tuple(row[c] for c in kind.columns): (float(row["user_count_distinct"]), 0.0) for row in users}
    keys = zip(*(rows.column(c).to_pylist() for c in kind.columns), strict=True)
    numbers = (math.nan if v is None else float(v) for v in rows.column(mechanism.value_column).to_pylist())
    deviation = (0.0 if s is None else float(s) for s in rows.column("noise_sd").to_pylist())
    return dict(zip(keys, zip(numbers, deviation, strict=True), strict=True))
