"""The active attack of Götz et al. (§3.2, Example 2): fake accounts ask what the target might have asked.

The attacker opens one account fewer than the threshold asks for, has each do what she suspects, and waits for the
release: if it shows her key with more users than she has accounts, the target is one of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hubbub.privacy.gaussian import GaussianStep
from hubbub.worth.attacks.base import Attack, AttackSetup, Outcome, Rate
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
    if (needed := mechanism.accounts()) is not None:
        return needed
    for step in mechanism.steps():
        if isinstance(step, GaussianStep) and step.name == table and step.tests:
            return math.ceil(step.tests[-1].threshold / step.tests[-1].mean) - 1
    thresholds = mechanism.thresholds()
    return thresholds.get(table, thresholds.get(kind.name, DEFAULT)) - 1


class Active(Attack):
    """Fake accounts around one target."""

    name = "active"
    about = "did the target ask this? fake accounts lift it to the threshold"
    paper = "Götz et al. 2009, §3.2"

    def __init__(self, accounts: int | None = None) -> None:
        self.accounts = accounts
        """Fake accounts around each target; None: as many as the threshold asks for."""

    def run(self, setup: AttackSetup) -> Outcome:
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
    noisy = not mechanism.exact and (table == "log" or table in mechanism.thresholds())
    if table == "log":
        queries, times = targets.column("query").to_pylist(), [at(i, before) for i in range(targets.num_rows)]
        return np.array(mechanism.users_shown(rows, queries, times)) * (MANY if noisy else 1)
    keys = list(zip(*(rows.column(c).to_pylist() for c in kind.columns), strict=True))
    values = dict(zip(keys, rows.column(mechanism.value_column).to_pylist(), strict=True))
    wanted = zip(*(targets.column(c).to_pylist() for c in kind.columns), strict=True)
    return np.array(
        [0 if key not in values else MANY if noisy or values[key] is None else values[key] for key in wanted]
    )
