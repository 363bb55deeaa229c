"""The active attack of Götz et al. (§3.2, Example 2): fake accounts ask what the target might have asked.

The attacker opens one account fewer than the threshold asks for, has each do what she suspects, and waits for the
release: if it shows her key with more users than she has accounts, the target is one of them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.mechanisms.anonymity import Anonymity
from hubbub.privacy.gaussian import GaussianStep
from hubbub.worth.attacks.base import Attack, Outcome, Rate, Setup
from hubbub.worth.attacks.world import at, attacked, begins, coins, fakes, lone_keys, release_in_memory, world

if TYPE_CHECKING:
    from hubbub.mechanisms import Mechanism
    from hubbub.steps.keys import Keys

Integers = npt.NDArray[np.int64]
DEFAULT = 2
"""Where no threshold is stated: what two users share may show."""
MANY = 1 << 40


def accounts(mechanism: Mechanism) -> int:
    """How many accounts the attacker needs: one fewer than the threshold."""
    table, kind = attacked(mechanism)
    if mechanism.name == "k-session":
        return int(mechanism.settings["k"])  # k of them stay as they are, and k + 1 can be told from k
    if mechanism.name in ("pseudonyms", "token-hash"):
        return int(mechanism.name == "token-hash")  # one account is enough to learn a hash
    for step in mechanism.steps():
        if isinstance(step, GaussianStep) and step.name == table and step.tests:
            return math.ceil(step.tests[-1].threshold / step.tests[-1].mean) - 1
    thresholds = mechanism.thresholds()
    return thresholds.get(table, thresholds.get(kind.name, DEFAULT)) - 1


class Active(Attack, register=True):
    """Fake accounts around one target."""

    name = "active"
    about = "did the target ask this? fake accounts lift it to the threshold"
    paper = "Götz et al. 2009, §3.2"

    def __init__(self, accounts: int | None = None) -> None:
        self.accounts = accounts
        """Fake accounts around each target; None: as many as the threshold asks for."""

    def run(self, setup: Setup) -> Outcome:
        """Two worlds; every target is in one of them."""
        mechanism = setup.mechanism
        table, kind = attacked(mechanism)
        targets = lone_keys(setup, kind)
        each = accounts(mechanism) if self.accounts is None else self.accounts
        before = begins(setup.log)
        added = fakes(targets, kind, each, before)
        first = coins(setup, targets.num_rows)
        said, present = [], []
        for number, inside in enumerate((first, ~first)):
            setup.say(f"world {number + 1}: {int(inside.sum())} targets in it, {each} accounts around each")
            with world(setup, targets.column("uid").combine_chunks().filter(pa.array(~inside)), added) as log:
                tables = release_in_memory(mechanism, log, 2 * setup.seed + number)
            said.append(counted(mechanism, tables, table, kind, targets, before) > each)
            present.append(inside)
        yes, truly = np.concatenate(said), np.concatenate(present)
        return Outcome(
            Rate(int(yes[truly].sum()), int(truly.sum())),
            Rate(int(yes[~truly].sum()), int((~truly).sum())),
            f"{each} accounts for each of {targets.num_rows} targets hold one of her {kind.name}; the attacker says "
            f"that she does if {table} shows it, and with more than {each} users where numbers are exact",
            mechanism.loss(),
        )


def counted(
    mechanism: Mechanism, tables: dict[str, pa.Table], table: str, kind: Keys, targets: pa.Table, before: int
) -> Integers:
    """How many users the release shows for each target's key, 0 where it does not show it.

    Behind noise and a threshold, showing says more than the number: it reached the threshold, whatever the number.
    """
    rows = tables[table]
    noisy = not isinstance(mechanism, Anonymity) and (table == "log" or table in mechanism.thresholds())
    if mechanism.name == "k-session":  # one row a session, its words in the order of the alphabet
        sessions = Counter(rows.column("query").to_pylist())
        return np.array([sessions[" ".join(sorted(set(q.split())))] for q in targets.column("query").to_pylist()])
    if mechanism.name == "token-hash":  # she knows when her own account searched, and so what it became
        who, own = defaultdict(set), {}
        for row in rows.select(["user", "time", "query"]).to_pylist():
            who[row["query"]].add(row["user"])
            own[row["time"]] = row["query"]
        return np.array([len(who[own[at(i, before)]]) for i in range(targets.num_rows)])
    if table == "log":
        users = rows.group_by("query").aggregate([("user", "count_distinct")])
        shown = dict(zip(*(users.column(c).to_pylist() for c in ("query", "user_count_distinct")), strict=True))
        return np.array([shown.get(q, 0) * (MANY if noisy else 1) for q in targets.column("query").to_pylist()])
    keys = list(zip(*(rows.column(c).to_pylist() for c in kind.columns), strict=True))
    values = dict(zip(keys, rows.column(mechanism.value_column).to_pylist(), strict=True))
    wanted = zip(*(targets.column(c).to_pylist() for c in kind.columns), strict=True)
    return np.array(
        [0 if key not in values else MANY if noisy or values[key] is None else values[key] for key in wanted]
    )
