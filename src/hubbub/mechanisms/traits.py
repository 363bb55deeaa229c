"""What other rooms ask a mechanism about itself: estimates, the studio, attacks, intervals. Every answer has a default.

A mechanism that says nothing is simulated, offered with a control for each of its parameters, and attacked by its
stated thresholds. Nothing here changes what it releases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from hubbub.steps.keys import QUERIES, Keys

if TYPE_CHECKING:
    import pyarrow as pa

    from hubbub.mechanisms.survival import Survival

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Wording(Enum):
    """How the queries of a release read."""

    AS_ASKED = "as they were asked"
    CHANGED = "words added or taken away"
    HASHED = "every word replaced by a hash"
    SEALED = "encrypted, and readable from enough users' shares on"


class Traits:
    """Facts that a mechanism declares for those who look at it from outside."""

    provable: ClassVar[bool] = True
    """Whether some of its settings prove a guarantee for users; what cannot is listed apart, as not private."""
    estimator: ClassVar[str] = "hubbub.look.estimate.simulate:estimate"
    """Where the function lies (module:name) that estimates what it would release; any mechanism can be simulated."""
    in_studio: ClassVar[bool] = True
    """Whether the studio offers it, if (ε, δ) is all it needs."""
    limiting: ClassVar[str] = ""
    """The parameter that limits each user's keys, of which the studio tries several values; none: its default alone."""
    raw: ClassVar[tuple[str, ...]] = ()
    """Parameters that stand for (ε, δ), or belong to a variant as published or to tables that have to be asked for: for
    the command line, not the studio."""
    exact: ClassVar[bool] = False
    """Whether the numbers it publishes have no noise."""
    wording: ClassVar[Wording] = Wording.AS_ASKED
    logged: ClassVar[Keys] = QUERIES
    """The keys that an attacker looks for in a released log."""

    def survival(self) -> Mapping[str, Survival]:
        """The law of survival of each table whose keys are tested one by one, for quick estimates."""
        return {}

    def chosen(self) -> tuple[str, ...]:
        """Which parameters follow from what the owner states of the log, and why, by a rule that is public."""
        return ()

    def nobodys(self) -> Mapping[str, float]:
        """How many rows of nobody to expect at most, by table; others have none, or say it in words."""
        return {}

    def accounts(self) -> int | None:
        """How many fake accounts lift a target's key to where it shows; None: one fewer than the threshold."""
        return None

    def users_shown(self, log: pa.Table, queries: Sequence[str], times: Sequence[int]) -> list[int]:
        """How many users a released log shows for each query. An attacker's accounts asked the i-th at `times[i]`."""
        users = log.group_by("query").aggregate([("user", "count_distinct")])
        shown = dict(zip(*(users.column(c).to_pylist() for c in ("query", "user_count_distinct")), strict=True))
        return [shown.get(query, 0) for query in queries]

    @staticmethod
    def noise_in_common(table: str, rows: pa.Table, mu2: Mapping[str, float]) -> tuple[tuple[Ints, Floats], ...]:
        """Noise that rows of a released table share: which group each is in, and the deviation of the group's noise.

        `mu2` has the sum of μ² of each Gaussian step, as the card states it. By default rows share none.
        """
        return ()
