"""The homogeneity attack of Götz et al. (§3.2, Example 1): a count as large as the group it can come from.

Only so many people could have asked a query: the inhabitants of a small town who are online. If the release shows that
many users of it, every one of them asked. Tried with the very group that holds a key (true), and with the group and
one person more (not true: that one did not).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hubbub.worth.attacks.base import Attack, AttackSetup, NotAttackable, Outcome, Rate
from hubbub.worth.attacks.world import attacked
from hubbub.worth.evidence import TABLES, Evidence, find, numbers

MOST = 1000
"""Users in the largest group that anybody could know."""


class Homogeneity(Attack):
    """All who could have asked it asked it."""

    name = "homogeneity"
    about = "did everybody of a known group ask this? an exact count tells"
    paper = "Götz et al. 2009, §3.2"

    def run(self, setup: AttackSetup) -> Outcome:
        """Every group that holds one key, and every such group with an outsider."""
        table = attacked(setup.mechanism)[0]
        name = table if table in TABLES else "queries"
        released = setup.released
        if released.log is not None and table == "log":
            released = Evidence("users", {}, released.log)  # one number is one record: a user, or a session of hers
        shown = released.table(name)
        if shown is None or released.keys_only(name):
            raise NotAttackable(f"the release has no numbers of {name}")
        if released.counts != "users":
            raise NotAttackable("the release counts occurrences, which no group of people is as large as")
        groups = self.groups(setup, name, shown)
        size = numbers(groups)
        where = find(groups, shown)
        seen = np.where(where >= 0, np.append(numbers(shown), 0)[where], -1)
        return Outcome(
            Rate(int((seen >= size).sum()), size.size),
            Rate(int((seen >= size + 1).sum()), size.size),
            f"{size.size} groups, each of all users who hold one of the {name}; the attacker says that everybody does "
            "if the release shows as many users as the group has, and is tried with one outsider, too",
            setup.mechanism.loss(),
        )

    def groups(self, setup: AttackSetup, name: str, shown: pa.Table) -> pa.Table:
        """Keys and the exact number of users of each: those of canaries, else of a sample of what was published."""
        exact = Evidence.of_log(setup.log).table(name)
        if exact is None:
            raise NotAttackable(f"the log has no {name}")
        exact = exact.filter((pc.field("n") >= 2) & (pc.field("n") <= MOST))
        if setup.canaries is not None and "query" in exact.column_names:
            exact = exact.filter(pc.is_in(exact.column("query"), setup.canaries.column("query").combine_chunks()))
        else:
            exact = exact.take(pa.array(np.flatnonzero(find(exact, shown) >= 0)))
        if not exact.num_rows:
            raise NotAttackable(f"no group to try: no {name} of 2 to {MOST} users")
        chosen = np.random.default_rng(setup.seed).permutation(exact.num_rows)[: setup.targets]
        return exact.take(pa.array(np.sort(chosen)))
